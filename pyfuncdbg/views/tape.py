"""The gradient tape as a tree of text: every step once, with back-references, and the gradients that it ends in."""
from __future__ import annotations

from rich import box
from rich.table import Table
from rich.text import Text

from pyfuncdbg.debug.tape import Gradient, Tape, TapeEdge, TapeNode
from pyfuncdbg.views.escape import label, one_line
from pyfuncdbg.views.page import Page, Part
from pyfuncdbg.views.units import count

STEPS = 200
"""Steps that are drawn."""
LEAVES = 40
LOW, HIGH = -9, 3
"""Powers of ten at the ends of a bar."""
BAR = 18
CHAIN_WIDTH = 40
"""Characters from which on the next step begins a new line."""
DEEPEST = 24
"""Indentation beyond which a tree goes on at the same depth."""


def tape_view(tape: Tape) -> Page:
    """The tree from what was differentiated to its sources, then the gradients of the sources with their magnitudes."""
    title = Text.assemble(('tape ', 'bold blue'), f'of run #{tape.run} ', label(tape.source),
                          f': {count(len(tape.nodes), "step")}', ('   on the arrows: the largest magnitude', 'dim'),
                          overflow='fold')
    parts: list[Part] = [title, *_Tree(tape).lines()]
    if tape.leaves:
        parts += [Text(), _leaves(tape)]
    if tape.others:
        runs = ', '.join(f'#{run} ({steps:,})' for run, steps in tape.others[-8:])
        parts.append(Text(f'further runs with gradients (steps): {runs}; tape --run N shows one', 'dim', overflow='fold'))
    return Page(*parts)


class _Tree:
    """Depth first, without recursion: a chain of 10,000 steps is a long list."""

    def __init__(self, tape: Tape) -> None:
        self._nodes = {node.number: node for node in tape.nodes}
        self._roots = tape.roots
        self._below: dict[str, list[TapeEdge]] = {}
        for edge in tape.edges:
            self._below.setdefault(edge.source, []).append(edge)

    def lines(self) -> list[Text]:
        drawn: set[str] = set()
        found: list[Text] = []
        stack: list[tuple[int, TapeEdge | None, str]] = [(0, None, root) for root in reversed(self._roots)]
        while stack:
            depth, edge, number = stack.pop()
            if len(drawn) >= STEPS:
                found.append(Text(f'... {len(self._nodes) - len(drawn):,} further steps', 'dim'))
                break
            line = Text('  ' * min(depth, DEEPEST), overflow='fold')
            while True:                             # steps with one gradient each go on one line
                below = self._drawn(line, edge, number, drawn)
                if len(below) != 1 or len(line) > CHAIN_WIDTH:
                    break
                edge, number = below[0], below[0].target
                line.append(' ')
            found.append(line)
            stack += [(depth + 1, edge, edge.target) for edge in reversed(below)]
        return found

    def _drawn(self, line: Text, edge: TapeEdge | None, number: str, drawn: set[str]) -> list[TapeEdge]:
        """Add a step to a line; the edges that go on from it."""
        if edge is not None:
            line.append_text(_arrow(edge.gradient))
        node = self._nodes.get(number)
        if node is None:
            line.append(one_line(edge.gradient.name if edge else '', 80)).append('  (leaf)', 'dim')
        elif number in drawn:
            line.append(f'{one_line(node.name, 80)} ^ #{one_line(number, 20)}, above', 'dim')
        else:
            drawn.add(number)
            line.append_text(_step(node) if edge is not None else _root(node))
            return self._below.get(number, [])
        return []


def _root(node: TapeNode) -> Text:
    gradients = node.incoming[:1]
    return Text.assemble(*(_arrow(gradient) for gradient in gradients), _step(node))


def _step(node: TapeNode) -> Text:
    text = Text.assemble(label(node.name, 'bold', limit=80), f' {one_line(node.op_type, 40)}')
    if node.function:
        text.append(f' {one_line(node.function, 60)}', 'cyan')
    text.append(f' #{one_line(node.number, 20)}', 'dim')
    if node.inside:
        text.append(f' {count(node.inside, "step")} inside', 'dim')
    return text


def _arrow(gradient: Gradient) -> Text:
    serious = any(remark in ('NaN', 'Inf') for remark in gradient.remarks)
    shown = _number(gradient)
    mark = f'=={shown}==> ' if serious else f'--{shown}--> '
    return Text(mark, 'bold red' if serious else 'yellow' if gradient.remarks else 'none')


def _number(gradient: Gradient) -> str:
    for remark in ('NaN', 'Inf'):
        if remark in gradient.remarks:
            return remark
    return '?' if gradient.magnitude is None else '0' if gradient.magnitude == 0 else f'{gradient.magnitude:.1e}'


def _leaves(tape: Tape) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style='dim')
    table.add_column('gradient of', overflow='fold')
    table.add_column('|grad|', justify='right', no_wrap=True)
    table.add_column(f'10^{LOW} {"." * (BAR - 7)} 10^{HIGH}', no_wrap=True)
    table.add_column('', overflow='fold')
    for edge in tape.leaves[:LEAVES]:
        gradient = edge.gradient
        bad = any(remark in ('NaN', 'Inf') for remark in gradient.remarks)
        filled = BAR if bad else _filled(gradient)
        bar = f'[{("!" if bad else "#") * filled}{" " * (BAR - filled)}]'
        table.add_row(label(gradient.name, limit=60), _number(gradient), Text(bar, 'red' if bad else 'none'),
                      Text(', '.join(gradient.remarks), 'bold red' if bad else 'yellow'))
    return table


def _filled(gradient: Gradient) -> int:
    if gradient.log10 is None:
        return 0
    return max(1, min(BAR, round((gradient.log10 - LOW) / (HIGH - LOW) * BAR)))


if __name__ == '__main__':
    import numpy as np

    from pyfuncdbg.debug.tape import gradient_of
    from pyfuncdbg.views.page import demo
    from pyfuncdbg.views.sample import tensor
    one, small = (gradient_of(name, tensor(name, np.full(3, value))) for name, value in (('loss:0', 1.0), ('w1:0', 3.1e-7)))
    nan = gradient_of('w2:0', tensor('w2:0', np.array([np.nan])))
    demo(tape_view(Tape(3, 1, 'Session.run', (TapeNode('5', 'loss_grad[0]', 'loss', 'Mean', '', '', (one,)),
                                              TapeNode('6', 'mm_grad[0]', 'mm', 'MatMul', '', '', (one,))),
                        (TapeEdge('5', '6', 0, one), TapeEdge('6', '', 0, small), TapeEdge('6', '', 1, nan)), ('5',))))
