"""Execution history of a plan, step by step: values, saved states, and the way back.

The executor keeps one while it runs; of a plan at full speed `stack_position` makes one to read. On the thread of the run.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from pyfuncdbg.hooks.call import CallSite
from pyfuncdbg.hooks.output import numpy_errstate
from pyfuncdbg.hosts.numpy.graph.types.dtypes import resource
from pyfuncdbg.hosts.numpy.runtime.execution.execution import Execution
from pyfuncdbg.hosts.numpy.runtime.plans.execution_values import SlotValues
from pyfuncdbg.hosts.numpy.runtime.plans.plan import CompiledPlan, sites_around
from pyfuncdbg.hosts.numpy.runtime.plans.step import Step
from pyfuncdbg.hosts.numpy.runtime.plans.undo import SavedState, StepOutcome


@dataclass(frozen=True, slots=True)
class CallMark:
    """A Python step of a plan at full speed that is about to begin.

    Attributes:
        plan: The plan.
        position: Index of the step.
        inputs: What it is given.
        before: The state before it.
        used: Resources that it turns out to use, as they were before.
    """

    plan: CompiledPlan
    position: int
    inputs: tuple[Any, ...]
    before: SavedState
    used: dict[Any, tuple[Any, Any]]


class ExecutionHistory:
    """The past of one plan: a `RunView`.

    Attributes:
        position: Index of the step that is next, or that runs now.
        values: What is known by slot.
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
        """Names of the tensors that were given."""
        return tuple(t.name for t in self._plan.feeds)

    @property
    def repeats(self) -> bool:
        """Whether it is the past of one iteration of a loop."""
        return self._plan.graph.repeats

    @property
    def within(self) -> Sequence[CallSite]:
        """The conditions and loops that the plan is a part of, outermost first."""
        return sites_around(self._plan.graph)

    def holds(self, tensor: str) -> bool:
        """Whether a value is there."""
        return self.values.slot(tensor) in self.values.known

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
    def stood(self, index: int, step: Step, inputs: Sequence[Any]) -> bool:
        """Whether a step has run before and its outcome is kept: then that is applied without running it."""
        outcome = self._outcomes.get(index)
        if outcome is None or not outcome.keeps_result(inputs):
            return False
        if outcome.before is not None and outcome.after is not None:
            self._undo[index] = SavedState(self._execution, inputs, step.op.definition.python, outcome.before)
            outcome.after.restore()
        self.values.keep(step, outcome.outputs)
        return True

    def keeps_result(self, index: int) -> bool:
        """Whether the next step would not run, because its outcome is kept."""
        outcome = self._outcomes.get(index)
        return outcome is not None and outcome.keeps_result(self.values.inputs(self._plan.steps[index], index))

    def ran(self, index: int, step: Step, inputs: Sequence[Any], run: Callable[[], tuple[Any, ...]]) -> tuple[Any, ...]:
        """Run a step with effects, and note what was before it and after."""
        execution, python = self._execution, step.op.definition.python
        before = self._undo[index] = SavedState(execution, inputs, python)
        outer, execution.used = execution.used, {}
        try:
            outputs = run()
        finally:
            before.note(execution.used)
            after = before.over(inputs)
            if outer is not None:               # the step around this one used them too
                outer.update((key, entry) for key, entry in execution.used.items() if key not in outer)
            execution.used = outer
        self._outcomes[index] = StepOutcome(tuple(outputs), tuple(inputs), before, after)
        return outputs

    def mark(self) -> CallMark:
        """The step at the position, as it is about to begin."""
        inputs = tuple(self.values.inputs(self._plan.steps[self.position], self.position))
        return CallMark(self._plan, self.position, inputs, SavedState(self._execution, inputs, True), {})

    def ran_since(self, mark: CallMark) -> None:
        """The marked step has run, and the plan is handed over: note what it did, if what it gave was kept."""
        self._execution.used = None
        slots = self._plan.steps[mark.position].outputs
        if any(slot >= 0 and slot not in self.values.known for slot in slots):
            return
        mark.before.note(mark.used)
        outputs = tuple(self.values.known.get(slot) for slot in slots)
        self._undo[mark.position] = mark.before
        self._outcomes[mark.position] = StepOutcome(outputs, mark.inputs, mark.before, mark.before.over(mark.inputs))

    # ------------------------------------------------------------------ back
    def obstacle(self, position: int) -> str:
        """The reason why the run cannot go back to before a step; '' if it can."""
        if not 0 <= position <= self.position:
            return f'cannot rewind to step {position}: next is {self.position}, the first is 0'
        gone = range(position, self.position)
        for index in gone:
            step = self._plan.steps[index]
            if index not in self._undo and has_effects(step) and (reason := self._irrevocable(step)):
                return f'cannot rewind over {step.op.name!r}: it ran before the run was paused, and {reason}'
        made: set[int] = set()
        for index in gone:
            step = self._plan.steps[index]
            for slot, tensor in zip(step.inputs, step.op.inputs, strict=True):
                if slot not in made and not self.values.obtainable(slot, position):
                    return (f'cannot rewind to before {step.op.name!r}: {tensor.name} was dropped before the run was '
                            f'paused, and cannot be computed again without its effects')
            made.update(step.outputs)
        return ''

    def _irrevocable(self, step: Step) -> str:
        """The reason why the run cannot go back over a step that ran unobserved; '' if it can.

        What it gave stands, if it was kept. A handle, or what was read from a variable, can be had again.
        """
        if _reads(step):
            return ''
        if any(t.dtype is resource for t in step.op.inputs):
            return 'the variables that it may have written are not known as they were'
        if any(slot >= 0 and slot not in self.values.known for slot in step.outputs):
            return 'what it gave was not kept'
        return ''

    def go_back(self, position: int, failed: bool = False) -> None:
        """Put everything as it was before the step at `position`, which has no obstacle; `failed`: the one at the present
        position has raised."""
        for index in range(self.position if failed else self.position - 1, position - 1, -1):
            self._take_back(index)
        self.position = position

    def _take_back(self, index: int) -> None:
        step, undo, known = self._plan.steps[index], self._undo.pop(index, None), self.values.known
        if undo is not None:
            undo.restore()
        elif has_effects(step) and not _reads(step) and all(slot in known for slot in step.outputs if slot >= 0):
            self._outcomes[index] = StepOutcome(tuple(known.get(slot) for slot in step.outputs))
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
    """Whether a step changes anything beside its outputs, or depends on it."""
    definition = step.op.definition
    return definition.in_execution or definition.stateful or definition.python


def _reads(step: Step) -> bool:
    """Whether a step only gives a handle, or what is in a variable."""
    kinds = [t.dtype is resource for t in step.op.outputs]
    return not step.op.definition.python and bool(kinds) and (
        all(kinds) or any(t.dtype is resource for t in step.op.inputs))
