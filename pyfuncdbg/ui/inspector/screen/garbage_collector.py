"""Settings of Python's garbage collector in the inspector's process, so that the screen does not pause.

Called on the main thread: `wait` before everything is loaded, `spare_loaded` behind it, before the app runs.
"""
from __future__ import annotations

import gc

_YOUNG = 2_000


def wait() -> None:
    """Collect nothing while modules are loaded, which makes no garbage: it would take a tenth of the start."""
    gc.disable()


def spare_loaded() -> None:
    """Never look through what is loaded again: 100,000 functions, classes and styles, 0.1 s each time a collection comes."""
    gc.freeze()
    gc.set_threshold(_YOUNG, 10, 20)
    gc.enable()
