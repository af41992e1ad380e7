"""Execution history of a plan, step by step: values, saved states, and undo.

The executor keeps one while it runs; for a plan at full speed one is made on demand. On the thread of the run.

Steps with effects have an undo log: a paused run can go back over them and forward again. The executor takes a `SavedState`
around each such step and keeps its `StepOutcome`.
"""
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pyfuncdbg.hooks.call import CallSite
from pyfuncdbg.hooks.output import numpy_errstate
from pyfuncdbg.hosts.numpy.graph.types.dtypes import resource
from pyfuncdbg.hosts.numpy.runtime.execution.execution import Execution
from pyfuncdbg.hosts.numpy.runtime.execution.resources import save_content, storages as every_storage
from pyfuncdbg.hosts.numpy.runtime.plans.execution_values import SlotValues
from pyfuncdbg.hosts.numpy.runtime.plans.plan import CompiledPlan, sites_around
from pyfuncdbg.hosts.numpy.runtime.plans.remote_step import writes_elsewhere
from pyfuncdbg.hosts.numpy.runtime.plans.step import Step


class SavedState:
    """Saved content of variables, generators and error state.

    Args:
        execution: Of the run.
        inputs: Of the step, which may write to storages of variables among them.
        python: The step calls Python, which may use every generator and write to every variable of the run, and to
            every eager one of the process.
        like: An earlier state around the same step, with the resources that it used and wrote.
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

    def note(self, resources: dict[Any, tuple[Any, Any]]) -> None:
        """Add the previous contents of resources that the step used."""
        self._resources.update(resources)

    def state_after(self, inputs: Sequence[Any]) -> SavedState:
        """The state after the step.

        Of the variables that only Python could reach, those that the step wrote are restored with its own. Others stay
        alone: other threads have variables too.
        """
        for storage, value in self._reachable:
            if storage.value is not value:
                self._stored.append((storage, value))
                self._written.append(storage)
        return SavedState(self._execution, inputs, self._rng is not None, self)

    def restore(self) -> None:
        """Restore everything. A resource that did not exist is made again on demand."""
        for storage, value in self._stored:
            storage.value = value
        if self._rng is not None:
            self._execution.run.host.set_rng_state(self._rng)
        self._execution.errstate = self._errstate
        resources = self._execution.resources
        for key, (item, content) in self._resources.items():
            if item is None:
                resources.pop(key, None)
                continue
            resources[key] = item
            if isinstance(item, np.random.Generator):
                item.bit_generator.state = content
            elif isinstance(item, list):
                item[:] = content

    def holds(self) -> bool:
        """Whether variables and resources have this content now; eager ones too, which Python may read."""
        eager = [entry for entry in self._reachable if entry[0].variable() is not None]
        return all(alike(storage.value, value) for storage, value in (*self._stored, *eager)) and all(
            alike(save_content(self._execution.resources.get(key)), content) for key, content in self._resources.items())


@dataclass(frozen=True, slots=True)
class StepOutcome:
    """Outcome of a step with effects, reused when its inputs and state repeat.

    Attributes:
        outputs: Its outputs, the hidden ones last.
        inputs: Its inputs; None matches any.
        before, after: The state before and after; None if it ran before the executor took over.
    """

    outputs: tuple[Any, ...]
    inputs: tuple[Any, ...] | None = None
    before: SavedState | None = None
    after: SavedState | None = None

    def keeps_result(self, inputs: Sequence[Any]) -> bool:
        """Whether the step would run with the same inputs and state again."""
        if self.inputs is not None and not all(map(alike, self.inputs, inputs)):
            return False
        return self.before is None or self.before.holds()


def alike(one: Any, other: Any) -> bool:
    """Whether two values are bit-identical."""
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


@dataclass(frozen=True, slots=True)
class CallMark:
    """Mark of a Python step of a plan at full speed, before it begins.

    Attributes:
        plan: The plan.
        position: Index of the step.
        inputs: Its inputs.
        before: The state before it.
        touched: Previous contents of the resources that it uses.
    """

    plan: CompiledPlan
    position: int
    inputs: tuple[Any, ...]
    before: SavedState
    touched: dict[Any, tuple[Any, Any]]


class ExecutionHistory:
    """History of one plan: a `RunView`.

    Attributes:
        position: Index of the next or current step.
        values: Values by slot.
    """

    __slots__ = ('_execution', '_outcomes', '_plan', '_undo', 'position', 'values')

    def __init__(self, plan: CompiledPlan, execution: Execution) -> None:
        self._plan = plan
        self._execution = execution
        self._undo: dict[int, SavedState] = {}
        self._outcomes: dict[int, StepOutcome] = {}
        self.position = 0
        self.values = SlotValues(plan)

    # ------------------------------------------------------------------ looking
    @property
    def sites(self) -> Sequence[CallSite]:
        """The plan's sites in execution order."""
        return self._plan.sites()

    @property
    def feeds(self) -> Sequence[str]:
        """Names of the fed tensors."""
        return tuple(t.name for t in self._plan.feeds)

    @property
    def repeats(self) -> bool:
        """Whether it is the history of one iteration of a loop."""
        return self._plan.graph.repeats

    @property
    def within(self) -> Sequence[CallSite]:
        """The conditionals and loops that contain the plan, outermost first."""
        return sites_around(self._plan.graph)

    def holds(self, tensor: str) -> bool:
        """Whether the value of a tensor is available."""
        return self.values.slot(tensor) in self.values.value_by_slot

    def value(self, tensor: str) -> Any:
        """The value of a tensor, such as 'mm:0'.

        Raises:
            KeyError: Unknown, not computed yet, or dropped and not pure.
        """
        before = numpy_errstate.state.set(numpy_errstate.IGNORE)
        try:
            return self.values.get(self.values.slot(tensor), tensor, self.position)
        finally:
            numpy_errstate.state.reset(before)

    # ------------------------------------------------------------------ forward
    def reuse_outcome(self, index: int, step: Step, inputs: Sequence[Any]) -> bool:
        """Apply the kept outcome of a step that ran before, if its inputs and state repeat; returns whether it did."""
        outcome = self._outcomes.get(index)
        if outcome is None or not outcome.keeps_result(inputs):
            return False
        if outcome.before is not None and outcome.after is not None:
            self._undo[index] = SavedState(self._execution, inputs, step.op.definition.python, outcome.before)
            outcome.after.restore()
        self.values.keep(step, outcome.outputs)
        return True

    def keeps_result(self, index: int) -> bool:
        """Whether a step would reuse its kept outcome."""
        outcome = self._outcomes.get(index)
        return outcome is not None and outcome.keeps_result(self.values.inputs(self._plan.steps[index], index))

    def run_with_undo(self, index: int, step: Step, inputs: Sequence[Any],
                      run: Callable[[], tuple[Any, ...]]) -> tuple[Any, ...]:
        """Run a step with effects, and save the states before and after it."""
        execution, python = self._execution, step.op.definition.python
        before = self._undo[index] = SavedState(execution, inputs, python)
        outer, execution.touched = execution.touched, {}
        try:
            outputs = run()
        finally:
            before.note(execution.touched)
            after = before.state_after(inputs)
            if outer is not None:               # the enclosing step used them too
                outer.update((key, entry) for key, entry in execution.touched.items() if key not in outer)
            execution.touched = outer
        self._outcomes[index] = StepOutcome(tuple(outputs), tuple(inputs), before, after)
        return outputs

    def mark(self) -> CallMark:
        """Mark the step at the position, before it begins."""
        inputs = tuple(self.values.inputs(self._plan.steps[self.position], self.position))
        return CallMark(self._plan, self.position, inputs, SavedState(self._execution, inputs, True), {})

    def record_marked(self, mark: CallMark) -> None:
        """Record the outcome of the marked step after the plan is handed over, if its outputs were kept."""
        self._execution.touched = None
        slots = self._plan.steps[mark.position].outputs
        if any(slot >= 0 and slot not in self.values.value_by_slot for slot in slots):
            return
        mark.before.note(mark.touched)
        outputs = tuple(self.values.value_by_slot.get(slot) for slot in slots)
        self._undo[mark.position] = mark.before
        self._outcomes[mark.position] = StepOutcome(outputs, mark.inputs, mark.before, mark.before.state_after(mark.inputs))

    # ------------------------------------------------------------------ back
    def obstacle(self, position: int) -> str:
        """The reason why the run cannot go back to before a step; '' if it can."""
        if not 0 <= position <= self.position:
            return f'cannot rewind to step {position}: next is {self.position}, the first is 0'
        undone = range(position, self.position)
        for index in undone:
            step = self._plan.steps[index]
            if index not in self._undo and has_effects(step) and (reason := self._irrevocable(step)):
                return f'cannot rewind over {step.op.name!r}: it ran before the run was paused, and {reason}'
            if writes_elsewhere(step.op):
                return f'cannot rewind over {step.op.name!r}: it has written to variables of another task'
        written: set[int] = set()
        for index in undone:
            step = self._plan.steps[index]
            for slot, tensor in zip(step.inputs, step.op.inputs, strict=True):
                if slot not in written and not self.values.obtainable(slot, position):
                    return (f'cannot rewind to before {step.op.name!r}: {tensor.name} was dropped before the run was '
                            f'paused, and cannot be computed again without its effects')
            written.update(step.outputs)
        return ''

    def _irrevocable(self, step: Step) -> str:
        """The reason why the run cannot go back over a step that ran at full speed; '' if it can.

        Kept outputs are reused. A handle, or the value of a variable, can be read again.
        """
        if _reads(step):
            return ''
        if any(t.dtype is resource for t in step.op.inputs):
            return 'the variables that it may have written are not known as they were'
        if any(slot >= 0 and slot not in self.values.value_by_slot for slot in step.outputs):
            return 'what it gave was not kept'
        return ''

    def go_back(self, position: int, failed: bool = False) -> None:
        """Undo the steps from `position` on, which has no obstacle; `failed`: the step at the current
        position has raised."""
        for index in range(self.position if failed else self.position - 1, position - 1, -1):
            self._take_back(index)
        self.position = position

    def _take_back(self, index: int) -> None:
        step, undo, values = self._plan.steps[index], self._undo.pop(index, None), self.values.value_by_slot
        if undo is not None:
            undo.restore()
        elif has_effects(step) and not _reads(step) and all(slot in values for slot in step.outputs if slot >= 0):
            self._outcomes[index] = StepOutcome(tuple(values.get(slot) for slot in step.outputs))
        self.values.forget(step)

    def forget(self, index: int) -> None:
        """Discard the outcome of a step."""
        self._outcomes.pop(index, None)

    def forget_below(self, index: int) -> None:
        """Discard the outcomes of a step and of those that depend on it."""
        reached: set[int] = set(self._plan.steps[index].outputs)
        self.forget(index)
        for later, step in enumerate(self._plan.steps[index + 1:], index + 1):
            if not reached.isdisjoint(step.inputs):
                reached.update(step.outputs)
                self.forget(later)


def has_effects(step: Step) -> bool:
    """Whether a step is stateful."""
    definition = step.op.definition
    return definition.in_execution or definition.stateful or definition.python


def _reads(step: Step) -> bool:
    """Whether a step only returns a handle, or reads a variable."""
    kinds = [t.dtype is resource for t in step.op.outputs]
    return not step.op.definition.python and bool(kinds) and (
        all(kinds) or any(t.dtype is resource for t in step.op.inputs))
