"""The doctor of script ops: all judges, for traces of TensorFlow and of our own runtime.

`hosts.doctors` gives it to the command; any thread.
"""
from __future__ import annotations

from pyfuncdbg.hooks.diagnosis import Doctor
from pyfuncdbg.hosts.tensorflow.doctor.judges.argument_writes import writes
from pyfuncdbg.hosts.tensorflow.doctor.judges.bytes_for_str import texts
from pyfuncdbg.hosts.tensorflow.doctor.judges.gradient_faults import gradients
from pyfuncdbg.hosts.tensorflow.doctor.judges.leaks import leaks
from pyfuncdbg.hosts.tensorflow.doctor.judges.lost_errors_and_exports import ends, exports, unheard
from pyfuncdbg.hosts.tensorflow.doctor.judges.lost_shapes import failed_shapes, lost_shapes, untrue_shapes
from pyfuncdbg.hosts.tensorflow.doctor.judges.return_values import results
from pyfuncdbg.hosts.tensorflow.doctor.judges.serialization import waits

DOCTOR = Doctor('tensorflow', 'TensorFlow', (results, texts, gradients, writes, leaks, lost_shapes, untrue_shapes,
                                             failed_shapes, waits, exports, ends, unheard))
