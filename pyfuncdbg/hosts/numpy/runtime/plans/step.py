"""One step of a plan: an op, with the input and output slots of its kernel."""
from __future__ import annotations

from dataclasses import dataclass

from pyfuncdbg.hosts.numpy.graph.definitions.registry import Kernel
from pyfuncdbg.hosts.numpy.graph.operation import Operation
from pyfuncdbg.hosts.numpy.runtime.backward.gradient_step import GradientStep


@dataclass(frozen=True, slots=True)
class Step:
    """One op in a plan.

    Attributes:
        op: The node.
        kernel: Its kernel with the attrs bound; takes the execution first if `op.definition.in_execution`.
        inputs: Slots of its inputs.
        outputs: Slots of its outputs, the hidden ones last.
        recorded: Whether its kernel is called with `record=True` and returns a `RecordedResult`.
        gradients: Backward steps whose results are complete after this op, where gradient calls are watched.
    """

    op: Operation
    kernel: Kernel
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    recorded: bool
    gradients: tuple[GradientStep, ...] = ()
