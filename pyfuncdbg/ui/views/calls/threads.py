"""The list of threads: those that wait at a stop, '>' at the one with the prompt; then running calls."""
from __future__ import annotations

from collections.abc import Sequence

from rich.console import ConsoleOptions
from rich.table import Table
from rich.text import Text

from pyfuncdbg.observers.debug.inspecting.threads import ThreadList, WaitingThread
from pyfuncdbg.observers.record.records import CallRecord
from pyfuncdbg.ui.views.escape import label, one_line
from pyfuncdbg.ui.views.lists import Column, fitted_table
from pyfuncdbg.ui.views.page import Page, Part
from pyfuncdbg.ui.views.units import count, seconds

_MOST = 20
"""Calls that run, at most."""


def threads_view(threads: ThreadList) -> Page:
    """Both lists.

    Args:
        threads: What `inspecting.threads.threads_of` has found.
    """
    parts: list[Part] = [Text(f'{count(len(threads.waiting), "thread")} at a stop', 'bold')]
    if threads.waiting:
        parts.append(lambda options: _waiting(threads.waiting, options))
    if threads.running:
        parts += [Text(f'{count(len(threads.running), "call")} running', 'bold'),
                  lambda options: _running(threads.running[:_MOST], options)]
    if len(threads.running) > _MOST:
        parts.append(Text(f'... {len(threads.running) - _MOST:,} more', 'dim'))
    if len(threads.waiting) > 1:
        parts.append(Text('switch N: the prompt to stop N; cont --all: all go on', 'dim'))
    return Page(*parts)


def _waiting(rows: Sequence[WaitingThread], options: ConsoleOptions) -> Table:
    return fitted_table([
        Column('stop', [Text(f'> {row.stop}' if row.current else str(row.stop), 'bold' if row.current else '')
                        for row in rows], 0, right=True),
        Column('where', [label(row.where, limit=60) for row in rows], 1, least=14),
        Column('why', [label(row.reason, limit=60) for row in rows], 2, least=12),
        Column('waits', [Text(seconds(row.seconds)) for row in rows], 4, right=True),
        Column('thread', [Text(f'{row.thread} {one_line(row.name, 40)}') for row in rows], 3, least=12)], options)


def _running(calls: Sequence[CallRecord], options: ConsoleOptions) -> Table:
    return fitted_table([
        Column('call', [Text('#' + one_line(call.number, 20)) for call in calls], 0, right=True),
        Column('site', [label(call.label, limit=40) for call in calls], 1, least=14),
        Column('function', [label(call.site.function, limit=40) for call in calls], 3, least=12),
        Column('thread', [Text(str(call.thread)) for call in calls], 2)], options)


if __name__ == '__main__':
    from pyfuncdbg.ui.views.sample_trace import demo
    demo(threads_view(ThreadList((WaitingThread(3, 8123, 'MainThread', 'before', 'before norm[2]', 'breakpoint 1', 12.5,
                                                True),
                               WaitingThread(4, 8124, 'Thread-1', 'line', 'load at data.py:41', 'step', 0.25, False)), ())))
