"""Filters and orders of calls, over the columns of a trace.

Used by `Trace`, and on worker threads by lists and timelines: pure.
"""
from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase

import numpy as np

from pyfuncdbg.errors import CommandError, nearest
from pyfuncdbg.hooks.call import KINDS
from pyfuncdbg.observers.record.index.tables import UNFINISHED, TableView
from pyfuncdbg.observers.record.index.trace_index import SiteEntry
from pyfuncdbg.observers.record.log.call_batch import BAD, CHANGED, FAILED, PRINTED
from pyfuncdbg.observers.record.records import SiteRecord

Sites = Mapping[int, SiteEntry]
"""The sites of a trace by key."""

SORTS = ('time', 'number', 'duration', 'site', 'function', 'run', 'thread', 'size', 'result')
"""Sort keys of a list of calls."""


class QueryCancelledError(Exception):
    """Another thread broke the query off."""


def site_matches(pattern: str, site: SiteEntry | SiteRecord) -> bool:
    """Whether a glob matches a site: its node name, op type, or function name with or without its qualification.

    Args:
        pattern: The glob.
        site: The site.

    Returns:
        True where one of them matches.
    """
    return any(pattern == known or fnmatchcase(known, pattern)
               for known in (site.name, site.op_type, site.function, site.function.rpartition('.')[2]) if known)


@dataclass(frozen=True, slots=True)
class CallFilter:
    """Filter of a query; None means any.

    Attributes:
        kind: 'python', 'op', 'gradient', or 'run': runs are calls only if asked for.
        site: Glob on node name, op type or function name.
        run, process, processes: Of this run, of this process, of one of these.
        failed, bad, printed, changed: Raised or not; has a NaN or infinity or not; said something or not; an input
            changed during it or not.

    Raises:
        CommandError: There is no such kind of call.
    """

    kind: str | None = None
    site: str | None = None
    run: int | None = None
    failed: bool | None = None
    bad: bool | None = None
    printed: bool | None = None
    process: int | None = None
    changed: bool | None = None
    processes: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        if self.kind is not None and self.kind != 'run' and self.kind not in KINDS:
            raise CommandError(f'No kind of call is named {self.kind!r}; there are {", ".join(KINDS)}.'
                               + nearest(self.kind, KINDS))

    def rows(self, calls: TableView, sites: Sites) -> np.ndarray:
        """Filter the calls.

        Args:
            calls: Columns of all calls.
            sites: Of the trace.

        Returns:
            Rows of the calls that pass, by (process, id).
        """
        rows: np.ndarray = calls.rows if self.run is None else calls.rows_of_run(self.run)
        if self.kind == 'run' or calls['id'].least() < 1:
            rows = rows[calls['id'][rows] < 0] if self.kind == 'run' else rows[calls['id'][rows] > 0]
        for bit, flag in ((FAILED, self.failed), (BAD, self.bad), (PRINTED, self.printed),
                          (CHANGED, self.changed)):
            if flag is not None:
                rows = rows[(calls['flags'][rows] & bit != 0) == flag]
        if self.processes is not None:
            rows = rows[np.isin(calls['process'][rows], self.processes)]
        if self.process is not None:
            rows = rows[calls['process'][rows] == self.process]
        if self.site is not None or self.kind not in (None, 'run'):
            keys = [key for key, site in sites.items() if self._accepts_site(site)]
            if len(keys) < len(sites) or not _has_all(calls['site'][rows], sites):
                rows = rows[np.isin(calls['site'][rows], np.array(keys, np.int64))]
        return rows

    def _accepts_site(self, site: SiteEntry) -> bool:
        return (self.kind in (None, 'run', site.kind)) and (self.site is None or site_matches(self.site, site))


def _has_all(keys: np.ndarray, sites: Sites) -> bool:
    return not len(keys) or bool(np.isin(np.unique(keys), np.fromiter(sites, np.int64, len(sites))).all())


def check_sort(sort: str | None) -> None:
    """Refuse what calls cannot be sorted by.

    Args:
        sort: A sort key; None is allowed.

    Raises:
        CommandError: It is none of `SORTS`.
    """
    if sort is not None and sort not in SORTS:
        raise CommandError(f'Calls cannot be sorted by {sort!r}, only by {", ".join(SORTS)}.' + nearest(sort, SORTS))


_NUMBER_TOO = ('time', 'number', 'run')
"""Orders in which the number is turned round as well."""


def sort_rows(rows: np.ndarray, calls: TableView, sites: Sites, sort: str | None, newest_first: bool,
             proceed: Callable[[], None] = lambda: None) -> np.ndarray:
    """Sort rows of calls.

    Args:
        rows: By (process, id).
        calls: Columns of all calls.
        sites: Of the trace.
        sort: One of `SORTS`; by time of start if None.
        newest_first: Sort downwards.
        proceed: Called between the steps of the work; its exceptions pass.

    Returns:
        The rows in that order.
    """
    result: np.ndarray = rows
    # Keys after the main one go by number, or further up: the least significant is sorted first, and each sort is stable.
    keys = [(key, newest_first and also) for key, also in _KEYS[sort or 'time']]
    if newest_first and (sort in _NUMBER_TOO or sort is None):
        result = result[::-1]
    for key, downwards in reversed(keys):
        proceed()
        values = key(result, calls, sites)
        values = ~values if downwards else values
        if not (values[1:] >= values[:-1]).all():       # calls are recorded nearly in the order of their time
            result = result[np.argsort(values, kind='stable')]
    return result


_Key = Callable[[np.ndarray, TableView, Sites], np.ndarray]


def _column(name: str) -> _Key:
    return lambda rows, calls, sites: np.asarray(calls[name][rows])


def _flag(bit: int) -> _Key:
    return lambda rows, calls, sites: np.asarray(calls['flags'][rows] & bit != 0, np.int8)


def _unfinished(rows: np.ndarray, calls: TableView, sites: Sites) -> np.ndarray:
    return np.asarray(calls['duration'][rows] == UNFINISHED, np.int8)


def _name_rank(attribute: str) -> _Key:
    """The rank of a site's name, or its function's, among all."""
    def ranks(rows: np.ndarray, calls: TableView, sites: Sites) -> np.ndarray:
        keys, places = np.unique(calls['site'][rows], return_inverse=True)
        names = [getattr(sites[key], attribute) if key in sites else '' for key in keys.tolist()]
        rank = {name: number for number, name in enumerate(sorted(set(names)))}
        return np.array([rank[name] for name in names], np.int64)[places.reshape(-1)]
    return ranks


_KEYS: dict[str, list[tuple[_Key, bool]]] = {
    'time': [(_column('started'), True)],
    'number': [],
    'duration': [(_column('duration'), True)],
    'site': [(_name_rank('name'), True), (_column('process'), False), (_column('ordinal'), False)],
    'function': [(_name_rank('function'), True)],
    'run': [(_column('process'), True), (_column('run'), True), (_column('started'), True)],
    'thread': [(_column('process'), True), (_column('thread'), True), (_column('started'), False)],
    'size': [(_column('size'), True)],
    'result': [(_flag(FAILED), True), (_flag(BAD), True), (_unfinished, True)]}
"""By name: keys from the most significant on, and whether `newest_first` turns them round. At last calls go by number."""

