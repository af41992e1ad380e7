"""Schedule of a plan: dependencies of its steps, and ready steps, for `parallel_runner`.

Steps that write to a variable keep their place among those that use it, and in functions all steps with effects keep
theirs, so the result is that of the serial order.
"""
from __future__ import annotations

from collections import Counter
from heapq import heapify, heappop, heappush
from typing import Any

from pyfuncdbg.hosts.numpy.graph.types.dtypes import resource
from pyfuncdbg.hosts.numpy.runtime.plans.plan import CompiledPlan
from pyfuncdbg.hosts.numpy.runtime.plans.step import Step


class StepOrder:
    """Dependencies between the steps of a plan. Made once for a plan.

    Attributes:
        waits: How many steps each step waits for.
        followers: For each step those that wait for it.
        uses: How many steps take each slot; fetched ones count once more.
    """

    __slots__ = ('followers', 'uses', 'waits')

    def __init__(self, plan: CompiledPlan) -> None:
        makers = {slot: index for index, step in enumerate(plan.steps) for slot in step.outputs if slot >= 0}
        places = {step.op: index for index, step in enumerate(plan.steps)}
        chains = _Chains()
        effect: int | None = None               # the last step with effects: in functions they keep their order
        self.followers: list[list[int]] = [[] for _ in plan.steps]
        self.waits: list[int] = []
        for index, step in enumerate(plan.steps):
            before = {makers[slot] for slot in step.inputs if slot in makers}
            before.update(places[op] for op in step.op.control_inputs if op in places)
            before |= chains.before(index, step)
            if plan.graph.building_function and step.op.definition.stateful:
                before |= set() if effect is None else {effect}
                effect = index
            before.discard(index)
            self.waits.append(len(before))
            for earlier in before:
                self.followers[earlier].append(index)
        self.uses = Counter(slot for step in plan.steps for slot in dict.fromkeys(step.inputs))
        self.uses.update(plan.slots[id(t)] for t in plan.fetches)


class _Chains:
    """The steps that use each variable, by the slot of its handle."""

    def __init__(self) -> None:
        self._wrote: dict[int, int] = {}
        self._read: dict[int, list[int]] = {}

    def before(self, index: int, step: Step) -> set[int]:
        """The steps that a step waits for because of its variables: a reader for the last writer, a writer for all since."""
        found: set[int] = set()
        writes = not step.op.outputs or (step.op.definition.python and '_py_function' not in step.op.attrs)
        for slot, tensor in zip(step.inputs, step.op.inputs, strict=True):
            if tensor.dtype is not resource:
                continue
            if slot in self._wrote:
                found.add(self._wrote[slot])
            if writes:
                found.update(self._read.pop(slot, ()))
                self._wrote[slot] = index
            else:
                self._read.setdefault(slot, []).append(index)
        return found


class RunProgress:
    """Progress of one run of a plan. Its owner takes care that one thread at a time uses it.

    Attributes:
        ready: Steps that can begin, the earliest first (a heap).
        done: Steps that have ended, in the order of their ends.
    """

    __slots__ = ('_order', '_uses', '_waits', 'done', 'ready')

    def __init__(self, order: StepOrder) -> None:
        self._order = order
        self._waits = list(order.waits)
        self._uses = order.uses.copy()
        self.ready = [index for index, count in enumerate(self._waits) if not count]
        heapify(self.ready)
        self.done: list[int] = []

    def next(self) -> int:
        """The step to begin."""
        return heappop(self.ready)

    def finish(self, index: int) -> int:
        """A step has ended; how many became ready."""
        self.done.append(index)
        count = len(self.ready)
        for follower in self._order.followers[index]:
            self._waits[follower] -= 1
            if not self._waits[follower]:
                heappush(self.ready, follower)
        return len(self.ready) - count

    def drop(self, step: Step, known: dict[int, Any]) -> None:
        """Forget the values that no later step needs."""
        for slot in dict.fromkeys(step.inputs):
            self._uses[slot] -= 1
            if not self._uses[slot]:
                known.pop(slot, None)
        for slot in step.outputs:
            if slot >= 0 and not self._uses[slot]:
                known.pop(slot, None)
