"""The nodes of a piece as a GraphDef: those of one task, with placeholders for what they get from elsewhere.

It is data: of a Python function it has the name by which its process finds it, or what `serialize=True` has stored.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyfuncdbg.hosts.numpy.graph.definitions.registry import INPUT
from pyfuncdbg.hosts.numpy.graph.operation import Operation
from pyfuncdbg.hosts.numpy.graph.proto.nodedef import node_def
from pyfuncdbg.hosts.numpy.runtime.cluster.task_messages import Nodes
from pyfuncdbg.hosts.numpy.runtime.plans.plan import CompiledPlan
from pyfuncdbg.hosts.numpy.runtime.plans.step import Step
from pyfuncdbg.hosts.numpy.runtime.sessions.piece_functions import FunctionWriter, NodeWriter


class PieceGraph:
    """The nodes of a piece, added in order of execution.

    Args:
        plan: The plan that is cut.
        name_of: The name of the tensor in a slot.
        functions: The functions that they call.

    Attributes:
        arguments: The placeholder of each tensor from elsewhere, by the tensor's name.
        functions: As the argument.
    """

    def __init__(self, plan: CompiledPlan, name_of: Callable[[int], str], functions: FunctionWriter) -> None:
        self._plan = plan
        self._name_of = name_of
        self._names = {op.name for op in plan.graph.operations}
        self._constants: set[str] = set()
        self.arguments: dict[str, str] = {}
        self.functions = functions
        self._writer = NodeWriter(self.functions)

    def add_argument(self, name: str, tensor: Any) -> None:
        """Add the placeholder of a tensor from elsewhere."""
        node, number = f'{name.replace(":", "_")}_received', 1
        while node in self._names:
            node, number = f'{name.replace(":", "_")}_received_{number}', number + 1
        self._names.add(node)
        self.arguments[name] = node
        self._writer.message.node.append(node_def(node, INPUT, (), '', {'dtype': tensor.dtype, 'shape': tensor.shape}))

    def add_step(self, step: Step) -> None:
        """Add a node, and the constants that it uses."""
        inputs = []
        for slot, tensor in zip(step.inputs, step.op.inputs, strict=True):
            if slot in self._plan.constants:
                inputs.append(self._constant(tensor.op, tensor.index))
            else:
                name = self._name_of(slot)
                inputs.append(self.arguments.get(name, name))
        self._writer.add(step.op, inputs)

    def nodes(self) -> Nodes:
        """The nodes."""
        return self._writer.nodes()

    def _constant(self, op: Operation, index: int) -> str:
        if op.name not in self._constants:
            self._constants.add(op.name)
            self._writer.add(op, [])
        return f'{op.name}:{index}'
