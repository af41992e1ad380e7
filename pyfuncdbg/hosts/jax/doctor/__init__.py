"""The doctor of JAX programs."""
