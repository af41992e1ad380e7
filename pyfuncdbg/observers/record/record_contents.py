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
    """Load the contents of a call: elements of its tensors, the source of what it printed and raised.

    Args:
        call: As from the trace.
        limit: About how many elements of each tensor at most.

    Returns:
        The call with them.
    """
    return replace(call, inputs=_tensors(call.inputs, limit), outputs=_tensors(call.outputs, limit),
                   output=load_output(call.output), error=call.error and load_error(call.error))


def load_run(run: RunRecord, limit: int) -> RunRecord:
    """Load the contents of a run: elements of its tensors, the source of its error.

    Args:
        run: As from the trace.
        limit: About how many elements of each tensor at most.

    Returns:
        The run with them.
    """
    return replace(run, feeds=_tensors(run.feeds, limit), fetches=_tensors(run.fetches, limit),
                   error=run.error and load_error(run.error))


def load_tensor(tensor: TensorRecord, limit: int = LIMIT) -> TensorRecord:
    """Load elements of a tensor: both ends of its axes, and those around the first NaN or infinity.

    Args:
        tensor: As from the trace.
        limit: About how many elements at most; 0 loads none.

    Returns:
        The tensor with them, or with the reason why there are none.
    """
    if tensor.level != 'full' or not limit:
        return tensor
    try:
        elements = elements_of(tensor.to_numpy(), limit, tensor.stats.first_bad if tensor.stats is not None else None)
    except DroppedError as error:
        elements = Elements(missing=str(error))
    return replace(tensor, elements=elements)


def load_few(tensor: TensorRecord) -> TensorRecord:
    """Load the elements of a tensor that has few enough for a line.

    Args:
        tensor: As from the trace.

    Returns:
        The tensor with them; a larger one as it is.
    """
    return load_tensor(tensor) if 0 < math.prod(tensor.shape) <= FEW else tensor


def load_locals(frame: FrameRecord) -> FrameRecord:
    """Load the elements of small tensors among the variables of a frame.

    Args:
        frame: As from the trace.

    Returns:
        The frame with them.
    """
    return replace(frame, variables=tuple(replace(one, tensor=load_few(one.tensor)) if one.tensor is not None else one
                                          for one in frame.variables))


def load_output(records: Sequence[OutputRecord]) -> tuple[OutputRecord, ...]:
    """Load the source of warnings and floating-point errors.

    Args:
        records: The output of a call.

    Returns:
        The same records with it.
    """
    return tuple(replace(one, source=one.source_at(one.filename, one.line)) if one.filename else one for one in records)


def load_error(error: ErrorRecord) -> ErrorRecord:
    """Load the variables of an error and its lines of source; those of libraries only where all its frames are a library's.

    Args:
        error: As from the trace.

    Returns:
        The error with them.
    """
    own = [is_program_file(frame.filename) for frame in error.frames]
    sources = tuple(error.source_at(frame.filename, frame.line).only_line(frame.line)
                    if is_own or not any(own) else SourceText()
                    for frame, is_own in zip(error.frames, own, strict=True))
    return replace(error, sources=sources, locals=tuple(map(load_locals, error.locals)))


def _tensors(tensors: Sequence[TensorRecord], limit: int) -> tuple[TensorRecord, ...]:
    return tuple(load_tensor(tensor, limit) for tensor in tensors)
