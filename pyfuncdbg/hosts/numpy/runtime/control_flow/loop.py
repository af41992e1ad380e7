"""What a While node runs: a traced body again and again, in the run of the graph around. `loop_kernel` runs it.

Loops are closed under differentiation (`loop_gradient`):

    carried   goes from one iteration to the next          its gradient is carried backwards
    item      one cell of a list for each iteration        its gradient is stacked
    fixed     the same in every iteration                  its gradient is summed
    stacked   one value of each iteration, as a list       its gradient is an item
    summed    the sum over all iterations                  its gradient is fixed
"""
from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from pyfuncdbg.hosts.numpy.graph.definitions.registry import Output
from pyfuncdbg.hosts.numpy.graph.graph import Graph
from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.runtime.control_flow.loop_source import LoopSource
from pyfuncdbg.hosts.numpy.runtime.traces.traced_function import Traced


@dataclass(frozen=True, slots=True)
class Loop:
    """What a While runs. Its inputs are a counter, a maximum, and the pool: carried values, lists of items, fixed values.

    Attributes:
        condition: Whether there is another iteration; None: as many as the maximum says.
        body: One iteration.
        carried: How many values are carried.
        items: How many lists there are.
        asks: For each input and captured tensor of the condition, its place in the pool.
        feeds: The same of the body, where a list stands for its item.
        next: For each carried value, which output of the body it is next.
        stacked: Outputs of the body to stack.
        summed: Outputs of the body to sum, each with the place in the pool of what it is like.
        limited: Whether the maximum counts.
        backwards: Whether items are taken from the last one on.
        types: Static types of the node's outputs: counter, maximum, carried and, where there is a condition, fixed values;
            then what is stacked and summed.
        compiled: The one function that iterations of it are, once it has run.
    """

    condition: Traced | None
    body: Traced
    carried: int
    items: int
    asks: tuple[int, ...]
    feeds: tuple[int, ...]
    next: tuple[int, ...]
    stacked: tuple[int, ...]
    summed: tuple[tuple[int, int], ...]
    limited: bool
    backwards: bool
    types: tuple[Output, ...]
    compiled: list[LoopSource] = field(default_factory=list, compare=False, repr=False)

    def results_of(self, graph: Graph) -> Iterator[tuple[Tensor, int]]:
        """What the body returns, where this is its graph, each with the output of the node that it is at last."""
        if self.body.graph is graph:            # before what is carried there are the counter and the maximum
            yield from ((self.body.outputs[result], place) for place, result in enumerate(self.next, 2))

    def library(self, node: Any) -> list[Any]:
        """The functions of a node that runs it, for the library of a GraphDef."""
        from pyfuncdbg.hosts.numpy.runtime.control_flow.loop_library import library  # who writes no graph needs no messages
        return [*library(self, node)]
