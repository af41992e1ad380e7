"""The gradient tape as a tree: each step once, references where it recurs, a bar of its gradient.

The bars stand under one another, so that where a gradient vanishes or explodes is seen at a glance. Below the tree are the
sources of the backward pass: those without a gradient and the repair, and the steps behind the other gradients.
"""
from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from rich.console import ConsoleOptions
from rich.table import Table
from rich.text import Text

from pyfuncdbg.observers.debug.gradients.tape import EdgeMark, Gradient, Tape, TapeEdge, TapeNode, TapeSource
from pyfuncdbg.ui.views.escape import label, one_line
from pyfuncdbg.ui.views.lists import Column, fitted_table
from pyfuncdbg.ui.views.page import Page, Part
from pyfuncdbg.ui.views.sources.listing import cut_line
from pyfuncdbg.ui.views.units import count

STEPS = 200
"""Steps that are drawn."""
LEAVES = 40
LOW, HIGH = -9, 3
"""Powers of ten at the ends of a bar."""
BAR = 18
FLOW = 10
"""Characters of the bars in the tree."""
DEEPEST = 16
"""Levels that are indented."""
NAMED = 2
Marks = Mapping[tuple[str, int], EdgeMark]
DEAD = 20
"""Sources without a gradient that are listed."""
BY = 3


def tape_view(tape: Tape) -> Page:
    """The tree from what was differentiated to its sources, then the gradients of the sources with their magnitudes."""
    return Page(tape_heading(tape), tape_tree(tape), tape_end(tape))


def tape_heading(tape: Tape) -> Page:
    """The target of the differentiation, and the steps where gradients became NaN or infinite."""
    title = Text.assemble(('tape ', 'bold blue'), f'of run #{tape.run} ', label(tape.source), f': {_derivative(tape)}',
                          f'{count(len(tape.nodes), "step")}', overflow='fold')
    title.append(f'   bars: |gradient| from 10^{LOW} to 10^{HIGH}', 'dim')
    parts: list[Part] = [title, *_births(tape)]
    if tape.traced:
        whole = all(edge.gradient.magnitude is not None or edge.gradient.remarks for edge in tape.edges)
        parts.append(Text('these steps are nodes of a graph; ' + (
            'their values are those of its last run' if whole else
            'their values (?) are shown with --ops, or when the program runs eagerly'),
            'dim' if whole else 'yellow', overflow='fold'))
    return Page(*parts)


def tape_tree(tape: Tape) -> Page:
    """A line for each step."""
    tree = _Tree(tape)

    def draw(options: ConsoleOptions) -> Text:
        return Text('\n').join(cut_line(line, options.max_width) for line in tree.lines(ascii_only=options.ascii_only))
    return Page(draw)


def tape_end(tape: Tape) -> Page:
    """The gradients of the sources, what `check` found, and which runs have tapes too."""
    parts: list[Part] = []
    rows = _rows(tape)
    if rows:
        parts += [Text(), lambda options: _leaves(rows[:LEAVES], options)]
        if len(rows) > LEAVES:
            parts.append(Text(f'... {len(rows) - LEAVES:,} more', 'dim'))
    parts += dead_lines(tape)
    verdicts = [mark.verdict for mark in tape.checks if mark.verdict in ('OK', 'BAD', 'kink')]
    if verdicts:
        bad = verdicts.count('BAD')
        parts.append(Text(f'{count(len(verdicts), "gradient")} compared with differences (check): {bad or "none"} wrong',
                          'bold red' if bad else 'green'))
    if tape.other_runs:
        runs = ', '.join(f'#{run} ({steps:,})' for run, steps in tape.other_runs[-8:])
        earlier = f'{len(tape.other_runs) - 8:,} earlier, ' if len(tape.other_runs) > 8 else ''
        parts.append(Text(f'further runs with gradients (steps): {earlier}{runs}; tape --run N shows one', 'dim',
                          overflow='fold'))
    return Page(*parts)


def flow_bar(gradient: Gradient, width: int) -> str:
    """'[######    ]': log10 of the magnitude; all '!' for NaN and infinities, '?' if it is not known."""
    if serious(gradient):
        return f'[{"!" * width}]'
    if gradient.magnitude is None:
        return f'[{"?".center(width)}]'
    return f'[{("#" * filled_cells(gradient, width)).ljust(width)}]'


def check_mark(mark: EdgeMark | None) -> Text:
    """'OK 2e-09', 'BAD got 2, expected 1', 'kink'; empty without a verdict."""
    if mark is None or mark.verdict not in ('OK', 'BAD', 'kink'):
        return Text()
    if mark.verdict == 'OK':
        return Text(f'OK {mark.error or 0.0:.0e}', 'green')
    if mark.verdict == 'kink':
        return Text('kink', 'yellow')
    if mark.actual is None or mark.expected is None:
        return Text('BAD', 'bold red')
    return Text(f'BAD got {mark.actual:.4g}, expected {mark.expected:.4g}', 'bold red')


def _derivative(tape: Tape) -> str:
    """'d loss / d w:0, b:0   '."""
    nodes = {node.number: node.name for node in tape.nodes}
    tops = list(dict.fromkeys(nodes[root] for root in tape.roots if root in nodes))
    ends = list(dict.fromkeys(edge.gradient.name for edge in tape.leaves))
    if not tops or not ends:
        return ''
    top, end = (', '.join(one_line(name, 40) for name in names[:NAMED]) + (', ...' if len(names) > NAMED else '')
                for names in (tops, ends))
    return f'd {top} / d {end}   '


def _births(tape: Tape) -> list[Text]:
    """The steps where gradients became NaN or infinite, from finite ones."""
    edges_by_step: dict[str, list[TapeEdge]] = {}
    for edge in tape.edges:
        if serious(edge.gradient):
            edges_by_step.setdefault(edge.source, []).append(edge)
    born = [(node, edges_by_step[node.number][0]) for node in tape.nodes
            if node.number in edges_by_step and not any(serious(gradient) for gradient in node.incoming)]
    lines = [Text.assemble((f'{magnitude(edge.gradient)} begins in {_or_before(node)}the backward step of ', 'bold red'),
                           _step(node), f', in the gradient of {one_line(edge.gradient.name, 60)}', overflow='fold')
             for node, edge in born[:NAMED]]
    return lines + ([Text(f'and in {count(len(born) - NAMED, "further step")}', 'red')] if len(born) > NAMED else [])


def _or_before(node: TapeNode) -> str:
    """'or before ' where a gradient that came in is not known."""
    return 'or before ' if any(one.tensor.stats is None and not one.tensor.absent for one in node.incoming) else ''


class _Tree:
    """Depth first, without recursion: a chain of 10,000 steps is a long list. A step with one gradient goes on below
    itself without indentation."""

    def __init__(self, tape: Tape) -> None:
        self._nodes = {node.number: node for node in tape.nodes}
        self._roots = tape.roots
        self._marks: Marks = {(mark.step, mark.slot): mark for mark in tape.checks}
        self._below: dict[str, list[TapeEdge]] = {}
        for edge in tape.edges:
            self._below.setdefault(edge.source, []).append(edge)
        self._parts: dict[str, list[TapeNode]] = {}
        for node in tape.nodes:
            self._parts.setdefault(node.outer_step, []).append(node)

    def lines(self, *, ascii_only: bool) -> list[Text]:
        """One for each step, reference and leaf."""
        bar, tee, corner = ('|  ', '|- ', '`- ') if ascii_only else ('│  ', '├─ ', '└─ ')
        steps_drawn: set[str] = set()
        lines: list[Text] = []
        stack: list[tuple[str, str, TapeEdge | None, str]] = [('', '', None, root) for root in reversed(self._roots)]
        while stack:
            if len(steps_drawn) >= STEPS:
                lines.append(Text(f'... {len(self._nodes) - len(steps_drawn):,} further steps', 'dim'))
                break
            first, rest, edge, number = stack.pop()
            again = number in steps_drawn
            lines.append(self._line(first, edge, number, again=again))
            if again or number not in self._nodes:
                continue
            steps_drawn.add(number)
            edges = self._below.get(number, [])
            for part in self._parts.get(number, ()):
                steps_drawn.add(part.number)
                lines.append(self._line(rest + (bar if len(edges) > 1 else '   '), None, part.number, word='inside '))
            if len(edges) == 1:
                stack.append((rest, rest, edges[0], edges[0].target))
                continue
            deep = len(rest) >= 3 * DEEPEST
            for i, inner in reversed(list(enumerate(edges))):
                last = i == len(edges) - 1
                stack.append((rest if deep else rest + (corner if last else tee),
                              rest if deep else rest + ('   ' if last else bar), inner, inner.target))
        return lines

    def _line(self, indent: str, edge: TapeEdge | None, number: str, *, again: bool = False, word: str = '') -> Text:
        node = self._nodes.get(number)
        gradient = edge.gradient if edge is not None else node.incoming[0] if node is not None and node.incoming else None
        line = Text(no_wrap=True)
        if gradient is not None:
            style = 'red' if serious(gradient) else 'yellow' if gradient.remarks else 'cyan'
            line.append(flow_bar(gradient, FLOW), style).append(f' {indent}{word}', 'dim').append_text(_arrow(gradient))
        else:
            line.append(' ' * (FLOW + 3) + indent + word, 'dim')
        if node is None:
            line.append(one_line(gradient.name if gradient is not None else '', 80), 'bold').append('  (leaf)', 'dim')
        elif again:
            line.append(f'{one_line(node.name, 80)} ^ #{one_line(number, 20)}, above', 'dim')
        else:
            line.append_text(_step(node))
        remarks = [*(remark for remark in gradient.remarks if remark not in ('NaN', 'Inf'))] if gradient is not None else []
        if remarks:
            line.append('  ' + ', '.join(remarks), 'yellow')
        mark = check_mark(self._marks.get((edge.source, edge.slot))) if edge is not None else Text()
        return line.append('  ').append_text(mark) if mark else line


def _step(node: TapeNode) -> Text:
    text = Text.assemble(label(node.name, 'bold', limit=80))
    if node.name.rpartition('/')[2] != node.op_type:
        text.append(f' {one_line(node.op_type, 40)}')
    if node.function and node.function != node.name:
        text.append(f' {one_line(node.function, 60)}', 'cyan')
    text.append(f' #{one_line(node.number, 20)}', 'dim')
    if node.place:
        text.append(f' {one_line(node.place, 60)}', 'dim')
    if node.inner_steps:
        text.append(f' {count(node.inner_steps, "step")} inside', 'dim')
    return text


def serious(gradient: Gradient) -> bool:
    """Whether it holds NaN or infinities."""
    return any(remark in ('NaN', 'Inf') for remark in gradient.remarks)


def _arrow(gradient: Gradient) -> Text:
    bad, shown = serious(gradient), magnitude(gradient)
    mark = f'=={shown}==> ' if bad else f'--{shown}--> '
    return Text(mark, 'bold red' if bad else 'yellow' if gradient.remarks else '')


def magnitude(gradient: Gradient) -> str:
    """'1.0e-03', 'NaN', '?' if it is not known."""
    for remark in ('NaN', 'Inf'):
        if remark in gradient.remarks:
            return remark
    return '?' if gradient.magnitude is None else '0' if gradient.magnitude == 0 else f'{gradient.magnitude:.1e}'


_Row = tuple[Gradient, Text, str]
"""A gradient that leaves the tape, remarks on it, and the nodes that it comes from."""


def _rows(tape: Tape) -> list[_Row]:
    """One for each source that has a gradient; where the host does not tell them, for each edge that leaves the tape."""
    marks: Marks = {(mark.step, mark.slot): mark for mark in tape.checks}
    rows: list[_Row] = []
    if tape.sources:
        for source in tape.sources:
            if source.gradient is not None and not source.dead:
                edges = [edge for edge in tape.leaves if edge.gradient.name == source.name]
                mark = marks.get((edges[0].source, edges[0].slot)) if len(edges) == 1 else None
                notes = ['rows of it (IndexedSlices)'] if source.rows else []
                rows.append((source.gradient, _remarks(source.gradient, mark, notes), makers(tape, source)))
        return rows
    nodes = {node.number: node.name for node in tape.nodes}
    return [(edge.gradient, _remarks(edge.gradient, marks.get((edge.source, edge.slot)), []), nodes.get(edge.source, ''))
            for edge in tape.leaves]


def _leaves(rows: Sequence[_Row], options: ConsoleOptions) -> Table:
    return fitted_table([
        Column('gradient of', [label(gradient.name, limit=200) for gradient, _, _ in rows], 0, least=16),
        Column('|grad|', [Text(magnitude(gradient)) for gradient, _, _ in rows], 1, right=True),
        Column(f'10^{LOW} {"." * (BAR - 7)} 10^{HIGH}', [
            Text(flow_bar(gradient, BAR), 'red' if serious(gradient) else '') for gradient, _, _ in rows], 2),
        Column('remarks', [remarks for _, remarks, _ in rows], 3, least=14, folds=True),
        Column('by', [label(by, 'dim', 200) for _, _, by in rows], 4, least=8)], options)


def _remarks(gradient: Gradient, mark: EdgeMark | None, notes: Sequence[str]) -> Text:
    words, shown = ', '.join([*gradient.remarks, *notes]), check_mark(mark)
    return Text.assemble((words, 'bold red' if serious(gradient) else 'yellow'), '  ' if words and shown else '', shown)


def filled_cells(gradient: Gradient, width: int) -> int:
    """The number of characters of a bar that its magnitude fills."""
    if gradient.log10 is None or math.isnan(gradient.log10):
        return 0
    share = (gradient.log10 - LOW) / (HIGH - LOW)
    return max(1, round(min(1.0, max(0.0, share)) * width))


def dead_lines(tape: Tape) -> list[Part]:
    """One line for each source without a gradient, and below it what mends that."""
    dead = tape.dead
    if not dead:
        return []
    value = 'zeros' if all(source.gradient is not None for source in dead) else 'None'      # as the framework has it
    lines: list[Part] = [Text(), Text(f'{count(len(dead), "source")} without a gradient: it is {value}, not connected',
                                      'bold yellow', overflow='fold')]
    for source in dead[:DEAD]:
        lines.append(Text.assemble(label(source.name, 'bold', 80), f' {one_line(source.kind, 40)}  ',
                                   (one_line(source.dead, 400), 'yellow'), overflow='fold'))
        if source.fix:
            lines.append(Text.assemble('    -> ', (one_line(source.fix, 400), 'green'), overflow='fold'))
    if len(dead) > DEAD:
        lines.append(Text(f'... {len(dead) - DEAD:,} more', 'dim'))
    return lines


def makers(tape: Tape, source: TapeSource) -> str:
    """Names of the forward nodes by which a gradient came."""
    nodes = {node.number: node.name for node in tape.nodes}
    names = [nodes.get(edge.source, '') for edge in tape.leaves if edge.gradient.name == source.name]
    found = [f'{name} x{names.count(name)}' if names.count(name) > 1 else name for name in dict.fromkeys(names) if name]
    return ', '.join(found[:BY]) + (', ...' if len(found) > BY else '')


if __name__ == '__main__':
    import numpy as np

    from pyfuncdbg.observers.debug.gradients.tape import gradient_of
    from pyfuncdbg.observers.debug.value import describe_value
    from pyfuncdbg.ui.views.sample_trace import demo
    values = (('loss:0', 1.0), ('w1:0', 3.1e-7), ('w2:0', np.nan))
    one, small, nan = (gradient_of(name, tensor) for name, value in values
                       if (tensor := describe_value(np.full(3, value)).tensor) is not None)
    demo(tape_view(Tape(3, 1, 'Session.run', (TapeNode('5', 'loss_grad[0]', 'loss', 'Mean', '', '', (one,)),
                                              TapeNode('6', 'mm_grad[0]', 'mm', 'MatMul', '', '', (one,))),
                        (TapeEdge('5', '6', 0, one), TapeEdge('6', '', 0, small), TapeEdge('6', '', 1, nan)), ('5',),
                        checks=(EdgeMark('5', 0, 'OK', 2e-9), EdgeMark('6', 0, 'BAD', 0.5, 2.0, 1.0)))))
