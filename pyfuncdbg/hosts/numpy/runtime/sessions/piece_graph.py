"""The GraphDef of a piece: the nodes of one task, with placeholders for what they get from elsewhere.

It is data: of a Python function it has the name by which its process finds it, or what `serialize=True` has stored.
"""
from __future__ import annotations

import os
import socket
from collections.abc import Callable
from typing import Any

from pyfuncdbg.hooks.call import Frame
from pyfuncdbg.hosts.numpy.graph.definitions.registry import INPUT
from pyfuncdbg.hosts.numpy.graph.operation import Operation
from pyfuncdbg.hosts.numpy.graph.proto.graphdef import called_functions, put_library
from pyfuncdbg.hosts.numpy.graph.proto.messages import GraphDef
from pyfuncdbg.hosts.numpy.graph.proto.nodedef import node_def, put_attr_value
from pyfuncdbg.hosts.numpy.runtime.plans.plan import CompiledPlan
from pyfuncdbg.hosts.numpy.runtime.plans.step import Step

_TOKEN = 'token'
_FRAMES = 16
"""Frames of a stack that a task gets, to show where a node was made."""


class PieceGraph:
    """The nodes of a piece, added in order of execution.

    Args:
        plan: The plan that is cut.
        name_of: The name of the tensor in a slot.

    Attributes:
        arguments: The placeholder of each tensor from elsewhere, by the tensor's name.
        stacks: Where the program has made the nodes, each stack once: their innermost frames.
        stack_of: The index of each node's stack.
    """

    def __init__(self, plan: CompiledPlan, name_of: Callable[[int], str]) -> None:
        self._plan = plan
        self._name_of = name_of
        self._message = GraphDef()
        self._ops: list[Operation] = []
        self._names = {op.name for op in plan.graph.operations}
        self._constants: set[str] = set()
        self.arguments: dict[str, str] = {}
        self.stacks: dict[tuple[Frame, ...], int] = {}
        self.stack_of: dict[str, int] = {}

    def add_argument(self, name: str, tensor: Any) -> None:
        """Add the placeholder of a tensor from elsewhere."""
        node, number = f'{name.replace(":", "_")}_received', 1
        while node in self._names:
            node, number = f'{name.replace(":", "_")}_received_{number}', number + 1
        self._names.add(node)
        self.arguments[name] = node
        self._message.node.append(node_def(node, INPUT, (), '', {'dtype': tensor.dtype, 'shape': tensor.shape}))

    def add_step(self, step: Step) -> None:
        """Add a node, and the constants that it uses."""
        inputs = []
        for slot, tensor in zip(step.inputs, step.op.inputs, strict=True):
            if slot in self._plan.constants:
                inputs.append(self._constant(tensor.op, tensor.index))
            else:
                name = self._name_of(slot)
                inputs.append(self.arguments.get(name, name.removesuffix(':0')))
        self._add(step.op, inputs)

    def serialized(self, same_space: bool) -> bytes:
        """The GraphDef.

        Args:
            same_space: Whether the task is in this process. Elsewhere the name of a Python function may be that of another.
        """
        put_library(self._message, called_functions(self._ops))
        for function in self._message.library.function:
            for node in function.node_def:
                node.device = ''
        if not same_space:
            for node in [*self._message.node, *(n for f in self._message.library.function for n in f.node_def)]:
                if _TOKEN in node.attr:
                    node.attr[_TOKEN].s += f' (of process {os.getpid()} on {socket.gethostname()})'.encode()
        return bytes(self._message.SerializeToString(deterministic=True))

    def _constant(self, op: Operation, index: int) -> str:
        if op.name not in self._constants:
            self._constants.add(op.name)
            self._add(op, [])
        return op.name if not index else f'{op.name}:{index}'

    def _add(self, op: Operation, inputs: list[str]) -> None:
        node = self._message.node.add()
        node.CopyFrom(op.node_def)
        del node.input[:]
        node.input.extend(inputs)
        node.device = ''                        # a task has one device
        if '_class' in node.attr:               # the nodes beside it may be in no piece
            del node.attr['_class']
        for key in op.definition.kernel_attrs:  # our kernel depends on them; a NodeDef of TensorFlow's has no such attr
            if key.startswith('_py') and type(op.attrs.get(key)) in (int, bool, float, str):
                put_attr_value(node.attr[key], op.attrs[key])
        self._ops.append(op)
        self.stack_of[op.name] = self.stacks.setdefault(op.stack[-_FRAMES:], len(self.stacks))
