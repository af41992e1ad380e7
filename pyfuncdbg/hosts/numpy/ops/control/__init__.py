"""Control flow: what runs one of several functions, or one again and again; in graphs as nodes, in eager mode as Python."""
