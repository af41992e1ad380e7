"""A virtual list of any length: it draws only its visible rows and fetches them by pages.

Textual's main thread draws; what it draws comes from worker threads (`feed`). Rows that are not there yet are drawn as dots.
"""
from __future__ import annotations

from collections import OrderedDict
from dataclasses import replace
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.actions import SkipAction
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.timer import Timer

from pyfuncdbg.ui.inspector.lists.list_feed import PAGE, ListFeed, Viewport, pages_of
from pyfuncdbg.ui.inspector.lists.messages import CallSelected, MessagePosted
from pyfuncdbg.ui.inspector.lists.row_strips import RowLine, header, mark_text, slots
from pyfuncdbg.ui.inspector.lists.rows import ListQuery, RowSource
from pyfuncdbg.ui.views.escape import one_line
from pyfuncdbg.ui.views.lists import heading

_BAR = 20
"""Columns of the bar of a search that takes long."""
_ABOVE = 2
"""Lines above the rows: the count with the filters, and the headers."""
_KEPT = 12
"""Pages that are remembered."""
_SETTLE = 0.12
"""Seconds the cursor must rest before others follow it."""
_REST = 4
"""A list that grows is sorted again after this many times the time that it took."""


class VirtualList(ScrollView, can_focus=True):
    """Rows under a line with their number and a line of headers.

    Attributes:
        count: Rows in all.
        cursor: The row that is chosen, from 0.
        list_query: What is shown.
    """

    DEFAULT_CSS = """
    VirtualList { background: $surface; scrollbar-size: 1 1; overflow-x: hidden; }
    VirtualList > .virtuallist--cursor { background: $primary 30%; }
    VirtualList > .virtuallist--found { background: $warning; color: $background; }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {'virtuallist--cursor', 'virtuallist--found'}
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding('up,k', 'move(-1)', 'line up', show=False), Binding('down,j', 'move(1)', 'line down', show=False),
        Binding('pageup', 'page(-1)', 'page up', show=False),
        Binding('pagedown,space', 'page(1)', 'page down', show=False),
        Binding('home', 'end_of(0)', 'first line', show=False), Binding('end', 'end_of(1)', 'last line', show=False),
        Binding('o', 'sort(1)', 'sort by the next column', show=False),
        Binding('O', 'sort(0)', 'sort the other way round', show=False),
        Binding('enter', 'choose', 'open the row', show=False),
        Binding('escape', 'give_up', 'break off sorting', show=False)]

    class Chosen(Message):
        """A row was opened."""

        def __init__(self, key: str) -> None:
            super().__init__()
            self.key = key

    def __init__(self, rows: RowSource, query: ListQuery | None = None, *, id: str | None = None,
                 classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.rows = rows
        self.list_query = query if query is not None else ListQuery()
        self.count = 0
        self.cursor = 0
        self._feed = ListFeed(rows, self)
        self._pages: OrderedDict[int, list[RowLine]] = OrderedDict()
        self._places = slots(rows.columns, 0)
        self._busy = ''
        self._fetching = self._calling = False
        self._failed = ''
        self._sought = ''
        self._early = ''                        # a text that is sought before there are rows
        self._goal = ''                         # a key that was chosen elsewhere: looked for in new rows, too
        self._asked = ''                        # the key under the cursor when rows were last asked for
        self._led = False                       # whether the cursor is where the user has put it
        self._settling: Timer | None = None
        self._again: Timer | None = None
        self._took = 0.0
        self._new = False                       # rows of another query have come, and the goal is sought in them

    # ------------------------------------------------------------------ what is shown
    def on_resize(self, event: events.Resize) -> None:
        """Other columns may fit."""
        width = self._row_width
        places = slots(self.rows.columns, width)
        first = not self._feed.turn
        if places != self._places:
            self._places = places
            self._pages.clear()
        self.virtual_size = Size(width, self.count + _ABOVE)
        if first and width > 0:
            self.ask(self.list_query)

    @property
    def _row_width(self) -> int:
        return max(0, self.size.width - (0 if self.show_vertical_scrollbar else 1))

    def ask(self, query: ListQuery) -> None:
        """Show something else; what is there stays until it is found."""
        self._failed = ''
        same = dict(query.filters) == dict(self.list_query.filters)
        self._busy = 'sorting' if same else 'filtering'
        first = not self._feed.turn
        self._asked = self._viewport.key
        # The row under the cursor is what is looked at, in another order too; without it, the first one.
        self._feed.ask(query, replace(self._viewport, count=0), preview=first)
        self.refresh()

    def grown(self) -> None:
        """There may be more rows: look again, if that was not done just now."""
        if self._again is None:
            self._again = self.set_timer(max(0.05, self._took * _REST), self._look_again)

    def _look_again(self) -> None:
        self._again = None
        if self._busy:
            self.grown()
        elif self._feed.turn:
            self._asked = self._viewport.key
            self._feed.ask(self.list_query, self._viewport, preview=False)

    @property
    def _height(self) -> int:
        return max(1, self.size.height - _ABOVE)

    @property
    def _viewport(self) -> Viewport:
        line = self._line(self.cursor)
        return Viewport(round(self.scroll_y), self._height, self.cursor, line.key if line is not None else '', self.count,
                        self._places, self._led)

    def _line(self, index: int) -> RowLine | None:
        page = self._pages.get(index // PAGE)
        return page[index % PAGE] if page is not None and index % PAGE < len(page) else None

    def on_list_feed_previewed(self, message: ListFeed.Previewed) -> None:
        """Show the first rows."""
        if message.turn == self._feed.turn and not self.count:
            self.count = len(message.found)
            self._pages[0] = message.found
            self._resized()

    def on_list_feed_built(self, message: ListFeed.Built) -> None:
        """Show the rows."""
        if message.turn != self._feed.turn:
            self.run_worker(message.opened.close, thread=True, group='feed')
            return
        self._feed.adopt(message.opened)
        before, another = self._viewport.key, message.query != self.list_query
        self._busy, self._failed, self._took = '', '', message.seconds
        self.list_query, self.count, self.cursor = message.query, message.opened.count, message.cursor
        self._pages.clear()
        if message.places == self._places:      # it may have been shown, or have got another width, meanwhile
            self._pages.update(message.pages)
        self._resized()
        self.scroll_to(y=message.top, animate=False, force=True)   # its scrollbar may be still to come
        goal, self._goal = self._goal or (before if before != self._asked else ''), ''     # the cursor has moved since
        self._new = another
        if self._early:
            self.post_message(MessagePosted(self.search(self._early)))
        if goal:
            self.show_key(goal)
        elif another or (before and self._viewport.key != before):
            self._moved()                       # to the first row, without the one that was there, or with the end

    def _resized(self) -> None:
        self.virtual_size = Size(self._row_width, self.count + _ABOVE)
        self.refresh()

    def on_list_feed_paged(self, message: ListFeed.Paged) -> None:
        """Show rows that were missing."""
        self._fetching = False
        if message.opened is self._feed.opened and message.places == self._places:
            self._pages.update(message.pages)
            for number in message.pages:
                self._pages.move_to_end(number)
            while len(self._pages) > _KEPT:
                self._pages.popitem(last=False)
        self.refresh()

    def on_list_feed_failed(self, message: ListFeed.Failed) -> None:
        """Say why."""
        if message.turn == self._feed.turn:
            self._busy, self._failed = '', message.why
            self.refresh()

    def on_unmount(self) -> None:
        """Nothing is asked any more."""
        self._feed.close()

    # ------------------------------------------------------------------ drawing
    def render_line(self, y: int) -> Strip:
        """One row of the screen."""
        width, style = self.size.width, self.rich_style
        if y == 0:
            return self._first_line().crop_extend(0, width, style).apply_style(style)
        if y == 1:
            return header(self._places, self.list_query.sort, self.list_query.down).crop_extend(0, width,
                                                                                                style).apply_style(style)
        index = round(self.scroll_y) + y - _ABOVE
        if index >= self.count:
            return Strip.blank(width, style)
        if index == self.cursor:
            style += Style(bgcolor=self.get_component_rich_style('virtuallist--cursor').bgcolor, bold=self.has_focus)
        line = self._line(index)
        if line is None:
            self._miss()
            return Strip([Segment('...', Style(dim=True))]).extend_cell_length(width, style).apply_style(style)
        found = self.get_component_rich_style('virtuallist--found')
        strip = mark_text(line, self._sought, found) if self._sought else line.strip
        return strip.crop_extend(0, width, None).apply_style(style)

    def _first_line(self) -> Strip:
        opened = self._feed.opened
        sort = self.list_query.sort + ' v' * self.list_query.down
        if opened is None:
            text = heading(0, self.rows.noun)
            text.plain = f'{self.rows.noun}s: counting ...'
        else:
            text = heading(self.count, self.rows.noun, filters=opened.shown, sort=sort, dropped=opened.dropped)
        if self._busy and opened is not None:
            text.append(f'   {self._busy} ... (Esc keeps this)', 'yellow')
        if self._failed:
            text.append(f'   {one_line(self._failed, 200)}', 'bold red')
        text.end = ''
        return Strip(list(text.render(self.app.console)))

    def _miss(self) -> None:
        if not self._calling and not self._fetching:
            self._calling = True
            self.call_later(self._fetch)

    def _fetch(self) -> None:
        """Get the pages that are seen now; those of places passed by meanwhile are not asked for."""
        self._calling = False
        seen = {*pages_of(round(self.scroll_y), self._height, self.count), *pages_of(self.cursor, 1, self.count)}
        missing = sorted(seen.difference(self._pages))
        if missing and not self._fetching and self._feed.opened is not None:
            self._fetching = True
            self._feed.fetch(missing, self._places)

    # ------------------------------------------------------------------ cursor
    def show_key(self, key: str) -> None:
        """Put the cursor on a row that was chosen elsewhere."""
        line = self._line(self.cursor)
        self._goal = '' if line is not None and line.key == key else key
        if self._goal and self._feed.opened is not None:    # else when the rows are there
            self._feed.locate(key)

    def on_list_feed_located(self, message: ListFeed.Located) -> None:
        """Go to what was sought."""
        if message.opened is not self._feed.opened:
            return                              # a goal is sought in the new rows
        if not message.sought and message.text != self._goal:
            return                              # the user has moved the cursor since
        if message.sought:
            self.post_message(MessagePosted(f'{message.text!r} is in no {self.rows.noun}' if message.at is None else
                                            f'{self.rows.noun} {message.at + 1:,} of {self.count:,}'))
        if message.at is not None:
            self.cursor = message.at
            self._see(center=True)
            self._led = message.sought
            if message.sought:
                self._moved()
        elif self._new and not message.sought:
            self._moved()                       # the selected row is not in the new rows
        self._new = False

    def on_list_feed_searching(self, message: ListFeed.Searching) -> None:
        """Tell how far a search has come that takes long."""
        if message.opened is self._feed.opened and message.text.lower() == self._sought:
            done = _BAR * message.looked // max(1, self.count)
            bar = '━' * done + '─' * (_BAR - done)
            self.post_message(MessagePosted(f'searching {message.text!r} {bar} {message.looked:,} of {self.count:,} '
                                            f'{self.rows.noun}s, Esc ends it'))

    def _see(self, *, center: bool = False) -> None:
        top, height = round(self.scroll_y), self._height
        if not top <= self.cursor < top + height:
            y = self.cursor - height // 2 if center else self.cursor if self.cursor < top else self.cursor - height + 1
            self.scroll_to(y=max(0, y), animate=False, force=True)
        self.refresh()

    def _moved(self) -> None:
        """Others follow when the cursor rests."""
        self._goal = ''
        if self._settling is not None:
            self._settling.stop()
        self._settling = self.set_timer(_SETTLE, self._settled)

    def _settled(self) -> None:
        self._settling = None
        line = self._line(self.cursor)
        if line is not None:
            self.post_message(CallSelected(line.key))
        elif not self._goal and (self.cursor < self.count or (self._feed.opened is None and not self._failed)):
            self._fetch()
            self._moved()                       # its row is being fetched, or all of them

    def action_move(self, by: int) -> None:
        """Move the cursor."""
        self._led = True
        self.cursor = min(max(0, self.cursor + by), max(0, self.count - 1))
        self._see()
        self._moved()

    def action_page(self, by: int) -> None:
        """Move the cursor by a screenful."""
        self.action_move(by * max(1, self._height - 1))

    def action_end_of(self, last: int) -> None:
        """To the first or last row."""
        self.action_move(self.count if last else -self.count)

    def action_choose(self) -> None:
        """Open the row."""
        line = self._line(self.cursor)
        if line is not None:
            self.post_message(self.Chosen(line.key))

    # ------------------------------------------------------------------ sorting, searching
    def request(self, query: ListQuery) -> None:
        """The user wants another order; a list whose orders are commands types it instead."""
        self.ask(query)

    def action_sort(self, by: int) -> None:
        """Sort by the next column, or (0) the other way round."""
        keys = [place.column.key for place in self._places]
        at = keys.index(self.list_query.sort) if self.list_query.sort in keys else -1
        if by:
            self._sort_by(keys[(at + by) % len(keys)])
        else:
            self.request(replace(self.list_query, down=not self.list_query.down))

    def _sort_by(self, key: str) -> None:
        again = key == self.list_query.sort
        self.request(replace(self.list_query, sort=key,
                             down=not self.list_query.down if again else key in self.rows.greatest_first))

    def search(self, text: str, by: int = 0) -> str:
        """Mark a text and go to the row that has it: from the cursor on, or the next (1) or previous (-1) one.

        Returns:
            What is known at once, in words; what came of it is `MessagePosted`.
        """
        self._sought = text.lower()
        self._early = text if self._feed.opened is None else ''
        self.refresh()
        if self._early:
            return f'searching {text!r} ...'
        if not text or not self.count:
            self._feed.give_up()
            return ''
        self._feed.seek(text, (self.cursor + by) % self.count, backwards=by < 0)
        return f'searching {text!r} ...'

    def give_up(self) -> bool:
        """Break off what is being sorted or searched; whether anything was."""
        busy = self._feed.give_up() and bool(self._busy)
        self._busy = ''
        self.refresh()
        return busy

    def action_give_up(self) -> None:
        """Break off; if nothing is under way, the key is passed on."""
        if not self.give_up():
            raise SkipAction

    def on_click(self, event: events.Click) -> None:
        """A header sorts, a row is chosen; twice opens it."""
        offset = event.get_content_offset(self)
        if offset is None or offset.y == 0:
            return
        if offset.y == 1:
            hit = [place for place in self._places if place.start <= offset.x < place.start + place.width + 1]
            if hit:
                self._sort_by(hit[0].column.key)
            return
        index = round(self.scroll_y) + offset.y - _ABOVE
        if index < self.count:
            self.cursor, self._led = index, True
            self.refresh()
            self._moved()
            if event.chain == 2:
                self.action_choose()
