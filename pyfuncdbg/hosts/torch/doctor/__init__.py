"""PyTorch's part of `pyfuncdbg doctor`: witnesses that observe a running program, judges of their evidence."""
