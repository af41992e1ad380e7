"""Python's garbage collector in the inspector's own process: it must not hold the screen up.

Called once, when everything is loaded and before the app runs, on the main thread.
"""
from __future__ import annotations

import gc

_YOUNG = 2_000


def spare_loaded() -> None:
    """Never look through what is loaded again: 100,000 functions, classes and styles, 0.1 s each time a collection comes."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(_YOUNG, 10, 20)
