"""Dispatches of compiled programs, as runs."""
