"""Who else may see the memory of a value: what a plan may overwrite, hand to a user's function, or must copy.

Worked out once when a plan is compiled, from what each op promises (`free`, `python`, `in_execution`).
"""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from pyfuncdbg.graph.tensor import SymbolicTensor

if TYPE_CHECKING:
    from pyfuncdbg.runtime.plan import Step

_WORTH_REUSING = 1024
"""Elements from which writing into an old buffer beats making a new one."""


class Sharing:
    """What is known about the memory behind each slot.

    Attributes:
        last_use: Index of the step after which a slot is not used, by slot; fetched slots are not in it.
        to_copy: Fetched slots that are copied before they are returned.
    """

    __slots__ = ('_fresh', '_roots', '_seen', '_shapes', '_users', 'fetched', 'last_use', 'to_copy')

    def __init__(self, steps: Sequence[Step], feeds: Sequence[SymbolicTensor], fetches: Sequence[SymbolicTensor],
                 slots: Mapping[int, int], protect: bool) -> None:
        self.fetched = [slots[id(t)] for t in fetches]
        self._fresh: set[int] = set()
        self._roots: dict[int, int] = {}
        self._seen: set[int] = set()
        self._shapes: dict[int, tuple[object, ...]] = {}
        self._users: dict[int, set[int]] = {}
        self.last_use: dict[int, int] = {}
        for index, step in enumerate(steps):
            self._add(index, step)
        for slot in self.fetched:
            self.last_use.pop(slot, None)
        self.to_copy = self._copies() if protect else set()

    def _add(self, index: int, step: Step) -> None:
        definition = step.op.definition
        for slot in step.inputs:
            self.last_use[slot] = index
            self._users.setdefault(self.root(slot), set()).add(index)
            if definition.in_execution:              # a user's function or a variable may keep it
                self._seen.add(self.root(slot))
        for group in step.gradients:
            for tensor in (*group.incoming, *group.outgoing):
                self._seen.update(s for s, t in zip(step.outputs, step.op.outputs, strict=False) if t is tensor)
        for slot, tensor in zip(step.outputs, [*step.op.outputs, *step.op.hidden], strict=False):
            self.last_use.setdefault(slot, index)
            sizes = tensor.shape.sizes
            if sizes is not None and None not in sizes:
                self._shapes[slot] = (tensor.dtype.name, *sizes)
            if definition.free and step.inputs:
                self._roots[slot] = self.root(step.inputs[0])
            elif not definition.in_execution:
                self._fresh.add(slot)

    def root(self, slot: int) -> int:
        """The slot whose memory this one may share."""
        return self._roots.get(slot, slot)

    def _copies(self) -> set[int]:
        """Fetched values that somebody else holds: constants, feeds, variables, or another fetch."""
        copies, taken = set(), set()
        for slot in dict.fromkeys(self.fetched):
            root = self.root(slot)
            if root not in self._fresh or root in self._seen or root in taken:
                copies.add(slot)
            taken.add(root)
        return copies

    def owned(self, step: Step, index: int) -> frozenset[int]:
        """Positions of a Python op's inputs that nobody else will look at: the run made them and this is the last use."""
        found = set()
        for position, slot in enumerate(step.inputs):
            root = self.root(slot)
            alone = step.inputs.count(slot) == 1 and root in self._fresh and max(self._users[root]) == index
            if alone and root not in {self.root(s) for s in self.fetched}:
                found.add(position)
        return frozenset(found)

    def reusable(self, step: Step, index: int) -> int | None:
        """An input slot whose buffer may hold the result: large, of the same type and shape, the run's own, its last use."""
        if not step.op.definition.into or len(step.outputs) != 1:
            return None
        shape = self._shapes.get(step.outputs[0])
        if shape is None or _elements(shape) < _WORTH_REUSING:
            return None
        for slot in step.inputs:
            if (slot in self._fresh and slot not in self._seen and self._shapes.get(slot) == shape
                    and max(self._users[slot]) == index and slot not in {self.root(s) for s in self.fetched}
                    and step.inputs.count(slot) == 1):
                return slot
        return None


def _elements(shape: tuple[object, ...]) -> int:
    count = 1
    for size in shape[1:]:
        count *= size  # type: ignore[operator]
    return count
