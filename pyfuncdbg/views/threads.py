"""The list of threads: what waits at a stop, one line each, '>' at the one with the prompt; then the calls that run."""
from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.table import Table
from rich.text import Text

from pyfuncdbg.debug.waiting import Threads, Waiting
from pyfuncdbg.record.records import CallRecord
from pyfuncdbg.views.escape import label, one_line
from pyfuncdbg.views.page import Page, Part
from pyfuncdbg.views.units import count, seconds

_MOST = 20
"""Calls that run, at most."""


def threads_view(threads: Threads) -> Page:
    """Both lists.

    Args:
        threads: What `debug.waiting.threads_of` has found.
    """
    parts: list[Part] = [Text(f'{count(len(threads.waiting), "thread")} at a stop', 'bold')]
    if threads.waiting:
        parts.append(_waiting(threads.waiting))
    if threads.running:
        parts += [Text(f'{count(len(threads.running), "call")} running', 'bold'), _running(threads.running[:_MOST])]
    if len(threads.running) > _MOST:
        parts.append(Text(f'... {len(threads.running) - _MOST:,} more', 'dim'))
    if len(threads.waiting) > 1:
        parts.append(Text('switch N: the prompt to stop N; cont --all: all go on', 'dim'))
    return Page(*parts)


def _waiting(rows: Sequence[Waiting]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style='dim')
    table.add_column('stop', justify='right', no_wrap=True)
    for title in ('where', 'why'):
        table.add_column(title, overflow='fold')
    table.add_column('waits', justify='right', no_wrap=True)
    table.add_column('thread', overflow='fold')
    for row in rows:
        table.add_row(Text(f'> {row.stop}' if row.here else str(row.stop), 'bold' if row.here else ''),
                      label(row.where, limit=60), label(row.reason, limit=60), seconds(row.seconds),
                      Text(f'{row.thread} {one_line(row.name, 40)}'))
    return table


def _running(calls: Sequence[CallRecord]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style='dim')
    table.add_column('call', justify='right', no_wrap=True)
    table.add_column('site', overflow='fold')
    table.add_column('function', overflow='fold')
    table.add_column('thread', overflow='fold')
    for call in calls:
        table.add_row(Text('#' + one_line(call.number, 20)), label(call.label, limit=40),
                      label(call.site.function, limit=40), str(call.thread))
    return table


if __name__ == '__main__':
    from pyfuncdbg.views.page import demo
    demo(threads_view(Threads((Waiting(3, 8123, 'MainThread', 'before', 'before norm[2]', 'breakpoint 1', 12.5, True),
                               Waiting(4, 8124, 'Thread-1', 'line', 'load at data.py:41', 'step', 0.25, False)), ())))
