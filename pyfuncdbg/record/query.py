"""Which calls a query means, as SQL over the index; values never become part of the SQL text.

Used by `Trace`; pure.
"""
from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Any

from pyfuncdbg.errors import CommandError, nearest
from pyfuncdbg.hooks.call import KINDS
from pyfuncdbg.record.index import BAD, FAILED, PRINTED

SORTS = {
    'time': 'started {0}, process {0}, id {0}',
    'number': 'process {0}, id {0}',
    'duration': 'duration {0}, process, id',
    'site': '(SELECT name FROM sites WHERE key = site) {0}, process, ordinal',
    'function': '(SELECT function FROM sites WHERE key = site) {0}, process, id',
    'run': 'process {0}, run {0}, started {0}, id {0}',
    'thread': 'process {0}, thread {0}, started, id',
    'size': 'size {0}, process, id',
    'result': f'flags & {FAILED} {{0}}, flags & {BAD} {{0}}, duration IS NULL {{0}}, process, id'}
"""How a list of calls can be sorted."""


def site_matches(pattern: str, name: str, op_type: str, function: str) -> bool:
    """Whether a glob means this site: by node name, op type, or function name with or without its qualification."""
    return any(pattern == known or fnmatchcase(known, pattern)
               for known in (name, op_type, function, function.rpartition('.')[2]) if known)


def condition(*, kind: str | None = None, site: str | None = None, run: int | None = None, failed: bool | None = None,
              bad: bool | None = None, printed: bool | None = None, process: int | None = None,
              forward: bool | None = None, walk: bool = False) -> tuple[str, list[Any]]:
    """The WHERE clause of the filters and its parameters; to `walk` calls in their order rather than sort those of a kind.

    Raises:
        CommandError: There is no such kind of call.
    """
    # A plus keeps SQLite from using an index for that term: few calls have flags, their own index is by far the best.
    plus = '+' if failed or bad or printed or walk else ''
    clauses = [f'{plus}id < 0' if kind == 'run' else f'{plus}id > 0']
    parameters: list[Any] = []
    if kind is not None and kind != 'run':
        if kind not in KINDS:
            raise CommandError(f'No kind of call is named {kind!r}; there are {", ".join(KINDS)}.' + nearest(kind, KINDS))
        clauses.append(f'{plus}site IN (SELECT key FROM sites WHERE kind = ?)')
        parameters.append(kind)
    if site is not None:
        clauses.append(f'{plus}site IN (SELECT key FROM sites WHERE site_matches(?, name, op_type, function))')
        parameters.append(site)
    for column, wanted in (('run', run), ('process', process)):
        if wanted is not None:
            clauses.append(f'{column} = ?')
            parameters.append(wanted)
    for bit, flag in ((FAILED, failed), (BAD, bad), (PRINTED, printed)):
        if flag is not None:
            clauses.append(f'flags & {bit}' if flag else f'NOT flags & {bit}')
            if flag:
                clauses.append('flags')         # lets the partial index serve
    if forward is not None:
        clauses.append('forward != 0' if forward else 'forward = 0')
    return ' AND '.join(clauses), parameters


def order(sort: str | None, newest_first: bool, *, few: bool = False) -> str:
    """The ORDER BY clause; with `few` calls expected, one that sorts them rather than walking all in order.

    Raises:
        CommandError: Calls cannot be sorted by that.
    """
    if sort is not None and sort not in SORTS:
        raise CommandError(f'Calls cannot be sorted by {sort!r}, only by {", ".join(SORTS)}.' + nearest(sort, SORTS))
    return ('+' if few else '') + SORTS[sort or 'time'].format('DESC' if newest_first else 'ASC')
