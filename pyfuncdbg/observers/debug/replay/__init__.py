"""Replay of recorded calls: the program's own function, on the recorded inputs, in the recorded state."""
