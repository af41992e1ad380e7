"""Feed of a virtual list: finds, sorts, pages and searches on worker threads, and answers by messages.

A new question breaks off the one before; an answer to an old one is thrown away. The list calls this on the main thread.
"""
from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import monotonic

from textual.message import Message
from textual.widget import Widget

from pyfuncdbg.errors import PyfuncdbgError
from pyfuncdbg.observers.record.index.query import QueryCancelledError
from pyfuncdbg.ui.inspector.lists.row_strips import ColumnSlot, RowLine, lines
from pyfuncdbg.ui.inspector.lists.rows import ListQuery, QueryRows, RowSource
from pyfuncdbg.ui.views.progress import PATIENCE

PAGE = 50
"""Rows that are asked for at once."""
_OFTEN = 0.25
"""Seconds between two words on how far a search has come."""


@dataclass(frozen=True, slots=True)
class Viewport:
    """The visible part of a list.

    Attributes:
        top: First row on the screen.
        height: Rows on the screen.
        cursor: Row that is chosen.
        key: Its key, '' if it is not known yet.
        count: Rows in all.
        places: The columns.
        led: Whether the user has put the cursor there: on the last row it then goes with the end.
    """

    top: int
    height: int
    cursor: int
    key: str
    count: int
    places: tuple[ColumnSlot, ...]
    led: bool = False

    @property
    def at_end(self) -> bool:
        """Whether the last row is on the screen."""
        return self.top + self.height >= self.count > 0

    def moved(self, count: int, at: int | None) -> tuple[int, int]:
        """The top and cursor in a list of another length: the same row stays where it is, the end stays the end.

        Args:
            count: New number of rows.
            at: Where the row under the cursor is now, None if it is gone.
        """
        last = max(0, count - 1)
        if self.at_end and self.count and count > self.count:
            return max(0, count - self.height), last if self.led and self.cursor >= self.count - 1 else min(at or 0, last)
        if at is None:
            return 0, 0
        top = at - (self.cursor - self.top) if self.top <= self.cursor < self.top + self.height else self.top
        return min(max(0, top), max(0, count - self.height)), at


class ListFeed:
    """The rows behind one list.

    Args:
        rows: Where they come from.
        owner: The list; it gets the messages.
    """

    class Previewed(Message):
        """The first rows of a list whose length is not known yet."""

        def __init__(self, turn: int, lines: list[RowLine]) -> None:
            super().__init__()
            self.turn, self.found = turn, lines

    class Built(Message):
        """The rows of a query are in order."""

        def __init__(self, turn: int, query: ListQuery, opened: QueryRows, top: int, cursor: int,
                     places: tuple[ColumnSlot, ...],
                     pages: dict[int, list[RowLine]], seconds: float) -> None:
            super().__init__()
            self.turn, self.query, self.opened, self.top, self.cursor = turn, query, opened, top, cursor
            self.places, self.pages, self.seconds = places, pages, seconds

    class Paged(Message):
        """Some pages are there."""

        def __init__(self, opened: QueryRows, places: tuple[ColumnSlot, ...], pages: dict[int, list[RowLine]]) -> None:
            super().__init__()
            self.opened, self.places, self.pages = opened, places, pages

    class Located(Message):
        """The row of a searched text or key, None if there is none."""

        def __init__(self, opened: QueryRows, text: str, at: int | None, *, sought: bool) -> None:
            super().__init__()
            self.opened, self.text, self.at, self.sought = opened, text, at, sought

    class Searching(Message):
        """The number of rows searched so far."""

        def __init__(self, opened: QueryRows, text: str, searched: int) -> None:
            super().__init__()
            self.opened, self.text, self.looked = opened, text, searched

    class Failed(Message):
        """The reason why a list cannot be read."""

        def __init__(self, turn: int, why: str) -> None:
            super().__init__()
            self.turn, self.why = turn, why

    def __init__(self, rows: RowSource, owner: Widget) -> None:
        self.rows = rows
        self._owner = owner
        self._lock = threading.Lock()
        self._pending: QueryRows | None = None
        self._seeking = 0
        self.turn = 0
        self.opened: QueryRows | None = None

    # ------------------------------------------------------------------ questions, on the main thread
    def ask(self, query: ListQuery, viewport: Viewport, *, preview: bool) -> None:
        """Find and sort; `Built` comes, and before it, if a preview is wanted, `Previewed`."""
        with self._lock:
            self.turn += 1
            if self._pending is not None:
                self._pending.cancel()
        turn = self.turn
        self._work(lambda: self._build(turn, query, viewport, preview), turn)

    def adopt(self, opened: QueryRows) -> None:
        """Answer from these rows now."""
        if self.opened is not None:
            self._work(self.opened.close, self.turn)
        self.opened = opened

    def give_up(self) -> bool:
        """Break off what is being sorted or searched; whether there was anything."""
        self._seeking += 1
        with self._lock:
            busy = self._pending is not None
            if self._pending is not None:
                self._pending.cancel()
        return busy

    def fetch(self, numbers: Sequence[int], places: tuple[ColumnSlot, ...]) -> None:
        """Get some pages; `Paged` comes."""
        opened = self.opened
        if opened is not None:
            self._work(lambda: self._page(opened, numbers, places), self.turn)

    def seek(self, text: str, start: int, *, backwards: bool) -> None:
        """Find a text; `Located` comes, unless another text is sought meanwhile."""
        self._seeking += 1
        opened, number = self.opened, self._seeking
        if opened is None or not text:
            return

        due = monotonic() + PATIENCE

        def go_on(searched: int) -> bool:
            nonlocal due
            if self._seeking == number and (now := monotonic()) >= due:
                due = now + _OFTEN
                self._owner.post_message(ListFeed.Searching(opened, text, searched))
            return self._seeking == number

        def work() -> None:
            at = opened.find(text, start, backwards=backwards, go_on=go_on)
            if self._seeking == number:
                self._owner.post_message(ListFeed.Located(opened, text, at, sought=True))
        self._work(work, self.turn)

    def locate(self, key: str) -> None:
        """Find a row by its key; `Located` comes."""
        opened = self.opened
        if opened is not None:
            self._work(lambda: self._owner.post_message(ListFeed.Located(opened, key, opened.position(key), sought=False)),
                       self.turn)

    def close(self) -> None:
        """Break everything off."""
        with self._lock:
            self.turn += 1
            self._seeking += 1
            left = [rows for rows in (self._pending, self.opened) if rows is not None]
            self.opened = None
        for rows in left:
            rows.close()

    # ------------------------------------------------------------------ answers, on worker threads
    def _work(self, work: Callable[[], object], turn: int) -> None:
        def run() -> None:
            try:
                work()
            except QueryCancelledError:
                pass                            # what broke it off has asked something else
            except PyfuncdbgError as error:
                self._owner.post_message(ListFeed.Failed(turn, str(error)))
            except Exception as error:          # an internal error: report it in the first line of the list
                self._owner.post_message(ListFeed.Failed(turn, f'pyfuncdbg failed here: {type(error).__name__}: {error}'))
        self._owner.run_worker(run, thread=True, group='feed', exit_on_error=False)

    def _build(self, turn: int, query: ListQuery, viewport: Viewport, preview: bool) -> None:
        started = time.perf_counter()
        opened = self.rows.open(query)
        with self._lock:
            if self.turn == turn:
                self._pending = opened
            else:
                opened.cancel()
        try:
            if preview:
                self._owner.post_message(ListFeed.Previewed(turn, lines(opened.preview(PAGE), viewport.places)))
            count = opened.build()
            top, cursor = viewport.moved(count, opened.position(viewport.key) if viewport.key else None)
            pages = {number: lines(opened.page(number * PAGE, PAGE), viewport.places)
                     for number in pages_of(top, viewport.height, count)}
        except BaseException:
            opened.close()
            raise
        finally:
            with self._lock:
                if self._pending is opened:
                    self._pending = None
        self._owner.post_message(ListFeed.Built(turn, query, opened, top, cursor, viewport.places, pages,
                                                time.perf_counter() - started))

    def _page(self, opened: QueryRows, numbers: Sequence[int], places: tuple[ColumnSlot, ...]) -> None:
        pages: dict[int, list[RowLine]] = {}
        try:
            for number in numbers:
                pages[number] = lines(opened.page(number * PAGE, PAGE), places)
        finally:
            self._owner.post_message(ListFeed.Paged(opened, places, pages))


def pages_of(top: int, height: int, count: int) -> range:
    """Numbers of the pages that hold what is on the screen."""
    last = min(top + height, count) - 1
    return range(top // PAGE, last // PAGE + 1) if last >= top else range(0)
