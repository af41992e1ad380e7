"""`RunMetadata.partition_graphs`: the graph that each device has run, as TensorFlow shows it. Pure.

Sessions ask for them where RunOptions do. Feeds and fetches are `_Arg` and `_Retval` in one process; on tasks `_Recv` and
`_Send`, as is what goes from one task to another. A loop or a branch is one node, with its functions in the library.
"""
from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from pyfuncdbg.hosts.numpy.graph.definitions.registry import CONSTANT, IDENTITY
from pyfuncdbg.hosts.numpy.graph.library_functions import called_functions
from pyfuncdbg.hosts.numpy.graph.proto.graphdef import put_library
from pyfuncdbg.hosts.numpy.graph.proto.messages import GraphDef
from pyfuncdbg.hosts.numpy.graph.proto.nodedef import node_def
from pyfuncdbg.hosts.numpy.graph.symbolic_tensor import SymbolicTensor
from pyfuncdbg.hosts.numpy.graph.types.dtypes import float32
from pyfuncdbg.hosts.numpy.runtime.plans.plan import CompiledPlan
from pyfuncdbg.hosts.numpy.runtime.plans.step import Step
from pyfuncdbg.hosts.numpy.runtime.sessions.graph_cut import Cut


def local_partition(plan: CompiledPlan, device: str) -> Any:
    """The one graph of a run in this process.

    Args:
        plan: Of the run.
        device: The name of its device.

    Returns:
        A GraphDef.
    """
    graph = _PartGraph(plan, device)
    used = {slot for step in plan.steps for slot in step.inputs} | {plan.slots[id(tensor)] for tensor in plan.fetches}
    for number, tensor in _by_name(plan.feeds):
        if plan.slots[id(tensor)] in used:
            name = f'_arg_{tensor.op.name}_{tensor.index}_{number}'
            graph.receive(tensor, name, '_Arg', {'index': number, 'T': tensor.dtype})
    for step in plan.steps:
        graph.add(step)
    for number, tensor in _by_name(plan.fetches):
        name = f'_retval_{tensor.op.name}_{tensor.index}_{number}'
        graph.send(tensor, name, '_Retval', {'index': number, 'T': tensor.dtype})
    return graph.finished()


def task_partitions(plan: CompiledPlan, cut: Cut, devices: Sequence[str], incarnations: Sequence[int]) -> list[Any]:
    """The graph of each task of a run.

    Args:
        plan: Of the run.
        cut: The plan, cut.
        devices: The name of each task's device.
        incarnations: A number that differs after the restart of a task.

    Returns:
        GraphDefs, in order of the tasks.
    """
    graphs = {task: _PartGraph(plan, devices[task]) for task in sorted(cut.pieces)}
    tensors = {tensor.name: tensor for step in plan.steps for tensor in (*step.op.outputs, *step.op.hidden)}
    numbers, edges = itertools.count(), itertools.count()

    def channel(name: str, source: int, target: int, by_client: bool) -> dict[str, Any]:
        return {'tensor_name': name, 'send_device': devices[source], 'send_device_incarnation': incarnations[source],
                'recv_device': devices[target], 'client_terminated': by_client}

    for task, graph in graphs.items():
        for name, number in cut.feeds[task]:
            tensor = plan.feeds[number]
            graph.receive(tensor, f'_recv_{tensor.op.name}_{tensor.index}', '_Recv',
                          {'tensor_type': tensor.dtype, **channel(name, task, task, True)})
    sent: list[tuple[int, int, str]] = [(task, target, name) for task, piece in cut.pieces.items()
                                        for stage in piece.stages for target, names in stage.sends for name in names]
    for source, target, name in sorted(set(sent)):
        tensor, attrs = tensors[name], channel(f'edge_{next(edges)}_{name.partition(":")[0]}', source, target, False)
        graphs[source].later(tensor, f'{tensor.op.name}_S{next(numbers)}', '_Send', {'T': tensor.dtype, **attrs})
        graphs[target].receive(tensor, f'{tensor.op.name}_S{next(numbers)}', '_Recv', {'tensor_type': tensor.dtype, **attrs})
    task_of = {name: task for task, piece in cut.pieces.items() for stage in piece.stages for name in stage.nodes}
    for step in plan.steps:
        target = task_of[step.op.name]
        for op in step.op.control_inputs:       # an empty tensor, which is made after the node
            if (source := task_of.get(op.name, target)) != target:
                names = [f'{op.name}_S{next(numbers)}' for _ in range(4)]
                attrs = channel(f'edge_{next(edges)}_{op.name}', source, target, False)
                graphs[source].put(names[0], CONSTANT, [f'^{op.name}'], {'dtype': float32, 'value': np.zeros(0, np.float32)})
                graphs[source].put(names[1], '_Send', [names[0]], {'T': float32, **attrs})
                graphs[target].put(names[2], '_Recv', [], {'tensor_type': float32, **attrs})
                graphs[target].put(names[3], IDENTITY, [names[2]], {'T': float32})
                graphs[target].waits[op.name] = names[3]
        graphs[target].add(step)
    for source, piece in cut.pieces.items():
        for name in piece.results:
            tensor = tensors[name]
            graphs[source].later(tensor, f'_send_{tensor.op.name}_{tensor.index}', '_Send',
                                 {'T': tensor.dtype, **channel(name, source, source, True)})
    return [graph.finished() for graph in graphs.values()]


def _by_name(tensors: Sequence[SymbolicTensor]) -> Iterator[tuple[int, SymbolicTensor]]:
    """Distinct tensors with TensorFlow's numbers of them."""
    return enumerate(sorted({tensor.name: tensor for tensor in tensors}.values(), key=lambda tensor: tensor.name))


class _PartGraph:
    """The graph of one device, while it is written.

    Attributes:
        waits: For nodes elsewhere the node here that has waited for it, by name.
    """

    def __init__(self, plan: CompiledPlan, device: str) -> None:
        self._plan = plan
        self._device = device
        self._message = GraphDef()
        self._names: dict[int, str] = {}            # of the node that receives a tensor, by slot
        self._added: set[str] = set()
        self._steps: list[Step] = []
        self._last: list[Any] = []
        self.waits: dict[str, str] = {}

    def put(self, name: str, op: str, inputs: Sequence[str], attrs: Mapping[str, Any]) -> None:
        """Add a node that no graph of the program has."""
        self._message.node.append(node_def(name, op, inputs, self._device, attrs))

    def receive(self, tensor: SymbolicTensor, name: str, op: str, attrs: Mapping[str, Any]) -> None:
        """Add the node that gives a tensor from elsewhere."""
        self.put(name, op, (), attrs)
        self._names[self._plan.slots[id(tensor)]] = name

    def add(self, step: Step) -> None:
        """Add a node, and the constants that it uses."""
        inputs = [self._input(tensor) for tensor in step.op.inputs]
        inputs += [f'^{self.waits.get(op.name, op.name)}' for op in step.op.control_inputs
                   if op.name in self._added or op.name in self.waits]
        node = self._message.node.add()
        node.CopyFrom(step.op.node_def)
        node.device = self._device
        del node.input[:]
        node.input.extend(inputs)
        self._added.add(step.op.name)
        self._steps.append(step)

    def send(self, tensor: SymbolicTensor, name: str, op: str, attrs: Mapping[str, Any]) -> None:
        """Add the node that takes a tensor away, behind the one that makes it."""
        self.put(name, op, (self._input(tensor),), attrs)

    def later(self, tensor: SymbolicTensor, name: str, op: str, attrs: Mapping[str, Any]) -> None:
        """`send`, when all nodes have been added."""
        self._last.append((tensor, name, op, attrs))

    def finished(self) -> Any:
        """The GraphDef, with the functions that its nodes call."""
        for entry in self._last:
            self.send(*entry)
        put_library(self._message, called_functions([step.op for step in self._steps]))
        return self._message

    def _input(self, tensor: SymbolicTensor) -> str:
        slot = self._plan.slots[id(tensor)]
        if slot in self._names:
            return self._names[slot]
        if slot in self._plan.constants and tensor.op.name not in self._added:
            self._added.add(tensor.op.name)
            constant = self._message.node.add()
            constant.CopyFrom(tensor.op.node_def)
            constant.device = self._device
        return tensor.name.removesuffix(':0')
