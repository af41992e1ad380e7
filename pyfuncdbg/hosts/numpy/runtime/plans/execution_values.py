"""Values by slot of a plan that runs step by step, stored or recomputable.

The executor updates it, on the thread of the run.
"""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pyfuncdbg.errors import nearest
from pyfuncdbg.hosts.numpy.runtime.plans.plan import CompiledPlan
from pyfuncdbg.hosts.numpy.runtime.plans.step import Step


class SlotValues:
    """Values by slot.

    Attributes:
        value_by_slot: The stored values.
    """

    __slots__ = ('_made_by', '_plan', 'value_by_slot')

    def __init__(self, plan: CompiledPlan) -> None:
        self._plan = plan
        self._made_by: dict[int, int] | None = None
        self.value_by_slot: dict[int, Any] = dict(plan.constants)

    def load(self, feeds: Sequence[Any], names: Mapping[str, Any] | None = None,
             live: Mapping[str, int] | None = None) -> None:
        """Store the feeds of a plan, and the values in its locals."""
        slots = self._plan.slots
        self.value_by_slot.update((slots[id(t)], value) for t, value in zip(self._plan.feeds, feeds, strict=True))
        if names is not None and live is not None:
            self.value_by_slot.update((slot, names[name]) for name, slot in live.items() if name in names)

    def keep(self, step: Step, outputs: Sequence[Any]) -> None:
        """Store the outputs of a step."""
        values = self.value_by_slot
        for slot, value in zip(step.outputs, outputs, strict=True):
            if slot >= 0:
                values[slot] = value

    def forget(self, step: Step) -> None:
        """Remove the outputs of a step."""
        for slot in step.outputs:
            self.value_by_slot.pop(slot, None)

    def inputs(self, step: Step, position: int) -> list[Any]:
        """The inputs of a step."""
        values = self.value_by_slot
        try:
            return [values[slot] for slot in step.inputs]
        except KeyError:
            return [self.get(slot, t.name, position) for slot, t in zip(step.inputs, step.op.inputs, strict=True)]

    # ------------------------------------------------------------------ looking
    def slot(self, tensor: str) -> int:
        """The slot of a tensor.

        Raises:
            KeyError: It is not part of this run.
        """
        slot = self._plan.by_name.get(tensor)
        if slot is None:
            raise KeyError(f'{tensor!r} is not in this run.{nearest(tensor, self._plan.by_name)}')
        return slot

    def get(self, slot: int, name: str, position: int) -> Any:
        """A value; a dropped one is recomputed and stored, if its inputs are available and all ops pure.

        Args:
            slot: Its slot.
            name: Of the tensor, for messages.
            position: Steps from here on have not run.

        Raises:
            KeyError: It was not computed yet, or was dropped and cannot be recomputed.
        """
        value = self.value_by_slot.get(slot, self)
        if value is not self:
            return value
        index = self._maker(slot)
        if index is None or index >= position:
            raise KeyError(f'{name}: not computed yet')
        step = self._plan.steps[index]
        if not _pure(step):
            raise KeyError(f'{name}: not kept, and step {index} ({step.op.type}) cannot be computed again without its '
                           f'effects')
        inputs = [self.get(s, step.op.inputs[i].name, position) for i, s in enumerate(step.inputs)]
        result = step.kernel(*inputs)
        self.keep(step, (result,) if step.op.definition.outputs == 1 else tuple(result))
        return self.value_by_slot[slot]

    def obtainable(self, slot: int, position: int) -> bool:
        """Whether `get` returns the value before the step at `position`."""
        index = self._maker(slot)
        if index is None:
            return slot in self.value_by_slot
        if index >= position:
            return False
        step = self._plan.steps[index]
        return slot in self.value_by_slot or (_pure(step) and all(self.obtainable(s, position) for s in step.inputs))

    def settle(self, slot: int, position: int) -> None:
        """Recompute dropped values that depend on a value, before it is replaced."""
        reached = {slot}
        for step in self._plan.steps[:position]:
            if reached.isdisjoint(step.inputs):
                continue
            reached.update(step.outputs)
            for output in step.outputs:
                if output >= 0 and output not in self.value_by_slot and self.obtainable(output, position):
                    self.get(output, '', position)

    def _maker(self, slot: int) -> int | None:
        """Index of the step that computes a slot; None for feeds and constants."""
        if self._made_by is None:
            self._made_by = {output: index for index, step in enumerate(self._plan.steps) for output in step.outputs
                             if output >= 0}
        return self._made_by.get(slot)


def _pure(step: Step) -> bool:
    definition = step.op.definition
    return not definition.stateful and not definition.python and not definition.in_execution
