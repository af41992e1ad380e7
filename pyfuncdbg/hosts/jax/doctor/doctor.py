"""The doctor of JAX programs: its judges.

`hosts.doctors` gives it to the command; any thread.
"""
from __future__ import annotations

from pyfuncdbg.hooks.diagnosis import Doctor
from pyfuncdbg.hosts.jax.doctor.judges import (
    find_blocking_callbacks,
    find_dead_callbacks,
    find_error_types,
    find_host_reads,
    find_large_copies,
    find_repeated_callbacks,
    find_retraced_functions,
)

DOCTOR = Doctor('jax', 'JAX', (find_dead_callbacks, find_repeated_callbacks, find_blocking_callbacks, find_error_types,
                               find_retraced_functions, find_large_copies, find_host_reads))
