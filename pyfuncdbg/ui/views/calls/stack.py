"""The stack, outermost first: run and nodes of the graph between the frames of Python; '>' marks the selected entry."""
from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from rich.console import ConsoleOptions
from rich.text import Text

from pyfuncdbg.observers.debug.inspecting.backtrace import StackRow
from pyfuncdbg.ui.views.calls.error import ALL, local_lines
from pyfuncdbg.ui.views.escape import one_line
from pyfuncdbg.ui.views.page import Page
from pyfuncdbg.ui.views.sources.listing import cut_line, highlight
from pyfuncdbg.ui.views.sources.source import place

_FOLDED = 3
"""From this many consecutive library frames on only their number is shown."""
_MOST = 60
"""Rows at most: of a deep recursion both ends."""


def stack_view(rows: Sequence[StackRow], *, everything: bool = False) -> Page:
    """The whole stack.

    Args:
        rows: Outermost first.
        everything: Library frames too, and all of a deep recursion.
    """
    if not rows:
        return Page(Text('no frames of the program on this thread', 'dim'))
    return Page(lambda options: _fit(_lines(rows, options, everything=everything), options.max_width))


def _lines(rows: Sequence[StackRow], options: ConsoleOptions, *, everything: bool) -> list[Text]:
    lines: list[Text] = []
    for library, group in groupby(rows, key=lambda row: row.library and not row.selected):
        part = list(group)
        if library and len(part) >= _FOLDED and not everything:
            lines.append(Text(f'    ... {len(part)} library frames', 'dim'))
        else:
            for row in part:
                text = _row(row)
                for line in local_lines(row.variables, options.max_width, options, ALL) if row.variables else ():
                    text.append('\n').append_text(line)
                lines.append(text)
    if len(lines) > _MOST and not everything:
        lines = [*lines[:_MOST // 2], Text(f'    ... {len(lines) - _MOST} entries, "bt --all" lists them', 'dim'),
                 *lines[-_MOST // 2:]]
    return lines


def row_view(row: StackRow | None) -> Page:
    """One entry: a line, and the source of a frame below it."""
    return Page(lambda options: _fit([_row(row)], options.max_width)) if row is not None else Page()


def _fit(rows: Sequence[Text], width: int) -> Text:
    return Text('\n').join(cut_line(line, width) for row in rows for line in row.split('\n'))


def _row(row: StackRow) -> Text:
    mark = ('> ', 'bold red') if row.selected else ('  ', '')
    style = 'bold' if row.selected else 'dim' if row.library else ''
    if row.kind == 'python':
        text = Text.assemble(mark, place(row.filename, row.line), (f' in {one_line(row.name, 60)}', style), overflow='fold')
        if row.source:
            text.append('\n      ').append_text(highlight([row.source.strip()[:200]])[0])
        return text
    name = one_line(row.name, 60)
    text = Text.assemble(mark, (f'{row.kind} {name}' if row.kind == 'node' else name, style or 'cyan'),
                         f'  {one_line(row.detail, 120)}', overflow='fold')
    if row.filename:
        text.append('  ').append_text(Text.assemble(place(row.filename, row.line), style='dim'))
    return text


if __name__ == '__main__':
    from pyfuncdbg.ui.views.sample_trace import demo
    demo(stack_view((StackRow('python', '<module>', '', 'train.py', 30, 'sess.run(loss, {x: batch})', False, False),
                     StackRow('run', 'run #12 Session.run', 'fetches loss:0', '', 0, '', False, False),
                     StackRow('node', 'loss', 'Mean, waits for norm', 'train.py', 22, 'loss = tf.reduce_mean(y)', False,
                              False),
                     StackRow('node', 'norm', 'PyFunc, calls normalize, call #17', 'train.py', 21, '', False, False),
                     StackRow('python', 'normalize', '', 'model.py', 41, 'sd = x.std(-1, keepdims=True)', False, True))))
