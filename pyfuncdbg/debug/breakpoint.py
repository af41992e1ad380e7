"""A breakpoint as data, the count of its hits, and a hit. Set on any thread, counted on the threads of the calls.

What counts, in one place. A *hit* is a call (or line) that the SPEC means, in an enabled breakpoint, whose condition is
true there; without a condition each is one. Hits are numbered 1, 2, 3... as long as the breakpoint lives, on all threads
together. The breakpoint *acts* at hit n if n > `after` and (n - `after`) is a multiple of `every`; with `once` only at the
first of these, and is disabled then. Enabling it again arms `once` again and keeps the count. A condition that raises is no
hit: the thread stops there, whatever `every`, `after`, `once` and `do` say.
"""
from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pyfuncdbg.debug.call_attributes import explained
from pyfuncdbg.debug.predicate import Predicate, shown
from pyfuncdbg.debug.spec import Spec
from pyfuncdbg.hooks.locks import new_lock

Timing = Literal['before', 'after-call', 'error', 'gradient']
"""When it is tested: before the call, when it has returned, when it has raised; at the calls of its backward step."""

Action = Literal['stop', 'log', 'snap']
"""Stop the thread, write a line, or keep the call's inputs and outputs whole in the recording."""

TIMINGS: tuple[Timing, ...] = ('before', 'after-call', 'error', 'gradient')
ACTIONS: tuple[Action, ...] = ('stop', 'log', 'snap')


@dataclass(frozen=True, slots=True)
class Breakpoint:
    """Where to stop, and when.

    Attributes:
        number: As in 'breakpoint 2'.
        spec: The place.
        when: The condition, None for always.
        timing: When it is tested.
        do: What to do at a hit.
        once, every, after: Which hits count, see above.
        enabled: Whether it is tested at all.
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

    @property
    def looks_at_output(self) -> bool:
        """Whether it is tested when there is an output."""
        if self.timing == 'gradient':
            return self.when is not None and bool(self.when.reads & {'out', 'tensors'})
        return self.timing == 'after-call'

    def __str__(self) -> str:
        """As a command line would set it."""
        condition = f' if {shown(self.when)}' if self.when is not None else ''
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
        why = f'{type(self.error).__name__}: {explained(self.error)}'
        return f'{name}: {why}, in its condition {shown(self.breakpoint.when)}'


class HitCount:
    """Counts the hits of one breakpoint. Any thread."""

    __slots__ = ('_acted', '_lock', 'hits')

    def __init__(self) -> None:
        self._lock = new_lock()
        self._acted = False
        self.hits = 0

    def acts(self, breakpoint: Breakpoint) -> bool:
        """Count a hit; whether the breakpoint acts at it."""
        with self._lock:
            if breakpoint.once and self._acted:
                return False                    # another thread was first, and it is being disabled
            self.hits += 1
            beyond = self.hits - breakpoint.after
            acts = beyond > 0 and beyond % breakpoint.every == 0
            self._acted |= acts
            return acts

    def arm(self) -> None:
        """It is enabled again."""
        with self._lock:
            self._acted = False
