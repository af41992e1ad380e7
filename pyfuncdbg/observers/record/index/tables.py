"""Column tables of the calls and runs of a trace, to find, filter, sort and count them.

Filled by `index.indexing` while it reads the logs, in their order. A query works on a `TableView`, which does not change: it
needs no lock and may run on any thread.
"""
from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from pyfuncdbg.hooks.locks import new_lock
from pyfuncdbg.observers.record.index.table_column import GrowingColumn, TableColumn

SITE_BITS = 40
"""A site's key is `process << SITE_BITS | id`."""

UNFINISHED = -1
"""Duration of a call that had not returned when it was written."""

MOST_ROWS = 1 << 26
"""Rows of a table: of a log that claims more, the rest is damage. So many calls take 2 GB."""

_SOME = 1 << 12
_SAMPLE = 256
"""Rows per entry of the first search for a call."""

Columns = Mapping[str, TableColumn]


def site_key(process: int, site: int) -> int:
    """The key of a site among all processes; ids out of range share 0.

    Args:
        process: Number of its process.
        site: Its id there.

    Returns:
        The key.
    """
    return process << SITE_BITS | (site if 0 <= site < 1 << SITE_BITS else 0)


class TableView:
    """Every call, or run, once by (process, id). Immutable.

    Attributes:
        columns: By name, a row for each record in the order of the logs. A call that was written while it ran and again when
            it was over has several; `rows` names the one that counts.
        rows: Row numbers of all of them, sorted by (process, id); as calls, runs have negative ids.
    """

    __slots__ = ('_by_run', '_samples', 'columns', 'rows')

    def __init__(self, columns: Columns, rows: np.ndarray) -> None:
        self.columns = columns
        self.rows = rows
        self._by_run: tuple[np.ndarray, np.ndarray] | None = None
        self._samples: tuple[np.ndarray, np.ndarray] | None = None

    def __getitem__(self, name: str) -> TableColumn:
        return self.columns[name]

    def row(self, process: int, id_: int) -> int | None:
        """Find a row.

        Args:
            process: Number of the process.
            id_: Of the call; of a run's own call negative.

        Returns:
            Its row number; None if there is none.
        """
        at = self._insertion(process, id_)
        if at < len(self.rows):
            row = int(self.rows[at])
            if self.columns['process'][row] == process and self.columns['id'][row] == id_:
                return row
        return None

    def rows_of_run(self, run: int) -> np.ndarray:
        """The rows of one run, of any process. The first query sorts them, for thousands may follow.

        Args:
            run: Its number.

        Returns:
            Those of `rows`.
        """
        if self._by_run is None:
            runs = self.columns['run'][self.rows]
            order = np.argsort(runs, kind='stable')
            self._by_run = runs[order], self.rows[order]
        runs, rows = self._by_run
        if not -1 << 63 <= run < 1 << 63:       # a user's number
            return rows[:0]
        found: np.ndarray = rows[np.searchsorted(runs, run):np.searchsorted(runs, run, 'right')]
        return found

    def nearest_ids(self, process: int, id_: int, most: int = 3) -> list[int]:
        """The positive ids of a process that are nearest to another.

        Args:
            process: Number of the process.
            id_: The other.
            most: How many at most.

        Returns:
            The nearest first.
        """
        at = self._insertion(process, id_)
        some = self.rows[max(0, at - most):at + most]
        ids = [int(self.columns['id'][row]) for row in some.tolist() if self.columns['process'][row] == process]
        return sorted([i for i in ids if i > 0], key=lambda i: (abs(i - id_), i))[:most]

    def _insertion(self, process: int, id_: int) -> int:
        if self._samples is None:
            some = self.rows[::_SAMPLE]
            self._samples = self.columns['process'][some], self.columns['id'][some]
        start = max(0, _place(*self._samples, process, id_) - 1) * _SAMPLE
        rows = self.rows[start:start + _SAMPLE + 1]
        return start + _place(self.columns['process'][rows], self.columns['id'][rows], process, id_)


def _place(processes: np.ndarray, ids: np.ndarray, process: int, id_: int) -> int:
    """How many are below (process, id), of those in this order."""
    low, high = (int(np.searchsorted(processes, process, side)) for side in ('left', 'right'))
    return low + int(np.searchsorted(ids[low:high], id_))


class Table:
    """Growing columns. One thread appends at a time; any may ask for a view.

    Args:
        types: Of the columns, by name.
        select_rows: Gives the rows that count, each (process, id) once.
    """

    def __init__(self, types: Mapping[str, type[np.generic]], select_rows: Callable[[Columns], np.ndarray]) -> None:
        self.count = 0
        self._columns = {name: GrowingColumn(kind) for name, kind in types.items()}
        self._standing = select_rows
        self._view: TableView | None = None
        self._lock = new_lock()

    def append(self, rows: int, columns: Mapping[str, np.ndarray | int]) -> None:
        """Append rows, by column.

        Args:
            rows: How many.
            columns: By name; a number means a column full of it.

        Raises:
            ValueError: There would be too many.
        """
        if self.count + rows > MOST_ROWS:
            raise ValueError(f'more than {MOST_ROWS:,} rows')
        for name, column in self._columns.items():
            column.append(rows, columns[name])
        self.count += rows

    def view(self) -> TableView:
        """The rows so far.

        Returns:
            A view that does not change.
        """
        with self._lock:
            view = self._view
            if view is None or len(view['id']) != self.count:
                columns = {name: column.view() for name, column in self._columns.items()}
                view = self._view = TableView(columns, self._standing(columns))
            return view


def call_table() -> Table:
    """An empty table of calls; of several records of one call the last finished one counts, else the last.

    `position` is that of a record of calls in its log, `head` the row of the first of them.

    Returns:
        The table.
    """
    return Table({'process': np.uint32, 'id': np.int64, 'run': np.int64, 'site': np.int64, 'ordinal': np.int64,
                  'thread': np.int64, 'started': np.int64, 'duration': np.int64, 'flags': np.uint8, 'forward': np.int64,
                  'parent': np.int64, 'position': np.int64, 'head': np.int64, 'size': np.int64}, _last_finished_rows)


def run_table() -> Table:
    """An empty table of runs; of several records of one run the first counts.

    Returns:
        The table.
    """
    return Table({'process': np.uint32, 'id': np.int64, 'plan': np.int64, 'started': np.int64, 'element': np.int64},
                 _first_rows)


def _sort_rows(columns: Columns, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows by (process, id), those of one number in the order of the log; and where in that a new number begins."""
    ids, processes = columns['id'][rows], columns['process'][rows]
    order = np.argsort(ids, kind='stable')      # nearly sorted as they come, so it costs little
    if len(order) and processes.min() != processes.max():
        order = order[np.argsort(processes[order], kind='stable')]
    ids, processes = ids[order], processes[order]
    begins = np.ones(len(order), bool)
    begins[1:] = (ids[1:] != ids[:-1]) | (processes[1:] != processes[:-1])
    return rows[order], begins


def _stretches(columns: Columns) -> Iterator[np.ndarray]:
    """All rows, in parts to be sorted one after the other: the numbers of each are below those of the next.

    Calls that overlap end in each other's order, but far apart in a log their numbers are: most parts are one block.
    """
    ids, processes = columns['id'], columns['process']
    blocks = list(ids.stretches())
    if not blocks or not processes.is_constant():
        yield np.arange(len(ids), dtype=np.int32)
        return
    later = [*np.minimum.accumulate([least for _, _, least in blocks][::-1])[::-1].tolist()[1:], None]
    kept, wait = np.empty(0, np.int32), 0
    for (start, end, _), least in zip(blocks, later, strict=True):
        kept = np.concatenate((kept, np.arange(start, end, dtype=np.int32)))
        if least is None:
            yield kept
        elif len(kept) >= wait:
            below = ids[kept] < least
            yield kept[below]
            kept = kept[~below]
            wait = 2 * len(kept)                # else numbers that fall would take quadratic time


def find_ids(known_processes: np.ndarray, known_ids: np.ndarray, processes: np.ndarray, ids: np.ndarray) -> np.ndarray:
    """Find calls or runs by process and id, many at a time.

    Args:
        known_processes, known_ids: Where to look, in any order; each pair once.
        processes, ids: What to look for.

    Returns:
        The place of each; -1 for one that is not there.
    """
    found = np.full(len(ids), -1, np.int64)
    for process in np.unique(processes, return_counts=True)[0].tolist():
        places = np.flatnonzero(known_processes == process)
        places = places[np.argsort(known_ids[places], kind='stable')]
        wanted = np.flatnonzero(processes == process)
        at = np.searchsorted(known_ids[places], ids[wanted])
        wanted, at = wanted[at < len(places)], at[at < len(places)]
        hits = known_ids[places[at]] == ids[wanted]
        found[wanted[hits]] = places[at[hits]]
    return found


def distinct_of(values: np.ndarray) -> np.ndarray:
    """The distinct values in order, as `np.unique`, which imports `numpy.ma` for it: 15 ms of a command that takes 400."""
    ordered = np.sort(values)
    first: np.ndarray = np.concatenate((np.ones(min(len(ordered), 1), bool), ordered[1:] != ordered[:-1]))
    distinct: np.ndarray = ordered[first]
    return distinct


def rank_keys(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct keys of many equal ones, as `np.unique`, but without sorting all of them.

    Args:
        keys: At least one.

    Returns:
        The distinct keys in order, and the rank of each key.
    """
    distinct = distinct_of(keys[:_SOME])
    while True:
        ranks = np.minimum(np.searchsorted(distinct, keys), len(distinct) - 1)
        others = keys[distinct[ranks] != keys]
        if not len(others):
            return distinct, ranks
        distinct = np.union1d(distinct, others[:max(_SOME, len(others) // 2)])


def _first_rows(columns: Columns) -> np.ndarray:
    return _select(columns, lambda rows, begins: rows[begins])


def _last_finished_rows(columns: Columns) -> np.ndarray:
    def select(rows: np.ndarray, begins: np.ndarray) -> np.ndarray:
        if begins.all():
            return rows
        finished = columns['duration'][rows] != UNFINISHED
        rank = np.arange(len(rows)) + np.where(finished, len(rows), 0)
        last: np.ndarray = rows[np.maximum.reduceat(rank, np.flatnonzero(begins)) % len(rows)]
        return last
    return _select(columns, select)


def _select(columns: Columns, select: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> np.ndarray:
    parts = [select(*_sort_rows(columns, rows)) for rows in _stretches(columns) if len(rows)]
    return np.concatenate(parts) if parts else np.empty(0, np.int32)
