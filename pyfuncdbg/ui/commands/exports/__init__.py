"""Files for other programs, made from a trace: one module a format."""
