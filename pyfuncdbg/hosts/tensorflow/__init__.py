"""The adapter for the real TensorFlow: its wrapped functions become `Call`s of pyfuncdbg."""
