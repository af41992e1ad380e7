"""A folder for PYTHONPATH: the `sitecustomize` in it makes a process that starts a part of the recorded program."""
