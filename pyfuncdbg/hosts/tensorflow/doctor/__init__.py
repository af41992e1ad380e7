"""What `pyfuncdbg doctor` knows of TensorFlow: witnesses that look into it while a program runs, judges of what they saw.

The witnesses are installed for `doctor` only. The judges read traces, also those of our own runtime.
"""
