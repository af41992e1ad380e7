"""Comparison of two recordings: values, calls, runs, and the first divergence."""
