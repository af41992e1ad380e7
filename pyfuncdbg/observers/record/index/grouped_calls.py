"""Calls and runs of a trace in the groups by which two traces are compared: by site, by plan.

By column: nothing of a call is decoded but its digest. Made by readers, under the lock of their trace.
"""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pyfuncdbg.observers.record.index.call_digests import Digests, no_digests
from pyfuncdbg.observers.record.index.indexing import Progress
from pyfuncdbg.observers.record.index.log_reader import DecodedLog
from pyfuncdbg.observers.record.index.tables import UNFINISHED, TableView, find_ids
from pyfuncdbg.observers.record.log.call_batch import RETRY
from pyfuncdbg.observers.record.log.run_batch import NO_ELEMENT

GroupKey = tuple[str, str, str]
"""Name, kind and function of a site; label and kind of a plan, and ''."""
_UNCOMPARED = 'eager'
"""Kind of runs that the program has not asked for: their number says nothing."""


@dataclass(frozen=True, slots=True)
class GroupedCalls:
    """Calls, or runs, by group, and in each by process, element of a dataset, ordinal and start.

    Attributes:
        keys: Of the groups.
        bounds: Where each group begins, and the last one ends.
        rows: Rows in the table of calls, or of runs.
        process, id, run, parent, site, thread, started, duration: As in `index.tables`; of a run those of its own call, with
            negative ids. `run` is 0 in eager code, `site` of a run without a record of its own.
        inputs, content, output, valueless: As in `Digests`.
    """

    keys: list[GroupKey]
    bounds: np.ndarray
    rows: np.ndarray
    process: np.ndarray
    id: np.ndarray
    run: np.ndarray
    parent: np.ndarray
    site: np.ndarray
    thread: np.ndarray
    started: np.ndarray
    duration: np.ndarray
    inputs: np.ndarray
    content: np.ndarray
    output: np.ndarray
    valueless: np.ndarray


def group(reading: DecodedLog, run: int | None = None, progress: Progress | None = None,
          processes: tuple[int, ...] | None = None) -> tuple[GroupedCalls, GroupedCalls]:
    """Group the calls, and the runs that the program asked for.

    Args:
        reading: Of the trace.
        run: Only this run, and its calls.
        progress: Told how many of how many calls are digested.
        processes: Only these.

    Returns:
        Calls, and runs.

    Raises:
        LostRecordError: The logs are not what they were.
    """
    calls, runs = reading.calls(), reading.runs()
    rows = _of_processes(calls, calls.rows if run is None else calls.rows_of_run(run), processes)
    own_runs = np.where(_in_eager_code(reading, calls, runs), 0, calls['run'].to_numpy())
    digests = no_digests(len(calls['id']))
    reading.digest(rows, digests, progress)

    def grouped(keys: list[GroupKey], groups: np.ndarray, order: np.ndarray, rows: np.ndarray, own: np.ndarray,
                process: np.ndarray, ids: np.ndarray, started: np.ndarray) -> GroupedCalls:
        """Columns of these rows in an order; `own` are rows of calls, -1 for a run without one."""
        own = own[order]
        known = own >= 0
        columns = [process[order], ids[order]]
        columns += [_taken(column, own, known) for column in (
            own_runs, *(calls[name].to_numpy() for name in ('parent', 'site', 'thread')))]
        columns += [started[order], np.where(known, _taken(calls['duration'].to_numpy(), own, known), UNFINISHED)]
        columns += [_taken(getattr(digests, name), own, known) for name in Digests.__slots__]
        return GroupedCalls(keys, np.searchsorted(groups[order], np.arange(len(keys) + 1)), rows[order], *columns)

    of_functions = _last_executions(calls, rows[calls['id'][rows] > 0])
    keys, groups = _site_groups(reading, calls['site'][of_functions])
    elements = _elements(runs, calls['process'][of_functions], calls['run'][of_functions])
    started = calls['started'][of_functions]
    order = np.lexsort((started, calls['ordinal'][of_functions], elements, calls['process'][of_functions], groups))
    of_calls = grouped(keys, groups, order, of_functions, of_functions, calls['process'][of_functions],
                       calls['id'][of_functions], started)

    rows = _of_processes(runs, runs.rows if run is None else runs.rows[runs['id'][runs.rows] == run], processes)
    keys, groups = _plan_groups(reading, runs['process'][rows], runs['plan'][rows])
    rows, groups = rows[groups >= 0], groups[groups >= 0]
    started, own = runs['started'][rows], runs['process'][rows]
    order = np.lexsort((started, runs['element'][rows], own, groups))
    ids = -runs['id'][rows]
    return of_calls, grouped(keys, groups, order, rows, _find_rows(calls, own, ids), own, ids, started)


def _of_processes(table: TableView, rows: np.ndarray, processes: tuple[int, ...] | None) -> np.ndarray:
    return rows if processes is None else rows[np.isin(table['process'][rows], processes)]


def _last_executions(calls: TableView, rows: np.ndarray) -> np.ndarray:
    """The rows without calls that the user has retried: the last execution gave what the program got."""
    if not (calls['flags'][rows] & RETRY).any():
        return rows
    rows = rows[np.lexsort((calls['id'][rows], calls['ordinal'][rows], calls['site'][rows]))]
    site, ordinal = calls['site'][rows], calls['ordinal'][rows]
    is_last = np.ones(len(rows), bool)
    is_last[:-1] = (site[1:] != site[:-1]) | (ordinal[1:] != ordinal[:-1])
    return np.sort(rows[is_last])


def _taken(column: np.ndarray, rows: np.ndarray, known: np.ndarray) -> np.ndarray:
    """These rows of a column, 0 for those that are not known."""
    return np.where(known, column[rows], 0) if len(column) else np.zeros(len(rows), column.dtype)


def _site_groups(reading: DecodedLog, sites: np.ndarray) -> tuple[list[GroupKey], np.ndarray]:
    """The groups of calls by the key of their site."""
    unique, inverse = np.unique(sites, return_inverse=True)
    entries, numbers = reading.entries(), dict[GroupKey, int]()
    names = [(entry.name, entry.kind, entry.function) if entry is not None else ('?', '?', '')
             for entry in map(entries.get, unique.tolist())]
    groups = [numbers.setdefault(name, len(numbers)) for name in names]
    return list(numbers), np.array(groups, np.int64)[inverse.reshape(-1)]


def _plan_groups(reading: DecodedLog, processes: np.ndarray, plans: np.ndarray) -> tuple[list[GroupKey], np.ndarray]:
    """The groups of runs by process and plan; -1 for those that are not compared."""
    numbers: dict[GroupKey, int] = {}
    groups = np.full(len(plans), -1, np.int64)
    for process in np.unique(processes).tolist():
        mine = processes == process
        for plan in np.unique(plans[mine]).tolist():
            label, kind = reading.plan_name(process, plan)
            if kind != _UNCOMPARED:
                groups[mine & (plans == plan)] = numbers.setdefault((label, kind, ''), len(numbers))
    return list(numbers), groups


def _in_eager_code(reading: DecodedLog, calls: TableView, runs: TableView) -> np.ndarray:
    """Of all rows of calls, whether each is in no run that the program asked for."""
    _, groups = _plan_groups(reading, runs['process'].to_numpy(), runs['plan'].to_numpy())
    rows = _find_rows(runs, calls['process'].to_numpy(), calls['run'].to_numpy())
    return (rows < 0) | (_taken(groups, rows, rows >= 0) < 0)


def _elements(runs: TableView, processes: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """The elements of datasets in whose runs calls were made: calls of several threads come in any order."""
    if (runs['element'].to_numpy() == NO_ELEMENT).all():
        return np.broadcast_to(np.int64(NO_ELEMENT), len(numbers))
    rows = _find_rows(runs, processes, numbers)
    return np.where(rows >= 0, runs['element'].to_numpy()[rows], NO_ELEMENT)


def _find_rows(table: TableView, processes: np.ndarray, ids: np.ndarray) -> np.ndarray:
    """The rows of these processes and ids; -1 for those that are not in the table."""
    found = find_ids(table['process'][table.rows], table['id'][table.rows], processes, ids)
    return np.where(found >= 0, table.rows[found], -1) if len(table.rows) else found
