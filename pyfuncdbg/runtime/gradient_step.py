"""One backward step inside a graph: the nodes that one gradient rule added, shown as one gradient call when they have run."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pyfuncdbg.graph.operation import Operation
from pyfuncdbg.graph.tensor import SymbolicTensor
from pyfuncdbg.hooks.chain import hooks
from pyfuncdbg.runtime.execution import Execution
from pyfuncdbg.runtime.tape import gradient_call, gradient_site


@dataclass(frozen=True, slots=True, eq=False)
class GradientStep:
    """The nodes that one rule added: the backward step of one forward node, to be shown as one gradient call.

    Attributes:
        forward: The node it differentiates.
        incoming: Gradients of the forward node's outputs, hidden ones included; None where there is none.
        outgoing: Gradients of its inputs.
        sources: Forward nodes whose backward steps the incoming gradients sum.
    """

    forward: Operation
    incoming: tuple[SymbolicTensor | None, ...]
    outgoing: tuple[SymbolicTensor | None, ...]
    sources: tuple[Operation, ...]

    @property
    def record(self) -> SymbolicTensor | None:
        """What the forward node recorded, which knows its call."""
        return self.forward.hidden[0] if self.forward.hidden else None

    def report(self, execution: Execution, incoming: Sequence[Any], outgoing: Sequence[Any], record: Any) -> None:
        """Make it a call of kind 'gradient', now that its values are there."""
        if not hooks.gradient:
            return
        calls = execution.gradient_calls
        sources = [calls[op] for op in self.sources if op in calls]
        _, calls[self.forward] = gradient_call(execution.run, gradient_site(self.forward), lambda *_: outgoing, incoming,
                                               getattr(record, 'call', 0), sources)
