"""Text of generated code: comments, docstrings and strings that hold text of a trace, which may be hostile."""
from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from pyfuncdbg.observers.record.records import CallRecord
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


def word(text: str) -> str:
    """'Model_loss' of 'Model.loss': text of a trace as part of a name.

    Args:
        text: Any text.
    """
    return re.sub(r'\W+', '_', text, flags=re.ASCII).strip('_')[:60] or 'function'


def file_stem(calls: Sequence[CallRecord]) -> str:
    """'norm_17' of one call, 'calls_17_20' of a range: the name of a file without its suffix.

    Args:
        calls: The calls in the file.
    """
    functions = {call.site.function for call in calls}
    numbers = dict.fromkeys(calls[i].number for i in (0, -1)) if calls else {}
    return '_'.join([word(functions.pop()) if len(functions) == 1 else 'calls', *map(word, numbers)])


def relative_folder(folder: str, file: Path) -> str | None:
    """The way from a generated file's folder to another one: '../src'; '' for the same, None where only the root is common.

    Args:
        folder: The other one, absolute.
        file: The generated file.
    """
    near, own = Path(folder), file.absolute().parent
    if near == own:
        return ''
    depth = _steps_up(near, own)
    return None if depth is None else '/'.join(['..'] * depth + list(near.parts[len(own.parts) - depth:]))


def folder_line(folder: str, file: Path, own: str = 'Path(__file__).resolve().parent') -> str:
    """The statement that lets a program import from a folder: relative to its own file, where both are near.

    Args:
        folder: From which modules are imported; absolute.
        file: The file that has the statement.
        own: Expression for the folder of that file.
    """
    steps = relative_folder(folder, file)
    if steps is None:
        return f'sys.path.insert(0, {folder!r})'
    return f'sys.path.insert(0, str({own}{f" / {steps!r}" if steps else ""}))'


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
