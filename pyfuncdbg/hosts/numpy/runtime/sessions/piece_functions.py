"""The functions that the nodes of a piece call, and the private attrs of nodes, as plain data.

A GraphDef has no form for what a gradient takes from a run: loops that run backwards, and what a node records for them.
Tasks get the functions as they are here, so that a recorded tensor has its index there too; `tasks.piece_import` reads them.
"""
from __future__ import annotations

import dataclasses
import os
import socket
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from pyfuncdbg.hooks.call import Frame
from pyfuncdbg.hosts.numpy.graph.definitions.attributes import FunctionName
from pyfuncdbg.hosts.numpy.graph.definitions.registry import STATELESS_WHILE, WHILE
from pyfuncdbg.hosts.numpy.graph.operation import Operation
from pyfuncdbg.hosts.numpy.graph.proto.messages import GraphDef
from pyfuncdbg.hosts.numpy.graph.proto.nodedef import put_attr_value
from pyfuncdbg.hosts.numpy.graph.types.dtypes import DType
from pyfuncdbg.hosts.numpy.graph.types.shapes import TensorShape
from pyfuncdbg.hosts.numpy.runtime.cluster.task_messages import Nodes, PieceFunction

_TOKEN = 'token'
_STORED = '_serialized_function'
_FRAMES = 16
"""Frames of a stack that a task gets, to show where a node was made."""


@runtime_checkable
class WrittenFunction(Protocol):
    """A traced function: `traces.traced_function.TracedFunction` is one."""

    @property
    def name(self) -> str: ...
    @property
    def graph(self) -> Any: ...
    @property
    def inputs(self) -> Sequence[Any]: ...
    @property
    def outputs(self) -> Sequence[Any]: ...


class FunctionNumbers:
    """The functions of all pieces of a plan, by the numbers that tasks know them by.

    Args:
        tasks: As of `FunctionPlacement`.

    Attributes:
        functions: By number.
    """

    def __init__(self, tasks: Mapping[int, Mapping[str, int]]) -> None:
        self._tasks = tasks
        self._numbers: dict[int, int] = {}
        self.functions: list[WrittenFunction] = []

    def number(self, function: WrittenFunction) -> int:
        """The number of a function."""
        number = self._numbers.setdefault(id(function), len(self.functions))
        if number == len(self.functions):
            self.functions.append(function)
        return number

    def tasks_of(self, function: WrittenFunction) -> Mapping[str, int]:
        """The tasks of its nodes that have one of their own, by name."""
        return self._tasks.get(id(function.graph), {})


class FunctionWriter:
    """The functions of one piece, each written once; those that a function calls are before it.

    Args:
        same_space: Whether the task is in this process. Elsewhere the name of a Python function may be that of another.
        task: Index of the task.
        numbers: Of the functions of all pieces.

    Attributes:
        functions: Those that have been written.
        stacks: Where the program has made the nodes, each stack once: their innermost frames.
    """

    def __init__(self, same_space: bool, task: int, numbers: FunctionNumbers) -> None:
        self._task, self._all = task, numbers
        self._origin = '' if same_space else f' (of process {os.getpid()} on {socket.gethostname()})'
        self._numbers: dict[int, int] = {}
        self._written: list[WrittenFunction] = []      # as long as their ids are keys
        self.functions: list[PieceFunction] = []
        self.stacks: dict[tuple[Frame, ...], int] = {}

    def number(self, function: WrittenFunction) -> int:
        """The index of a function, which is written if it is new."""
        if id(function) not in self._numbers:
            self._written.append(function)
            graph = function.graph
            nodes, tasks = NodeWriter(self), self._all.tasks_of(function)
            for op in graph.operations:
                nodes.add(op, [tensor.name for tensor in op.inputs], [before.name for before in op.control_inputs],
                          tasks.get(op.name, self._task) == self._task)
            inputs = [*function.inputs, *(inner for _, inner in graph.captures)]
            self.functions.append(PieceFunction(
                function.name, nodes.nodes(), tuple(tensor.op.name for tensor in inputs),
                tuple(tensor.name for tensor in function.outputs), graph.automatic, graph.place, graph.repeats,
                self._all.number(function), tasks))
            self._numbers[id(function)] = len(self.functions) - 1
        return self._numbers[id(function)]

    def encode(self, value: Any) -> Any:
        """The content of a private attr as plain data.

        Raises:
            TypeError: It has no such form.
        """
        if value is None or type(value) in (bool, int, float, str, bytes):
            return value
        if isinstance(value, tuple | list):
            return ['tuple', [self.encode(part) for part in value]]
        if isinstance(value, Mapping):
            return ['mapping', [[self.encode(key), self.encode(part)] for key, part in value.items()]]
        if isinstance(value, DType):
            return ['dtype', value.as_datatype_enum]
        if isinstance(value, TensorShape):
            return ['shape', None if value.sizes is None else list(value.sizes)]
        if isinstance(value, WrittenFunction):
            return ['function', self.number(value)]
        if dataclasses.is_dataclass(value):     # a loop, or branches; what is not compared is a cache
            return [type(value).__name__, [[field.name, self.encode(getattr(value, field.name))]
                                           for field in dataclasses.fields(value) if field.compare]]
        raise TypeError(f'an attr with a value of type {type(value).__name__} exists in its process only')

    def mark_token(self, node: Any) -> None:
        """Say in a node which process the name of its Python function is of."""
        if self._origin and _TOKEN in node.attr:
            node.attr[_TOKEN].s += self._origin.encode()


class NodeWriter:
    """Nodes of one graph, added in order of execution.

    Args:
        functions: The functions of the piece.

    Attributes:
        message: Their GraphDef.
    """

    def __init__(self, functions: FunctionWriter) -> None:
        self._functions = functions
        self._private: dict[str, dict[str, Any]] = {}
        self._types: dict[str, str] = {}
        self._stack_of: dict[str, int] = {}
        self.message = GraphDef()

    def add(self, op: Operation, inputs: Sequence[str], control_inputs: Sequence[str] = (), runs: bool = True) -> None:
        """Add a node, with the names of its inputs here; one that another task `runs` has no function that can be loaded."""
        node = self.message.node.add()
        node.CopyFrom(op.node_def)
        node.op = op.definition.name
        if node.op != op.type:
            self._types[op.name] = op.type
        del node.input[:]
        node.input.extend([*(name.removesuffix(':0') for name in inputs), *(f'^{name}' for name in control_inputs)])
        node.device = ''                        # a task has one device
        if '_class' in node.attr:               # the nodes beside it may be in no piece
            del node.attr['_class']
        if node.op in (WHILE, STATELESS_WHILE) and 'cond' not in node.attr:     # it runs backwards; NodeDefs have the attr
            put_attr_value(node.attr['cond'], FunctionName(node.attr['body'].func.name))
        self._functions.mark_token(node)
        if not runs and _STORED in node.attr:
            del node.attr[_STORED]
        self._add_private(op, node)
        stacks = self._functions.stacks
        self._stack_of[op.name] = stacks.setdefault(op.stack[-_FRAMES:], len(stacks))

    def _add_private(self, op: Operation, node: Any) -> None:
        """The private attrs on which its kernel and its types depend; a Python function is stored in the node, or is not."""
        if '_py_function' in op.attrs:
            return
        for key in ('_py_types', *op.definition.kernel_attrs):
            value = op.attrs.get(key)
            if not key.startswith('_py') or value is None:
                continue
            if type(value) in (int, bool, float, str):
                put_attr_value(node.attr[key], value)
                continue
            try:
                self._private.setdefault(op.name, {})[key] = self._functions.encode(value)
            except TypeError:                   # an object that the task makes itself
                self._private.pop(op.name, None)
                return

    def nodes(self) -> Nodes:
        """The nodes."""
        return Nodes(bytes(self.message.SerializeToString(deterministic=True)), self._private, self._types, self._stack_of)
