"""`check`: the gradients of a tape against differences of the recorded forward calls, made again on their recorded inputs.

Runs on the thread of the command; hooks see nothing of it, and variables and random states are as before at the end.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from pyfuncdbg.errors import CommandError, DroppedError
from pyfuncdbg.hooks.call import Call
from pyfuncdbg.observers.debug.gradients.call_again import (
    CallRepeater,
    RepeatCall,
    RepeatedResult,
    missing_reason,
    repeat_live_call,
)
from pyfuncdbg.observers.debug.gradients.edge_check import EdgeCheck, EdgeOutcome
from pyfuncdbg.observers.debug.gradients.finite_differences import Arrays, NoValueError, WeightedOutputs
from pyfuncdbg.observers.debug.gradients.forward_names import forward_name
from pyfuncdbg.observers.debug.gradients.tape import is_source
from pyfuncdbg.observers.record.records import CallRecord, TensorRecord
from pyfuncdbg.observers.record.trace import Trace

SECONDS = 2.0
"""Time for the calls of one backward step; one pass of directions is finished in any case."""
_SAME = {8: 1e-9, 4: 1e-3, 2: 5e-2}


@dataclass(frozen=True, slots=True)
class CheckedEdge:
    """The verdict on the gradient of one input of one forward call.

    Attributes:
        gradient: Number of the gradient call.
        forward: Number of the forward call, '' if it was not recorded.
        name: Of the forward node; `op_type` its type; `function` the user's function, '' if none.
        slot: Which input.
        tensor: Its name, or its place.
        outcome: What was found.
        calls: How often the forward call was made again for the whole step.
        place: File and line of a rule that was called without values, '' of others.
        values: What such a rule was checked on: values that were made up, or '#7' for those of call 7.
    """

    gradient: str
    forward: str
    name: str
    op_type: str
    function: str
    slot: int
    tensor: str
    outcome: EdgeOutcome
    calls: int = 0
    place: str = ''
    values: str = ''


@dataclass(frozen=True, slots=True)
class CheckReport:
    """The edges that were checked.

    Attributes:
        edges: In order of time of their gradient calls.
        counts: How many of each verdict.
        steps: How many backward steps were checked, of `total`.
        filters: What was asked for, by name.
        foreign: Steps of ops of the framework `host` itself, which are not checked.
        unit: What was checked: backward steps, modules, or rules.
        remark: How rules that were called without values get the program's own; '' where none was checked.
        files: Files of the program whose code ran, of a finished trace.
    """

    edges: tuple[CheckedEdge, ...]
    counts: dict[str, int]
    steps: int
    total: int
    filters: dict[str, object]
    foreign: int = 0
    host: str = ''
    unit: str = 'backward step'
    remark: str = ''
    files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CheckedStep:
    """The edges of one backward step of a finished trace.

    Attributes:
        edges: As of a `CheckReport`.
        files: Files of the program whose code ran.
    """

    edges: tuple[CheckedEdge, ...]
    files: tuple[str, ...]


def check_step(trace: Trace, step: CallRecord, at: Call | None = None,
               before_each: Callable[[], None] | None = None, repeat: RepeatCall = repeat_live_call) -> list[CheckedEdge]:
    """Check every gradient that one gradient call gave.

    Args:
        trace: Has both calls.
        step: The gradient call.
        at: The call that a thread is stopped at.
        before_each: Is called each time the forward call is made again.
        repeat: Makes it again.
    """
    slots = [slot for slot, tensor in enumerate(step.outputs) if not tensor.absent]
    if not slots or is_source(step):
        return []
    forward, calls = None, 0
    try:
        if step.site.traits.reads_variable:     # eager code makes no call of it
            outcomes = {slot: _check_read(step, slot) for slot in slots}
        elif all(step.outputs[slot].dtype == 'object' for slot in slots):
            raise CommandError('it created nodes of a backward pass, which have values only when they run')
        else:
            forward = forward_call(trace, step)
            with repeat(trace, forward, at, before_each) as maker:
                outcomes, calls = _outcomes(step, forward, slots, maker)
    except CommandError as error:
        outcomes = {slot: EdgeOutcome('unchecked', reason=_reason(error)) for slot in slots}
    name = forward_name(step)
    site = forward.site if forward is not None else None
    names = forward.inputs if forward is not None else ()
    return [CheckedEdge(step.number, forward.number if forward is not None else '', name, step.site.op_type,
                        site.function if site is not None else '', slot,
                        (names[slot].name if slot < len(names) else '') or f'input {slot}', outcome, calls)
            for slot, outcome in outcomes.items()]


def _check_read(step: CallRecord, slot: int) -> EdgeOutcome:
    """The verdict on a read of a variable: its gradient equals the incoming one."""
    incoming = _recorded_array(step.inputs[0], 'gradient of output 0')
    outgoing = _recorded_array(step.outputs[slot], f'gradient of input {slot}')
    if outgoing.dtype.kind != 'f':
        return EdgeOutcome('unchecked', reason=f'gradients of type {step.outputs[slot].dtype} are not checked')
    if incoming.shape != outgoing.shape:
        return EdgeOutcome('BAD',
                           reason=f'the gradient has shape {list(outgoing.shape)}, what comes to it {list(incoming.shape)}')
    wrong = np.flatnonzero(~((incoming == outgoing) | ((incoming != incoming) & (outgoing != outgoing))))
    if not wrong.size:
        return EdgeOutcome('OK', 0.0)
    index = tuple(int(i) for i in np.unravel_index(int(wrong[0]), incoming.shape))
    got, expected = float(outgoing[index]), float(incoming[index])
    size = max(abs(got), abs(expected))
    return EdgeOutcome('BAD', abs(got - expected) / size if np.isfinite(size) else None, index, got, expected)


def _reason(error: CommandError) -> str:
    return next((why for how in ('repeated', 'replayed') if (why := str(error).partition(f' cannot be {how}: ')[2])),
                str(error))


def forward_call(trace: Trace, step: CallRecord) -> CallRecord:
    """The call that a gradient call differentiates.

    Raises:
        CommandError: It was not recorded.
    """
    name, kind = forward_name(step), step.site.op_type
    if step.forward:
        known = trace.call(step.forward)
        if known.site.op_type == kind and (known.site.kind == 'op' or known.site.name == name):
            return known
    calls = [call for call in trace.calls(kind='op', run=step.run, site=kind) if call.site.name == name
             and call.site.op_type == kind and call.process == step.process and call.started <= step.started]
    if calls:
        return calls[-1]
    raise CommandError(f'its forward call is not in the trace: {_missing_reason(trace, step)}')


def _missing_reason(trace: Trace, step: CallRecord) -> str:
    if step.site.traits.wraps_python or step.site.traits.backward_of_python:
        return 'it was not recorded'
    if step.site.traits.calls_function and trace.count(kind='op'):
        return 'a call of a traced function is checked step by step, by those inside of it'
    if not trace.count(kind='op', run=step.run) and not trace.info().ops:
        return f'nodes of run #{step.run} were not recorded: --ops (ops=True) does that'
    if trace.run(step.run, step.process).kind == 'session':
        return 'the run did not execute it; fetch its output too'
    return 'it was made in a traced function, and the backward pass does not say in which call of it'


def _outcomes(step: CallRecord, forward: CallRecord, slots: Sequence[int],
              maker: CallRepeater) -> tuple[dict[int, EdgeOutcome], int]:
    gradients = {slot: _recorded_array(step.outputs[slot], f'gradient of input {slot}') for slot in slots}
    inputs = [_input(tensor, i) for i, tensor in enumerate(forward.inputs)]
    if forward.site.traits.gathers_rows and 0 in gradients:
        gradients[0] = _dense_gradient(gradients[0], inputs)
    outputs = [_recorded_array(tensor, f'output {i}') for i, tensor in enumerate(forward.outputs) if not tensor.absent]
    seeds = [None if tensor.absent or tensor.dtype in ('object', 'variant', 'resource') else
             _recorded_array(tensor, f'gradient of output {i}')
             for i, tensor in enumerate(step.inputs[:len(forward.outputs)])]
    outcomes: dict[int, EdgeOutcome] = {}
    function, inputs = _function(maker, inputs, outputs, op=forward.site.kind == 'op')
    if forward.site.traits.takes_symmetric:
        function = partial(_symmetric_function, function)
    weighted = _weighted(function, inputs, seeds)
    for slot in slots:
        refused = _refuse_input(inputs, gradients[slot], slot, forward)
        outcomes[slot] = refused if refused is not None else EdgeCheck(
            weighted, slot, inputs[slot], gradients[slot], analytic=forward.site.kind == 'op').outcome()
    if changed := maker.changed():
        raise CommandError(f'it assigns to a variable ({", ".join(changed[:3])}), which was put back')
    return outcomes, weighted.calls


def _dense_gradient(slices: np.ndarray, inputs: Arrays) -> np.ndarray:
    """The gradient of what rows were gathered from: recorded are its rows only, in the order in which they were gathered."""
    table, indices = inputs[0], inputs[1]
    if slices.shape == table.shape or slices.shape != (indices.size, *table.shape[1:]):
        return slices
    whole = np.zeros(table.shape, slices.dtype)
    np.add.at(whole, indices.reshape(-1), slices)
    return whole


def _symmetric_function(function: Any, values: Arrays) -> Arrays:
    """A function of a symmetric matrix: an element and its mirror image change together."""
    return function([(value + value.swapaxes(-1, -2)) / 2 for value in values])  # type: ignore[no-any-return]


def _weighted(function: Any, inputs: Arrays, seeds: Sequence[np.ndarray | None]) -> WeightedOutputs:
    try:
        return WeightedOutputs(function, inputs, seeds, SECONDS)
    except NoValueError as error:
        raise CommandError(f'repeated on its recorded inputs, it raises {error}') from None


def _input(tensor: TensorRecord, slot: int) -> np.ndarray:
    if tensor.dtype in ('object', 'resource', 'variant'):       # a variable's handle: what needs it cannot be called again
        return np.empty((), object)
    return _recorded_array(tensor, f'input {slot}')


def _recorded_array(tensor: TensorRecord, what: str) -> np.ndarray:
    try:
        return np.array(tensor.to_numpy())
    except DroppedError:
        raise CommandError(f'{what} {missing_reason(tensor)}') from None


def _function(maker: CallRepeater, inputs: Sequence[np.ndarray], recorded: Arrays, *,
              op: bool) -> tuple[Any, list[np.ndarray]]:
    """The forward call as a function of arrays, and its inputs: in float64 where it takes that, which is far more exact.

    Raises:
        CommandError: It does not give again what was recorded, or not twice the same.
    """
    def function(values: Arrays) -> Arrays:
        result = maker.make(list(values))
        if result.error is not None:
            raise NoValueError(f'{type(result.error).__name__}: {result.error}')
        return result.outputs

    first, second = maker.make([np.array(value) for value in inputs]), maker.make([np.array(value) for value in inputs])
    if op and isinstance(first.error, ValueError):
        raise CommandError(str(first.error))
    _compare(first, second, recorded)
    wide = [value.astype(np.float64) if value.dtype in (np.float32, np.float16) else value for value in inputs]
    if any(one is not other for one, other in zip(wide, inputs, strict=True)):
        made = maker.make([np.array(value) for value in wide])
        if made.error is None and agree(made.outputs, first.outputs) and all(
                output.dtype != np.float32 and output.dtype != np.float16 for output in made.outputs):
            return function, wide
    return function, list(inputs)


def _compare(first: RepeatedResult, second: RepeatedResult, recorded: Arrays) -> None:
    if first.error is not None:
        raise CommandError(f'repeated on its recorded inputs, it raises {type(first.error).__name__}: {first.error}')
    if not agree(first.outputs, second.outputs):
        raise CommandError('two calls on the same inputs differ: it is random, or has state between calls')
    if len(recorded) == len(first.outputs) and not agree(first.outputs, recorded):
        raise CommandError('its result differs from the recorded one: it depends on more than its inputs')


def agree(one: Arrays, other: Arrays) -> bool:
    """Whether two sets of outputs are equal but for rounding."""
    for a, b in zip(one, other, strict=False):
        if a.shape != b.shape or a.dtype.kind != b.dtype.kind:
            return False
        if a.dtype.kind == 'f':
            allowed = _SAME.get(min(a.dtype.itemsize, b.dtype.itemsize), 1e-3)
            scale = float(np.abs(b[np.isfinite(b)]).max(initial=0.0))
            if not np.allclose(a, b, rtol=allowed, atol=allowed * scale, equal_nan=True):
                return False
        elif not np.array_equal(a, b):
            return False
    return True


def _refuse_input(inputs: Sequence[np.ndarray], gradient: np.ndarray, slot: int, forward: CallRecord) -> EdgeOutcome | None:
    """The outcome for an input that cannot be checked, or whose gradient is wrong at first sight; else None."""
    if slot >= len(inputs):
        return EdgeOutcome('unchecked', reason='it is a variable or a tensor that the function captured')
    values = inputs[slot]
    if values.dtype.kind == 'O':
        return EdgeOutcome('unchecked', reason='it is a variable')
    if values.dtype.kind != 'f' or gradient.dtype.kind != 'f':
        return EdgeOutcome('unchecked', reason=f'inputs of type {forward.inputs[slot].dtype} are not checked')
    if forward.site.traits.takes_symmetric and not np.array_equal(values, values.swapaxes(-1, -2)):
        return EdgeOutcome('unchecked', reason='its gradient is for a symmetric matrix, and the input is not symmetric')
    if values.shape != gradient.shape:
        return EdgeOutcome('BAD', reason=f'the gradient has shape {list(gradient.shape)}, the input {list(values.shape)}')
    if not np.isfinite(values).all():
        return EdgeOutcome('unchecked', reason='the input is not finite')
    if not values.size:
        return EdgeOutcome('unchecked', reason='the input is empty')
    return None
