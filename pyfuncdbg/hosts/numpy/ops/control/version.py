"""Control flow version of graphs, TensorFlow's 1 or 2. Functions being traced always use version 2.

Nodes are the same in both. What differs is the names of their results: `cond/Identity` and `while/Identity_2`, or
`cond/Merge` and `while/Exit`. A setting of the process, read where nodes are made.
"""
from __future__ import annotations

from pyfuncdbg.hosts.numpy.graph.context import disable_eager_execution, enable_eager_execution
from pyfuncdbg.hosts.numpy.graph.graph import Graph
from pyfuncdbg.hosts.numpy.graph.types.dimension import disable_v2_tensorshape, enable_v2_tensorshape


class ControlFlowVersion:
    """The setting."""

    second = True


def named_as_first(graph: Graph) -> bool:
    """Whether results of control flow in this graph are named as TensorFlow 1 did."""
    return not (ControlFlowVersion.second or graph.building_function)


def enable_control_flow_v2() -> None:
    """Name results of control flow as TensorFlow 2 does."""
    ControlFlowVersion.second = True


def disable_control_flow_v2() -> None:
    """Name results of control flow in graphs as TensorFlow 1 did: `cond/Merge`, `while/Exit`."""
    ControlFlowVersion.second = False


def control_flow_v2_enabled() -> bool:
    """Whether results of control flow are named as TensorFlow 2 does."""
    return ControlFlowVersion.second


def enable_v2_behavior() -> None:
    """Behave as TensorFlow 2: compute ops at once, and sizes of shapes are ints."""
    enable_control_flow_v2()
    enable_eager_execution()
    enable_v2_tensorshape()


def disable_v2_behavior() -> None:
    """Behave as TensorFlow 1: add ops to the default graph, and sizes of shapes are `Dimension`s."""
    disable_control_flow_v2()
    disable_eager_execution()
    disable_v2_tensorshape()
