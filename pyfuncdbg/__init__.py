"""pyfuncdbg: an interactive debugger and tracer for Python functions inside dataflow graphs."""
