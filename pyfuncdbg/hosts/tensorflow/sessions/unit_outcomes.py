"""Outcomes of units that a session ran, reused when a paused run repeats them unchanged.

Kept by a stepped run, on its thread. Variables and the generators of Python and NumPy are restored; other effects of a node
(on a queue, an iterator, an op's own random numbers, files) stay, and its result is reused.
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
    """Outcomes of one stepped run."""

    def __init__(self, host: Host, run: SessionRun) -> None:
        self._host = host
        self._run = run
        self._outcomes: dict[int, _Outcome] = {}
        self._states_before: dict[int, _State] = {}
        self._variables: dict[int, SessionVariableNodes] = {}

    def run(self, unit: RunUnit, values: SteppedValues, run: Callable[[RunUnit], list[Any]]) -> None:
        """Run a unit, or reuse its outcome."""
        inputs = values.feeds(unit)
        outcome = self._outcomes.get(unit.start)
        before = self._states_before[unit.start] = self._state(unit)
        if outcome is not None and _are_equal(outcome.inputs, inputs) and _are_equal(outcome.before.variables,
                                                                                     before.variables):
            self._restore(unit, outcome.after)
            outputs = outcome.outputs
        else:
            outputs = run(unit)
            self._outcomes[unit.start] = _Outcome(inputs, outputs, before, self._state(unit))
        for tensor, value in zip(unit.fetches, outputs, strict=True):
            values.by_name[tensor.name] = value

    def keeps_result(self, unit: RunUnit, values: SteppedValues) -> bool:
        """Whether the next unit would not run, because its outcome is reused."""
        outcome = self._outcomes.get(unit.start)
        return outcome is not None and _are_equal(outcome.inputs, values.feeds(unit)) and _are_equal(
            outcome.before.variables, self._variables_of(unit).read(self._run))

    def take_back(self, unit: RunUnit) -> None:
        """Restore the state before a unit."""
        before = self._states_before.pop(unit.start, None)
        if before is not None:
            self._restore(unit, before)

    def forget(self, unit: RunUnit) -> None:
        """Discard the outcome of a unit."""
        self._outcomes.pop(unit.start, None)

    def obstacle(self, unit: RunUnit) -> str:
        """The reason why the run cannot go back over a unit that has run; '' if it can."""
        reason = self._variables_of(unit).obstacle if unit.session else ''
        return f'cannot rewind over {unit.nodes[0].name!r}: {reason}' if reason else ''

    def _variables_of(self, unit: RunUnit) -> SessionVariableNodes:
        variables = self._variables.get(unit.start)
        if variables is None:
            variables = self._variables[unit.start] = SessionVariableNodes(unit)
        return variables

    def _state(self, unit: RunUnit) -> _State:
        python = any(op.type in SCRIPTS for op in unit.nodes)
        return _State(self._variables_of(unit).read(self._run), self._host.rng_state() if python else None)

    def _restore(self, unit: RunUnit, state: _State) -> None:
        self._variables_of(unit).write(self._run, state.variables)
        if state.random is not None:
            self._host.set_rng_state(state.random)


def _are_equal(one: Mapping[Any, Any], other: Mapping[Any, Any]) -> bool:
    """Whether values are the same, bit for bit."""
    return one.keys() == other.keys() and all(_same(value, other[key]) for key, value in one.items())


def _same(one: Any, other: Any) -> bool:
    first, second = np.asarray(one), np.asarray(other)
    if first.dtype != second.dtype or first.shape != second.shape:
        return False
    return bool(first.tolist() == second.tolist()) if first.dtype.hasobject else first.tobytes() == second.tobytes()
