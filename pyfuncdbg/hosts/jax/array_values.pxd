"""C types of `array_values.py`: it is compiled as it is."""
