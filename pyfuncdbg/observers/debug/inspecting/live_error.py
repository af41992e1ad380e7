"""A live exception at a stop in the form of a recorded one: frames, and variables of the program's frames.

Made on the stopped thread for `exceptions`, `bt --locals`, so that they look like the traceback of a recorded call.
"""
from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import replace
from types import FrameType
from typing import Any

import numpy as np

from pyfuncdbg.hooks.host import Host
from pyfuncdbg.observers.debug.inspecting.source_listing import running_source
from pyfuncdbg.observers.debug.value import MOST_COUNTED
from pyfuncdbg.observers.record.dtypes import dtype_name
from pyfuncdbg.observers.record.record_contents import load_error, load_few
from pyfuncdbg.observers.record.records import ErrorRecord, FrameRecord, Level, LocalRecord, TensorRecord
from pyfuncdbg.observers.record.snapshots.error_capture import Failure, error_frames
from pyfuncdbg.observers.record.snapshots.frame_locals import FrameVariables, variables_of
from pyfuncdbg.observers.record.snapshots.statistics import stats_of

_SMALL = 64
"""Bytes of the largest array that is copied, so that its elements can be shown."""


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


def _frame_record(found: FrameVariables) -> FrameRecord:
    variables = tuple(LocalRecord(one.name, one.type, one.text, None if one.array is None else _tensor(one.array))
                      for one in found.variables)
    return FrameRecord(found.frame, variables, found.hidden)


def _tensor(array: np.ndarray) -> TensorRecord:
    stats = stats_of(array) if array.size <= MOST_COUNTED else None
    level: Level = 'none' if stats is None else 'stats'
    tensor = TensorRecord('', dtype_name(array.dtype), array.shape, array.nbytes, level, stats)
    if array.nbytes > _SMALL or array.dtype.kind not in 'biufc':
        return tensor
    stored = array.astype(array.dtype.newbyteorder('<')).tobytes()
    return load_few(replace(tensor, level='full', key=stored, _read=lambda key: key))
