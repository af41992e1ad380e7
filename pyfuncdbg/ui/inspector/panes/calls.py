"""The calls pane and its rows: recorded calls as a virtual list. For another order or filter it types the command.

Rows are asked for on worker threads; the pane is on the main thread of the app.
"""
from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from rich.text import Text

from pyfuncdbg.errors import CommandError
from pyfuncdbg.observers.record.index.sorted_calls import SortedCalls
from pyfuncdbg.observers.record.records import CallRecord
from pyfuncdbg.observers.record.trace import Trace
from pyfuncdbg.ui.commands.calls import CALLS
from pyfuncdbg.ui.commands.engine.arguments import filters_of
from pyfuncdbg.ui.commands.engine.command import parser_of
from pyfuncdbg.ui.commands.engine.line_parser import join_words, words
from pyfuncdbg.ui.inspector.desks.desk import Desk
from pyfuncdbg.ui.inspector.lists.rows import ListColumn, ListQuery, Row
from pyfuncdbg.ui.inspector.lists.scrolling_lines import ScrollingLines
from pyfuncdbg.ui.inspector.lists.virtual_list import VirtualList
from pyfuncdbg.ui.inspector.panes.scene import Scene
from pyfuncdbg.ui.views.calls.calls import function, result, shapes
from pyfuncdbg.ui.views.escape import label, one_line
from pyfuncdbg.ui.views.units import milliseconds, seconds

COLUMNS = (
    ListColumn('number', 'call', 8, right=True), ListColumn('time', 't ms', 10, right=True, beyond=44),
    ListColumn('run', 'run', 5, right=True, beyond=84), ListColumn('thread', 'thread', 8, right=True, beyond=96),
    ListColumn('site', 'site', 12, fills=True), ListColumn('function', 'function', 24, fills=True, beyond=130),
    ListColumn('size', 'outputs', 16, beyond=64), ListColumn('duration', 'took', 8, right=True, beyond=36),
    ListColumn('result', 'result', 14, fills=True))

_KIND = 'python'
"""The kind of calls that `calls` lists by default."""


class CallRows:
    """The calls of a trace."""

    noun = 'call'
    columns = COLUMNS
    greatest_first = frozenset(('duration', 'size', 'result'))

    def __init__(self, trace: Callable[[], Trace]) -> None:
        self._trace = trace

    def open(self, query: ListQuery) -> CallPages:
        """The calls of a query, not sorted yet."""
        return CallPages(self._trace(), query)


class CallPages:
    """The calls of one query."""

    def __init__(self, trace: Trace, query: ListQuery) -> None:
        filters = dict(query.filters)
        if not filters and not trace.count(kind=_KIND) and trace.count():       # of a trace of graph nodes
            filters['kind'] = 'all'
        kind = filters.get('kind', _KIND)
        self._trace = trace
        self._where: dict[str, Any] = {**filters, 'kind': None if kind == 'all' else kind}
        self._order: dict[str, Any] = {'sort': query.sort, 'newest_first': query.down}
        self._calls: SortedCalls = trace.sorted_calls(**self._where, **self._order)
        self.shown: Mapping[str, object] = filters
        self.dropped = trace.info().dropped.get('calls', 0)
        self.count = 0

    def preview(self, count: int) -> list[Row]:
        """The first calls."""
        return [row(call) for call in self._trace.calls(**self._where, **self._order, limit=count)]

    def build(self) -> int:
        """Find and sort them."""
        self.count = self._calls.build()
        return self.count

    def page(self, start: int, count: int) -> list[Row]:
        """Calls from a position on."""
        return [row(call) for call in self._calls.page(start, count)]

    def position(self, key: str) -> int | None:
        """The index of a call."""
        return self._calls.position(key)

    def find(self, text: str, start: int, *, backwards: bool = False,
             go_on: Callable[[int], bool] = lambda searched: True) -> int | None:
        """The next call whose names, error or output hold the text; '#17' is the call of that number, 17 too if there is."""
        number = text.removeprefix('#')
        if number.replace('.', '', 1).isdecimal():
            at = self._calls.position(number)
            if at is not None or number != text:
                return at
        return self._calls.find(text, start, backwards=backwards, go_on=go_on)

    def cancel(self) -> None:
        """Break off what runs."""
        self._calls.cancel()

    def close(self) -> None:
        """Give the order back."""
        self._calls.close()


def row(call: CallRecord) -> Row:
    """A call as a row."""
    return Row(call.number, (
        Text('#' + one_line(call.number, 20)), Text(milliseconds(call.started)), Text(str(call.run), 'dim'),
        Text(str(call.thread), 'dim'), label(call.label, limit=80), function(call), shapes(call.outputs),
        Text('' if call.duration is None else seconds(call.duration)), result(call)))


def command_of(query: ListQuery) -> str:
    """The command line that asks for this."""
    words = ['calls']
    for name, value in query.filters:
        words += [f'--{name}'] if value is True else [f'--{name}', str(value)]
    if query.sort != 'time':
        words += ['--sort', query.sort]
    if query.down != (query.sort == 'duration'):
        words.append('--newest')
    return join_words(words)


def query_of(line: str) -> ListQuery | None:
    """The query of a command line `calls ...`; None if it asks for something that is no list."""
    try:
        args = parser_of(CALLS).parse_args([word.text for word in words(line)][1:])
    except CommandError:                        # or it is redirected into a file
        return None
    if args.json or args.help:
        return None
    filters = filters_of(args, 'site', 'run', 'failed', 'bad', 'printed', 'changed')
    if args.kind != _KIND:
        filters['kind'] = args.kind
    return ListQuery(tuple(filters.items()), args.sort, args.newest != (args.sort == 'duration'))


class CallList(VirtualList):
    """The calls of a trace.

    Args:
        desk: Whose trace.
    """

    def __init__(self, desk: Desk) -> None:
        super().__init__(CallRows(lambda: desk.trace))
        self.border_title = 'calls'

    def follow(self, scene: Scene) -> None:
        """Put the cursor on the selected call."""
        if scene.call is not None:
            self.show_key(scene.call.number)

    def adopt(self, line: str) -> bool:
        """Show what a command line asks for; False if it is no `calls` or asks for no list."""
        query = query_of(line)
        if query is not None:
            self.ask(query)
        return query is not None

    def request(self, query: ListQuery) -> None:
        """Another order is a command that is typed."""
        self.post_message(ScrollingLines.Chosen(command_of(query)))

    def action_choose(self) -> None:
        """The call on a screen of its own."""
        line = self._line(self.cursor)
        if line is not None:
            self.post_message(ScrollingLines.Chosen(f'call {line.key}'))

    def filter_line(self) -> str:
        """The command that this list shows, to be typed on."""
        return command_of(self.list_query) + ' '
