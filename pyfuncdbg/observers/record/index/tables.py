"""Column tables of the calls and runs of a trace, to find, filter, sort and count them.

Filled by `index.indexing` while it reads the logs, in their order. A query works on a `TableView`, which does not change: it
needs no lock and may run on any thread.
"""
from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from pyfuncdbg.hooks.locks import new_lock

SITE_BITS = 40
"""A site's key is `process << SITE_BITS | id`."""

UNFINISHED = -1
"""Duration of a call that had not returned when it was written."""

MOST_ROWS = 1 << 26
"""Rows of a table: of a log that claims more, the rest is damage. So many calls take 6 GB."""

_FIRST = 1024
_MOST_GROWTH = 16

Columns = Mapping[str, np.ndarray]


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

    __slots__ = ('_by_run', 'columns', 'rows')

    def __init__(self, columns: Columns, rows: np.ndarray) -> None:
        self.columns = columns
        self.rows = rows
        self._by_run: tuple[np.ndarray, np.ndarray] | None = None

    def __getitem__(self, name: str) -> np.ndarray:
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
        processes, ids = self.columns['process'], self.columns['id']
        low, high = 0, len(self.rows)
        while low < high:
            middle = (low + high) // 2
            row = self.rows[middle]
            if (int(processes[row]), int(ids[row])) < (process, id_):
                low = middle + 1
            else:
                high = middle
        return low


class _Column:
    """A growing column. As long as all of its numbers are the same it is that number and takes no memory: of a million
    calls most have one process, no parent and no gradient."""

    __slots__ = ('_kind', '_number', '_numbers')

    def __init__(self, kind: type[np.generic]) -> None:
        self._kind = kind
        self._number: np.generic | None = None
        self._numbers: np.ndarray | None = None

    def write(self, rows: slice, room: int, numbers: np.ndarray | int) -> None:
        """Append numbers in rows that begin where the column ends; an int, or an array of stride 0, is one for all of them.

        Args:
            room: Length of the array, where a longer one is made.
        """
        constant = isinstance(numbers, int) or numbers.strides == (0,)
        if constant and self._numbers is None:
            number = self._kind(numbers if isinstance(numbers, int) else numbers[0])
            if self._number is None or self._number == number:
                self._number = number
                return
        if self._numbers is None or len(self._numbers) < rows.stop:
            # Views that were given out keep the memory they have.
            larger = np.empty(room, self._kind)
            if self._numbers is not None:
                larger[:rows.start] = self._numbers[:rows.start]
            elif self._number is not None:
                larger[:rows.start] = self._number
            self._numbers = larger
        self._numbers[rows] = numbers

    def first(self, count: int) -> np.ndarray:
        """The first so many numbers, read-only where they are one."""
        if self._numbers is not None:
            return self._numbers[:count]
        return np.broadcast_to(self._kind() if self._number is None else self._number, count)


class Table:
    """Growing columns. One thread appends at a time; any may ask for a view.

    Args:
        types: Of the columns, by name.
        select_rows: Gives the rows that count, each (process, id) once.
    """

    def __init__(self, types: Mapping[str, type[np.generic]], select_rows: Callable[[Columns], np.ndarray]) -> None:
        self.count = 0
        self._room = _FIRST
        self._columns = {name: _Column(kind) for name, kind in types.items()}
        self._standing = select_rows
        self._view: TableView | None = None
        self._lock = new_lock()

    def append(self, rows: int, columns: Mapping[str, np.ndarray | int], expected: float = 0) -> None:
        """Append rows, by column.

        Args:
            rows: How many.
            columns: By name; a number means a column full of it.
            expected: An estimate of the final number of rows: columns that only grow by doubling are copied, and each of
                their pages is made, twice.

        Raises:
            ValueError: There would be too many.
        """
        added = slice(self.count, self.count + rows)
        if added.stop > MOST_ROWS:
            raise ValueError(f'more than {MOST_ROWS:,} rows')
        if self._room < added.stop:             # logs may be hostile: do not trust the estimate
            self._room = max(added.stop, 2 * self._room, int(min(expected, _MOST_GROWTH * added.stop, MOST_ROWS)))
        for name, column in self._columns.items():
            column.write(added, self._room, columns[name])
        self.count = added.stop

    def view(self) -> TableView:
        """The rows so far.

        Returns:
            A view that does not change.
        """
        with self._lock:
            view = self._view
            if view is None or len(view['id']) != self.count:
                columns = {name: column.first(self.count) for name, column in self._columns.items()}
                view = self._view = TableView(columns, self._standing(columns))
            return view


def call_table() -> Table:
    """An empty table of calls; of several records of one call the last finished one counts, else the last.

    Returns:
        The table.
    """
    return Table({'process': np.uint32, 'id': np.int64, 'run': np.int64, 'site': np.int64, 'ordinal': np.int64,
                  'thread': np.int64, 'started': np.int64, 'duration': np.int64, 'flags': np.uint8, 'forward': np.int64,
                  'parent': np.int64, 'position': np.int64, 'place': np.uint16, 'size': np.int64}, _last_finished_rows)


def run_table() -> Table:
    """An empty table of runs; of several records of one run the first counts.

    Returns:
        The table.
    """
    return Table({'process': np.uint32, 'id': np.int64, 'plan': np.int64, 'started': np.int64, 'element': np.int64},
                 _first_rows)


def _sort_rows(columns: Columns) -> tuple[np.ndarray, np.ndarray]:
    """Row numbers by (process, id), those of one number in the order of the log; and where in that a new number begins."""
    ids, processes = columns['id'], columns['process']
    if len(ids) and processes.min() == processes.max() and (ids[1:] > ids[:-1]).all():
        return np.arange(len(ids)), np.ones(len(ids), bool)
    order = np.argsort(ids, kind='stable')      # nearly sorted as they come, so it costs little
    if len(order) and processes.min() != processes.max():
        order = order[np.argsort(processes[order], kind='stable')]
    ids, processes = ids[order], processes[order]
    begins = np.ones(len(order), bool)
    begins[1:] = (ids[1:] != ids[:-1]) | (processes[1:] != processes[:-1])
    return order, begins


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


def _first_rows(columns: Columns) -> np.ndarray:
    order, begins = _sort_rows(columns)
    rows: np.ndarray = order[begins]
    return rows


def _last_finished_rows(columns: Columns) -> np.ndarray:
    order, begins = _sort_rows(columns)
    if begins.all():
        return order
    finished = columns['duration'][order] != UNFINISHED
    rank = np.arange(len(order)) + np.where(finished, len(order), 0)
    rows: np.ndarray = order[np.maximum.reduceat(rank, np.flatnonzero(begins)) % len(order)]
    return rows
