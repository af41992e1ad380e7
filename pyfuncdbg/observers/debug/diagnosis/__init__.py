"""Faults at script ops, judged from calls and facts: what `doctor` tells."""
