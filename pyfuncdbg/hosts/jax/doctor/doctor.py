"""The doctor of JAX programs: its judges.

`hosts.doctors` gives it to the command; any thread.
"""
from __future__ import annotations

from pyfuncdbg.hooks.diagnosis import Doctor

DOCTOR = Doctor('jax', 'JAX', ())
