"""The run card: feeds, fetches and suggested commands before a run, results or the failure after it; a recorded run."""
from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.console import ConsoleOptions, Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from pyfuncdbg.observers.debug.cards.run_card import NodeFailure, RunCard, RunEnd, RunValue, Suggestion
from pyfuncdbg.observers.debug.ordinals import ordinal
from pyfuncdbg.observers.record.records import RunRecord
from pyfuncdbg.ui.views.calls.error import error_panel
from pyfuncdbg.ui.views.escape import label, one_line, visible
from pyfuncdbg.ui.views.page import Page, Part
from pyfuncdbg.ui.views.sources.source import line_text, place
from pyfuncdbg.ui.views.tensors.tensor import tensor_card, tensor_line
from pyfuncdbg.ui.views.units import count, seconds, shape, size

WIDEST = 110
LISTED = 12
"""Lines of a list on the card; the rest is counted."""
_MOST_MESSAGE = 1_500
TENSORS = 20
"""Feeds, and fetches, that are shown."""
ELEMENTS = 24
"""Elements to load of each."""


def run_card_view(card: RunCard) -> Page:
    """Before a run."""
    grid = _grid()
    nothing = f'no tensor: it runs up to {one_line(card.last, 60)!r}'
    if card.fetches or card.nodes:
        grid.add_row('fetches', _lines([label(name) for name in card.fetches], nothing))
    grid.add_row('feeds', _lines([_value(value) for value in card.feeds], 'nothing'))
    functions = f', {count(card.functions, "Python function")} among them' if card.functions else ''
    if card.nodes:                              # of eager code they are not known before
        grid.add_row('nodes', Text(f'{card.nodes:,}{functions}'))
    grid.add_row('breakpoints', _lines([label(line) for line in card.breakpoints], 'none'))
    if card.remark:
        grid.add_row('stepping', label(card.remark, limit=200))
    title = f'run #{card.run}  {one_line(card.label, 40)}  {_whose(card.number, card.title)}'
    body = Group(grid, Text(), _suggestion_lines(card.suggestions, card.number))
    return _panel(title, 'blue', body, _where(card.thread, card.thread_name))


def run_end_view(end: RunEnd, tensors: RenderableType | None = None) -> Page:
    """After a run: what it gave, or where it failed; then the table of its tensors."""
    parts: list[RenderableType] = []
    grid = _grid()
    if end.error_type:
        parts.append(Text(_shorten(f'{end.error_type}: {end.error}'), 'red', overflow='fold'))
        if end.failure is not None:
            _fill_failure(grid, end.failure)
    elif end.fetches:
        grid.add_row('fetches', _lines([_value(value) for value in end.fetches], ''))
    if end.test:
        shown = [Text.assemble(label(one.name, 'bold'), (f'  {one_line(one.call, 20)}' if one.call else '', 'dim'),
                               f'  {one_line(one.dtype, 40)} [{shape(one.shape, ", ")}]'
                               if one.shape else f'  {one_line(one.dtype, 40)}',
                               (f'  the test raised {one_line(one.error, 200)}', 'red') if one.error else '')
                 for one in end.passed]
        grid.add_row(label(f'passed {end.test}', limit=47), _lines(shown, 'no tensor', end.passed_count))
    if grid.row_count:
        parts.append(grid)
    parts += [*([Text()] if parts else []), _suggestion_lines(end.suggestions, 1 if end.error_type else end.number)]
    state = 'FAILED' if end.error_type else 'tensors found' if end.passed else 'done'
    took = f' after {seconds(end.seconds)}' if end.seconds is not None else ''
    title = f'run #{end.run}  {one_line(end.label, 40)}  {_whose(end.number, end.title)}  {state}{took}'
    panel = _panel(title, 'red' if end.error_type or end.passed else 'green', Group(*parts), _where(end.thread, ''))
    return Page(*panel.parts, *([tensors] if tensors is not None else []))


def _fill_failure(grid: Table, failure: NodeFailure) -> None:
    call = f'  call #{one_line(failure.call, 20)}' if failure.call else ''
    grid.add_row('failed at', Text.assemble(label(failure.node, 'bold'), '  ', label(failure.op_type, 'cyan', 60), call))
    created = failure.created
    if created is not None:
        text = Text.assemble(place(created.filename, created.line, full=True), f' in {one_line(created.function, 80)}')
        source = line_text(failure.source, created.line, created.filename)
        if source:
            text.append(f'\n{created.line:>6} | ', 'dim').append_text(source)
        grid.add_row('created', text)
    for i, tensor in enumerate(failure.inputs[:LISTED]):
        grid.add_row(f'in {i}', tensor_line(tensor))


def _panel(title: str, colour: str, body: RenderableType, subtitle: str) -> Page:
    def draw(options: ConsoleOptions) -> Panel:
        return Panel(body, title=Text(title, f'bold {colour}', overflow='ellipsis'), title_align='left', border_style=colour,
                     subtitle=Text(subtitle, 'dim') if subtitle else None, subtitle_align='right',
                     width=min(options.max_width, WIDEST), box=box.ASCII if options.ascii_only else box.ROUNDED)
    return Page(draw)


def _grid() -> Table:
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style='dim', no_wrap=True)
    grid.add_column(overflow='fold')
    return grid


def _value(value: RunValue) -> Text:
    sizes = f'[{shape(value.shape, ", ")}]' if value.shape else '()'
    name = label(value.name or 'unnamed', 'bold' if value.name else 'dim', 200)
    if value.dtype == 'object' and not value.shape:     # a variable's handle, or whatever else is no array
        return Text.assemble(name, ('  a variable or another object, no array', 'dim'))
    return Text.assemble(name, f'  {one_line(value.dtype, 40)} {sizes}  {size(value.nbytes)}')


def _lines(lines: Sequence[Text], none: str, total: int = 0) -> Text:
    if not lines:
        return Text(none, 'dim')
    left = max(total, len(lines)) - min(len(lines), LISTED)
    more = [Text(f'... {left:,} more', 'dim')] if left else []
    text = Text('\n').join([*lines[:LISTED], *more])
    text.overflow = 'fold'
    return text


def _suggestion_lines(suggestions: Sequence[Suggestion], number: int) -> RenderableType:
    """Explained for the first run, later the commands alone."""
    if number > 1:
        return Text('   ').join([label(one.command, 'bold', 60) for one in suggestions])
    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True, style='bold')
    grid.add_column(style='dim', overflow='fold')
    for one in suggestions:
        grid.add_row(label(one.command, limit=60), label(one.help))
    return grid


def _whose(number: int, title: str) -> str:
    return f'({ordinal(number)} of {one_line(title, 40)})' if title else ''


def _where(thread: int, name: str) -> str:
    return f'thread {thread} {one_line(name, 40)}'.strip()


def _shorten(message: str) -> str:
    text = visible(message.strip())
    return text if len(text) <= _MOST_MESSAGE else f'{text[:_MOST_MESSAGE]}...'


def run_view(run: RunRecord) -> Page:
    """Everything about one run."""
    process = f' of process {run.process}' if run.process != 1 else ''
    title = Text.assemble((f'run #{run.id}{process}', 'bold'), '  ', label(run.label, limit=200), '  ',
                          (one_line(run.host, 40), 'cyan'), overflow='fold')
    took = f'took {seconds(run.duration)}' if run.duration is not None else 'did not end, or was eager code'
    again = f', retry of run #{one_line(run.retry_of, 20)}' if run.retry_of else ''
    nodes = count(len(run.sites), 'node')
    parts: list[Part] = [title, Text(f'{seconds(run.started)} after the start, {took}, {nodes}{again}', 'dim',
                                     overflow='fold')]
    for what, tensors in (('feed', run.feeds), ('fetch', run.fetches)):
        parts += [tensor_card(tensor, what) for tensor in tensors[:TENSORS]]
        if len(tensors) > TENSORS:
            parts.append(Text(f'... {len(tensors) - TENSORS:,} more', 'dim'))
    if run.error is not None:
        parts.append(error_panel(run.error, f'run #{run.id}'))
    return Page(*parts)


if __name__ == '__main__':
    from pyfuncdbg.hooks.call import Frame
    from pyfuncdbg.observers.record.record_contents import load_run
    from pyfuncdbg.ui.views.sample_trace import demo, sample
    failed = next(call for call in sample().calls(failed=True) if call.error is not None)
    typed = (Suggestion('run', 'run to the end and stop there'), Suggestion('node', 'go node by node'))
    demo(run_card_view(RunCard(12, 'Session.run', 3, 'session 1', 4711, 'MainThread',
                               (RunValue('x:0', 'float32', (3, 4), 48),),
                               ('loss:0',), 41, 2, 'train', ('1 norm if has_nan(out)',), typed)),
         run_end_view(RunEnd(12, 'Session.run', 3, 'session 1', 4711, 1.2e-3, (), failed.error.type if failed.error else '',
                             failed.error.message if failed.error else '',
                             NodeFailure(failed.site.name, failed.site.op_type, failed.number,
                                         Frame('model.py', 41, 'build'), failed.inputs,
                                         failed.site.source_at('model.py', 41)), '', (), 0, True, typed)),
         *(run_view(load_run(run, ELEMENTS)) for run in sample().runs()))
