"""`check` of functions that a framework differentiates itself: its gradients against differences of the same functions.

Runs on the thread of the command; hooks see nothing of it, and the program's state is as before at the end.
"""
from __future__ import annotations

import fnmatch
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pyfuncdbg.errors import CommandError
from pyfuncdbg.hooks.differentiable import DIFFERENTIABLES, Arrays, Differentiable
from pyfuncdbg.observers.debug.gradients.call_again import live_site, recorded_inputs, unrecorded
from pyfuncdbg.observers.debug.gradients.edge_check import EdgeCheck, EdgeOutcome
from pyfuncdbg.observers.debug.gradients.finite_differences import NoValueError, WeightedOutputs
from pyfuncdbg.observers.debug.gradients.gradient_check import SECONDS, CheckedEdge, agree
from pyfuncdbg.observers.record.records import CallRecord
from pyfuncdbg.observers.record.trace import Trace

_SEED = 0x5EED


def check_functions(trace: Trace, run: CallRecord, pattern: str, most: int,
                    before_each: Callable[[int, int], None] | None = None) -> tuple[list[CheckedEdge], int, int]:
    """Check the functions that were called in a run.

    Args:
        trace: Has the run.
        run: The call of the run.
        pattern: Glob on names and classes of the functions.
        most: Number of functions that are checked at most.
        before_each: Is called before each function, with its place and their number.

    Returns:
        The verdicts, how many functions were checked, and how many match.

    Raises:
        CommandError: The run cannot be repeated, or no function matches.
    """
    site = live_site(trace, run)
    find = site.attrs.get(DIFFERENTIABLES)
    if find is None:
        raise CommandError(f'run #{run.run} {run.site.name} is no call of a module')
    with unrecorded(site):
        try:
            functions = find(run.run, recorded_inputs(run))
        except ValueError as error:
            raise CommandError(f'run #{run.run} {run.site.name} cannot be repeated: {error}') from None
        wanted = [one for one in functions if any(fnmatch.fnmatchcase(name, pattern) for name in (one.name, one.kind))]
        if not wanted:
            raise CommandError(f'no module {pattern!r} was called in run #{run.run}; there were '
                               f'{", ".join(one.name for one in functions[:20])}')
        edges: list[CheckedEdge] = []
        for place, one in enumerate(wanted[:most]):
            if before_each is not None:
                before_each(place, len(wanted[:most]))
            outcomes, calls = differentiable_outcomes(one)
            edges += [CheckedEdge('', run.number, one.name, one.kind, '', slot, name, outcome, calls)
                      for slot, (name, outcome) in enumerate(zip(one.leaves, outcomes, strict=True))]
    return edges, len(wanted[:most]), len(wanted)


def differentiable_outcomes(one: Differentiable) -> tuple[Sequence[EdgeOutcome], int]:
    """Compare the gradients of a function with differences of it.

    Args:
        one: The function. Called in a block of `unrecorded`.

    Returns:
        The outcome for each of its arrays, and how often it was called.
    """
    try:
        outputs = one.function([np.array(value) for value in one.values])
        again = one.function([np.array(value) for value in one.values])
        if not all(np.array_equal(a, b, equal_nan=True) for a, b in zip(outputs, again, strict=True)):
            raise CommandError('two calls on the same inputs differ')
        if one.rule_outputs is not None and (why := _other_outputs(one.rule_outputs(one.values), outputs)):
            return [EdgeOutcome('BAD', reason=why)] * len(one.values), 2
        random = np.random.default_rng(_SEED)
        weights = [random.standard_normal(output.shape) for output in outputs]
        weighted = WeightedOutputs(_with_value(one.function), one.values, weights, SECONDS)
        gradients = one.gradients(weights)
        return [_outcome(weighted, slot, value, gradients[slot]) for slot, value in enumerate(one.values)], weighted.calls
    except Exception as error:                  # what the program's code raises is a result here
        reason = str(error) if isinstance(error, CommandError) else f'it raises {type(error).__name__}: {error}'
        return [EdgeOutcome('unchecked', reason=reason)] * len(one.values), 0


def _other_outputs(by_rule: Arrays, outputs: Arrays) -> str:
    """How the outputs that a rule gives differ from the function's; '' where they do not, but for rounding."""
    for place, (got, expected) in enumerate(zip(by_rule, outputs, strict=True)):
        if agree([got], [expected]):
            continue
        if got.shape != expected.shape or got.dtype != expected.dtype:
            return (f'its rule gives {got.dtype}{list(got.shape)} as output {place}, the function '
                    f'{expected.dtype}{list(expected.shape)}')
        difference = np.abs(np.asarray(got, np.complex128) - np.asarray(expected, np.complex128))
        index = np.unravel_index(int(np.argmax(difference)), got.shape)
        at = f' at {[int(i) for i in index]}' if index else ''
        return f'its rule gives another output {place} than the function:{at} {got[index]:.6g}, not {expected[index]:.6g}'
    return ''


def _with_value(function: Callable[[Arrays], Arrays]) -> Callable[[Arrays], Arrays]:
    def call(values: Arrays) -> Arrays:
        try:
            return function(values)
        except Exception as error:              # the program's, near its inputs
            raise NoValueError(f'{type(error).__name__}: {error}') from None
    return call


def _outcome(weighted: WeightedOutputs, slot: int, values: np.ndarray, gradient: Any) -> EdgeOutcome:
    if gradient is None:
        return EdgeOutcome('unchecked', reason='no gradient goes there: it is unused, or cut off (detach, no_grad)')
    if values.shape != gradient.shape:
        return EdgeOutcome('BAD', reason=f'the gradient has shape {list(gradient.shape)}, the input {list(values.shape)}')
    if not np.isfinite(values).all():
        return EdgeOutcome('unchecked', reason='the input is not finite')
    if not values.size:
        return EdgeOutcome('unchecked', reason='the input is empty')
    return EdgeCheck(weighted, slot, values, gradient, analytic=False).outcome()
