"""`health --line`: a call made again under the line tracer, and what that found.

Runs on the thread of the command.
"""
from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from pyfuncdbg.errors import CommandError, DroppedError
from pyfuncdbg.hooks.call import Call
from pyfuncdbg.observers.debug.gradients.call_again import RepeatedResult, live_site, recorded_inputs, repeat_calls
from pyfuncdbg.observers.debug.numerics.nan_line_tracer import LineTracer, NonfiniteVariable, describe, find_cause
from pyfuncdbg.observers.record.records import CallRecord, OutputRecord, TensorRecord
from pyfuncdbg.observers.record.sources.source_text import SourceText
from pyfuncdbg.observers.record.trace import Trace


@dataclass(frozen=True, slots=True)
class LineReport:
    """Findings of the line tracer in the re-run of one call.

    Attributes:
        call: As recorded.
        cause: The appearances that lead to the result, the first of them first; () if none was seen.
        source: The lines around that of the first of them.
        others: How many further variables were non-finite at some time.
        functions: How many activations of the program's functions were traced.
        outputs: Of the re-run.
        same: Whether they equal the recorded ones bit for bit; None where those were not kept.
        messages: What the re-run printed.
        raised: What it raised, as one line; ''.
        changed: Variables that it assigned to, and that were put back.
    """

    call: CallRecord
    cause: tuple[NonfiniteVariable, ...]
    source: SourceText = field(repr=False)
    others: int
    functions: int
    outputs: tuple[TensorRecord, ...]
    same: bool | None
    messages: tuple[OutputRecord, ...]
    raised: str
    changed: tuple[str, ...]


def trace_lines(trace: Trace, call: CallRecord, at: Call | None = None) -> LineReport:
    """Make a Python call again on its recorded inputs, line by line; `at` is the call that a thread is stopped at.

    Raises:
        CommandError: It is no Python call, its function is not alive here, or an input was not kept in full.
    """
    kind = call.site.kind
    if kind != 'python':
        what = {'gradient': 'a backward step', 'op': 'a node of the graph'}.get(kind, 'a whole run')
        forward = f'; its forward call is #{call.forward}' if call.forward else ''
        raise CommandError(f'call #{call.number} {call.label} is {what} and has no lines of Python: --line takes the number '
                           f'of a Python call{forward}')
    if call.site.traits.bound_to_pass:
        raise CommandError(f'call #{call.number} {call.label} cannot be made again: what its forward call kept for it is '
                           'gone. A recording with --ops has the ops in it with their lines: health names the first')
    site = live_site(trace, call, at)
    inputs = recorded_inputs(call)
    tracer = LineTracer(site.host.to_numpy, site.function)
    with repeat_calls(site) as maker:
        result = maker.make(inputs, tracer.run)
    way = [tracer.appearances[i] for i in find_cause(tracer)]
    error = result.error
    source = call.site.source_at(way[0].filename, way[0].line) if way and not way[0].is_parameter else SourceText()
    return LineReport(
        call, tuple(way), source, len(tracer.appearances) - len(way), tracer.frames,
        tuple(describe(old.name, array) for old, array in zip(call.outputs, result.outputs, strict=False)),
        same_outputs(call, result), result.messages,
        '' if error is None else f'{type(error).__name__}: {error}', result.changed)


def same_outputs(call: CallRecord, result: RepeatedResult) -> bool | None:
    """Whether a call made again gave what was recorded, bit for bit; None where that was not kept."""
    if len(result.outputs) != len(call.outputs):
        return None if call.error is not None or result.error is not None else False
    try:
        pairs = [(tensor.to_numpy(), array) for tensor, array in zip(call.outputs, result.outputs, strict=True)
                 if not tensor.absent]
    except DroppedError:
        return None
    return all(old.dtype == new.dtype and old.shape == new.shape and _bytes(old) == _bytes(new) for old, new in pairs)


def _bytes(array: np.ndarray) -> object:
    return array.tolist() if array.dtype.hasobject else array.tobytes()
