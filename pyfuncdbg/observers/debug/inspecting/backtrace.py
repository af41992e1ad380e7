"""The stack as plain data: one row for each entry, with what it is, where, and its line of source.

A live exception at a stop has the form of a recorded one, for `exceptions` and `bt --locals`. Made on the stopped thread.
"""
from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass, replace
from types import FrameType
from typing import Any, Literal

import numpy as np

from pyfuncdbg.hooks.call import CallSite, Frame
from pyfuncdbg.hooks.host import Host
from pyfuncdbg.hooks.own_files import is_library
from pyfuncdbg.hooks.patched_code import name_of
from pyfuncdbg.hooks.source_map import program_code
from pyfuncdbg.observers.debug.inspecting.scope import host_of
from pyfuncdbg.observers.debug.inspecting.source_listing import line_of, running_source
from pyfuncdbg.observers.debug.inspecting.stack import Entry, FrameEntry, NodeEntry, RunEntry, selected_index, stack_of
from pyfuncdbg.observers.debug.stops.stop import Stop
from pyfuncdbg.observers.debug.value import MOST_COUNTED
from pyfuncdbg.observers.record.dtypes import dtype_name
from pyfuncdbg.observers.record.record_contents import load_error, load_few
from pyfuncdbg.observers.record.records import ErrorRecord, FrameRecord, Level, LocalRecord, TensorRecord
from pyfuncdbg.observers.record.snapshots.error_capture import Failure, error_frames
from pyfuncdbg.observers.record.snapshots.frame_locals import FrameVariables, variables_of
from pyfuncdbg.observers.record.snapshots.statistics import stats_of


@dataclass(frozen=True, slots=True)
class StackRow:
    """One entry of the stack.

    Attributes:
        kind: What it is.
        name: Of the function, node or run.
        detail: In words: of a run, its fetches; of a node, its op and what it waits for.
        filename, line: Of a frame, where it is; of a node, where it was created; '' and 0 if unknown.
        source: That line.
        library: Whether it is a library's frame.
        selected: Whether the user has selected it.
        variables: Of a frame, if they were asked for.
    """

    kind: Literal['python', 'node', 'run']
    name: str
    detail: str
    filename: str
    line: int
    source: str
    library: bool
    selected: bool
    variables: FrameRecord | None = None


def rows_of(stop: Stop, *, variables: bool = False) -> tuple[StackRow, ...]:
    """The stack of a stop, outermost first; with the variables of its innermost frames of the program if asked for."""
    stack = stack_of(stop)
    chosen = selected_index(stop)
    rows = [_row(stop, stack, index, index == chosen) for index in range(len(stack))]
    frames = [(index, entry.frame) for index, entry in enumerate(stack) if isinstance(entry, FrameEntry)]
    for found in frame_records([frame for _, frame in frames], host_of(stop)) if variables else ():
        place = frames[found.frame][0]
        rows[place] = replace(rows[place], variables=found)
    return tuple(rows)


def selected_row(stop: Stop) -> StackRow | None:
    """The selected entry."""
    stack = stack_of(stop)
    return _row(stop, stack, selected_index(stop), True) if stack else None


def created_at(site: CallSite) -> Frame | None:
    """The line of the program that made a node: the innermost of its creation stack that is no library's."""
    mine = [frame for frame in site.stack if not is_library(frame.filename)]
    return mine[-1] if mine else site.stack[-1] if site.stack else None


def _row(stop: Stop, stack: Sequence[Entry], index: int, is_selected: bool) -> StackRow:
    entry = stack[index]
    if isinstance(entry, FrameEntry):
        code = program_code(entry.frame.f_code)
        return StackRow('python', code.co_name, '', code.co_filename, entry.line,
                        line_of(code.co_filename, entry.line,
                                entry.frame.f_globals), is_library(code.co_filename), is_selected)
    if isinstance(entry, RunEntry):
        run = entry.run
        fetches = ', '.join(run.fetches) or 'no tensors'
        return StackRow('run', f'run #{run.id} {run.title}', f'fetches {fetches}', '', 0, '', False, is_selected)
    place = created_at(entry.site)
    filename, line = (place.filename, place.line) if place is not None else ('', 0)
    return StackRow('node', entry.site.name, _of_node(stop, entry, stack[index + 1] if index + 1 < len(stack) else None),
                    filename, line, line_of(filename, line) if filename else '', False, is_selected)


def _of_node(stop: Stop, entry: NodeEntry, below: Entry | None) -> str:
    """'EagerPyFunc, calls normalize', 'Mul, waits for c'."""
    site = entry.site
    text = site.op_type
    if entry.waits:
        return f'{text}, waits for {below.site.name}' if isinstance(below, NodeEntry) else text
    if entry.around:
        return f'{text}, runs the node below'
    name = name_of(site.function)
    if name:
        text += f', calls {name}'
    if entry.call is None:
        return f'{text}, is next' if stop.phase == 'node' else text
    return f'{text}, call #{entry.call.id}'


def raised_record(error: BaseException, host: Host | None) -> ErrorRecord:
    """An exception with its frames and their variables."""
    failure = Failure(error)
    return load_error(ErrorRecord(failure.type, failure.message, tuple(failure.frames), failure.text(),
                                  frame_records([frame for frame, _ in error_frames(error)], host), running_source))


def frame_records(frames: Sequence[FrameType], host: Host | None) -> tuple[FrameRecord, ...]:
    """The variables of the innermost frames of the program, by their place in `frames`."""
    return tuple(map(_frame_record, variables_of(frames, host, read=_values)))


def _values(frame: FrameType) -> dict[str, Any]:
    """Names and values of a frame that may still run; nothing of a module, whose names are all that it defines."""
    return dict(frame.f_locals) if frame.f_code.co_flags & inspect.CO_OPTIMIZED else {}


def _frame_record(frame: FrameVariables) -> FrameRecord:
    variables = tuple(LocalRecord(one.name, one.type, one.text, None if one.array is None else _tensor(one.array))
                      for one in frame.variables)
    return FrameRecord(frame.frame, variables, frame.hidden)


_SMALL = 64
"""Bytes of the largest array that is copied, so that its elements can be shown."""


def _tensor(array: np.ndarray) -> TensorRecord:
    stats = stats_of(array) if array.size <= MOST_COUNTED else None
    level: Level = 'none' if stats is None else 'stats'
    tensor = TensorRecord('', dtype_name(array.dtype), array.shape, array.nbytes, level, stats)
    if array.nbytes > _SMALL or array.dtype.kind not in 'biufc':
        return tensor
    stored = array.astype(array.dtype.newbyteorder('<')).tobytes()
    return load_few(replace(tensor, level='full', key=stored, _read=lambda key: key))
