"""TensorFlow's part of `pyfuncdbg doctor`: witnesses that observe a running program, judges of their evidence.

The witnesses are installed for `doctor` only. The judges read traces, also those of our own runtime.
"""
