"""Annotated source (`ps`): a bar of its cost beside each line, below it its nodes, calls and values."""
from __future__ import annotations

from rich.console import ConsoleOptions
from rich.text import Text

from pyfuncdbg.observers.debug.reports.source_files import AnnotatedLine, AnnotatedListing, AnnotatedSource, MarkedNode
from pyfuncdbg.ui.views.escape import label, one_line
from pyfuncdbg.ui.views.lists import heading
from pyfuncdbg.ui.views.page import Page, Part
from pyfuncdbg.ui.views.pictures.cost_bar import cost_bar
from pyfuncdbg.ui.views.sources.listing import cut_line, highlight
from pyfuncdbg.ui.views.sources.source import unlocated_count
from pyfuncdbg.ui.views.tensors.tensor_words import glimpse
from pyfuncdbg.ui.views.units import count, seconds

BAR = 5
NAME = 48


def annotated_source_view(listing: AnnotatedListing) -> Page:
    """The lines under what is known of the file."""
    source, missing = listing.source, listing.missing
    title = Text(one_line(source.filename), 'bold underline', overflow='fold')
    first = heading(source.marked, 'line with nodes', plural='lines with nodes', shown=source.shown, filters=listing.filters)
    first.append(f'   {count(source.nodes, "node")}, {count(source.calls, "call")}, {seconds(source.own)}')
    parts: list[Part] = [title, first]
    parts += [Text(one_line(warning, 400), 'yellow', overflow='fold') for warning in source.warnings]
    if (note := unlocated_count(missing.before_attachment, missing.imported)) is not None:
        parts.append(note)
    if source.lines:
        parts.append(lambda options: Text('\n').join(cut_line(row, options.max_width) for row in _rows(source, options)))
    return Page(*parts)


def _rows(source: AnnotatedSource, options: ConsoleOptions) -> list[Text]:
    width = len(str(source.lines[-1].number))
    codes = highlight([line.text if line.has_text else '' for line in source.lines])
    rows: list[Text] = []
    last = 0
    for line, code in zip(source.lines, codes, strict=True):
        if line.number > last + 1:
            missing = line.number - last - 1
            rows.append(Text(f'  {"...":>{width}}  ' + f'{count(missing, "line")}', 'dim'))
        last = line.number
        rows += [_line(source, line, code, width, options), *(_node(node, width) for node in line.nodes)]
        if line.hidden_nodes:
            further = f'... {count(line.hidden_nodes, "further node")}, --nodes K shows more'
            rows.append(Text(' ' * (width + BAR + 5) + further, 'dim'))
    if source.length > last:
        rows.append(Text(f'  {"...":>{width}}  {count(source.length - last, "line")}', 'dim'))
    return rows


def _line(source: AnnotatedSource, line: AnnotatedLine, code: Text, width: int, options: ConsoleOptions) -> Text:
    mark = '>' if line.number == source.current else ' '
    row = Text(no_wrap=True)
    row.append(mark, 'bold red').append('B' if line.number in source.breakpoints else ' ', 'bold red')
    row.append(f'{line.number:>{width}} ', 'bold' if line.nodes or mark == '>' else 'dim')
    share = line.own / source.own if source.own > 0 else 0.0
    row.append(cost_bar(share, BAR, ascii_only=options.ascii_only), 'yellow' if share >= 0.25 else 'cyan').append(' ')
    return row.append_text(code if line.has_text else Text('(this line is not in the trace)', 'dim'))


def _node(node: MarkedNode, width: int) -> Text:
    mark, time = node.mark, node.mark.time
    row = Text(' ' * (width + BAR + 5), no_wrap=True)
    if mark.role == 'function':
        row.append('called by ', 'dim')
    row.append_text(label(mark.site.name, 'cyan', limit=NAME))
    what = mark.site.function if mark.role == 'made' and mark.site.function else mark.site.op_type
    row.append(f' {one_line(what, 40)}', 'dim' if mark.role == 'function' else '')
    if time is None:
        return row.append('  no call recorded', 'blue')
    row.append(f'  {time.calls:,}x {seconds(time.own)}')
    if time.failed:
        row.append(f'  {time.failed:,} raised', 'bold red')
    if time.bad:
        row.append(f'  {time.bad:,} bad', 'bold red')
    held = glimpse(node.value)
    return row.append('  ').append_text(held) if held else row


if __name__ == '__main__':
    from pyfuncdbg.observers.debug.reports.source_files import NONE_MISSING, marks_by_line
    from pyfuncdbg.ui.views.sample_trace import demo, sample
    marks = marks_by_line(sample())['model.py']
    told = tuple(AnnotatedLine(number, text, True, sum(mark.time.own for mark in marks.get(number, ()) if mark.time), tuple(
        MarkedNode(mark, sample().call(2).outputs[0]) for mark in marks.get(number, ())), 0)
        for number, text in enumerate(sample().call(1).site.source.splitlines(), 39))
    source = AnnotatedSource('model.py', 'model.py', (), told, 60, 3, 1, 2, 5, 7e-4, 41, (42,))
    demo(annotated_source_view(AnnotatedListing(source, NONE_MISSING, {})))
