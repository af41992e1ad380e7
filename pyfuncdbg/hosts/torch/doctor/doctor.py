"""The doctor of PyTorch: its judges. `hosts.doctors` gives it to the command; any thread."""
from __future__ import annotations

from pyfuncdbg.hooks.diagnosis import Doctor

DOCTOR = Doctor('torch', 'PyTorch', ())
