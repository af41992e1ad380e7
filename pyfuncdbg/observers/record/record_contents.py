"""Contents of records that are read from the trace on demand: elements of tensors, lines of source.

Commands, cards and displays load what a view is to draw; views read no trace. On the thread of the command.
"""
from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from pyfuncdbg.errors import DroppedError
from pyfuncdbg.hooks.own_files import is_program_file
from pyfuncdbg.observers.record.elements import FEW, LIMIT, Elements, elements_of
from pyfuncdbg.observers.record.records import CallRecord, ErrorRecord, FrameRecord, OutputRecord, RunRecord, TensorRecord
from pyfuncdbg.observers.record.sources.source_text import SourceText


def load_call(call: CallRecord, limit: int = LIMIT) -> CallRecord:
    """A call with at most about `limit` elements of each tensor, and with the source of what it said and raised."""
    return replace(call, inputs=_tensors(call.inputs, limit), outputs=_tensors(call.outputs, limit),
                   output=load_output(call.output), error=call.error and load_error(call.error))


def load_run(run: RunRecord, limit: int) -> RunRecord:
    """A run with at most about `limit` elements of each tensor, and with the source of its error."""
    return replace(run, feeds=_tensors(run.feeds, limit), fetches=_tensors(run.fetches, limit),
                   error=run.error and load_error(run.error))


def load_tensor(tensor: TensorRecord, limit: int = LIMIT) -> TensorRecord:
    """A tensor with at most about `limit` elements: both ends of its axes, and those around the first NaN or infinity."""
    if tensor.level != 'full' or not limit:
        return tensor
    try:
        found = elements_of(tensor.to_numpy(), limit, tensor.stats.first_bad if tensor.stats is not None else None)
    except DroppedError as error:
        found = Elements(missing=str(error))
    return replace(tensor, elements=found)


def load_few(tensor: TensorRecord) -> TensorRecord:
    """A tensor, with its elements where they are few enough for a line."""
    return load_tensor(tensor) if 0 < math.prod(tensor.shape) <= FEW else tensor


def load_locals(frame: FrameRecord) -> FrameRecord:
    """The variables of a frame, with the elements of small tensors."""
    return replace(frame, variables=tuple(replace(one, tensor=load_few(one.tensor)) if one.tensor is not None else one
                                          for one in frame.variables))


def load_output(records: Sequence[OutputRecord]) -> tuple[OutputRecord, ...]:
    """What a call said, with the source of warnings and floating-point errors."""
    return tuple(replace(one, source=one.source_at(one.filename, one.line)) if one.filename else one for one in records)


def load_error(error: ErrorRecord) -> ErrorRecord:
    """An error with its lines of source, those of libraries only where all its frames are a library's, and variables."""
    mine = [is_program_file(frame.filename) for frame in error.frames]
    sources = tuple(error.source_at(frame.filename, frame.line).only(frame.line) if users or not any(mine) else SourceText()
                    for frame, users in zip(error.frames, mine, strict=True))
    return replace(error, sources=sources, locals=tuple(map(load_locals, error.locals)))


def _tensors(tensors: Sequence[TensorRecord], limit: int) -> tuple[TensorRecord, ...]:
    return tuple(load_tensor(tensor, limit) for tensor in tensors)
