"""A breakpoint as data, the count of its hits, and a hit. Set on any thread, counted on the threads of the calls.

What counts, in one place. A *hit* is a call (or line) that the SPEC means, in an enabled breakpoint, whose condition is
true there; without a condition each is one. Hits are numbered 1, 2, 3... as long as the breakpoint lives, on all threads
together; those of a call that is retried keep the numbers that they had. The breakpoint *acts* at hit n if n > `after` and
(n - `after`) is a multiple of `every`; with `once` only at the first of these, and is disabled then. Enabling it again arms
`once` again and keeps the count. A condition that raises is no hit: the thread stops there the first time, whatever `every`,
`after`, `once` and `do` say, and later times are counted; another condition, or enabling it again, begins anew.
"""
from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from pyfuncdbg.errors import CommandError
from pyfuncdbg.hooks.call import Call, CallSite
from pyfuncdbg.hooks.locks import new_lock
from pyfuncdbg.observers.debug.breakpoints.spec import Spec
from pyfuncdbg.observers.debug.conditions.compiled_expression import TIMES, explain_error
from pyfuncdbg.observers.debug.conditions.predicate import Predicate, condition_text

Timing = Literal['before', 'after-call', 'error', 'gradient']
"""When it is tested: before the call, when it has returned, when it has raised; at the calls of its backward step."""

Action = Literal['stop', 'log', 'snap']
"""Stop the thread, write a line, or keep the call's inputs and outputs whole in the recording."""

TIMINGS: tuple[Timing, ...] = ('before', 'after-call', 'error', 'gradient')
ACTIONS: tuple[Action, ...] = ('stop', 'log', 'snap')

_CALLS, _HITS = 64, 1_000
"""Calls whose hits are kept for a retry of them, and hits of one call."""


@dataclass(frozen=True, slots=True)
class Breakpoint:
    """A breakpoint: place, condition and action.

    Attributes:
        number: As in 'breakpoint 2'.
        spec: The place.
        when: The condition, None for always.
        timing: When it is tested.
        do: What to do at a hit.
        once, every, after: Which hits count, see above.
        enabled: Whether it is tested at all.
        boundary: Whether it stops before the call of a function, too, and not inside of it.
    """

    number: int
    spec: Spec
    when: Predicate | None = None
    timing: Timing = 'before'
    do: Action = 'stop'
    once: bool = False
    every: int = 1
    after: int = 0
    enabled: bool = True
    boundary: bool = False

    def names_function(self, site: CallSite) -> bool:
        """Whether it stops inside of the function of a site, where that begins."""
        return self.timing == 'before' and not self.boundary and self.spec.means_function(site)

    @property
    def looks_at_output(self) -> bool:
        """Whether it is tested when there is an output."""
        if self.timing == 'gradient':
            return self.when is not None and bool(self.when.reads & {'out', 'tensors'})
        return self.timing == 'after-call'

    @property
    def cases(self) -> tuple[object, ...]:
        """Its place and conditions of stopping: equal for two that differ only in number and in how they name a file."""
        spec = replace(self.spec, text='', name='' if self.spec.kind == 'line' else self.spec.name)
        return (spec, condition_text(self.when), self.timing, self.do, self.once, self.every, self.after,
                self.boundary)

    def __str__(self) -> str:
        """As a command line would set it."""
        condition = f' if {condition_text(self.when)}' if self.when is not None else ''
        return f'{self.spec}{condition}'


@dataclass(frozen=True, slots=True)
class Hit:
    """A breakpoint that a call or a line has hit.

    Attributes:
        breakpoint: Which.
        error: What its condition raised, None if it was true.
    """

    breakpoint: Breakpoint
    error: Exception | None = None

    @property
    def reason(self) -> str:
        """'breakpoint 2', with what the condition raised."""
        name = f'breakpoint {self.breakpoint.number}'
        if self.error is None:
            return name
        return f'{name}: {error_text(self.error)}, in its condition {condition_text(self.breakpoint.when)}'


def error_text(error: Exception) -> str:
    """The exception of a condition as one line: 'NameError: name 'sd' is not defined'."""
    return f'{type(error).__name__}: {explain_error(error)}'


class _CallHits:
    """The hits in one call, which may be executed several times.

    Attributes:
        numbers: Of the hits, in order, the first of them that is kept.
        execution: Id of the newest execution.
        count: The number of its hits.
    """

    __slots__ = ('count', 'execution', 'numbers')

    def __init__(self) -> None:
        self.numbers: list[int] = []
        self.execution = self.count = 0


class HitCount:
    """Counts the hits of one breakpoint, and the times its condition raised. Any thread.

    Attributes:
        hits: So far.
        failures: How often the condition has raised since it was set, or since the breakpoint was enabled.
        failure: What it raised first of these times, '' if it has not.
    """

    __slots__ = ('_acted', '_counted', '_lock', 'failure', 'failures', 'hits')

    def __init__(self) -> None:
        self._lock = new_lock()
        self._acted = False
        self._counted: dict[int, _CallHits] = {}
        self.hits = self.failures = 0
        self.failure = ''

    def count_failure(self, error: Exception) -> bool:
        """Count an error of the condition; whether it is the first."""
        with self._lock:
            self.failures += 1
            if self.failures == 1:
                self.failure = error_text(error)
            return self.failures == 1

    def count_hit(self, breakpoint: Breakpoint, call: Call | None = None) -> bool:
        """Count a hit in a call, if it is in one; whether the breakpoint acts at it."""
        with self._lock:
            if breakpoint.once and self._acted:
                return False                    # another thread was first and is disabling it
            beyond = self._number(call) - breakpoint.after
            acts = beyond > 0 and beyond % breakpoint.every == 0
            self._acted |= acts
            return acts

    def _number(self, call: Call | None) -> int:
        """The number of this hit; that of a retried call is the number of the first execution's hit."""
        hits = self._hits_of(call) if call is not None else None
        if hits is not None and hits.count <= len(hits.numbers):
            return hits.numbers[hits.count - 1]
        self.hits += 1
        if hits is not None and len(hits.numbers) < _HITS:
            hits.numbers.append(self.hits)
        return self.hits

    def _hits_of(self, call: Call) -> _CallHits:
        first = call.retry_of or call.id
        hits = self._counted.get(first)
        if hits is None:
            if len(self._counted) >= _CALLS:
                del self._counted[next(iter(self._counted))]
            hits = self._counted[first] = _CallHits()
        if hits.execution != call.id:
            hits.execution, hits.count = call.id, 0
        hits.count += 1
        return hits

    def arm(self) -> None:
        """Reset `once` and the failures: the breakpoint is enabled again."""
        with self._lock:
            self._acted = False
        self.forget_failures()

    def forget_failures(self) -> None:
        """Forget the failures: the condition was replaced."""
        with self._lock:
            self.failures, self.failure = 0, ''


def timing_of(where: Spec, condition: Predicate | None, timing: Timing | None, do: Action) -> Timing:
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
    reads = condition.reads if condition is not None else frozenset()
    if 'error' in reads and timing not in (None, 'error'):
        raise CommandError(f"the condition uses 'error', which exists only with --error, not with --{timing}")
    if 'out' in reads and timing in ('before', 'error'):
        there = 'before the call' if timing == 'before' else 'where it raised'
        raise CommandError(f"the condition uses 'out', and there is no output {there}: remove --{timing}")
    if timing == 'before' and (times := ' and '.join(repr(name) for name in TIMES if name in reads)):
        raise CommandError(f'the condition uses {times}, and a call has no time before it: remove --before')
    if timing is not None:
        return timing
    if 'error' in reads:
        if 'out' in reads:
            raise CommandError("the condition uses both 'out' and 'error': a call has only one of them")
        return 'error'
    return 'after-call' if reads & {'out', 'tensors', *TIMES} else 'before'
