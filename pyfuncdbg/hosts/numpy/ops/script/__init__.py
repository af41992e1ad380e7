"""The script ops: Python functions as nodes. `calls` has the public functions, `kernel` and `gradient` the kernels."""
