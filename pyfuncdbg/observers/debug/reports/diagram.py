"""A graph or a tape as boxes and arrows: what is written as Mermaid or DOT.

Made from a trace, on any thread. Names of the program are only ever labels; a box is known by its place in the list.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from pyfuncdbg.observers.debug.gradients.tape import Gradient, Tape, TapeNode
from pyfuncdbg.observers.debug.inspecting.recorded_graph import RecordedGraph, TensorUse
from pyfuncdbg.observers.debug.reports.lineage import Lineage
from pyfuncdbg.observers.record.records import CallRecord, TensorRecord

Form = Literal['mermaid', 'dot']
Kind = Literal['op', 'python', 'feed', 'constant', 'leaf', 'elsewhere']


@dataclass(frozen=True, slots=True)
class DiagramBox:
    """A node: `lines` is its label; `bad` if it has failed or gave NaN or infinities."""

    lines: tuple[str, ...]
    kind: Kind
    bad: bool = False


@dataclass(frozen=True, slots=True)
class Arrow:
    """An arrow from one box to another, by their places; dashed for a control input."""

    source: int
    target: int
    label: str = ''
    dashed: bool = False
    bad: bool = False


@dataclass(frozen=True, slots=True)
class Diagram:
    """A diagram's boxes and arrows, and its language; `left_out` boxes there was no room for. Shapes and marks are of
    `run`."""

    form: Form
    boxes: tuple[DiagramBox, ...]
    arrows: tuple[Arrow, ...]
    left_out: int = 0
    run: int | None = None


class _Boxes:
    """Numbers boxes as they come, up to a limit; arrows to what is left out are left out."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._places: dict[str, int] = {}
        self.boxes: list[DiagramBox] = []
        self.arrows: list[Arrow] = []
        self.left_out: set[str] = set()

    def add(self, name: str, box: Callable[[], DiagramBox]) -> int | None:
        place = self._places.get(name)
        if place is None:
            if len(self.boxes) >= self._limit:
                self.left_out.add(name)
                return None
            place = self._places[name] = len(self.boxes)
            self.boxes.append(box())
        return place

    def join(self, source: int | None, target: int | None, label: str = '', *, dashed: bool = False,
             bad: bool = False) -> None:
        if source is not None and target is not None:
            self.arrows.append(Arrow(source, target, label, dashed, bad))

    def diagram(self, form: Form, run: int | None = None) -> Diagram:
        return Diagram(form, tuple(self.boxes), tuple(dict.fromkeys(self.arrows)), len(self.left_out), run)


def graph_diagram(graph: RecordedGraph, form: Form, limit: int, *, names: Iterable[str] | None = None, control: bool = True,
                  run: int | None = None, call: Callable[[str], CallRecord | None] = lambda name: None) -> Diagram:
    """The nodes of a graph with what is fed and constant.

    Args:
        graph: Its graph.
        form: In which language.
        limit: Most boxes.
        names: Only these nodes; all if None.
        control: Control inputs too.
        run: The run that calls are of.
        call: Gives the last call of a node in it.
    """
    boxes = _Boxes(limit)
    nodes = list(graph.nodes) if names is None else list(names)
    for name in nodes:
        boxes.add(name, lambda name=name: _box(graph, name, call(name)))    # type: ignore[misc]
    for name in nodes:
        for use in graph.inputs(name, control=control):
            _join(boxes, graph, use, use.node, name)
    return boxes.diagram(form, run)


def lineage_diagram(graph: RecordedGraph, tree: Lineage, form: Form, *, run: int | None = None,
                    call: Callable[[str], CallRecord | None] = lambda name: None) -> Diagram:
    """The same tree as boxes: what its rows name, and the arrows between these."""
    names = dict.fromkeys(row.node for row in tree.rows)
    boxes = _Boxes(len(names))
    for name in names:
        boxes.add(name, lambda name=name: _box(graph, name, call(name)))    # type: ignore[misc]
    for name in names:
        for use in graph.inputs(name, control=tree.control):
            if use.node in names:
                _join(boxes, graph, use, use.node, name)
    diagram = boxes.diagram(form)
    return Diagram(form, diagram.boxes, diagram.arrows, tree.reached - tree.shown, run)


def _join(boxes: _Boxes, graph: RecordedGraph, use: TensorUse, source: str, target: str) -> None:
    slot = use.tensor.rpartition(':')[2]
    boxes.join(boxes.add(source, lambda: _box(graph, source, None)), boxes.add(target, lambda: _box(graph, target, None)),
               slot if use.slot >= 0 and slot != '0' else '', dashed=use.slot < 0)


def _box(graph: RecordedGraph, name: str, call: CallRecord | None) -> DiagramBox:
    node = graph.nodes.get(name)
    if node is None:
        kind: Kind = 'constant' if graph.constant(name) is not None else 'feed' if graph.is_fed(name) else 'elsewhere'
        return DiagramBox((name,), kind)
    site = node.site
    kind = 'python' if site.function else 'op'
    lines = [name, f'{site.op_type} {site.function}' if site.function else site.op_type]
    if call is not None and call.outputs and call.outputs[0].level != 'none':
        lines.append(_typed(call.outputs[0]))
    bad = call is not None and (call.error is not None or any(_bad(tensor) for tensor in call.outputs))
    if bad:
        lines.append('raised' if call is not None and call.error is not None else 'NaN or Inf')
    return DiagramBox(tuple(lines), kind, bad)


def _typed(tensor: TensorRecord) -> str:
    return f'{tensor.dtype}[{",".join(map(str, tensor.shape))}]'


def _bad(tensor: TensorRecord) -> bool:
    return tensor.stats is not None and tensor.stats.bad > 0


def tape_diagram(tape: Tape, form: Form, limit: int, marks: Callable[[str, int], str] = lambda step, slot: '') -> Diagram:
    """The steps of a tape and the leaves that it ends in; on the arrows the gradients, with what `check` found."""
    boxes = _Boxes(limit)
    for node in tape.nodes:
        boxes.add(node.number, lambda node=node: _step(node))               # type: ignore[misc]
    for node in tape.nodes:
        if node.outer_step:
            boxes.join(boxes.add(node.outer_step, lambda: DiagramBox(('?',), 'elsewhere')),
                       boxes.add(node.number, lambda: DiagramBox(('?',), 'elsewhere')), 'inside', dashed=True)
    for edge in tape.edges:
        leaf = edge.gradient.name
        target = boxes.add(edge.target, lambda: DiagramBox(('?',), 'elsewhere')) if edge.target else boxes.add(
            f'leaf {leaf}', lambda leaf=leaf: DiagramBox((leaf,), 'leaf'))         # type: ignore[misc]
        mark = marks(edge.source, edge.slot)
        bad = any(remark in ('NaN', 'Inf') for remark in edge.gradient.remarks)
        boxes.join(boxes.add(edge.source, lambda: DiagramBox(('?',), 'elsewhere')), target,
                   ' '.join(word for word in (_flow(edge.gradient), mark) if word), bad=bad)
    return boxes.diagram(form)


def _step(node: TapeNode) -> DiagramBox:
    kind: Kind = 'python' if node.function else 'op'
    second = f'{node.op_type} {node.function}' if node.function else node.op_type
    return DiagramBox((node.name, second, f'#{node.number}'), kind)


def _flow(gradient: Gradient) -> str:
    bad = [remark for remark in gradient.remarks if remark in ('NaN', 'Inf')]
    if bad:
        return bad[0]
    words = '' if gradient.magnitude is None else '0' if not gradient.magnitude else f'{gradient.magnitude:.1e}'
    return ' '.join([words, *(remark for remark in gradient.remarks if remark in ('vanishing', 'exploding'))]).strip()
