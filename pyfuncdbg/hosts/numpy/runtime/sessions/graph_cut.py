"""Cut of a plan into one piece per task, by the placement of its nodes. Pure; sessions on tasks of other processes use it.

A piece has stages: those of one task run in order, and each waits for stages of lower levels only, so tasks never wait
for each other in a circle. Nodes with effects keep their order on each task: results are those of one process, bit for bit.
"""
from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pyfuncdbg.errors import InvalidArgumentError
from pyfuncdbg.hosts.numpy.graph.types.dtypes import resource, variant
from pyfuncdbg.hosts.numpy.runtime.cluster.placement import Devices, placement
from pyfuncdbg.hosts.numpy.runtime.cluster.task_messages import Arrival, Piece, Stage
from pyfuncdbg.hosts.numpy.runtime.execution.failure import session_error
from pyfuncdbg.hosts.numpy.runtime.plans.plan import CompiledPlan
from pyfuncdbg.hosts.numpy.runtime.plans.step import Step
from pyfuncdbg.hosts.numpy.runtime.sessions.function_placement import FunctionPlacement, Spread, functions_of
from pyfuncdbg.hosts.numpy.runtime.sessions.piece_functions import FunctionNumbers, FunctionWriter, WrittenFunction
from pyfuncdbg.hosts.numpy.runtime.sessions.piece_graph import PieceGraph


@dataclass(frozen=True, slots=True)
class Cut:
    """A plan, cut into pieces.

    Attributes:
        pieces: By index of the task.
        feeds: For each task: the feeds that it gets, by tensor name, with their indices among the plan's.
        order: Place of each node in the plan, by name: of two errors the first one counts.
        functions: The functions that its nodes call, by their numbers.
    """

    pieces: Mapping[int, Piece]
    feeds: Mapping[int, Sequence[tuple[str, int]]]
    order: Mapping[str, int]
    functions: Sequence[WrittenFunction]


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
    parts: list[Step] = field(default_factory=list)                 # of other tasks, with nodes of their functions here


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
        self._functions = FunctionPlacement(devices, soft)
        self._spread: dict[int, tuple[frozenset[int], frozenset[int]]] = {}     # by step: other tasks, and those of effects
        self._before: defaultdict[int, set[int]] = defaultdict(set)             # steps that one waits for beside its inputs
        self._tasks = self._placed(soft, {plan.slots[id(plan.feeds[number])]: task for number, task in owners.items()})
        self._order_effects()
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
        numbers = FunctionNumbers(self._functions.tasks)
        pieces = {task: self._piece(part, task, address_spaces[task], numbers) for task, part in self._parts.items()}
        feeds = {task: [(name, self._fed[slot][1]) for name, slot in part.foreign.items() if slot in self._fed]
                 for task, part in self._parts.items()}
        return Cut(pieces, feeds, {step.op.name: index for index, step in enumerate(self._plan.steps)}, numbers.functions)

    # ------------------------------------------------------------------ placement
    def _placed(self, soft: bool, fed_owners: Mapping[int, int]) -> list[int]:
        """The task of each step. A node that uses a handle or a list of a task runs there."""
        number = {device: index for index, device in enumerate(self._devices.available)}
        placed = placement([step.op for step in self._plan.steps], self._devices, soft)
        tasks: list[int] = []
        for step in self._plan.steps:
            op, task = step.op, number[placed[step.op]]
            owned = [(tensor, fed_owners[slot] if slot in fed_owners else tasks[self._makers[slot]])
                     for slot, tensor in zip(step.inputs, op.inputs, strict=True)
                     if tensor.dtype in (resource, variant) and (slot in fed_owners or slot in self._makers)]
            handles = {id(tensor): owner for tensor, owner in owned if tensor.dtype is resource}
            lists = [(tensor, owner) for tensor, owner in owned if tensor.dtype is variant]
            if functions_of(op):
                spread = self._functions.spread(op, [handles.get(id(tensor)) for tensor in op.inputs])
                if self._functions.task_of_device(op) is None and not lists:
                    home = spread.home()
                    task = task if home is None else home
            elif handles:
                task = self._functions.owner(op, self._functions.task_of_device(op),
                                             {owner: tensor.name for tensor, owner in owned if tensor.dtype is resource})
            if lists and not (handles and not functions_of(op)):
                # A list can be sent; not what a py_function records, which one may hold.
                task = max(lists, key=lambda entry: entry[0].index >= len(entry[0].op.outputs))[1]
            if functions_of(op):
                self._note_spread(len(tasks), spread.at(task), task)
            self._functions.check_elsewhere(op, task)
            tasks.append(task)
        return tasks

    def _note_spread(self, index: int, spread: Spread, task: int) -> None:
        """Note that functions of a step have nodes on other tasks than its own."""
        if spread.tasks == {task}:
            return
        step = self._plan.steps[index]
        if spread.handle:
            raise session_error(InvalidArgumentError(None, None, (
                f'A function of {step.op.name} ({step.op.type}) returns the handle {spread.handle} of another task than its '
                f'own, {self._functions.task_name(task)}. Return the value of the variable')), step.op)
        self._spread[index] = spread.tasks - {task}, frozenset(one for one in spread.effects if one is not None)

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

    def _order_effects(self) -> None:
        """Let nodes with effects keep their order on each task also where a node of another task has effects there."""
        newest: dict[int, int] = {}
        for index, step in enumerate(self._plan.steps):
            others = self._spread[index][1] if index in self._spread else frozenset()
            places = {self._tasks[index], *others} if step.op.definition.stateful else {*others}
            for place in places:
                before = newest.get(place)
                if before is not None and (self._tasks[before] != place or self._tasks[index] != place):
                    self._before[index].add(before)
                newest[place] = index

    def _needed(self, step: Step) -> set[int]:
        """The steps that a step waits for."""
        needed = {self._makers[slot] for slot in step.inputs if slot in self._makers}
        needed |= self._before[self._indices[step.op]]
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
        for other in self._spread.get(index, ((), ()))[0]:
            self._parts[other].parts.append(step)
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

    def _piece(self, part: _Part, task: int, same_space: bool, numbers: FunctionNumbers) -> Piece:
        graph = PieceGraph(self._plan, self._name, FunctionWriter(same_space, task, numbers))
        for name, slot in part.foreign.items():
            graph.add_argument(name, self._tensor(slot))
        for level in sorted(part.levels):
            for step in part.levels[level]:
                graph.add_step(step)
        for step in part.parts:
            for function, _ in functions_of(step.op):
                graph.functions.number(function)
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
                     tuple(part.results), tuple(graph.functions.stacks), task, bool(part.parts))

    def _tensor(self, slot: int) -> object:
        if slot in self._fed:
            return self._plan.feeds[self._fed[slot][1]]
        step = self._plan.steps[self._makers[slot]]
        return [*step.op.outputs, *step.op.hidden][step.outputs.index(slot)]
