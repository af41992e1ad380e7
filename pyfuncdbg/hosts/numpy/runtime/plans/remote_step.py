"""Nodes of a function that run on another task than the function itself, as steps of its plan. Pure, but for the kernel.

`compile_plan` makes such steps where a graph has nodes of several tasks: in stages, so that all nodes of one task which wait
for no other task are one step. The kernel runs on the thread of the run, which waits for the other task.
"""
from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from pyfuncdbg.hosts.numpy.graph.definitions.registry import OpDef
from pyfuncdbg.hosts.numpy.graph.library_functions import called_functions
from pyfuncdbg.hosts.numpy.graph.operation import Operation
from pyfuncdbg.hosts.numpy.graph.symbolic_tensor import SymbolicTensor
from pyfuncdbg.hosts.numpy.graph.types.dtypes import resource
from pyfuncdbg.hosts.numpy.runtime.execution.execution import Execution
from pyfuncdbg.hosts.numpy.runtime.execution.node_facts import is_constant


@dataclass(frozen=True, slots=True)
class RemotePart:
    """Nodes of a function that a step runs on another task.

    Attributes:
        task: Index of the task.
        function: Number of the function, by which all tasks of the run know it.
        nodes: Their names, in order of execution.
        feeds: Names of the tensors that they get.
        taken_handles: Those of the feeds that are handles, which stay on their task: references to them are sent.
        fetches: Names of the tensors that are needed.
        handles: Those of the fetches that are handles.
    """

    task: int
    function: int
    nodes: tuple[str, ...]
    feeds: tuple[str, ...]
    taken_handles: frozenset[str]
    fetches: tuple[str, ...]
    handles: frozenset[str]


@dataclass(frozen=True, slots=True, eq=False)
class FunctionTasks:
    """The tasks of a function's nodes, where it runs on one task of several.

    Attributes:
        number: Of the function, by which all tasks of the run know it.
        here: Index of the task that this is the process of.
        task_of: The task of each node that has one of its own; others run where the function runs.
    """

    number: int
    here: int
    task_of: Mapping[Operation, int]

    def elsewhere(self, op: Operation) -> int | None:
        """The other task that a node runs on."""
        task = self.task_of.get(op, self.here)
        return None if task == self.here else task

    def spreads(self, op: Operation) -> bool:
        """Whether functions that a node calls have nodes of another task than its own."""
        home = self.task_of.get(op, self.here)
        for function in called_functions([op]):
            tasks: FunctionTasks | None = function.graph.tasks
            if tasks is not None and any(task != home for task in tasks.task_of.values()):
                return True
        return False


def in_stages(ops: Sequence[Operation], tasks: FunctionTasks) -> Iterator[Operation | list[Operation]]:
    """Nodes in an order in which those of each other task are together.

    A node is one stage later than what it needs from another task. Nodes with effects keep their order on each task, and
    all nodes keep theirs with respect to a node that calls a function of several tasks.

    Args:
        ops: In order of execution.
        tasks: Of their graph.

    Yields:
        A node that runs here, or the nodes of one stage on another task.
    """
    levels: dict[Operation, int] = {}
    last_effect: defaultdict[int | None, int] = defaultdict(int)
    barrier = highest = 0
    stages: defaultdict[int, dict[int | None, list[Operation]]] = defaultdict(dict)
    for op in ops:
        if is_constant(op):                     # each task has it
            yield op
            continue
        task = tasks.elsewhere(op)
        needed = {other for other in (*(tensor.op for tensor in op.inputs), *op.control_inputs) if other in levels}
        level = max((levels[other] + (tasks.elsewhere(other) != task) for other in needed), default=0)
        level = max(level, barrier)
        if op.definition.stateful:
            level = last_effect[task] = max(level, last_effect[task])
        if tasks.spreads(op):
            level = max(level, highest + 1)
            barrier = level + 1
        levels[op], highest = level, max(highest, level)
        stages[level].setdefault(task, []).append(op)
    for level in sorted(stages):
        yield from stages[level].pop(None, ())
        yield from stages[level].values()


def remote_step(ops: Sequence[Operation], needed: Collection[int], tasks: FunctionTasks) -> tuple[
        Operation, Callable[..., Any], list[SymbolicTensor], list[SymbolicTensor]]:
    """The step of some nodes of another task.

    Args:
        ops: The nodes, in order of execution.
        needed: Ids of the tensors that other nodes or the caller need.
        tasks: Of their graph.

    Returns:
        A node for the step, which is in no graph; its kernel; the tensors that it gets and those that it gives.
    """
    own = {id(tensor) for op in ops for tensor in (*op.outputs, *op.hidden)}
    feeds = list({id(tensor): tensor for op in ops for tensor in op.inputs
                  if id(tensor) not in own and not is_constant(tensor.op)}.values())
    fetches = [tensor for op in ops for tensor in (*op.outputs, *op.hidden) if id(tensor) in needed]
    task = tasks.elsewhere(ops[0])
    assert task is not None
    part = RemotePart(task, tasks.number, tuple(op.name for op in ops), tuple(tensor.name for tensor in feeds),
                      _handles(feeds), tuple(tensor.name for tensor in fetches), _handles(fetches))
    definition = _STATEFUL if any(op.definition.stateful for op in ops) else _PURE
    first = ops[0]
    node = Operation(first.graph, definition, first.name, feeds, [(t.dtype, t.shape) for t in fetches],
                     {'nodes': len(ops), 'task': task, '_py_nodes': tuple(ops)}, (), first.stack, first.serial)
    return node, partial(_run_part, part=part), feeds, fetches


def writes_elsewhere(op: Operation) -> bool:
    """Whether a node, or one of the functions that it calls, writes to variables of other tasks."""
    inside = [node for function in called_functions([op]) if function.graph.tasks is not None
              for node in function.graph.operations if function.graph.tasks.elsewhere(node) is not None]
    return any(not node.outputs and any(tensor.dtype is resource for tensor in node.inputs)
               for node in (*op.attrs.get('_py_nodes', ()), *inside))


def _handles(tensors: Sequence[SymbolicTensor]) -> frozenset[str]:
    return frozenset(tensor.name for tensor in tensors if tensor.dtype is resource)


def _run_part(execution: Execution, *values: Any, part: RemotePart) -> tuple[Any, ...]:
    """Kernel of a remote step."""
    assert execution.tasks is not None
    return execution.tasks.run_part(part, values, execution.deadline)


def _no_types(*_: Any) -> tuple[()]:
    return ()


_PURE, _STATEFUL = (OpDef('TaskStep', _run_part, _no_types, outputs=-1, stateful=stateful, in_execution=True)
                    for stateful in (False, True))
