"""The doctor of script ops: all judges, for traces of TensorFlow and of our own runtime.

`hosts.doctors` gives it to the command; any thread.
"""
from __future__ import annotations

from pyfuncdbg.hooks.diagnosis import Doctor
from pyfuncdbg.hosts.tensorflow.doctor.judges.argument_misuse import find_argument_writes, find_bytes_for_str
from pyfuncdbg.hosts.tensorflow.doctor.judges.gradient_faults import find_gradient_faults
from pyfuncdbg.hosts.tensorflow.doctor.judges.leaks import find_leaks
from pyfuncdbg.hosts.tensorflow.doctor.judges.lost_errors_and_exports import (
                                             find_exports,
                                             find_lost_errors,
                                             find_program_ends,
)
from pyfuncdbg.hosts.tensorflow.doctor.judges.lost_shapes import find_failed_shapes, find_lost_shapes, find_untrue_shapes
from pyfuncdbg.hosts.tensorflow.doctor.judges.return_values import find_return_faults
from pyfuncdbg.hosts.tensorflow.doctor.judges.serialization import find_waits

DOCTOR = Doctor('tensorflow', 'TensorFlow', (find_return_faults, find_bytes_for_str, find_gradient_faults,
                                             find_argument_writes, find_leaks, find_lost_shapes, find_untrue_shapes,
                                             find_failed_shapes, find_waits, find_exports, find_program_ends,
                                             find_lost_errors))
