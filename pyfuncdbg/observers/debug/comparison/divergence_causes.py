"""Causes of divergences of calls whose inputs are the same: random generators and variables that their functions read.

Reads the states that the calls began in. Used by the comparison of two recordings, on its thread.
"""
from __future__ import annotations

from dataclasses import replace

import numpy as np

from pyfuncdbg.observers.debug.comparison.record_comparison import RecordDifference
from pyfuncdbg.observers.debug.comparison.state_differences import drawn_generators, value_differences
from pyfuncdbg.observers.record.index.grouped_calls import GroupedCalls
from pyfuncdbg.observers.record.index.state_records import CallState
from pyfuncdbg.observers.record.trace import Trace

_NEXT = 8
"""Calls among which one is looked for that holds a state: backward steps hold none."""


_WITHOUT = ('unfinished', 'warning')
"""Kinds of differences whose cause is not looked for."""
States = tuple[CallState, CallState]


def with_causes(difference: RecordDifference, states: States, beside: States) -> RecordDifference:
    """The difference with its causes; of kind 'rng' if other random numbers are one.

    Args:
        difference: Of two calls, whose inputs are the same.
        states: That they began in.
        beside: Those of the next calls on both sides, or of the calls before.
    """
    if difference.kind in _WITHOUT:
        return difference
    generators = drawn_generators(*states, *beside)
    return replace(difference, kind='rng' if generators else difference.kind, generators=generators,
                   reads=value_differences(*states))


class Causes:
    """Finder of causes in two recordings.

    Args:
        traces: Both.
        groups: Their calls.
    """

    def __init__(self, traces: tuple[Trace, Trace], groups: tuple[GroupedCalls, GroupedCalls]) -> None:
        self._traces = traces
        self._groups = groups
        self._orders: list[tuple[np.ndarray, np.ndarray]] = []
        """The places of calls by process and number, and at which of them each is; made at the first question."""

    def add(self, difference: RecordDifference, places: tuple[int, int]) -> RecordDifference:
        """The difference with its causes, as far as they are known; of kind 'rng' if other random numbers are one.

        Args:
            difference: Of two calls.
            places: Of the calls in both groups.
        """
        if difference.inherited or difference.kind in _WITHOUT:
            return difference
        one, two = (self._state(side, place) for side, place in enumerate(places))
        beside = [self._neighbour_state(side, place) for side, place in enumerate(places)]
        return with_causes(difference, (one, two), (beside[0], beside[1]))

    def _state(self, side: int, place: int) -> CallState:
        return self._traces[side].grouped_state(int(self._groups[side].rows[place]))

    def _neighbour_state(self, side: int, place: int) -> CallState:
        """The state of the next call of the process whose state is known; of the last call that of the one before."""
        if not self._orders:
            orders = [np.lexsort((calls.id, calls.process)) for calls in self._groups]
            self._orders = [(order, np.argsort(order)) for order in orders]
        order, at = self._orders[side]
        calls = self._groups[side]
        own = int(at[place])
        for other in (*order[own + 1:own + 1 + _NEXT].tolist(), *order[max(own - _NEXT, 0):own][::-1].tolist()):
            if calls.process[other] == calls.process[place] and (state := self._state(side, other)).generators is not None:
                return state
        return CallState()
