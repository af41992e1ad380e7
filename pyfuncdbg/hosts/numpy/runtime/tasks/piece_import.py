"""The nodes and functions of a piece, made in the process of its task. On a thread of the task's server.

Nodes and functions are those of the session, in its order: a tensor that a node records has the same index here.
"""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pyfuncdbg.hooks.call import Frame
from pyfuncdbg.hosts.numpy.graph.graph import Graph
from pyfuncdbg.hosts.numpy.graph.operation import Operation
from pyfuncdbg.hosts.numpy.graph.proto.messages import GraphDef
from pyfuncdbg.hosts.numpy.graph.types.dtypes import as_dtype
from pyfuncdbg.hosts.numpy.graph.types.shapes import TensorShape
from pyfuncdbg.hosts.numpy.runtime.cluster.task_messages import Nodes, Piece, PieceFunction
from pyfuncdbg.hosts.numpy.runtime.control_flow.branches import Branches
from pyfuncdbg.hosts.numpy.runtime.control_flow.while_loop import Loop
from pyfuncdbg.hosts.numpy.runtime.plans.remote_step import FunctionTasks
from pyfuncdbg.hosts.numpy.runtime.traces.node_import import NodeImport
from pyfuncdbg.hosts.numpy.runtime.traces.traced_function import TracedFunction

_STRUCTURES: Mapping[str, type] = {'Loop': Loop, 'Branches': Branches}


class PieceImport:
    """The import of one piece.

    Args:
        piece: The piece.
        trust: Whether Python functions that are stored in nodes are loaded, which runs code.

    Attributes:
        numbers: By which all tasks know a function, by its graph.

    Raises:
        ValueError, NotFoundError: Its functions form no graphs here.
    """

    def __init__(self, piece: Piece, trust: bool) -> None:
        self.trust = trust                      # nodes of Python functions ask for it
        self._stacks = piece.stacks
        self._functions: list[TracedFunction] = []
        self.numbers: dict[Graph, int] = {}
        self._task = piece.task
        self._is_spread = piece.serves or any(task != piece.task for function in piece.functions
                                              for task in function.tasks.values())
        for function in piece.functions:
            self._functions.append(self._traced(function))

    def add(self, graph: Graph, nodes: Nodes) -> dict[str, Operation]:
        """Add nodes to a graph; they have been made where the program has made them.

        Returns:
            They by name.
        """
        private = {name: {key: self._decode(value) for key, value in attrs.items()} for name, attrs in nodes.private.items()}
        node_import = NodeImport(graph, '', {}, self, private=private)
        node_import.run(GraphDef.FromString(nodes.graph).node, ())
        for name, displayed in nodes.types.items():
            node_import.ops[name].type = displayed
        for name, index in nodes.stack_of.items():
            _put_stack(node_import.ops[name], self._stacks[index])
        return node_import.ops

    def _traced(self, function: PieceFunction) -> TracedFunction:
        graph = Graph(name=function.name, building_function=True)
        graph.automatic, graph.place, graph.repeats = function.automatic, function.place, function.repeats
        ops = self.add(graph, function.nodes)
        self.numbers[graph] = function.number
        if self._is_spread:
            task_of = {ops[name]: task for name, task in function.tasks.items()}
            graph.tasks = FunctionTasks(function.number, self._task, task_of)
        return TracedFunction(graph, [ops[name].outputs[0] for name in function.inputs],
                              [tensor_of(ops, name) for name in function.outputs], list, function.name)

    def _decode(self, data: Any) -> Any:
        """The value of `FunctionWriter.encode`."""
        if not isinstance(data, Sequence) or isinstance(data, str | bytes):
            return data
        kind, content = data
        if kind == 'tuple':
            return tuple(self._decode(part) for part in content)
        if kind == 'mapping':
            return {self._decode(key): self._decode(part) for key, part in content}
        if kind == 'dtype':
            return as_dtype(content)
        if kind == 'shape':
            return TensorShape(content)
        if kind == 'function':
            return self._functions[content]
        return _STRUCTURES[kind](**{name: self._decode(part) for name, part in content})


def tensor_of(ops: Mapping[str, Operation], name: str) -> Any:
    """A tensor by its name, which may be one that its node records."""
    node, _, index = name.rpartition(':')
    op, place = ops[node], int(index)
    return op.outputs[place] if place < len(op.outputs) else op.recorded()[place - len(op.outputs)]


def _put_stack(op: Operation, stack: tuple[Frame, ...]) -> None:
    op.stack = stack
    function = op.attrs.get('_py_function')
    if function is not None:
        function.place(op)
