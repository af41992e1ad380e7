"""Text of generated code: comments, docstrings and strings that hold text of a trace, which may be hostile."""
from __future__ import annotations

from pathlib import Path

from pyfuncdbg.observers.record.trace_info import TraceInfo
from pyfuncdbg.ui.views.escape import one_line
from pyfuncdbg.ui.views.units import date

WIDTH = 100
"""Columns of sentences."""


def sentence(text: str, limit: int = 200) -> str:
    """Text of a trace for a docstring or comment: one line, that ends neither.

    Args:
        text: Any text.
        limit: Longest.
    """
    return one_line(text, limit).replace('\\', '/').replace('"""', "'''")


def folder_line(folder: str, file: Path) -> str:
    """The statement that lets a program import from a folder: relative to its own file, where both are near.

    Args:
        folder: From which modules are imported; absolute.
        file: The file that has the statement.
    """
    near = Path(folder)
    own = file.absolute().parent
    if near == own:
        return 'sys.path.insert(0, str(Path(__file__).resolve().parent))'
    depth = _steps_up(near, own)
    if depth is None:
        return f'sys.path.insert(0, {str(near)!r})'
    steps = '/'.join(['..'] * depth + list(near.parts[len(own.parts) - depth:]))
    return f'sys.path.insert(0, str(Path(__file__).resolve().parent / {steps!r}))'


def _steps_up(near: Path, own: Path) -> int | None:
    """How many folders up the two have one in common; None if only the root."""
    common = 0
    for one, other in zip(near.parts, own.parts, strict=False):
        if one != other:
            break
        common += 1
    return len(own.parts) - common if common > 1 else None


def recorded_line(info: TraceInfo) -> str:
    """'Recorded of train.py on 2026-11-26 04:05 with Python 3.11.7.'"""
    program = sentence(' '.join(info.argv[:1]) or 'a program', 60)
    return f'Recorded of {program} on {date(info.started)} with Python {sentence(info.python, 20)}.'
