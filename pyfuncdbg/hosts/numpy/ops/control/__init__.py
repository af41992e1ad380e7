"""Control flow: branches, cases and loops over functions; in graphs as nodes, in eager mode as Python."""
