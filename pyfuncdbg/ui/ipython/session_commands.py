"""Commands that only IPython has: `on`, `off`, `open`, and `status`, the answer of a bare `%pyfunc`. Carried out on the main
thread."""
from __future__ import annotations

import argparse
from dataclasses import dataclass, replace
from pathlib import Path

from rich.console import RenderableType
from rich.text import Text

from pyfuncdbg.errors import PyfuncdbgError
from pyfuncdbg.observers.debug.debugger import debugger
from pyfuncdbg.observers.debug.reports.summary import TraceSummary
from pyfuncdbg.observers.record.trace import Trace
from pyfuncdbg.ui.commands.engine.command import Command, CommandTable, Context, TableEntry
from pyfuncdbg.ui.commands.report import REPORT
from pyfuncdbg.ui.commands.table import TABLE
from pyfuncdbg.ui.ipython.options import CELL, options_of, recording_arguments
from pyfuncdbg.ui.ipython.recordings import EmptyTrace, Recordings
from pyfuncdbg.ui.views.escape import label, one_line
from pyfuncdbg.ui.views.page import Page
from pyfuncdbg.ui.views.reports.info import damage_lines


@dataclass(frozen=True, slots=True)
class Status:
    """The state of a session's recordings.

    Attributes:
        event: What just happened: 'on', 'off', 'opened', or '' if nothing did.
        recording: Trace of every cell, '' if they are not recorded.
        shown: What commands read: 'In[3]', a path, or ''.
        path: Where that trace is.
        calls: Python calls in it.
        failed: How many of them raised.
        breakpoints: That are enabled.
        lingering: Cells whose threads still run, with the threads' names.
        damage: What of that trace cannot be read.
    """

    event: str
    recording: str
    shown: str
    path: str
    calls: int
    failed: int
    breakpoints: int
    lingering: tuple[tuple[str, tuple[str, ...]], ...]
    damage: tuple[str, ...]


def commands_of(recordings: Recordings) -> CommandTable:
    """The table of `%pyfunc` in a session: the one table, and the commands about recording cells."""
    def status(context: Context, args: argparse.Namespace) -> Status:
        return _status(recordings, '', context.trace)

    def on(context: Context, args: argparse.Namespace) -> Status:
        recordings.switch_on(options_of(args))
        return _status(recordings, 'on', recordings.trace())

    def off(context: Context, args: argparse.Namespace) -> Status:
        return _status(recordings, 'off', recordings.switch_off())

    def opened(context: Context, args: argparse.Namespace) -> Status:
        if args.trace is None:
            recordings.close_opened()
        else:
            recordings.open(Path(args.trace).expanduser())
        return _status(recordings, 'opened', recordings.trace())

    def report(context: Context, args: argparse.Namespace) -> TraceSummary:
        return replace(REPORT.run(context, args), ask='%pyfunc ')
    own: tuple[Command, ...] = (
        Command('status', 'what is recorded, and which trace commands read', 'keep', status, _draw, examples=('status',)),
        Command('on', 'record every cell from now on, into one trace', 'run', on, _draw, recording_arguments,
                examples=('on', 'on --ops')),
        Command('off', 'record single cells only', 'run', off, _draw, examples=('off',)),
        Command('open', 'open another trace; without one, the recording of this session', 'keep', opened, _draw,
                _open_arguments, examples=('open train.pfd', 'open')))
    entries = (TableEntry.of(replace(REPORT, run=report)) if entry.names[0] == 'report' else entry
               for entry in TABLE.entries)
    return CommandTable((*entries, *map(TableEntry.of, (*own, CELL))))


def _open_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('trace', metavar='TRACE', nargs='?', help='folder of a recording, finished or not')


def _status(recordings: Recordings, event: str, trace: Trace) -> Status:
    path, calls, failed = '', 0, 0
    damage: tuple[str, ...] = ()
    if not isinstance(trace, EmptyTrace):
        try:
            info = trace.info()
            path, damage, calls = str(info.path), info.damage, trace.count(kind='python')
            failed = trace.count(kind='python', failed=True)
        except PyfuncdbgError:
            pass                                # the trace is gone: show the rest
    enabled = sum(entry.breakpoint.enabled for entry in debugger.breakpoints.entries.values())
    return Status(event, str(recordings.session.path) if recordings.session is not None else '', recordings.shown, path,
                  calls, failed, enabled, tuple((cell, tuple(held.names())) for cell, held in recordings.lingering), damage)


# ---------------------------------------------------------------- drawn
_USES = (
    ('%%pyfunc', 'above a cell: run it recorded, and show the report'),
    ('%%pyfunc --break norm --if has_nan(out)', 'the same, and stop in it'),
    ('%pyfunc on', 'record every cell; off ends it'),
    ('%pyfunc report', 'failures and calls'),
    ('%pyfunc calls', 'every call of a wrapped function; call 17 shows one'),
    ('%pyfunc lt', 'the tensors; pt norm:0[0:3] prints one'),
    ('%pyfunc health', 'where NaN and infinities began'),
    ('%pyfunc break norm if has_nan(out)', 'stop in later cells'),
    ('%pyfunc open TRACE', 'open another trace'),
    ('%debug', 'after an error: in the wrapped function that raised it'),
    ('%pyfunc help', 'all commands; help COMMAND explains one'),
)


def _draw(status: Status) -> RenderableType:
    lines = list(_state(status))
    if status.event:
        return Page(*lines)
    width = max(len(use) for use, _ in _USES) + 3
    uses = [Text.assemble((use.ljust(width), 'bold'), text) for use, text in _USES]
    return Page(*lines, Text(''), *uses)


def _state(status: Status) -> list[Text]:
    if status.recording:
        lines = [Text.assemble('every cell is recorded to ', (one_line(status.recording), 'bold'))]
    elif status.event == 'off':
        lines = [Text('cells are not recorded any more')]
    else:
        lines = [Text('cells with %%pyfunc above them are recorded')]
    if status.shown and status.event != 'on':
        failed = f', {status.failed:,} of them raised' if status.failed else ''
        where = '' if status.path in ('', status.shown, status.recording) else f' ({one_line(status.path)})'
        many = 'call of a wrapped function' if status.calls == 1 else 'calls of wrapped functions'
        lines.append(Text.assemble('commands read ', (one_line(status.shown), 'bold'), where,
                                   f': {status.calls:,} {many}{failed}'))
    elif status.event != 'on':
        lines.append(Text('nothing is recorded yet'))
    if status.shown:
        lines += damage_lines(status.damage)
    for cell, names in status.lingering:
        lines.append(label(f'{cell} is still recorded: {", ".join(names)} goes on'))
    if status.breakpoints:
        lines.append(Text(f'{status.breakpoints} breakpoint{"s are" if status.breakpoints > 1 else " is"} set; '
                          '%pyfunc breaks lists them'))
    return lines
