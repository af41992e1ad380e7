"""The notebook or IPython cell that is executing, by which the program's code is named.

The IPython face says when a cell begins, on the main thread; hosts then begin another run for eager code.
"""
from __future__ import annotations

from collections.abc import Callable
from weakref import WeakMethod

label = ''
"""Of the cell that began last, such as 'In[3]'; '' outside of notebooks."""
files: dict[str, str] = {}
"""By label, the file name of the code of a cell: what a breakpoint on 'In[3]:2' means."""
labels: dict[str, str] = {}
"""The other way round: how the file of a cell is shown."""
_followers: list[WeakMethod[Callable[[], object]]] = []


def call_at_begin(begun: Callable[[], object]) -> None:
    """Call this method at the beginning of every cell, on the main thread, as long as its object lives."""
    _followers.append(WeakMethod(begun))


def display_name(filename: str) -> str:
    """A file name as the user knows it: of a cell its label."""
    return labels.get(filename, filename)


def add_cell_file(name: str, filename: str) -> None:
    """The code of a cell goes under this file name."""
    files[name] = filename
    labels[filename] = name


def begin(name: str) -> None:
    """A cell begins; with '' there are no cells any more."""
    global label
    label = name
    if not name:
        files.clear()
        labels.clear()
    for follower in list(_followers):
        begun = follower()
        if begun is None:
            _followers.remove(follower)
        else:
            begun()
