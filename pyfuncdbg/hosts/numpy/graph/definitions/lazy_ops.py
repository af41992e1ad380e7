"""Lazy loading of subpackages of `ops` when graph or runtime first need them, on the thread that does.

Most programs do without them, and loading them takes as long as loading NumPy. `ops` says which they are when it is loaded.
"""
from __future__ import annotations

from importlib import import_module

VOCABULARY, JACOBIAN = 'vocabulary', 'jacobian'
"""Needs for which they are loaded: an op type that is not in the table, jacobians of unknown size."""
rooms: dict[str, str] = {}
"""Module to load for each need; none once it is loaded."""


def load(need: str) -> None:
    """Load the modules, unless that is done."""
    if (module := rooms.get(need)) is not None:
        import_module(module)                       # another thread waits here until it is loaded
        rooms.pop(need, None)
