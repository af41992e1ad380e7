"""The seam between what runs (hosts) and what watches (observers): call records, the chain of hooks, host Protocols."""
