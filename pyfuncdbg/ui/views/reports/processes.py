"""The list of the processes of a program: '>' at the one with the prompt, and what each does."""
from __future__ import annotations

from collections.abc import Sequence

from rich.console import ConsoleOptions
from rich.table import Table
from rich.text import Text

from pyfuncdbg.observers.debug.inspecting.processes import ProcessList, ProcessState, State
from pyfuncdbg.ui.views.escape import label, one_line
from pyfuncdbg.ui.views.lists import Column, fitted_table
from pyfuncdbg.ui.views.page import Page, Part
from pyfuncdbg.ui.views.reports.process_tree import short_command
from pyfuncdbg.ui.views.units import count, seconds

_WORDS: dict[State, tuple[str, str]] = {
    'prompt': ('prompt', 'bold'), 'waits': ('waits', 'bold'), 'halted': ('held', 'yellow'),
    'runs': ('runs', ''), 'ended': ('ended', 'dim'), 'failed': ('failed', 'red'), 'killed': ('killed', 'yellow'),
    'open': ('no end', 'yellow'), 'executed': ('replaced', 'dim'), 'unfollowed': ('not followed', 'yellow')}
_EXPLAINED: dict[State, str] = {
    'halted': 'by stop-all, at its next call', 'killed': 'or ended in native code',
    'open': 'killed, os.setuid, or running', 'executed': 'by another program, with os.execv'}


def processes_view(processes: ProcessList) -> Page:
    """The list.

    Args:
        processes: What `inspecting.processes.processes_of_program` has found.
    """
    rows = processes.processes
    parts: list[Part] = [Text(count(processes.total, 'process', 'processes'), 'bold'),
                         lambda options: _table(rows, options)]
    if processes.total > len(rows):
        parts.append(Text(f'... {processes.total - len(rows):,} more: -n {processes.total} lists all', 'dim'))
    if any(one.state in ('waits', 'halted') for one in rows):
        parts.append(Text('switch P: the prompt to process P, by label, #number or pid', 'dim'))
    return Page(*parts)


def _table(rows: Sequence[ProcessState], options: ConsoleOptions) -> Table:
    return fitted_table([
        Column('#', [Text(f'{"> " if one.state == "prompt" else ""}{one.number or "-"}',
                          'bold' if one.state == 'prompt' else '') for one in rows], 0, right=True),
        Column('pid', [Text(str(one.pid)) for one in rows], 1, right=True),
        Column('rank', [label(one.label, limit=40) for one in rows], 2),
        Column('state', [Text(*_WORDS[one.state]) for one in rows], 1),
        Column('where', [Text(one_line(_where(one), 80)) for one in rows], 3, least=14),
        Column('why', [label(one.reason, limit=60) for one in rows], 4, least=10),
        Column('time', [Text(seconds(one.seconds) if one.seconds is not None else '') for one in rows], 5, right=True),
        Column('command', [Text(one_line(short_command(one.command, one.is_forked), 30)) for one in rows], 4, least=12)],
        options)


def _where(one: ProcessState) -> str:
    if one.replaced_by:
        return f'by {short_command(one.replaced_by, False)}'
    return one.where or _EXPLAINED.get(one.state, '')


if __name__ == '__main__':
    from pyfuncdbg.ui.views.sample_trace import demo
    spawned = ('python', '-c', 'from multiprocessing.spawn import spawn_main; spawn_main(pipe_handle=8)')
    demo(processes_view(ProcessList((
        ProcessState(1, 4711, '', ('train.py', '--epochs', '3'), False, 'runs', seconds=12.5),
        ProcessState(2, 4712, 'worker:0', spawned, False, 'prompt', 'before norm[2]', 'breakpoint 1', 3.5),
        ProcessState(3, 4713, 'worker:1', spawned, False, 'waits', 'load at data.py:41', 'breakpoint 2', 0.25),
        ProcessState(0, 4714, '', ('train.py',), True, 'failed', 'ValueError: no rows', seconds=2.0),
        ProcessState(0, 4715, '', ('python', '-I', 'tool.py'), False, 'unfollowed', '-I hides the environment')), 5)))
