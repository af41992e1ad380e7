"""Judges of faults at script ops, from the calls and facts of a trace. TensorFlow need not be installed."""
