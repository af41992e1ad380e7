"""Placement of the nodes in functions that nodes of a plan call: loops, conditionals, functions. Pure; `GraphCut` uses it.

A node has a task of its own by its device, or by the handle that it uses, whose variable is on a task. Others run where the
function runs: on the task of the node that calls it.
"""
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from pyfuncdbg.errors import InvalidArgumentError
from pyfuncdbg.hosts.numpy.graph.definitions.registry import CALL, INPUT, PURE_CALL
from pyfuncdbg.hosts.numpy.graph.device import parse_device
from pyfuncdbg.hosts.numpy.graph.library_functions import called_functions
from pyfuncdbg.hosts.numpy.graph.operation import Operation
from pyfuncdbg.hosts.numpy.graph.types.dtypes import resource, variant
from pyfuncdbg.hosts.numpy.runtime.cluster.placement import Devices, device_for, unplaceable
from pyfuncdbg.hosts.numpy.runtime.execution.failure import session_error
from pyfuncdbg.hosts.numpy.runtime.sessions.piece_functions import WrittenFunction


@runtime_checkable
class Calls(Protocol):
    """The private attr of a node that calls functions: a loop, or branches."""

    def calls(self) -> Iterator[tuple[WrittenFunction, Sequence[int]]]:
        """The functions, each with the node's inputs that it gets, by index."""


def functions_of(op: Operation) -> list[tuple[WrittenFunction, Sequence[int]]]:
    """The functions that a node of control flow calls, each with the inputs that it gets, by index."""
    functions: list[tuple[WrittenFunction, Sequence[int]]] = []
    for key, value in op.attrs.items():
        if key.startswith('_py_') and isinstance(value, Calls):
            functions.extend(value.calls())
        elif key == '_py_trace' and op.definition.name in (CALL, PURE_CALL):        # a dataset's function has this attr, too
            functions.append((value, range(len(op.inputs))))
    return functions


@dataclass(frozen=True, slots=True)
class Spread:
    """Tasks on which the functions of a node have nodes; None is the task of the node.

    Attributes:
        tasks: Of the nodes that have one of their own.
        effects: Of the nodes with effects.
        handle: A function returns the handle of another task: its name.
    """

    tasks: frozenset[int] = frozenset()
    effects: frozenset[int | None] = frozenset()
    handle: str = ''

    def joined(self, others: Sequence[Spread]) -> Spread:
        """This one and others."""
        every = (self, *others)
        return Spread(frozenset().union(*(one.tasks for one in every)), frozenset().union(*(one.effects for one in every)),
                      next((one.handle for one in every if one.handle), ''))

    def home(self) -> int | None:
        """The one task on which all of it can run, without moving a node with effects that has no task."""
        return next(iter(self.tasks)) if len(self.tasks) == 1 and None not in self.effects else None

    def at(self, task: int | None) -> Spread:
        """The same, of a node on this task."""
        if task is None:
            return self
        return Spread(self.tasks | {task}, frozenset(task if one is None else one for one in self.effects), self.handle)


class FunctionPlacement:
    """The tasks of the nodes in the functions of one plan.

    Args:
        devices: The tasks.
        soft: Whether the CPU of a task replaces a missing device.

    Attributes:
        tasks: By id of a graph: the task of each node that has one of its own, by name.
    """

    def __init__(self, devices: Devices, soft: bool) -> None:
        self._devices = devices
        self._soft = soft
        self._number = {device: index for index, device in enumerate(devices.available)}
        self._spreads: dict[tuple[int, tuple[int | None, ...]], Spread] = {}
        self.tasks: dict[int, Mapping[str, int]] = {}

    def spread(self, op: Operation, owners: Sequence[int | None]) -> Spread:
        """Where the functions of a node have nodes.

        Args:
            op: The node.
            owners: For each input the task whose handle it is, None for other values.

        Raises:
            InvalidArgumentError: A node in them cannot be placed.
        """
        return Spread().joined([self._visit(function, tuple(owners[place] for place in places), op)
                                for function, places in functions_of(op)])

    def task_of_device(self, op: Operation) -> int | None:
        """The task that the device of a node names, None if it names none.

        Raises:
            InvalidArgumentError: There is no such device.
        """
        device = parse_device(op.device) if op.device else None
        if device is None or (device.job, device.task) == (None, None):
            return None
        place = device_for(op.device, self._devices, self._soft)
        if place is None:
            raise session_error(InvalidArgumentError(None, None, unplaceable(op, self._devices)), op)
        return self._number[place]

    def check_elsewhere(self, op: Operation, task: int | None) -> None:
        """Refuse functions that run as a part of a node on its task, such as a dataset's, with nodes of another task."""
        if functions_of(op):
            return
        for function in called_functions([op]):
            for node in function.graph.operations:
                if self.task_of_device(node) not in (None, task):
                    place = 'in a function' if task is None else f'on {self.task_name(task)}'
                    raise session_error(InvalidArgumentError(None, None, (
                        f'Node {node.name} of the function {function.graph.name} is placed on {node.device}, but '
                        f'{op.name} ({op.type}), which calls it, runs {place}: a function of a dataset runs '
                        'where the dataset is. Make both in one tf.device, or compute that node before or after it')), op)

    def owner(self, op: Operation, task: int | None, owners: Mapping[int, str]) -> int:
        """The task of a node that uses handles.

        Args:
            op: The node.
            task: Of its device.
            owners: Tasks of the handles, with the name of each.

        Raises:
            InvalidArgumentError: They are on several tasks, or a Python function is on another one.
        """
        if len(owners) > 1:
            places = ' and '.join(f'{name} of {self.task_name(owner)}' for owner, name in list(owners.items())[:2])
            raise session_error(InvalidArgumentError(None, None, (
                f'Node {op.name} ({op.type}) uses handles of two tasks: {places}. A handle exists on its task only: place '
                'both on one task with tf.device, or read the variable there and use its value')), op)
        owner = next(iter(owners))
        if op.definition.python and task not in (None, owner) and '_py_function' in op.attrs:
            raise session_error(InvalidArgumentError(None, None, (
                f'Node {op.name} ({op.type}) is placed on {self.task_name(task or 0)}, but uses a handle of '
                f'{self.task_name(owner)}. Read the variable, and pass its value')), op)
        return owner

    def task_name(self, task: int) -> str:
        """The name of a task for messages."""
        device = self._devices.available[task]
        return f'/job:{device.job}/task:{device.task}'

    # ------------------------------------------------------------------ functions
    def _visit(self, function: WrittenFunction, owners: tuple[int | None, ...], caller: Operation) -> Spread:
        """Place the nodes of a function that gets handles of these tasks."""
        graph = function.graph
        key = id(graph), owners
        if key in self._spreads:
            return self._spreads[key]
        inputs = [*function.inputs, *(inner for _, inner in graph.captures)]
        owned = {id(tensor): owner for tensor, owner in zip(inputs, owners, strict=True) if owner is not None}
        tasks: dict[str, int] = {}
        spread = Spread()
        for op in graph.operations:
            task, inner = self._place(op, owned)
            if task is not None:
                tasks[op.name] = task
                owned.update((id(tensor), task) for tensor in op.outputs if tensor.dtype in (resource, variant))
            effects = frozenset({None} if op.definition.stateful and op.type != INPUT and not functions_of(op) else ())
            spread = spread.joined([inner.at(task), Spread(effects=effects).at(task)])
        if self.tasks.setdefault(id(graph), tasks) != tasks:
            raise session_error(InvalidArgumentError(None, None, (
                f'The function {graph.name} gets handles of one task in one call and of another in this one, '
                f'{caller.name} ({caller.type}). Trace it once for each, or pass the values of the variables')), caller)
        handle = next((tensor.name for tensor in function.outputs if tensor.dtype is resource and id(tensor) in owned), '')
        self._spreads[key] = spread = spread.joined([Spread(handle=handle)])
        return spread

    def _place(self, op: Operation, owned: Mapping[int, int]) -> tuple[int | None, Spread]:
        """The task of a node in a function, None for that of the function; and where its own functions have nodes."""
        device = self.task_of_device(op)
        if functions_of(op):
            inner = self.spread(op, [owned.get(id(t)) if t.dtype is resource else None for t in op.inputs])
            lists = [owned.get(id(t)) for t in op.inputs if t.dtype is variant]
            return (device if device is not None else lists[0] if lists else inner.home()), inner
        handles = {owned[id(t)]: t.name for t in op.inputs if t.dtype is resource and id(t) in owned}
        if handles:
            task: int | None = self.owner(op, device, handles)
        else:
            lists = [owned.get(id(t)) for t in op.inputs if t.dtype is variant]
            task = lists[0] if lists else device
        if op.type == INPUT:
            task = None
        self.check_elsewhere(op, task)
        return task, Spread()
