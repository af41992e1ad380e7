"""Witnesses of `pyfuncdbg doctor`: observation of TensorFlow beyond its calls; nothing is installed otherwise."""
