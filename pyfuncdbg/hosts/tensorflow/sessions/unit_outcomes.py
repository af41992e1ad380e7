"""Outcomes of units that a session ran, reused when a paused run repeats them unchanged.

Kept by a walk, on the thread of the run. Variables and the generators of Python and NumPy are put back; what else a node
did (a queue, an iterator, an op's own random numbers, files) stays, and its result stands instead.
"""
from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pyfuncdbg.hooks.host import Host
from pyfuncdbg.hosts.tensorflow.nodes.op_types import SCRIPTS
from pyfuncdbg.hosts.tensorflow.sessions.run_units import RunUnit
from pyfuncdbg.hosts.tensorflow.sessions.session_variables import SessionRun, SessionVariableNodes
from pyfuncdbg.hosts.tensorflow.sessions.stepped_values import SteppedValues


@dataclass(frozen=True, slots=True)
class _State:
    """Variables, and the random states of Python code, at one moment."""

    variables: Mapping[Any, Any]
    random: Any


@dataclass(frozen=True, slots=True)
class _Outcome:
    """Outcome of a unit: its inputs and outputs, and the state around it."""

    inputs: Mapping[Any, Any]
    outputs: list[Any]
    before: _State
    after: _State


class UnitOutcomes:
    """Outcomes of one walk."""

    def __init__(self, host: Host, run: SessionRun) -> None:
        self._host = host
        self._run = run
        self._known: dict[int, _Outcome] = {}
        self._begun: dict[int, _State] = {}
        self._variables: dict[int, SessionVariableNodes] = {}

    def run(self, unit: RunUnit, values: SteppedValues, run: Callable[[RunUnit], list[Any]]) -> None:
        """Run a unit, or let stand what it did."""
        inputs = values.feeds(unit)
        known = self._known.get(unit.start)
        before = self._begun[unit.start] = self._state(unit)
        if known is not None and _alike(known.inputs, inputs) and _alike(known.before.variables, before.variables):
            self._restore(unit, known.after)
            outputs = known.outputs
        else:
            outputs = run(unit)
            self._known[unit.start] = _Outcome(inputs, outputs, before, self._state(unit))
        for tensor, value in zip(unit.fetches, outputs, strict=True):
            values.known[tensor.name] = value

    def keeps_result(self, unit: RunUnit, values: SteppedValues) -> bool:
        """Whether a unit that is next would not run, for what it did stands."""
        known = self._known.get(unit.start)
        return known is not None and _alike(known.inputs, values.feeds(unit)) and _alike(
            known.before.variables, self._of(unit).read(self._run))

    def take_back(self, unit: RunUnit) -> None:
        """Put the state before a unit back."""
        before = self._begun.pop(unit.start, None)
        if before is not None:
            self._restore(unit, before)

    def forget(self, unit: RunUnit) -> None:
        """Discard the outcome of a unit."""
        self._known.pop(unit.start, None)

    def obstacle(self, unit: RunUnit) -> str:
        """The reason why the run cannot go back over a unit that has run; '' if it can."""
        reason = self._of(unit).obstacle if unit.session else ''
        return f'cannot rewind over {unit.nodes[0].name!r}: {reason}' if reason else ''

    def _of(self, unit: RunUnit) -> SessionVariableNodes:
        found = self._variables.get(unit.start)
        if found is None:
            found = self._variables[unit.start] = SessionVariableNodes(unit)
        return found

    def _state(self, unit: RunUnit) -> _State:
        python = any(op.type in SCRIPTS for op in unit.nodes)
        return _State(self._of(unit).read(self._run), self._host.rng_state() if python else None)

    def _restore(self, unit: RunUnit, state: _State) -> None:
        self._of(unit).write(self._run, state.variables)
        if state.random is not None:
            self._host.set_rng_state(state.random)


def _alike(one: Mapping[Any, Any], other: Mapping[Any, Any]) -> bool:
    """Whether values are the same, bit for bit."""
    return one.keys() == other.keys() and all(_same(value, other[key]) for key, value in one.items())


def _same(one: Any, other: Any) -> bool:
    first, second = np.asarray(one), np.asarray(other)
    if first.dtype != second.dtype or first.shape != second.shape:
        return False
    return bool(first.tolist() == second.tolist()) if first.dtype.hasobject else first.tobytes() == second.tobytes()
