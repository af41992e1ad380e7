"""The timeline pane: calls by thread over time. Only the visible window of time is read and drawn.

Main thread of the app; worker threads ask the trace, through a connection of the pane's own, and what is not wanted any more
is broken off.
"""
from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from typing import ClassVar

from rich.style import Style
from rich.text import Text
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.timer import Timer

from pyfuncdbg.errors import PyfuncdbgError
from pyfuncdbg.observers.record.index.query import QueryCancelledError
from pyfuncdbg.observers.record.index.time_spans import Extent, SpanRecord, Spans
from pyfuncdbg.ui.inspector.desks.desk import Desk
from pyfuncdbg.ui.inspector.lists.messages import CallSelected
from pyfuncdbg.ui.inspector.lists.scrolling_lines import ScrollingLines
from pyfuncdbg.ui.inspector.panes.scene import Scene
from pyfuncdbg.ui.inspector.panes.time_query import TimeQuery, time_query
from pyfuncdbg.ui.inspector.panes.time_window import TimeWindow, draw_window
from pyfuncdbg.ui.views.calls.timeline import MARGIN, axis_row
from pyfuncdbg.ui.views.escape import one_line
from pyfuncdbg.ui.views.units import count, seconds

_ABOVE = 2
_CLOSEST = 1e-6
"""Seconds of the smallest window."""
_SETTLE = 0.12
_REST = 4


class TimelinePane(ScrollView, can_focus=True):
    """Threads under one another, time from left to right.

    Args:
        desk: Whose trace.

    Attributes:
        start, end: The window, in seconds since the trace began; both 0 before it is known.
        site: Only calls of these sites are shown, a glob; None for all.
        chosen: The selected call.
        seen: What is drawn, None before anything is.
    """

    DEFAULT_CSS = """
    TimelinePane { background: $surface; scrollbar-size: 1 1; overflow-x: hidden; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding('right,l', 'beside(1)', 'next call of the thread', show=False),
        Binding('left', 'beside(-1)', 'call before', show=False),
        Binding('down,j', 'lane(1)', 'next thread', show=False), Binding('up,k', 'lane(-1)', 'thread before', show=False),
        Binding('plus,equals_sign', 'zoom(0.5)', 'closer', show=False),
        Binding('minus', 'zoom(2.0)', 'farther', show=False), Binding('0', 'whole', 'all', show=False),
        Binding('pagedown,space', 'pan(1)', 'later', show=False), Binding('pageup', 'pan(-1)', 'earlier', show=False),
        Binding('home', 'edge(0)', 'the beginning', show=False), Binding('end', 'edge(1)', 'the end', show=False),
        Binding('enter', 'choose', 'open the call', show=False)]

    class WindowDrawn(Message):
        """A window was drawn, or why not."""

        def __init__(self, turn: int, window: TimeWindow | None, why: str, took: float) -> None:
            super().__init__()
            self.turn, self.window, self.why, self.took = turn, window, why, took

    class NeighbourFound(Message):
        """A call beside another was found; None: there is none."""

        def __init__(self, span: SpanRecord | None) -> None:
            super().__init__()
            self.span = span

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self.border_title = 'timeline'
        self._desk = desk
        self.start = self.end = 0.0
        self.site: str | None = None
        self.chosen: SpanRecord | None = None
        self.seen: TimeWindow | None = None
        self._extent: Extent | None = None
        self._asking: Spans | None = None
        self._turn = 0
        self._busy = False
        self._why = ''
        self._took = 0.0
        self._fresh = False
        self._again: Timer | None = None
        self._settling: Timer | None = None

    # ------------------------------------------------------------------ what is shown
    @property
    def _width(self) -> int:
        return max(8, self.size.width - MARGIN - 1)

    def on_resize(self, event: events.Resize) -> None:
        """Draw again for the new width."""
        if event.size.width and (self.seen is None or self.seen.width != self._width):
            self._look()

    def follow(self, scene: Scene) -> None:
        """Mark the selected call, and bring it into the window."""
        call = scene.call
        if call is None or (self.chosen is not None and self.chosen.number == call.number):
            return
        self._choose(SpanRecord(call.number, call.label, call.site.kind, call.process, call.thread, call.started,
                                call.duration, call.error is not None, False))

    def grown(self) -> None:
        """There may be more calls: look again, if that was not done just now."""
        if self._again is None:
            self._again = self.set_timer(max(0.05, self._took * _REST), self._look_again)

    def _look_again(self) -> None:
        self._again = None
        self._fresh = True
        self._look()

    def search(self, text: str, by: int = 0) -> str:
        """Times are not searched: the calls are."""
        return 'search in the pane calls: this one follows' if text else ''

    def filter_line(self) -> str:
        """The command that shows this window for the nodes that the user names."""
        return (TimeQuery(self.start, self.end,
                          self.site) if self.end > self.start else TimeQuery(site=self.site)).to_narrow()

    def adopt(self, line: str) -> bool:
        """Show what a command line asks for; False if that is no window of time."""
        query = time_query(line)
        if query is None:
            return False
        if query.site != self.site:
            self.site, self.seen = query.site, None
        if self._extent is not None:
            start = self._extent.start if query.start is None else query.start
            self._go(start, (self._extent.end if query.end is None else query.end) - start)
        self._look()
        return True

    def _look(self) -> None:
        """Draw the window that is wanted now."""
        if not self.size.width:
            return
        self._turn += 1
        if self._asking is not None:
            self._asking.cancel()
        self._busy = True
        turn, width, start, end = self._turn, self._width, self.start, self.end
        at_end = self._extent is not None and end >= self._extent.end
        extent = None if self._fresh else self._extent
        if self._extent is None or not self._extent.calls:
            start = end = 0.0                   # there was no call to choose a window by
        known = self.seen.lanes if self.seen is not None else []

        def look(spans: Spans) -> None:
            started = time.perf_counter()
            full_extent = extent if extent is not None else spans.extent()
            first, last = (start, end) if full_extent.end > start < end else (full_extent.start, full_extent.end)
            if self._extent is not None and at_end and full_extent.end > self._extent.end:        # keep the end visible
                whole_before = first <= self._extent.start
                first, last = (first if whole_before else full_extent.end - (last - first)), full_extent.end
            window = draw_window(spans, full_extent, first, max(last, first + _CLOSEST), width, known)
            self.post_message(self.WindowDrawn(turn, window, '', time.perf_counter() - started))
        self._ask(look, keep=True)
        self.refresh()

    def _ask(self, ask: Callable[[Spans], None], *, keep: bool = False) -> None:
        """Ask the trace on a worker thread; what is asked with `keep` can be broken off."""
        trace, turn, site = self._desk.trace, self._turn, self.site

        def work() -> None:
            try:
                with contextlib.closing(trace.spans(site)) as spans:
                    if keep:
                        self._asking = spans
                        if turn != self._turn:
                            spans.cancel()
                    ask(spans)
            except QueryCancelledError:
                pass                            # another window was requested meanwhile
            except PyfuncdbgError as error:
                self.post_message(self.WindowDrawn(turn, None, str(error), 0.0))
        self.run_worker(work, thread=True, group='timeline', exit_on_error=False)

    def on_timeline_pane_window_drawn(self, message: WindowDrawn) -> None:
        """Show what was drawn."""
        if message.turn != self._turn:
            return
        self._busy, self._why = False, message.why
        window = message.window
        if window is not None:
            self._fresh = False
            self.seen, self._extent, self._took = window, window.extent, message.took
            self.start, self.end = window.start, window.end
            self.virtual_size = Size(self.size.width, len(window.rows) + _ABOVE)
        self.refresh()

    def on_unmount(self) -> None:
        """Nothing is asked any more."""
        self._turn += 1
        if self._asking is not None:
            self._asking.cancel()

    # ------------------------------------------------------------------ drawing
    def render_line(self, y: int) -> Strip:
        """One row of the screen."""
        width, style, window = self.size.width, self.rich_style, self.seen
        if y == 0:
            text = self._first_line()
        elif window is None or not window.extent.calls:
            text = Text()
        elif y == 1:
            text = Text(' ' * MARGIN).append_text(axis_row(window.start, window.end, window.width))
        else:
            index = round(self.scroll_y) + y - _ABOVE
            text = self._row(window, index) if index < len(window.rows) else Text()
        text.end = ''
        return Strip(list(text.render(self.app.console))).crop_extend(0, width, style).apply_style(style)

    def _first_line(self) -> Text:
        window = self.seen
        if self._why:
            return Text(one_line(self._why, 200), 'bold red')
        if window is None:
            return Text('timeline: looking ...', 'dim')
        if not window.extent.calls:
            return Text('no call was recorded so far', 'dim')
        text = Text.assemble((count(window.calls, 'call'), 'bold'), f'  {count(len(window.lanes), "thread")}  '
                             f'{seconds(window.end - window.start)} of {seconds(window.extent.end - window.extent.start)}')
        if self.site is not None:
            text.append(f'  filter: site {one_line(self.site, 40)}', 'bold')
        text.append('  + closer  - farther  0 all' if not window.crowded else '  each column: how busy; + closer', 'dim')
        if self._busy:
            text.append('  looking ...', 'yellow')
        return text

    def _row(self, window: TimeWindow, index: int) -> Text:
        row = window.rows[index]
        chosen = self.chosen
        here = chosen is not None and (chosen.process, chosen.thread) == (row.process, row.thread)
        margin = ('>' if here and row.name else ' ') + row.name.ljust(MARGIN - 1)
        bars = row.text.copy()
        if chosen is not None and here and (not row.spans or any(span.number == chosen.number for span in row.spans)):
            scale = window.width / (window.end - window.start)
            left = int((chosen.started - window.start) * scale)
            right = int((chosen.started + (chosen.duration or 0.0) - window.start) * scale) + 1
            if right > 0 and left < window.width:
                bars.stylize(Style(reverse=True), max(0, left), min(window.width, right))
        return Text.assemble((margin, 'bold' if here else ''), bars)

    # ------------------------------------------------------------------ moving
    def _choose(self, span: SpanRecord, *, tell: bool = False) -> None:
        self.chosen = span
        length = self.end - self.start
        if length > 0 and not self.start <= span.started <= self.end:
            self._go(span.started - length / 2, length)
        if self.seen is not None:
            place = next((index for index, row in enumerate(self.seen.rows)
                          if (row.process, row.thread) == (span.process, span.thread)), None)
            if place is not None and not self.scroll_y <= place < self.scroll_y + self.size.height - _ABOVE:
                self.scroll_to(y=place, animate=False)
        self.refresh()
        if tell:
            if self._settling is not None:
                self._settling.stop()
            self._settling = self.set_timer(_SETTLE, lambda: self.post_message(CallSelected(span.number)))

    def _go(self, start: float, length: float) -> None:
        """Show another window, within the extent of the calls."""
        if self._extent is None:
            return
        whole = max(self._extent.end - self._extent.start, _CLOSEST)
        length = min(max(length, _CLOSEST), whole)
        start = min(max(start, self._extent.start), self._extent.start + whole - length)
        if (start, start + length) != (self.start, self.end):
            self.start, self.end = start, start + length
            self._look()

    def on_timeline_pane_neighbour_found(self, message: NeighbourFound) -> None:
        """Go to a call that was found."""
        if message.span is not None:
            self._choose(message.span, tell=True)

    def _meet(self, process: int, thread: int, at: float, *, later: bool, number: str = '', either: bool = False) -> None:
        def ask(spans: Spans) -> None:
            span = spans.beside(process, thread, at, later=later, number=number)
            if span is None and either:
                span = spans.beside(process, thread, at, later=not later, number=number)
            self.post_message(self.NeighbourFound(span))
        self._ask(ask)

    def action_beside(self, by: int) -> None:
        """To the next call of the thread, or the one before."""
        if self.chosen is not None:
            self._meet(self.chosen.process, self.chosen.thread, self.chosen.started, later=by > 0, number=self.chosen.number)
        elif self.seen is not None and self.seen.lanes:
            self._meet(*self.seen.lanes[0], self.start, later=True)

    def action_lane(self, by: int) -> None:
        """To another thread: the call there at about this time."""
        if self.seen is None or not self.seen.lanes:
            return
        lanes, chosen = self.seen.lanes, self.chosen
        here = (chosen.process, chosen.thread) if chosen is not None else None
        place = min(max(0, lanes.index(here) + by), len(lanes) - 1) if here in lanes else 0
        if lanes[place] != here:
            at = chosen.started if chosen is not None else self.start
            self._meet(*lanes[place], at, later=False, either=True)

    def action_zoom(self, by: float) -> None:
        """See less of the time, or more, around the call that was chosen."""
        middle = (self.start + self.end) / 2
        slack = (self.end - self.start) / 100
        if self.chosen is not None and self.start - slack <= self.chosen.started <= self.end + slack:
            middle = self.chosen.started + (self.chosen.duration or 0.0) / 2
        self._zoom(middle, by)

    def _zoom(self, center: float, by: float) -> None:
        length = self.end - self.start
        share = (center - self.start) / length if length else 0.5
        self._go(center - share * length * by, length * by)

    def action_whole(self) -> None:
        """See all of it."""
        if self._extent is not None:
            self._go(self._extent.start, self._extent.end - self._extent.start)

    def action_pan(self, by: int) -> None:
        """Earlier, or later."""
        length = self.end - self.start
        self._go(self.start + by * length * 0.8, length)

    def action_edge(self, last: int) -> None:
        """To the beginning, or the end."""
        if self._extent is not None:
            length = self.end - self.start
            self._go(self._extent.end - length if last else self._extent.start, length)

    def action_choose(self) -> None:
        """The call on a screen of its own."""
        if self.chosen is not None:
            self.post_message(ScrollingLines.Chosen(f'call {self.chosen.number}'))

    # ------------------------------------------------------------------ mouse
    def on_click(self, event: events.Click) -> None:
        """A bar is chosen, twice opens it; a bucket is looked at from nearer."""
        offset = event.get_content_offset(self)
        if offset is None or self.seen is None or offset.y < _ABOVE or offset.x < MARGIN:
            return
        row, column = offset.y - _ABOVE + round(self.scroll_y), offset.x - MARGIN
        span = self.seen.call_at(row, column)
        if span is not None:
            self._choose(span, tell=True)
            if event.chain == 2:
                self.action_choose()
        elif self.seen.crowded and row < len(self.seen.rows):
            self._zoom(self.seen.moment(column), 0.1)

    def _on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        self._wheel(event, 1.5)

    def _on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        self._wheel(event, 1 / 1.5)

    def _wheel(self, event: events.MouseEvent, by: float) -> None:
        """The wheel zooms around the pointer."""
        event.stop()
        event.prevent_default()
        if self.seen is not None:
            self._zoom(self.seen.moment(max(0, event.x - MARGIN)), by)
