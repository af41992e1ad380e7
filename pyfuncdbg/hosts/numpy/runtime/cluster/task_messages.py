"""Messages between a session and its tasks: the piece of a graph that a task runs, and tensors. Plain data, never code.

Sessions write them, `tasks` reads them; any thread.
"""
from __future__ import annotations

import os
import uuid
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pyfuncdbg.errors import InvalidArgumentError
from pyfuncdbg.hooks.call import Frame


@dataclass(frozen=True, slots=True)
class Arrival:
    """Tensors that a piece gets from another task.

    Attributes:
        task: Index of the other task.
        level: Of the stage there after which they are available.
        before: Level of the first stage here that needs them.
    """

    task: int
    level: int
    before: int


@dataclass(frozen=True, slots=True)
class Stage:
    """Nodes of a piece that run without waiting for another task.

    Attributes:
        level: Its number in the order of stages; a stage waits for lower levels only.
        nodes: Names of its nodes, in order of execution.
        feeds: Tensors that it gets: fed, received or of earlier stages, by name.
        outputs: Tensors that are needed after it.
        sends: For each task that waits for it: its index, and the tensors that it gets.
    """

    level: int
    nodes: tuple[str, ...]
    feeds: tuple[str, ...]
    outputs: tuple[str, ...]
    sends: tuple[tuple[int, tuple[str, ...]], ...]


@dataclass(frozen=True, slots=True)
class Nodes:
    """The nodes of one graph.

    Attributes:
        graph: A GraphDef, serialized, in order of execution.
        private: By name, the attrs that a GraphDef has no form for, as data of `sessions.piece_functions`.
        types: By name, the op types that are displayed, where they are others than in the registry.
        stack_of: The index of each node's stack.
    """

    graph: bytes
    private: Mapping[str, Mapping[str, Any]]
    types: Mapping[str, str]
    stack_of: Mapping[str, int]

    def to_data(self) -> list[Any]:
        """The nodes as plain data."""
        return [self.graph, {name: dict(attrs) for name, attrs in self.private.items()}, dict(self.types),
                dict(self.stack_of)]

    @classmethod
    def of(cls, data: Sequence[Any]) -> Nodes:
        """The nodes of `to_data`."""
        graph, private, types, stack_of = data
        return cls(bytes(graph), private, types, stack_of)


@dataclass(frozen=True, slots=True)
class PieceFunction:
    """A function that nodes of a piece call.

    Attributes:
        name: Its name, which another one may have too.
        nodes: Its nodes.
        inputs: Names of its placeholders: of its arguments, then of captured tensors.
        outputs: Names of its outputs.
        automatic, place, repeats: As of its `Graph`.
        number: By which all tasks of the plan know it.
        tasks: The task of each of its nodes that has one of its own, by name.
    """

    name: str
    nodes: Nodes
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    automatic: bool
    place: str
    repeats: bool
    number: int
    tasks: Mapping[str, int]

    def to_data(self) -> list[Any]:
        """The function as plain data."""
        return [self.name, self.nodes.to_data(), list(self.inputs), list(self.outputs), self.automatic, self.place,
                self.repeats, self.number, dict(self.tasks)]

    @classmethod
    def of(cls, data: Sequence[Any]) -> PieceFunction:
        """The function of `to_data`."""
        name, nodes, inputs, outputs, automatic, place, repeats, number, tasks = data
        return cls(name, Nodes.of(nodes), tuple(inputs), tuple(outputs), automatic, place, repeats, number, dict(tasks))


@dataclass(frozen=True, slots=True)
class Piece:
    """The part of a graph that one task runs.

    Attributes:
        nodes: Its nodes.
        functions: The functions that they call; those that a function calls are before it.
        arguments: The node that represents each tensor from elsewhere, by the tensor's name.
        stages: In order.
        arrivals: What comes from other tasks.
        results: Tensors that the session gets, by name.
        stacks: Where in the program its nodes were made, each stack once.
        task: Index of the task.
        serves: Whether functions of other tasks have nodes here, so that it must be prepared before those run.
    """

    nodes: Nodes
    functions: tuple[PieceFunction, ...]
    arguments: Mapping[str, str]
    stages: tuple[Stage, ...]
    arrivals: tuple[Arrival, ...]
    results: tuple[str, ...]
    stacks: tuple[tuple[Frame, ...], ...]
    task: int
    serves: bool

    def to_data(self) -> dict[str, Any]:
        """The piece as plain data."""
        return {'nodes': self.nodes.to_data(), 'functions': [function.to_data() for function in self.functions],
                'arguments': dict(self.arguments), 'results': list(self.results),
                'stacks': [[list(frame) for frame in stack] for stack in self.stacks],
                'stages': [[s.level, list(s.nodes), list(s.feeds), list(s.outputs),
                            [[t, list(names)] for t, names in s.sends]] for s in self.stages],
                'arrivals': [[a.task, a.level, a.before] for a in self.arrivals], 'task': self.task, 'serves': self.serves}


def piece_of(data: Mapping[str, Any]) -> Piece:
    """The piece of `Piece.to_data`."""
    stages = tuple(Stage(level, tuple(nodes), tuple(feeds), tuple(outputs), tuple((t, tuple(names)) for t, names in sends))
                   for level, nodes, feeds, outputs, sends in data['stages'])
    return Piece(Nodes.of(data['nodes']), tuple(PieceFunction.of(entry) for entry in data['functions']),
                 dict(data['arguments']), stages, tuple(Arrival(*entry) for entry in data['arrivals']),
                 tuple(data['results']), tuple(tuple(Frame(*frame) for frame in stack) for stack in data['stacks']),
                 data['task'], data['serves'])


@dataclass(frozen=True, slots=True)
class TaskHandle:
    """Reference to a value that exists in the process of a task only, such as the handle of a variable.

    Attributes:
        task: Index of the task.
        key: The task's key of the value.
    """

    task: int
    key: str

    def __repr__(self) -> str:
        """The display of a handle that stays on its task."""
        return f'<handle on task {self.task} of the session>'


def pack_tensor(value: Any) -> Any:
    """A tensor's value for a message: an array of numbers as it is; else the bytes of a TensorProto, of strings, say.

    Raises:
        InvalidArgumentError: It exists in this process only: a handle, a list of tensors.
    """
    if isinstance(value, TaskHandle):
        return {'at': [value.task, value.key]}
    if not isinstance(value, np.ndarray | np.generic):
        raise InvalidArgumentError(None, None, f'a value of type {type(value).__name__} exists in the process of its task '
                                               'only, and cannot be sent to another one')
    array = np.asarray(value)
    if array.dtype.isbuiltin == 1 and not array.dtype.hasobject:
        return array if array.flags.c_contiguous else array.copy(order='C')
    from pyfuncdbg.hosts.numpy.graph.proto.tensor_proto import tensor_proto  # loads the protobuf library
    return bytes(tensor_proto(array).SerializeToString())


def unpack_tensor(data: Any) -> Any:
    """The value of `pack_tensor`: an array that may be read-only, a scalar at rank 0."""
    if isinstance(data, bytes):
        from pyfuncdbg.hosts.numpy.graph.proto.messages import TensorProto
        from pyfuncdbg.hosts.numpy.graph.proto.tensor_proto import make_ndarray
        array = np.array(make_ndarray(TensorProto.FromString(data)))
    else:
        array = data
    return array if array.ndim or array.dtype.hasobject else array[()]


_space = ['', 0]


def address_space() -> str:
    """The id of this process, which no other has: that of a parent is not that of its forked child."""
    if _space[1] != os.getpid():
        _space[:] = [uuid.uuid4().hex, os.getpid()]
    return str(_space[0])


_exceptions: OrderedDict[str, BaseException] = OrderedDict()
_MOST_EXCEPTIONS = 100


def keep_exception(error: BaseException) -> str:
    """Keep an exception for a session of this process.

    Returns:
        The key by which `kept_exception` finds it.
    """
    key = f'{address_space()}/{uuid.uuid4().hex}'
    _exceptions[key] = error
    while len(_exceptions) > _MOST_EXCEPTIONS:
        _exceptions.popitem(last=False)
    return key


def kept_exception(key: str) -> BaseException | None:
    """Take an exception, if its task is in this process."""
    return _exceptions.pop(key, None)
