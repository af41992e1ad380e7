"""Cut of a plan into one piece per task, by the placement of its nodes. Pure; sessions on tasks of other processes use it.

A piece has stages: those of one task run in order, and each waits for stages of lower levels only, so tasks never wait
for each other in a circle. Nodes with effects keep their order on each task: results are those of one process, bit for bit.
"""
from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pyfuncdbg.errors import InvalidArgumentError
from pyfuncdbg.hosts.numpy.graph.definitions.registry import INPUT
from pyfuncdbg.hosts.numpy.graph.device import parse_device
from pyfuncdbg.hosts.numpy.graph.operation import Operation
from pyfuncdbg.hosts.numpy.graph.proto.graphdef import called_functions
from pyfuncdbg.hosts.numpy.graph.types.dtypes import resource, variant
from pyfuncdbg.hosts.numpy.runtime.cluster.placement import Devices, device_for, placement
from pyfuncdbg.hosts.numpy.runtime.cluster.task_messages import Arrival, Piece, Stage
from pyfuncdbg.hosts.numpy.runtime.execution.failure import session_error
from pyfuncdbg.hosts.numpy.runtime.plans.plan import CompiledPlan
from pyfuncdbg.hosts.numpy.runtime.plans.step import Step
from pyfuncdbg.hosts.numpy.runtime.sessions.piece_graph import PieceGraph


@dataclass(frozen=True, slots=True)
class Cut:
    """A plan, cut into pieces.

    Attributes:
        pieces: By index of the task.
        feeds: For each task: the feeds that it gets, by tensor name, with their indices among the plan's.
        order: Place of each node in the plan, by name: of two errors the first one counts.
    """

    pieces: Mapping[int, Piece]
    feeds: Mapping[int, Sequence[tuple[str, int]]]
    order: Mapping[str, int]


@dataclass(slots=True)
class _Part:
    """The nodes of one task, while the plan is cut."""

    levels: defaultdict[int, list[Step]] = field(default_factory=lambda: defaultdict(list))
    made: dict[str, int] = field(default_factory=dict)              # tensors, with the level of their stage
    used: defaultdict[int, set[str]] = field(default_factory=lambda: defaultdict(set))
    sends: defaultdict[int, dict[int, set[str]]] = field(default_factory=lambda: defaultdict(dict))
    arrivals: dict[tuple[int, int], int] = field(default_factory=dict)
    foreign: dict[str, int] = field(default_factory=dict)           # the slot of each tensor from elsewhere
    results: list[str] = field(default_factory=list)


class GraphCut:
    """One plan while it is cut.

    Args:
        plan: The plan.
        devices: The tasks.
        soft: Whether the CPU of a task replaces a missing device.
        owners: The task of each fed value that exists on a task only, by index of the feed.

    Raises:
        InvalidArgumentError: A node cannot be placed.
    """

    def __init__(self, plan: CompiledPlan, devices: Devices, soft: bool, owners: Mapping[int, int]) -> None:
        self._plan = plan
        self._devices = devices
        self._makers = {slot: index for index, step in enumerate(plan.steps) for slot in step.outputs if slot >= 0}
        self._fed = {plan.slots[id(tensor)]: (tensor.name, number) for number, tensor in enumerate(plan.feeds)}
        self._indices = {step.op: index for index, step in enumerate(plan.steps)}
        self._tasks = self._placed(soft, {plan.slots[id(plan.feeds[number])]: task for number, task in owners.items()})
        self._levels = self._leveled()
        self._parts: defaultdict[int, _Part] = defaultdict(_Part)

    def cut(self, address_spaces: Mapping[int, bool]) -> Cut:
        """The cut.

        Args:
            address_spaces: For each task whether it is in this process, where it finds its Python functions.
        """
        for index, step in enumerate(self._plan.steps):
            self._add(index, step)
        for tensor in self._plan.fetches:
            slot = self._plan.slots[id(tensor)]
            if slot in self._makers:
                part = self._parts[self._tasks[self._makers[slot]]]
                if self._name(slot) not in part.results:
                    part.results.append(self._name(slot))
        pieces = {task: self._piece(part, address_spaces[task]) for task, part in self._parts.items()}
        feeds = {task: [(name, self._fed[slot][1]) for name, slot in part.foreign.items() if slot in self._fed]
                 for task, part in self._parts.items()}
        return Cut(pieces, feeds, {step.op.name: index for index, step in enumerate(self._plan.steps)})

    # ------------------------------------------------------------------ placement
    def _placed(self, soft: bool, fed_owners: Mapping[int, int]) -> list[int]:
        """The task of each step. A node that uses a handle or a list of a task runs there."""
        number = {device: index for index, device in enumerate(self._devices.available)}
        placed = placement([step.op for step in self._plan.steps], self._devices, soft)
        tasks: list[int] = []
        for step in self._plan.steps:
            task = number[placed[step.op]]
            owned = [(tensor, fed_owners[slot] if slot in fed_owners else tasks[self._makers[slot]])
                     for slot, tensor in zip(step.inputs, step.op.inputs, strict=True)
                     if tensor.dtype in (resource, variant) and (slot in fed_owners or slot in self._makers)]
            owners = {owner: tensor for tensor, owner in owned if tensor.dtype is resource}
            if owners:
                self._check_owners(step.op, task, owners)
                task = next(iter(owners))
            elif not owned and not step.op.device:
                task = self._inner_task(step.op, task)
            elif owned:                         # a list can be sent; not what a py_function records, which one may hold
                task = max(owned, key=lambda entry: entry[0].index >= len(entry[0].op.outputs))[1]
            self._check_body(step, task)
            tasks.append(task)
        return tasks

    def _check_owners(self, op: Operation, task: int, owners: Mapping[int, object]) -> None:
        if len(owners) > 1:
            places = ' and '.join(f'{tensor.name} of {self._task_name(owner)}'  # type: ignore[attr-defined]
                                  for owner, tensor in list(owners.items())[:2])
            raise session_error(InvalidArgumentError(None, None, (
                f'Node {op.name} ({op.type}) uses handles of two tasks: {places}. A handle exists on its task only: place '
                'both on one task with tf.device, or read the variable there and use its value')), op)
        owner = next(iter(owners))
        if op.definition.python and op.device and owner != task and parse_device(op.device).job is not None and (
                '_py_function' in op.attrs):
            raise session_error(InvalidArgumentError(None, None, (
                f'Node {op.name} ({op.type}) is placed on {self._task_name(task)}, but uses a handle of '
                f'{self._task_name(owner)}. Read the variable, and pass its value')), op)

    def _inner_task(self, op: Operation, home: int) -> int:
        """The task of a node without a device: that of all nodes of its functions that have one, if that is one task, and no
        node with effects would move there with them."""
        tasks: set[int] = set()
        for function in called_functions([op]):
            for node in function.graph.operations:
                device = parse_device(node.device) if node.device else None
                if device is not None and (device.job, device.task) != (None, None):
                    place = device_for(node.device, self._devices, True)
                    if place is not None:
                        tasks.add(self._devices.available.index(place))
                elif node.definition.stateful and node.definition.name != INPUT:
                    return home
        return tasks.pop() if len(tasks) == 1 else home

    def _check_body(self, step: Step, task: int) -> None:
        """Refuse a function with nodes of several tasks."""
        op = step.op
        device = self._devices.available[task]
        local = Devices((device,), device)
        for function in called_functions([op]):
            for node in function.graph.operations:
                if node.device and device_for(node.device, local, True) is None:
                    raise session_error(InvalidArgumentError(None, None, (
                        f'Node {node.name} of the function {function.graph.name} is placed on {node.device}, but '
                        f'{op.name} ({op.type}), which calls it, runs on {self._task_name(task)}: a loop, a conditional or '
                        'a function runs on one task. Make all of it in one tf.device, or compute that node before or after '
                        'it')), op)

    def _task_name(self, task: int) -> str:
        device = self._devices.available[task]
        return f'/job:{device.job}/task:{device.task}'

    # ------------------------------------------------------------------ stages
    def _leveled(self) -> list[int]:
        """The level of each step: one more than that of what it needs from another task, and at least that of the node
        with effects before it on its task."""
        levels: list[int] = []
        last_effect: defaultdict[int, int] = defaultdict(int)
        for index, step in enumerate(self._plan.steps):
            task = self._tasks[index]
            level = max((levels[other] + (self._tasks[other] != task) for other in self._needed(step)), default=0)
            if step.op.definition.stateful:
                level = last_effect[task] = max(level, last_effect[task])
            levels.append(level)
        return levels

    def _needed(self, step: Step) -> set[int]:
        """The steps that a step waits for."""
        needed = {self._makers[slot] for slot in step.inputs if slot in self._makers}
        return needed | {self._indices[op] for op in step.op.control_inputs if op in self._indices}

    def _add(self, index: int, step: Step) -> None:
        task, level = self._tasks[index], self._levels[index]
        part = self._parts[task]
        part.levels[level].append(step)
        part.made.update((self._name(slot), level) for slot in step.outputs if slot >= 0)
        for slot in step.inputs:
            if slot in self._plan.constants:
                continue
            name = self._name(slot)
            part.used[level].add(name)
            if slot not in self._makers or self._tasks[self._makers[slot]] != task:
                part.foreign[name] = slot
        for other in self._needed(step):
            if self._tasks[other] == task:
                continue
            sent = self._parts[self._tasks[other]].sends[self._levels[other]].setdefault(task, set())
            sent.update(self._name(slot) for slot in step.inputs if self._makers.get(slot) == other)
            key = self._tasks[other], self._levels[other]
            part.arrivals[key] = min(part.arrivals.get(key, level), level)

    def _name(self, slot: int) -> str:
        """The name of the tensor in a slot."""
        if slot in self._fed:
            return self._fed[slot][0]
        step = self._plan.steps[self._makers[slot]]
        return f'{step.op.name}:{step.outputs.index(slot)}'

    def _piece(self, part: _Part, same_space: bool) -> Piece:
        graph = PieceGraph(self._plan, self._name, same_space)
        for name, slot in part.foreign.items():
            graph.add_argument(name, self._tensor(slot))
        for level in sorted(part.levels):
            for step in part.levels[level]:
                graph.add_step(step)
        needed_later: set[str] = set(part.results)
        stages: list[Stage] = []
        for level in sorted(part.levels, reverse=True):
            sends = tuple((task, tuple(sorted(names))) for task, names in sorted(part.sends[level].items()))
            here = {name for name, made in part.made.items() if made == level}
            sent = {name for _, names in sends for name in names}
            stages.append(Stage(level, tuple(step.op.name for step in part.levels[level]),
                                tuple(sorted(part.used[level] - here)), tuple(sorted(here & (needed_later | sent))), sends))
            needed_later |= part.used[level]
        arrivals = tuple(Arrival(task, level, before) for (task, level), before in sorted(part.arrivals.items()))
        return Piece(graph.nodes(), tuple(graph.functions.functions), graph.arguments, tuple(reversed(stages)), arrivals,
                     tuple(part.results), tuple(graph.functions.stacks))

    def _tensor(self, slot: int) -> object:
        if slot in self._fed:
            return self._plan.feeds[self._fed[slot][1]]
        step = self._plan.steps[self._makers[slot]]
        return [*step.op.outputs, *step.op.hidden][step.outputs.index(slot)]
