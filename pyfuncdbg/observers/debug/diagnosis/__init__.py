"""Faults at wrapped functions, judged from calls and facts by the doctors of hosts: what `doctor` tells."""
