"""Alias analysis of a plan. It decides which values may be overwritten or passed to a user's function, or must be copied.

Computed once when a plan is compiled, from the flags of each op (`free`, `python`, `in_execution`).
"""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from pyfuncdbg.hosts.numpy.graph.symbolic_tensor import SymbolicTensor

if TYPE_CHECKING:
    from pyfuncdbg.hosts.numpy.runtime.plans.step import Step

_WORTH_REUSING = 64
"""Number of elements from which reuse of a buffer is faster than a new one."""


class BufferSharing:
    """Aliasing and lifetime of the memory behind each slot.

    Attributes:
        last_use: Index of the last step that uses a slot, by slot, without fetched slots.
        to_copy: Fetched slots that are copied before they are returned.
    """

    __slots__ = ('_fresh', '_roots', '_shapes', '_users', '_visible_slots', 'fetched', 'last_use', 'to_copy')

    def __init__(self, steps: Sequence[Step], feeds: Sequence[SymbolicTensor], fetches: Sequence[SymbolicTensor],
                 slots: Mapping[int, int], protect: bool) -> None:
        self.fetched = [slots[id(t)] for t in fetches]
        self._fresh: set[int] = set()
        self._roots: dict[int, int] = {}
        self._visible_slots: set[int] = set()
        self._shapes: dict[int, tuple[object, ...]] = {}
        self._users: dict[int, set[int]] = {}
        self.last_use: dict[int, int] = {}
        for index, step in enumerate(steps):
            self._add(index, step, slots)
        for slot in self.fetched:
            self.last_use.pop(slot, None)
        self.to_copy = self._copies() if protect else set()

    def _add(self, index: int, step: Step, slots: Mapping[int, int]) -> None:
        definition = step.op.definition
        for slot in step.inputs:
            # A user's function, a variable or a list may keep it.
            self._use(slot, index, outlives_plan=definition.in_execution or definition.retains)
        for slot, tensor in zip(step.outputs, [*step.op.outputs, *step.op.hidden], strict=False):
            self.last_use.setdefault(slot, index)
            sizes = tensor.shape.sizes
            if sizes is not None and None not in sizes:
                self._shapes[slot] = (tensor.dtype.name, *sizes)
            if not (definition.free or definition.in_execution or definition.retains):
                self._fresh.add(slot)
        if definition.free and step.inputs:
            self._pass_on(step)
        for group in step.gradients:                 # hooks of gradient calls may keep their values
            for step_tensor in (*group.incoming, *group.outgoing, group.record):
                slot_of_tensor = None if step_tensor is None else slots.get(id(step_tensor))
                if slot_of_tensor is not None and slot_of_tensor in self.last_use:
                    self._use(slot_of_tensor, index, outlives_plan=True)

    def _use(self, slot: int, index: int, outlives_plan: bool) -> None:
        self.last_use[slot] = index
        self._users.setdefault(self.root(slot), set()).add(index)
        if outlives_plan:
            self._visible_slots.add(self.root(slot))

    def _pass_on(self, step: Step) -> None:
        """Join the outputs of a free op with its inputs: with the one of the same index if there are as many, else
        with any of the same dtype (the data of `Split` come after the axis)."""
        op = step.op
        for place, slot in enumerate(step.outputs):
            if len(op.inputs) == len(op.outputs):
                sources = [step.inputs[place]]
            else:
                sources = [s for s, t in zip(step.inputs, op.inputs, strict=True) if t.dtype is op.outputs[place].dtype]
            for other in sources[1:]:
                self._join(sources[0], other)
            self._roots[slot] = self.root(sources[0])

    def _join(self, a: int, b: int) -> None:
        """Record that two slots may share memory."""
        first, second = self.root(a), self.root(b)
        if first == second:
            return
        self._roots[second] = first
        self._users.setdefault(first, set()).update(self._users.pop(second, ()))
        if second not in self._fresh:
            self._fresh.discard(first)
        if second in self._visible_slots:
            self._visible_slots.add(first)

    def root(self, slot: int) -> int:
        """The representative of the slots that may share this one's memory."""
        while slot in self._roots:
            slot = self._roots[slot]
        return slot

    def _copies(self) -> set[int]:
        """Fetched slots with another reference: constants, feeds, variables, or another fetch."""
        copies, donors = set(), set()
        for slot in dict.fromkeys(self.fetched):
            root = self.root(slot)
            if root not in self._fresh or root in self._visible_slots or root in donors or self.fetched.count(slot) > 1:
                copies.add(slot)
            donors.add(root)
        return copies

    def owned(self, step: Step, index: int) -> frozenset[int]:
        """Positions of a Python op's inputs that the run made and that are used here for the last time."""
        positions = set()
        for position, slot in enumerate(step.inputs):
            root = self.root(slot)
            alone = step.inputs.count(slot) == 1 and root in self._fresh and max(self._users[root]) == index
            if alone and root not in {self.root(s) for s in self.fetched}:
                positions.add(position)
        return frozenset(positions)

    def is_private(self, slot: int) -> bool:
        """Whether the run made the memory of a slot, and nothing that outlives the plan or may write gets it."""
        root = self.root(slot)
        return root in self._fresh and root not in self._visible_slots and root not in {self.root(s) for s in self.fetched}

    def static_shape(self, slot: int) -> tuple[int, ...] | None:
        """The shape of a step's output, if it is known before the run."""
        shape = self._shapes.get(slot)
        return None if shape is None else tuple(shape[1:])  # type: ignore[arg-type]

    def reusable(self, step: Step, index: int) -> int | None:
        """An input slot whose buffer can be reused for the result: large, same type and shape, made by the run, last use."""
        if not step.op.definition.into or len(step.outputs) != 1:
            return None
        shape = self._shapes.get(step.outputs[0])
        if shape is None or _elements(shape) < _WORTH_REUSING:
            return None
        for slot in step.inputs:
            if (slot in self._fresh and self.root(slot) == slot and slot not in self._visible_slots
                and self._shapes.get(slot) == shape
                    and max(self._users[slot]) == index and slot not in {self.root(s) for s in self.fetched}
                    and step.inputs.count(slot) == 1):
                return slot
        return None


def _elements(shape: tuple[object, ...]) -> int:
    count = 1
    for size in shape[1:]:
        count *= size  # type: ignore[operator]
    return count
