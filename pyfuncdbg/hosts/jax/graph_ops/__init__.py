"""Ops of compiled programs as calls, and their backward passes."""
