"""Calls in an order, by position: what a list of a million lines shows a screenful of.

SQLite sorts the numbers of the calls into a table of its own once, so that every later page is a lookup, wherever it is.
Used by lists, on worker threads; a lock lets one work at a time, and any thread may cancel. SQLite works without Python's
global lock, so the screen goes on meanwhile.
"""
from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from pyfuncdbg.record.index import FAILED, PRINTED
from pyfuncdbg.record.records import CallRecord
from pyfuncdbg.record.side_index import QueryCancelledError, SideIndex

_NUMBERED = re.compile(r'(.+)\[(\d{1,18})\]?')
_SOME = 256
_STRETCH = 100_000
"""Positions that are looked through at once, in 0.1 s."""

Place = tuple[int, int]
"""Process and id of a call."""


class Ordering:
    """The calls of a trace that pass some filters, in an order, as they were when it was made. Close it after use."""

    def __init__(self, index: Path, where: str, parameters: list[Any], order: str,
                 fetch: Callable[[list[Place]], list[CallRecord]], read: Callable[[int, int], bytes]) -> None:
        """Prepare.

        Args:
            index: The index of the trace, which must exist.
            where, parameters, order: Which calls, as `record.query` words it.
            fetch: Gives the records of calls.
            read: Gives what the log of a process holds at a byte.
        """
        self._where, self._parameters, self._order = where, parameters, order
        self._fetch = fetch
        self._read = read
        self.count = 0
        self._index = SideIndex(index)
        self._run = self._index.rows
        self._index.database.create_function('site_holds', 4, _holds, deterministic=True)

    def build(self) -> int:
        """Find and sort the calls; how many there are, which is `count` from then on.

        Raises:
            QueryCancelledError: By `cancel`.
        """
        self._run('CREATE TEMP TABLE positions(position INTEGER PRIMARY KEY, process INTEGER, id INTEGER)')
        self._run(f'INSERT INTO positions(process, id) SELECT process, id FROM calls '
                  f'WHERE {self._where} ORDER BY {self._order}', self._parameters)
        self.count = int(self._run('SELECT coalesce(max(position), 0) FROM positions')[0][0])
        return self.count

    def page(self, start: int, count: int) -> list[CallRecord]:
        """The calls from a position on, counted from 0."""
        return self._fetch(self._run('SELECT process, id FROM positions WHERE position > ? AND position <= ? '
                                     'ORDER BY position', [start, start + count]))

    def position(self, number: str) -> int | None:
        """Where the call of a number is ('17', '2.17'), None if it is not among these."""
        process, _, id_ = number.rpartition('.')
        found = self._run('SELECT position FROM positions WHERE process = ? AND id = ? LIMIT 1',
                          [int(process or 1), int(id_)])
        return int(found[0][0]) - 1 if found else None

    def find(self, text: str, start: int, *, backwards: bool = False,
             wanted: Callable[[], bool] = lambda: True) -> int | None:
        """The next position that holds a text, from `start` on and round the end: None if no call does.

        Looked for, in any case of letters, in names of sites, functions and op types ('norm[3]' is one call of a site), and
        in what calls raised and said. `wanted` is asked now and then.

        Raises:
            QueryCancelledError: It was not wanted any more.
        """
        text = text.lower()
        spoken = _Spoken(self._read, text)
        first, second = (0, start + 1 if backwards else start), (start + 1 if backwards else start, self.count)
        for low, high in (first, second) if backwards else (second, first):
            for position, process, id_, at, sure in self._candidates(text, low, high, backwards, wanted):
                if sure or (spoken.in_batch(process, at) and self._says(process, id_, text)):
                    return position
        return None

    def _says(self, process: int, id_: int, text: str) -> bool:
        return any(_says(call, text) for call in self._fetch([(process, id_)]))

    def _candidates(self, text: str, low: int, high: int, backwards: bool,
                    wanted: Callable[[], bool]) -> Iterator[tuple[int, int, int, int, int]]:
        """Those of the positions `low` to before `high` that may hold the text; the last field is 1 where a name does."""
        match = _NUMBERED.fullmatch(text)
        name, ordinal = (match[1], int(match[2])) if match is not None else (text, None)
        named = 'site IN (SELECT key FROM sites WHERE site_holds(?, name, op_type, function))'
        values: list[Any] = [name]
        if ordinal is not None:
            named += ' AND ordinal = ?'
            values.append(ordinal)
        sql = (f'SELECT positions.position - 1, calls.process, calls.id, calls.position, ({named}) AS named '
               'FROM positions CROSS JOIN calls ON calls.process = positions.process AND calls.id = positions.id '
               f'WHERE positions.position > ? AND positions.position <= ? AND (named OR flags & {FAILED | PRINTED}) '
               f'ORDER BY positions.position {"DESC" if backwards else "ASC"} LIMIT {_SOME}')
        while low < high:
            if not wanted():
                raise QueryCancelledError
            begin, end = (max(low, high - _STRETCH), high) if backwards else (low, min(high, low + _STRETCH))
            rows = self._run(sql, [*values, begin, end])
            yield from rows
            rest = rows[-1][0] if len(rows) == _SOME else begin if backwards else end - 1
            low, high = (low, rest) if backwards else (rest + 1, high)

    def cancel(self) -> None:
        """Break off what another thread is doing here; it gets `QueryCancelledError`, as does all that is asked later."""
        self._index.cancel()

    def close(self) -> None:
        """Give the table back; closing twice is allowed."""
        self._index.close()


class _Spoken:
    """Whether a batch of the log may hold a text at all: its bytes say so forty times faster than its calls."""

    def __init__(self, read: Callable[[int, int], bytes], text: str) -> None:
        self._read = read
        self._bytes = text.encode() if text.isascii() else b''     # letters beyond ASCII change case in more than one way
        self._known: dict[tuple[int, int], bool] = {}

    def in_batch(self, process: int, at: int) -> bool:
        known = self._known.get((process, at))
        if known is None:
            known = self._known[process, at] = self._bytes in self._read(process, at).lower()
        return known


def _holds(text: str, name: str, op_type: str, function: str) -> bool:
    return any(text in known.lower() for known in (name, op_type, function))


def _says(call: CallRecord, text: str) -> bool:
    if call.error is not None and (text in call.error.type.lower() or text in call.error.message.lower()):
        return True
    return any(text in said.text.lower() or text in said.category.lower() for said in call.output)
