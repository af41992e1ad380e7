"""What `pyfuncdbg doctor` asks TensorFlow beyond its calls while a program runs; nothing is installed otherwise."""
