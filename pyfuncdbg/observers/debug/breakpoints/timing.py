"""Timing of a breakpoint's test: as the user says, or as its place and condition require.

Asked under the lock of `Breakpoints`, when one is set or changed.
"""
from __future__ import annotations

from pyfuncdbg.errors import CommandError
from pyfuncdbg.observers.debug.breakpoints.breakpoint import TIMINGS, Action, Timing
from pyfuncdbg.observers.debug.breakpoints.spec import Spec
from pyfuncdbg.observers.debug.conditions.predicate import Predicate


def timing_of(where: Spec, when: Predicate | None, timing: Timing | None, do: Action) -> Timing:
    """The time at which a breakpoint is tested.

    Raises:
        CommandError: Not when the user wants it.
    """
    if timing is not None and timing not in TIMINGS:
        raise CommandError(f'no timing {timing!r}; there are {", ".join(TIMINGS)}')
    if where.kind == 'line':
        if timing not in (None, 'before'):
            raise CommandError(f'{where} is a line: a thread stops before it. --{timing} is for calls of a node or function')
        return 'before'
    reads = when.reads if when is not None else frozenset()
    if 'error' in reads and timing not in (None, 'error'):
        raise CommandError(f"the condition reads 'error', which there is only with --error, not with --{timing}")
    if 'out' in reads and timing in ('before', 'error'):
        there = 'before the call' if timing == 'before' else 'where it raised'
        raise CommandError(f"the condition reads 'out', and there is no output {there}: leave --{timing} out")
    if timing is not None:
        return timing
    if 'error' in reads:
        if 'out' in reads:
            raise CommandError("the condition reads both 'out' and 'error': a call has one or the other")
        return 'error'
    return 'after-call' if reads & {'out', 'tensors'} else 'before'
