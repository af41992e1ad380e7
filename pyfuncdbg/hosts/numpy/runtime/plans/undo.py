"""Undo log of steps with effects: a paused run goes back over them and forward again.

The executor takes a `SavedState` around each such step and keeps its `StepOutcome`; on the thread of the run.
"""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pyfuncdbg.hosts.numpy.runtime.execution.execution import Execution
from pyfuncdbg.hosts.numpy.runtime.execution.resources import save_content, storages as every_storage


class SavedState:
    """Variables, generators and error state as they were at one moment.

    Args:
        execution: Whose they are.
        inputs: Of the step; the storages of variables among them may be written to.
        python: The step calls Python, which may use every generator there is and write to every variable of the run, and to
            every eager one of the process.
        like: An earlier state around the same step: what it turned out to use and to write is known already.
    """

    __slots__ = ('_errstate', '_execution', '_reachable', '_resources', '_rng', '_stored', '_written')

    def __init__(self, execution: Execution, inputs: Sequence[Any], python: bool, like: SavedState | None = None) -> None:
        self._execution = execution
        self._written: list[Any] = [] if like is None else like._written
        storages = {id(value): value for value in (*_storages(execution, inputs, python), *self._written)}
        self._stored = [(storage, storage.value) for storage in storages.values()]
        self._reachable = [(storage, storage.value) for storage in list(every_storage)
                           if id(storage) not in storages] if python else []
        self._rng = execution.run.host.rng_state() if python else None
        self._errstate = execution.errstate
        keys = () if like is None else like._resources
        self._resources: dict[Any, tuple[Any, Any]] = {key: save_content(execution.resources.get(key)) for key in keys}

    def note(self, used: dict[Any, tuple[Any, Any]]) -> None:
        """The resources that the step turned out to use, as they were before."""
        self._resources.update(used)

    def over(self, inputs: Sequence[Any]) -> SavedState:
        """The step is over: the state after it.

        Of the variables that only Python could reach, those that the step wrote are put back with its own. Others are left
        alone: other threads have variables too.
        """
        for storage, value in self._reachable:
            if storage.value is not value:
                self._stored.append((storage, value))
                self._written.append(storage)
        return SavedState(self._execution, inputs, self._rng is not None, self)

    def restore(self) -> None:
        """Put everything back. A resource that was not there is made again when it is needed."""
        for storage, value in self._stored:
            storage.value = value
        if self._rng is not None:
            self._execution.run.host.set_rng_state(self._rng)
        self._execution.errstate = self._errstate
        resources = self._execution.resources
        for key, (resource, content) in self._resources.items():
            if resource is None:
                resources.pop(key, None)
                continue
            resources[key] = resource
            if isinstance(resource, np.random.Generator):
                resource.bit_generator.state = content
            elif isinstance(resource, list):
                resource[:] = content

    def holds(self) -> bool:
        """Whether the variables and resources are now as they were then; eager ones too, which Python may read."""
        eager = [entry for entry in self._reachable if entry[0].variable() is not None]
        return all(alike(storage.value, value) for storage, value in (*self._stored, *eager)) and all(
            alike(save_content(self._execution.resources.get(key)), known) for key, known in self._resources.items())


@dataclass(frozen=True, slots=True)
class StepOutcome:
    """Outcome of a step with effects, reused when its inputs and state repeat.

    Attributes:
        outputs: Its outputs, the hidden ones last.
        inputs: Its inputs; None if unknown: then any inputs match.
        before, after: The state around it; None if it ran before the executor took over.
    """

    outputs: tuple[Any, ...]
    inputs: tuple[Any, ...] | None = None
    before: SavedState | None = None
    after: SavedState | None = None

    def keeps_result(self, inputs: Sequence[Any]) -> bool:
        """Whether the step would get the same inputs and state again."""
        if self.inputs is not None and not all(map(alike, self.inputs, inputs)):
            return False
        return self.before is None or self.before.holds()


def alike(one: Any, other: Any) -> bool:
    """Whether two values are the same, bit for bit."""
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(alike(value, other[key]) for key, value in one.items())
    if isinstance(one, (tuple, list)):
        return len(one) == len(other) and all(map(alike, one, other))
    if isinstance(one, (np.ndarray, np.generic)):
        if one.dtype != other.dtype or one.shape != other.shape:
            return False
        return bool(one.tolist() == other.tolist()) if one.dtype.hasobject else one.tobytes() == other.tobytes()
    return isinstance(one, (int, float, str, bytes)) and bool(one == other)


def _storages(execution: Execution, inputs: Sequence[Any], python: bool) -> Iterator[Any]:
    for value in inputs:
        if hasattr(value, 'variable'):
            yield value
    if python:
        for value in list(execution.resources.values()):
            if hasattr(value, 'variable'):
                yield value
