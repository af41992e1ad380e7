"""Lineage of a node: ancestors or descendants as rows of a tree, each node once, with references where it recurs.

Made from a `RecordedGraph`, on any thread.
"""
from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from pyfuncdbg.observers.debug.inspecting.recorded_graph import Constant, RecordedGraph, ReturnedOutput, TensorUse
from pyfuncdbg.observers.record.records import TensorRecord

Direction = Literal['inputs', 'outputs']
_OUTPUTS = 8
"""Outputs of a consumer whose values are looked up."""
Sort = Literal['node', 'feed', 'constant', 'elsewhere']


@dataclass(frozen=True, slots=True)
class LineageRow:
    """A row of the lineage tree.

    Attributes:
        depth: 0 for the node that was asked for.
        node, op_type, function: Which node; '' where it has no such.
        kind: What it is; 'elsewhere' for something that these runs did not announce.
        use: How it is joined to the row above it, None for the first.
        listed_at: Its inputs (outputs) are listed at another row of it, above or below; '' if here.
        hidden: How many of them are not shown because of the depth.
        last: For each depth from 1 up to its own, whether no further row of that depth follows under the same parent.
        value: The tensor between the two; of a consumer its first output.
        further: The other outputs of a consumer, by slot.
        constant: What a constant holds.
    """

    depth: int
    node: str
    op_type: str
    function: str
    kind: Sort
    use: TensorUse | None
    listed_at: Literal['', 'above', 'below']
    hidden: int
    last: tuple[bool, ...]
    value: TensorRecord | None = None
    constant: Constant | None = None
    further: tuple[tuple[int, TensorRecord], ...] = ()


@dataclass(frozen=True, slots=True)
class Lineage:
    """The tree.

    Attributes:
        node: Of whom.
        rows: In the order in which they are drawn; as many as were asked for.
        reached: How many nodes and feeds there are in that direction, whatever the depth; constants do not count.
        shown: How many of them are among the rows.
        depth: Levels that were asked for.
        control: Whether control inputs count.
        run: What values are of, None if nothing ran.
        repeats: Whether a node has several calls in it; its value is that of the newest.
        label: What the run is of; '' for eager calls.
        returned: Which outputs the function of the node's graph returns.
        fetched: Whether its runs give an output to the program.
        consumers_recorded: Whether nodes that take its outputs would have been recorded.
        in_graph: Whether it is a node of a graph, also where no run announces that.
    """

    node: str
    direction: Direction
    rows: tuple[LineageRow, ...]
    reached: int
    shown: int
    depth: int
    control: bool
    run: int | None
    label: str
    returned: tuple[ReturnedOutput, ...] = ()
    fetched: bool = False
    consumers_recorded: bool = True
    in_graph: bool = False
    repeats: bool = False


def lineage(graph: RecordedGraph, node: str, direction: Direction, *, depth: int, limit: int, control: bool = False,
            value: Callable[[str], TensorRecord | None] = lambda tensor: None, run: int | None = None,
            repeats: Callable[[], bool] = lambda: False, ops: bool = True) -> Lineage:
    """Walk from a node.

    Args:
        graph: Where it is.
        node: A node, feed or constant of it.
        direction: Which way.
        depth: Levels.
        limit: Most rows.
        control: Follow control inputs too.
        value: Gives what a tensor held.
        run: Which run that is.
        repeats: Whether one of the nodes that `value` was asked for has several calls in it.
        ops: Whether nodes without a function were recorded.
    """
    def beyond(name: str) -> list[TensorUse]:
        found = graph.inputs(name, control=control) if direction == 'inputs' else graph.outputs(name, control=control)
        return list({(use.node, use.slot < 0, use.tensor): use for use in reversed(found)}.values())[::-1]
    levels = _levels(node, beyond)
    rows = _rows(graph, node, beyond, levels, depth, limit, lambda tensor: value(tensor), direction)
    plan = graph.plan
    reached = sum(graph.constant(name) is None for name in levels)
    shown_nodes = len({row.node for row in rows if row.constant is None})
    own = graph.constant(node) is None
    recorded = graph.nodes.get(node)
    return Lineage(node, direction, tuple(rows), reached - own, shown_nodes - own, depth, control, run,
                   plan.label if plan is not None else '', recorded.returned if recorded is not None else (),
                   recorded is not None and any(graph.is_fetched(output) for output in recorded.site.outputs),
                   recorded is None or not recorded.site.outputs or (
                       (plan is not None or ops) and not recorded.site.traits.unlinked),
                   recorded is not None and bool(recorded.site.outputs), repeats())


def _levels(node: str, neighbours: Callable[[str], Sequence[TensorUse]]) -> dict[str, int]:
    """The distance of each node from the first one."""
    levels = {node: 0}
    queue = deque([node])
    while queue:
        name = queue.popleft()
        for use in neighbours(name):
            if use.node not in levels:
                levels[use.node] = levels[name] + 1
                queue.append(use.node)
    return levels


def _rows(graph: RecordedGraph, node: str, neighbours: Callable[[str], Sequence[TensorUse]], levels: dict[str, int],
          depth: int,
          limit: int, value: Callable[[str], TensorRecord | None], direction: Direction) -> list[LineageRow]:
    """Depth first. The inputs of a node are listed at its first row of least depth, so that a limit cuts off least."""
    rows: list[LineageRow] = []
    drawn: set[str] = set()
    stack: list[tuple[int, TensorUse | None, str, tuple[bool, ...]]] = [(0, None, node, ())]
    while stack and len(rows) < limit:
        level, use, name, last = stack.pop()
        uses = neighbours(name)
        again: Literal['', 'above', 'below'] = ''
        if uses and name in drawn:
            again = 'above'
        elif uses and level > levels[name]:
            again = 'below'
        is_cut = level >= depth
        if not again:
            drawn.add(name)
            if not is_cut:
                stack += [(level + 1, inner, inner.node, (*last, i == len(uses) - 1))
                          for i, inner in reversed(list(enumerate(uses)))]
        rows.append(_branch(graph, name, level, use, again, len(uses) if is_cut and not again else 0, last, value,
                            direction))
    return rows


def _branch(graph: RecordedGraph, name: str, level: int, use: TensorUse | None, again: Literal['', 'above', 'below'],
            hidden: int, last: tuple[bool, ...], value: Callable[[str], TensorRecord | None],
            direction: Direction) -> LineageRow:
    node = graph.nodes.get(name)
    constant = None if node is not None else graph.constant(name)
    sort: Sort = 'node' if node is not None else 'constant' if constant is not None else (
        'feed' if graph.is_fed(name) else 'elsewhere')
    outputs = [f'{name}:0'] if node is None else list(node.site.outputs)
    if use is not None and direction == 'inputs':
        outputs = [use.tensor]
    values = [value(tensor) if tensor and constant is None else None for tensor in outputs[:_OUTPUTS]]
    further = tuple((slot, one) for slot, one in enumerate(values) if slot and one is not None)
    op_type, function = (node.site.op_type, node.site.function) if node is not None else ('', '')
    return LineageRow(level, name, op_type, function, sort, use, again, hidden, last, values[0] if values else None,
                      constant,
                      further)
