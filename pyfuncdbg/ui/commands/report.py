"""`report` and `info`: summary of a trace, and its properties."""
from __future__ import annotations

import argparse
from dataclasses import replace

from pyfuncdbg.observers.debug.reports.summary import TraceSummary, summarize
from pyfuncdbg.observers.record.trace_info import TraceInfo
from pyfuncdbg.ui.commands.engine.command import Command, Context
from pyfuncdbg.ui.views.reports.info import info_view
from pyfuncdbg.ui.views.reports.report import report

LOOKING = 'looking for NaN and Inf, calls'
"""Text of the progress bar."""


def _report(context: Context, args: argparse.Namespace) -> TraceSummary:
    with context.progress(LOOKING) as tell:
        return replace(summarize(context.trace, tell), live=context.debugger is not None)


def _info(context: Context, args: argparse.Namespace) -> TraceInfo:
    return context.trace.info()


REPORT = Command('report', 'failures, calls, and what was not kept', 'judge', _report, report,
                 examples=('report', 'report --json'), answer=TraceSummary)
INFO = Command('info', 'the program and the contents of this trace', 'keep', _info, info_view,
               examples=('info',), answer=TraceInfo)
COMMANDS: tuple[Command, ...] = (REPORT, INFO)
