"""Lazy loading of subpackages of `ops` when graph or runtime first need them, on the thread that needs them.

Most programs do without them, and they take as long to load as NumPy.
"""
from __future__ import annotations

from importlib import import_module

VOCABULARY, JACOBIAN, AUTOGRAPH = 'vocabulary', 'jacobian', 'autograph'
"""Reasons to load: an op type that is not in the table, jacobians of unknown size, a function to convert."""
rooms = {VOCABULARY: 'pyfuncdbg.hosts.numpy.ops.all_ops', JACOBIAN: 'pyfuncdbg.hosts.numpy.ops.control.jacobian_rows',
         AUTOGRAPH: 'pyfuncdbg.hosts.numpy.ops.autograph'}
"""Module to load for each reason; removed once it is loaded."""


def load(need: str) -> None:
    """Load the module for a reason, unless it is loaded."""
    if (module := rooms.get(need)) is not None:
        import_module(module)                       # another thread waits here until it is loaded
        rooms.pop(need, None)
