"""`pyfuncdbg trim`, `merge`, `pack` and `unpack`: a smaller copy of a trace, one of several, a trace as one file.

Called by the command line, on the main thread.
"""
from __future__ import annotations

import argparse
import math
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from pyfuncdbg.errors import UsageError, nearest
from pyfuncdbg.observers.debug.conditions.recorded_condition import RecordedCondition
from pyfuncdbg.observers.record.log.trace_folder import PACKED
from pyfuncdbg.observers.record.records import CallRecord
from pyfuncdbg.observers.record.trace import Trace
from pyfuncdbg.observers.record.transfer.merged_trace import merge_traces
from pyfuncdbg.observers.record.transfer.packed_trace import pack_trace, unpack_trace
from pyfuncdbg.observers.record.transfer.redaction import Redaction
from pyfuncdbg.observers.record.transfer.trace_copy import CopiedTrace, copy_trace
from pyfuncdbg.ui.commands.engine.lookup import find_call
from pyfuncdbg.ui.views.calls.call import input_names
from pyfuncdbg.ui.views.escape import one_line
from pyfuncdbg.ui.views.progress import reading_progress
from pyfuncdbg.ui.views.reports.info import unlike_lines
from pyfuncdbg.ui.views.units import count, size

_RANGE = re.compile(r'#?((?:\d+\.)?\d+)\.\.#?((?:\d+\.)?\d+)')
_PAGE = 2_000
_LONGEST_SHIFT = 1e10
"""Seconds, three centuries."""
_Ids = dict[int, np.ndarray]


def trim(options: argparse.Namespace) -> int:
    """Copy the calls of interest of a trace; the exit code.

    Args:
        options: `trace`, `output`, and what is of interest.

    Raises:
        UsageError: Nothing is, or no call fits.
        TraceError: The trace cannot be read, or the copy not be made.
    """
    source, target = Path(options.trace), Path(options.output)
    with reading_progress(options.trace) as progress:
        trace = Trace.open(source, progress)
    with trace:
        chosen = _chosen(trace, options)
        copied = copy_trace(source, target, _with_runs(trace, chosen, _number(options.around, '--around')))
    _report_damage(copied)
    print(f'{one_line(str(target), 200)}  {count(copied.calls, "call")} of {copied.calls + copied.left_out:,}, '
          f'{size(copied.nbytes)}')
    return 0


def _chosen(trace: Trace, options: argparse.Namespace) -> set[tuple[int, int]]:
    """Process and number of the calls of interest.

    Raises:
        UsageError: Nothing was asked for, or no call fits.
    """
    filters: dict[str, Any] = {name: value for name, value in (('site', options.site), ('bad', options.bad or None),
                                               ('failed', options.failed or None)) if value is not None}
    if options.run is not None:
        filters['run'] = _number(options.run, '--run')
    if not (filters or options.calls or options.condition):
        raise UsageError('trim: what is to be kept? Give calls such as 17, norm[3] or 1..20, or --run, --site, --bad, '
                         '--failed or --if')
    fitting = trace.call_numbers(**filters) if filters or not options.calls else None
    chosen = None if fitting is None else set(zip(fitting.processes.tolist(), fitting.ids.tolist(), strict=True))
    if options.calls:
        named = {key for text in options.calls for key in _named(trace, text)}
        chosen = named if chosen is None else chosen & named
    if options.condition:
        condition = RecordedCondition(options.condition)
        chosen = {_key(call) for call in _pages(trace, filters) if (chosen is None or _key(call) in chosen)
                  and condition.holds(call, input_names(call))}
        if not chosen and not condition.untested:
            condition.check()
        if condition.untested:
            untested = count(condition.untested, 'call')
            print(f'pyfuncdbg: {options.condition}: not tested at {untested}, without values in the trace', file=sys.stderr)
    if not chosen:
        raise UsageError(f'trim: no call of {options.trace} fits; nothing is written')
    return chosen


def _pages(trace: Trace, filters: dict[str, Any]) -> Iterator[CallRecord]:
    calls = trace.sorted_calls(**filters)
    for start in range(0, calls.build(), _PAGE):
        yield from calls.page(start, _PAGE)


def _named(trace: Trace, text: str) -> list[tuple[int, int]]:
    """The calls that '17', 'norm[3]' or '1..20' names."""
    match = _RANGE.fullmatch(text)
    if match is None:
        return [_key(find_call(trace, text))]
    (process, first), (other, last) = (_key(trace.call(number)) for number in match.groups())
    if process != other or first > last:
        raise UsageError(f'trim: {text!r} is no range of calls: the second number is to be of the same process, and larger')
    return [(process, number) for number in range(first, last + 1)]


def _key(call: CallRecord) -> tuple[int, int]:
    return call.process, int(call.number.rpartition('.')[2])


def _number(text: str, option: str) -> int:
    if not text.isdecimal():
        raise UsageError(f'trim: {option} {text!r} is not an integer from 0 on')
    return int(text)


def _with_runs(trace: Trace, chosen: set[tuple[int, int]], around: int) -> _Ids:
    """By process the numbers of the chosen calls, of those around them in time, and (negative) of their runs."""
    every = trace.call_numbers()
    keys = list(zip(every.processes.tolist(), every.ids.tolist(), strict=True))
    keep = np.fromiter((key in chosen for key in keys), np.bool_, len(keys))
    if around:
        counts = np.cumsum(np.concatenate(([0], keep)))
        places = np.arange(len(keep))
        keep = counts[np.minimum(places + around + 1, len(keep))] > counts[np.maximum(places - around, 0)]
    ids: _Ids = {}
    for process in np.unique(every.processes[keep]).tolist():
        own = keep & (every.processes == process)
        ids[process] = np.unique(np.concatenate((every.ids[own], -every.runs[own])))
    return ids


def merge(options: argparse.Namespace) -> int:
    """Merge traces; the exit code.

    Args:
        options: `traces`, `output` and `clock`.

    Raises:
        UsageError: There is one trace only, or a clock makes no sense.
        TraceError: A trace cannot be read, or the new one not be made.
    """
    sources, target = [Path(trace) for trace in options.traces], Path(options.output)
    if len(sources) < 2:
        raise UsageError(f'merge: {options.traces[0]} alone is one trace already; give two or more')
    clocks = dict([_clock(text, sources) for text in options.clock])
    spans = []
    for source in sources:
        with reading_progress(str(source)) as progress, Trace.open(source, progress) as trace:
            info = trace.info()
        begun = info.started + clocks.get(source, 0.0)
        spans.append((begun, begun + info.duration, source))
    nbytes = merge_traces(sources, target, clocks)
    with Trace.open(target) as trace:
        calls, info = len(trace.call_numbers().ids), trace.info()
        processes = len(info.processes)
    _report_gaps(spans)
    for line in unlike_lines(info):
        print(f'pyfuncdbg: different versions: {line}', file=sys.stderr)
    print(f'{one_line(str(target), 200)}  {count(calls, "call")} of {count(processes, "process", "processes")}, '
          f'{size(nbytes)}')
    return 0


def _clock(text: str, sources: Sequence[Path]) -> tuple[Path, float]:
    """What is added to the times of a trace: 'b.pfd=-3600'."""
    name, _, seconds = text.rpartition('=')
    names = [str(source) for source in sources]
    if name not in names:
        raise UsageError(f'merge: --clock {text!r} names no trace that is merged; expected TRACE=SECONDS with TRACE one of '
                         f'{", ".join(names)}{nearest(name, names)}')
    try:
        shift = float(seconds)
    except ValueError:
        shift = math.nan
    if not abs(shift) < _LONGEST_SHIFT:
        raise UsageError(f'merge: --clock {text!r}: {seconds!r} is not a number of seconds; expected one as -3600 or 0.25')
    return sources[names.index(name)], shift


def _report_gaps(spans: list[tuple[float, float, Path]]) -> None:
    """Say which traces ran at no time together by their clocks: these may be wrong."""
    spans.sort()
    for (_, end, earlier), (begun, _, later) in pairwise(spans):
        if begun > end:
            name = one_line(str(later), 300)
            print(f'pyfuncdbg: {one_line(str(earlier), 300)} had ended {begun - end:,.1f} s before {name} began, by their '
                  f'machines\' clocks; if they ran together, add --clock {name}=SECONDS', file=sys.stderr)


def pack(options: argparse.Namespace) -> int:
    """Pack a trace; the exit code.

    Args:
        options: `trace`, `output`, and what is to be removed from it.

    Raises:
        TraceError: The trace cannot be read, or the file not be written.
    """
    source = Path(options.trace)
    target = Path(options.output if options.output is not None else source.absolute().stem + PACKED)
    redaction = Redaction(options.strip_values, options.strip_source, options.strip_paths)
    if redaction:
        with tempfile.TemporaryDirectory(dir=target.absolute().parent, prefix=f'.{target.name}-') as folder:
            copied = copy_trace(source, Path(folder) / source.absolute().name, redaction=redaction)
            _report_damage(copied)
            nbytes = pack_trace(Path(copied.path), target)
    else:
        nbytes = pack_trace(source, target)
    print(f'{one_line(str(target), 200)}  {size(nbytes)}; pyfuncdbg unpack makes a trace of it')
    return 0


def unpack(options: argparse.Namespace) -> int:
    """Unpack a trace; the exit code.

    Args:
        options: `file` and `output`.

    Raises:
        TraceError: It is no packed trace, or the folder cannot be made.
    """
    source = Path(options.file)
    target = Path(options.output if options.output is not None else source.stem + '.pfd')
    unpack_trace(source, target)
    print(f'{one_line(str(target), 200)}; pyfuncdbg show {one_line(str(target), 200)}')
    return 0


def _report_damage(copied: CopiedTrace) -> None:
    for line in copied.damage:
        print(f'pyfuncdbg: damaged: {one_line(line, 300)}; what could be read is copied', file=sys.stderr)
