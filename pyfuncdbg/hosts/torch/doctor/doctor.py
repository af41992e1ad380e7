"""The doctor of PyTorch programs: its judges.

`hosts.doctors` gives it to the command; any thread.
"""
from __future__ import annotations

from pyfuncdbg.hooks.diagnosis import Doctor
from pyfuncdbg.hosts.torch.doctor.judges import (
    find_aliases,
    find_device_waits,
    find_kept_tensors,
    find_missing_fakes,
    find_missing_gradients,
)

DOCTOR = Doctor('torch', 'PyTorch', (find_missing_gradients, find_missing_fakes, find_aliases, find_kept_tensors,
                                     find_device_waits))
