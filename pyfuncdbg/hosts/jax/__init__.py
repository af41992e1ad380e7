"""The host of JAX: callbacks of compiled programs, their runs, ops and gradients."""
