"""The list of `pyfuncdbg traces`: the content of each trace, and its problems."""
from __future__ import annotations

import os

from rich.text import Text

from pyfuncdbg.observers.debug.reports.trace_list import TraceEntry, TraceList
from pyfuncdbg.ui.views.escape import one_line
from pyfuncdbg.ui.views.lists import Column, fitted_table
from pyfuncdbg.ui.views.page import Page
from pyfuncdbg.ui.views.units import count, date, size


def traces_view(found: TraceList) -> Page:
    """A row for each trace, the newest first."""
    traces = found.traces
    columns = [Column('trace', [Text(one_line(os.path.basename(trace.path), 80)) for trace in traces], 0, least=12),
               Column('recorded UTC', [Text('' if trace.created is None else date(trace.created)[:16]) for trace in traces],
                      2),
               Column('program', [Text(one_line(_short(trace.program), 80)) for trace in traces], 3, least=18),
               Column('size', [Text(size(trace.nbytes)) for trace in traces], 4, right=True),
               Column('calls', [Text(f'{trace.calls:,}') for trace in traces], 5, right=True),
               Column('verdict', [_verdict(trace) for trace in traces], 1, least=20, folds=True)]
    first = Text.assemble((count(len(traces), 'trace'), 'bold'), f' in {one_line(found.directory, 200)}, the newest first',
                          overflow='fold')
    return Page(first, lambda options: fitted_table(columns, options))


def _short(program: str) -> str:
    """A command line without the folder of its script."""
    script, blank, rest = program.partition(' ')
    return os.path.basename(script) + blank + rest


def _verdict(trace: TraceEntry) -> Text:
    words = []
    if trace.recording:
        words.append((f'process {trace.recording} records there', 'green'))
    if trace.damage:
        words.append((f'damaged: {one_line(trace.damage[0], 200)}', 'yellow'))
    if trace.died:
        words.append((f'died of {one_line(trace.died.partition(":")[0], 60)}', 'bold red'))
    if trace.failed:
        words.append((f'{count(trace.failed, "call")} raised', 'red'))
    if trace.bad:
        words.append((f'NaN or Inf in {count(trace.bad, "call")}', 'red'))
    elif trace.bad_elsewhere:
        words.append(('NaN or Inf in runs or nodes', 'red'))
    if not words:
        words.append(('no call raised, no NaN or Inf' if trace.calls else 'no call', 'dim'))
    return Text(', ').join(Text(*each) for each in words)


if __name__ == '__main__':
    from pyfuncdbg.ui.views.sample_trace import demo
    demo(traces_view(TraceList('/home/ann', (
        TraceEntry('train-2.pfd', 'train.py --steps 100', 1.77e9, 21_500_000, 26_450, failed=2, bad=311),
        TraceEntry('train.pfd', 'train.py', 1.76e9, 4_096, 12, died='ValueError: no rows'),
        TraceEntry('demo.pfd', '', 1.75e9, 90_000, 40)))))
