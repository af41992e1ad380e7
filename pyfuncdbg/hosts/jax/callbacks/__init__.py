"""Calls of the program's Python functions by compiled programs."""
