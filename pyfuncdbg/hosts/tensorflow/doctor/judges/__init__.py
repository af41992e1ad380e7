"""Faults at script ops, found in the calls and facts of a trace; TensorFlow need not be installed."""
