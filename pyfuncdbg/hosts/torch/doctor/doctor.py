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
from pyfuncdbg.hosts.torch.doctor.loader_judges import find_slow_loaders
from pyfuncdbg.hosts.torch.doctor.worker_judges import find_dead_workers, find_worker_errors

DOCTOR = Doctor('torch', 'PyTorch', (find_missing_gradients, find_missing_fakes, find_aliases, find_kept_tensors,
                                     find_device_waits, find_worker_errors, find_dead_workers, find_slow_loaders))
