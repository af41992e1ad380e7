"""The notebook or IPython cell that is executing, by which the program's code is named.

IPython's front end calls `begin` for each cell, on the main thread; hosts then begin another run for eager code.
"""
from __future__ import annotations

import os.path
from collections.abc import Callable
from weakref import WeakMethod

label = ''
"""Label of the present cell, such as 'In[3]'; '' outside of notebooks."""
files: dict[str, str] = {}
"""File name of a cell's code, by label: a breakpoint may be set on 'In[3]:2'."""
labels: dict[str, str] = {}
"""Label of a cell, by file name."""
_followers: list[WeakMethod[Callable[[], object]]] = []


def call_at_begin(callback: Callable[[], object]) -> None:
    """Call a bound method at the beginning of every cell, on the main thread, as long as its object lives.

    Args:
        callback: The method.
    """
    _followers.append(WeakMethod(callback))


def display_name(filename: str) -> str:
    """The name under which the user knows a file: of a cell's `filename` its label."""
    return labels.get(filename, filename)


def short_place(filename: str, line: int) -> str:
    """The name of a line of the program in a sentence.

    Args:
        filename, line: Of the line.

    Returns:
        'model.py:12' or 'In[3]:2'.
    """
    return f'{os.path.basename(display_name(filename))}:{line}'


def add_cell_file(name: str, filename: str) -> None:
    """Map the cell `name` to the `filename` of its code, and back."""
    files[name] = filename
    labels[filename] = name


def begin(name: str) -> None:
    """Begin the cell `name`; '' ends the notebook."""
    global label
    label = name
    if not name:
        files.clear()
        labels.clear()
    for follower in list(_followers):
        callback = follower()
        if callback is None:
            _followers.remove(follower)
        else:
            callback()
