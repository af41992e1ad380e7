"""What `pyfuncdbg doctor` wants to know of TensorFlow beyond its calls. Nothing of this is installed otherwise."""
