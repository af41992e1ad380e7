"""The adapter for PyTorch: the Python functions that it calls become `Call`s of pyfuncdbg."""
