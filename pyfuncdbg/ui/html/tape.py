"""The gradient tape as a picture in SVG: steps from the target down to the sources, with gradients.

Values are there on hover, and the same tree as text below it. Pure; called by `displays`.
"""
from __future__ import annotations

from collections.abc import Mapping

from pyfuncdbg.observers.debug.gradients.tape import EdgeMark, Gradient, Tape, TapeEdge, TapeNode
from pyfuncdbg.ui.html.element import Html, element, joined
from pyfuncdbg.ui.html.page import page_html
from pyfuncdbg.ui.html.svg_document import SvgDrawing
from pyfuncdbg.ui.html.tape_places import TapeBox, places_of
from pyfuncdbg.ui.views.escape import one_line
from pyfuncdbg.ui.views.flags import flags
from pyfuncdbg.ui.views.numerics.tape import check_mark, filled_cells, magnitude, serious, tape_end, tape_heading, tape_tree
from pyfuncdbg.ui.views.units import count, value

_WIDE, _TALL = 176, 36
_NEXT_COLUMN, _NEXT_ROW = 200, 74
_EDGE = 8
_LETTERS, _SMALL = 22, 27
"""Characters that fit into a box, in its first and in its second line."""
_THICK = 6
"""Width of the line of a gradient of 10^3."""
Marks = Mapping[tuple[str, int], EdgeMark]


def tape_html(tape: Tape) -> Html:
    """The picture between the views' heading and the gradients of the sources."""
    text = element('details', element('summary', 'the tree as text'), page_html(tape_tree(tape)))
    drawing = tape_drawing(tape)
    more = [element('div', drawing.note, class_='pf-d')] if drawing.note else []
    return joined(page_html(tape_heading(tape)), element('div', drawing.picture, class_='pf-scroll pf-tall'), *more, text,
                  page_html(tape_end(tape)))


def tape_drawing(tape: Tape) -> SvgDrawing:
    """The steps, lines and labels.

    Args:
        tape: Of one run.
    """
    places = places_of(tape)
    marks: Marks = {(mark.step, mark.slot): mark for mark in tape.checks}
    lines = [_edge(edge, start, end, marks.get((edge.source, edge.slot))) for edge, start, end in places.edges]
    boxes = [_box(box) for box in places.boxes]
    labelled: set[int] = set()
    words = []
    for edge, _, end in places.edges:           # one label to a box: of its first gradient
        if id(end) not in labelled:
            labelled.add(id(end))
            words.append(_label(edge, end, marks.get((edge.source, edge.slot))))
    width = 2 * _EDGE + (places.columns - 1) * _NEXT_COLUMN + _WIDE
    height = 2 * _EDGE + (places.rows - 1) * _NEXT_ROW + _TALL
    steps = sum(box.node is not None for box in places.boxes)
    picture = element('svg', *lines, *boxes, *words, class_='pf-tape', role='img', width=width, height=height,
                      viewBox=f'0 0 {width} {height}',
                      aria_label=f'gradient tape of run #{tape.run}, {count(steps, "step")}; the same as text below')
    more = f'... {count(len(tape.nodes) - steps, "further step")} not drawn' if steps < len(tape.nodes) else ''
    return SvgDrawing(picture, width, height, more)


def _corner(box: TapeBox) -> tuple[int, int]:
    return _EDGE + box.column * _NEXT_COLUMN, _EDGE + box.row * _NEXT_ROW


def _kind(gradient: Gradient) -> str:
    return 'pf-nan' if serious(gradient) else 'pf-odd' if gradient.remarks else 'pf-flow'


def _edge(edge: TapeEdge, start: TapeBox, end: TapeBox, mark: EdgeMark | None) -> Html:
    """A line as thick as its gradient is large; broken where it is not finite, pale where it is zero."""
    (x, y), (to_x, to_y) = _corner(start), _corner(end)
    x, y, to_x = x + _WIDE // 2, y + _TALL, to_x + _WIDE // 2
    way = f'M{x} {y}C{x} {y + 24} {to_x} {to_y - 24} {to_x} {to_y}'
    if end.row - start.row > 1:                 # beside the boxes in between: it stays in the column of its end
        way = f'M{x} {y}C{x} {y + 24} {to_x} {y + 14} {to_x} {y + 38}L{to_x} {to_y}'
    thick = 3 if serious(edge.gradient) else max(0.8, filled_cells(edge.gradient, _THICK))
    return element('g', element('title', _values(edge, mark)),
                   element('path', d=way, class_=_kind(edge.gradient), stroke_width=thick),
                   element('path', d=way, class_='pf-wide-line'))


def _label(edge: TapeEdge, end: TapeBox, mark: EdgeMark | None) -> Html:
    x, y = _corner(end)
    words = [magnitude(edge.gradient), *(remark for remark in edge.gradient.remarks if remark not in ('NaN', 'Inf'))]
    checked = check_mark(mark).plain.split(' got')[0]
    return element('text', '  '.join([*words, *([checked] if checked else [])]), x=x + _WIDE // 2 + 8, y=y - 9,
                   class_=f'pf-on-edge {_kind(edge.gradient)}-text')


def _box(box: TapeBox) -> Html:
    x, y = _corner(box)
    node, edge = box.node, box.edge
    if node is not None:
        bad = any(serious(gradient) for gradient in node.incoming)
        first, second, title = node.name, _what(node), _about(node)
    else:
        assert edge is not None, 'a box is a step or the end of a gradient'
        bad = serious(edge.gradient)
        first, second, title = edge.gradient.name, '(leaf)', _values(edge, None)
    shape = element('rect', x=x, y=y, width=_WIDE, height=_TALL, rx=4 if node is not None else _TALL // 2,
                    class_='pf-box pf-box-bad' if bad else 'pf-box' if node is not None else 'pf-box pf-leaf')
    return element('g', element('title', title), shape,
                   element('text', one_line(first, _LETTERS), x=x + _WIDE // 2, y=y + 12, class_='pf-name'),
                   element('text', one_line(second, _SMALL), x=x + _WIDE // 2, y=y + 26, class_='pf-what'))


def _what(node: TapeNode) -> str:
    return f'{node.function or node.op_type} #{node.number}'


def _about(node: TapeNode) -> str:
    """The tooltip of a box."""
    lines = [f'{node.name} {node.op_type}' + (f', {node.function}' if node.function else ''),
             f'backward step #{node.number}' + (f' of call #{node.forward}' if node.forward else '')]
    if node.inner_steps:
        lines.append(f'{count(node.inner_steps, "step")} inside the function')
    lines += [f'came in: {gradient.name} {magnitude(gradient)}' for gradient in node.incoming]
    return '\n'.join(one_line(line, 200) for line in lines)


def _values(edge: TapeEdge, mark: EdgeMark | None) -> str:
    """The tooltip of a line."""
    tensor = edge.gradient.tensor
    lines = [f'gradient of {edge.gradient.name}', f'{tensor.dtype} {list(tensor.shape)}',
             f'largest magnitude {value(edge.gradient.magnitude) or "not known"}'
             + (f', 10^{edge.gradient.log10:.2f}' if edge.gradient.log10 is not None else '')]
    stats = tensor.stats
    if stats is not None and stats.min is not None:
        lines.append(', '.join(f'{name} {value(number)}' for name, number in (
            ('min', stats.min), ('max', stats.max), ('mean', stats.mean), ('std', stats.std)) if number is not None))
    lines += [flag.text for flag in flags(tensor)]
    lines += [remark for remark in edge.gradient.remarks if remark not in ('NaN', 'Inf')]
    checked = check_mark(mark).plain
    lines += [f'check: {checked}'] if checked else []
    return '\n'.join(one_line(line, 200) for line in lines)
