"""The processes of a recorded program, which are listed in its trace and record into it."""
