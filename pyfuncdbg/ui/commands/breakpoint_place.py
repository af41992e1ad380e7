"""The place of a breakpoint relative to where a thread is stopped: a line number, or nothing at all.

On the stopped thread, for `break` and `tbreak`.
"""
from __future__ import annotations

import os

from pyfuncdbg.errors import CommandError
from pyfuncdbg.hooks import notebook_cell
from pyfuncdbg.hooks.source_map import place, program_code
from pyfuncdbg.observers.debug.breakpoints.spec import Spec, spec
from pyfuncdbg.observers.debug.inspecting.backtrace import created_at
from pyfuncdbg.observers.debug.inspecting.stack import FrameEntry, NodeEntry, selected_entry, selected_frame, stack_of
from pyfuncdbg.ui.commands.engine.command import Context


def selected_place(context: Context) -> Spec:
    """The selected node or line.

    Raises:
        CommandError: Neither is selected.
    """
    entry = selected_entry(context.stop) if context.stop is not None else None
    if isinstance(entry, NodeEntry):
        return Spec(entry.site.name, 'name', entry.site.name)
    frame = selected_frame(context.stop) if context.stop is not None else None
    if frame is None:
        raise CommandError('no line of Python is selected here: give a node, a function or FILE:LINE')
    here = place(frame)
    return _line(here.filename, here.line)


def selected_line(context: Context, number: int) -> Spec:
    """A line of the selected file: of the frame, of the node's function, or where the node or run was made.

    Raises:
        CommandError: There is none, or no such line.
    """
    if not number:
        raise CommandError("'0': line numbers start at 1")
    filename = _file(context)
    if not filename:
        raise CommandError(f'line {number}: no source file is selected here; type FILE:{number}')
    return _line(filename, number)


def _file(context: Context) -> str:
    stop = context.stop
    if stop is None:
        return ''
    entry = selected_entry(stop)
    if isinstance(entry, NodeEntry):
        code = getattr(entry.site.function, '__code__', None)
        created = created_at(entry.site)
        if code is not None:
            return program_code(code).co_filename
        if created is not None:
            return created.filename
    frames = [one.frame for one in stack_of(stop) if isinstance(one, FrameEntry)]
    frame = selected_frame(stop) or (frames[-1] if frames else None)
    return place(frame).filename if frame is not None else ''


def _line(filename: str, number: int) -> Spec:
    """As the user would name it: by the label of a cell, from the current folder."""
    name = notebook_cell.display_name(filename)
    relative = os.path.relpath(name) if os.path.isabs(name) else name
    text = f'{name if relative.startswith(os.pardir) else relative}:{number}'
    return Spec(text if spec(text).kind == 'line' else f'{filename}:{number}', 'line', filename, number)
