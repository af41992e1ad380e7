"""Compiled programs of JAX and the callbacks in them."""
