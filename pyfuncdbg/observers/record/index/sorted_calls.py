"""Ordering of calls: a filtered, sorted list that is decoded a page at a time.

The numbers of the calls are sorted once, so that every later page is a slice, wherever it is. Used by lists, on worker
threads; any thread may cancel. NumPy sorts without Python's global lock, so the screen goes on meanwhile.
"""
from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from pyfuncdbg.observers.record.index.query import CallFilter, QueryCancelledError, Sites, sort_rows
from pyfuncdbg.observers.record.index.tables import TableView
from pyfuncdbg.observers.record.index.trace_index import SiteEntry
from pyfuncdbg.observers.record.log.call_batch import FAILED, PRINTED
from pyfuncdbg.observers.record.records import CallRecord

_NUMBERED = re.compile(r'(.+)\[(\d{1,18})\]?')
_SOME = 256
_STRETCH = 100_000
"""Positions that are searched at once."""

Place = tuple[int, int]
"""Process and id of a call."""


class SortedCalls:
    """The calls of a trace that pass some filters, in an order, as they were when it was made."""

    def __init__(self, calls: TableView, sites: Sites, condition: CallFilter, sort: str | None, newest_first: bool,
                 fetch: Callable[[list[Place]], list[CallRecord]], read: Callable[[int, int], bytes]) -> None:
        """Prepare.

        Args:
            calls, sites: Of the trace.
            condition, sort, newest_first: Which calls, and how.
            fetch: Gives the records of calls.
            read: Gives what the log of a process holds at a byte.
        """
        self._calls, self._sites, self._condition = calls, sites, condition
        self._sort, self._newest_first = sort, newest_first
        self._fetch = fetch
        self._read = read
        self._rows: np.ndarray = np.empty(0, np.int64)
        self._cancelled = False
        self.count = 0

    def build(self) -> int:
        """Filter and sort the calls.

        Returns:
            How many there are; `count` from then on.

        Raises:
            QueryCancelledError: By `cancel`.
        """
        self._check()
        rows = self._condition.rows(self._calls, self._sites)
        self._rows = sort_rows(rows, self._calls, self._sites, self._sort, self._newest_first, self._check)
        self.count = len(self._rows)
        return self.count

    def page(self, start: int, count: int) -> list[CallRecord]:
        """Read a part of the list.

        Args:
            start: Position of the first call, from 0.
            count: How many calls.

        Returns:
            The calls; fewer at the end.

        Raises:
            QueryCancelledError: By `cancel`.
        """
        self._check()
        rows = self._rows[max(start, 0):max(start + count, 0)]
        return self._fetch(list(zip(self._calls['process'][rows].tolist(), self._calls['id'][rows].tolist(), strict=True)))

    def position(self, number: str) -> int | None:
        """Find a call in the list.

        Args:
            number: '17', or '2.17' of the second process.

        Returns:
            Its position, from 0; None if it is not in the list.

        Raises:
            QueryCancelledError: By `cancel`.
        """
        self._check()
        process, _, id_ = number.rpartition('.')
        row = self._calls.row(int(process or 1), int(id_))
        found = np.flatnonzero(self._rows == row).tolist() if row is not None else []
        return found[0] if found else None

    def find(self, text: str, start: int, *, backwards: bool = False,
             go_on: Callable[[int], bool] = lambda searched: True) -> int | None:
        """Search for a text, from a position on and round the end, in any case of letters.

        Searched are names of sites, functions and op types ('norm[3]' is one call of a site), exceptions and output.

        Args:
            text: The text.
            start: Position to begin with.
            backwards: Search towards the beginning.
            go_on: Called now and then with the number of calls searched; False cancels the search.

        Returns:
            The position of the next match; None without one.

        Raises:
            QueryCancelledError: By `go_on` or `cancel`.
        """
        text = text.lower()
        spoken = _BatchSearch(self._read, text)
        first, second = (0, start + 1 if backwards else start), (start + 1 if backwards else start, self.count)
        searched = 0
        for low, high in (first, second) if backwards else (second, first):
            low, high = max(low, 0), min(high, self.count)
            report = partial(_report_searched, go_on, searched)
            for position, row, sure in self._candidates(text, low, high, backwards, report):
                process, id_, at = (int(self._calls[name][row]) for name in ('process', 'id', 'position'))
                if sure or (spoken.in_batch(process, at) and self._says(process, id_, text)):
                    return position
            searched += max(0, high - low)
        return None

    def _says(self, process: int, id_: int, text: str) -> bool:
        return any(_says(call, text) for call in self._fetch([(process, id_)]))

    def _candidates(self, text: str, low: int, high: int, backwards: bool,
                    go_on: Callable[[int], bool]) -> Iterator[tuple[int, int, bool]]:
        """Position and row of those from `low` to before `high` that may hold the text, and whether a name does."""
        match = _NUMBERED.fullmatch(text)
        name, ordinal = (match[1], int(match[2])) if match is not None else (text, None)
        keys = np.array([key for key, site in self._sites.items() if _holds(name, site)], np.int64)
        first, last = low, high
        while low < high:
            begin, end = (max(low, high - _STRETCH), high) if backwards else (low, min(high, low + _STRETCH))
            rows = self._rows[begin:end]
            matches = np.isin(self._calls['site'][rows], keys)
            if ordinal is not None:
                matches &= self._calls['ordinal'][rows] == ordinal
            places = np.flatnonzero(matches | (self._calls['flags'][rows] & (FAILED | PRINTED) != 0))
            for number, place in enumerate((places[::-1] if backwards else places).tolist()):
                if number % _SOME == 0 and not go_on(last - 1 - begin - place if backwards else begin + place - first):
                    raise QueryCancelledError
                yield begin + place, int(rows[place]), bool(matches[place])
            low, high = (low, begin) if backwards else (end, high)
            if not go_on(last - high + low - first):
                raise QueryCancelledError

    def _check(self) -> None:
        if self._cancelled:
            raise QueryCancelledError

    def cancel(self) -> None:
        """Break off what another thread is doing here; it gets `QueryCancelledError`, as does all that is asked later."""
        self._cancelled = True

    def close(self) -> None:
        """Give the memory back; closing twice is allowed."""
        self.cancel()
        self._rows = np.empty(0, np.int64)


class _BatchSearch:
    """Pre-check whether a batch of the log may hold a text: its bytes tell forty times faster than its calls."""

    def __init__(self, read: Callable[[int, int], bytes], text: str) -> None:
        self._read = read
        self._bytes = text.encode() if text.isascii() else b''     # letters beyond ASCII change case in more than one way
        self._known: dict[tuple[int, int], bool] = {}

    def in_batch(self, process: int, at: int) -> bool:
        holds_text = self._known.get((process, at))
        if holds_text is None:
            holds_text = self._known[process, at] = self._bytes in self._read(process, at).lower()
        return holds_text


def _report_searched(go_on: Callable[[int], bool], before: int, searched: int) -> bool:
    return go_on(before + searched)


def _holds(text: str, site: SiteEntry) -> bool:
    return any(text in known.lower() for known in (site.name, site.op_type, site.function))


def _says(call: CallRecord, text: str) -> bool:
    if call.error is not None and (text in call.error.type.lower() or text in call.error.message.lower()):
        return True
    return any(text in said.text.lower() or text in said.category.lower() for said in call.output)
