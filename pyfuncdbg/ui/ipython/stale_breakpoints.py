"""Breakpoints on lines of a function that a later cell redefines: they stay with the old one, with a notice.

Asked after each cell, on the main thread. A breakpoint on a name needs nothing: it is on whatever has that name.
"""
from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import FunctionType
from typing import Any

from pyfuncdbg.errors import CommandError
from pyfuncdbg.hooks import notebook_cell
from pyfuncdbg.observers.debug.debugger import debugger


def left_behind(names: Mapping[str, Any], label: str) -> Iterator[str]:
    """Notices of breakpoints in functions that the cell has redefined.

    Args:
        names: The user's variables.
        label: Of the cell that is over.
    """
    filename = notebook_cell.files.get(label)
    for number, entry in list(debugger.breakpoints.entries.items()):
        spec = entry.breakpoint.spec
        if (spec.kind != 'line' or not entry.breakpoint.enabled or spec.name not in notebook_cell.labels
                or spec.name == filename):
            continue
        try:
            placed = entry.placed
        except CommandError:
            continue
        function = _named(names, placed.function) if placed is not None else None
        if placed is not None and function is not None and function.__code__.co_filename == filename:
            line, old = function.__code__.co_firstlineno, notebook_cell.labels[spec.name]
            yield (f"breakpoint {number} stays in the {placed.function} of {old}; {label} has defined it again: "
                   f"'%pyfunc break {label}:LINE' stops in the new one, which begins at line {line}")


def _named(names: Mapping[str, Any], qualified: str) -> FunctionType | None:
    """The function of a qualified name such as 'Model.step'."""
    first, *rest = qualified.split('.')
    value = names.get(first)
    for name in rest:
        value = vars(value).get(name) if isinstance(value, type) else None
    return value if isinstance(value, FunctionType) else None
