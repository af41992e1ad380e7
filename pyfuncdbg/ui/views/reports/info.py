"""The properties of a trace (`info`): writer, time, size, losses, damage; and the counts of its runs. Pure."""
from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rich.table import Table
from rich.text import Text

from pyfuncdbg.hooks.op_cost import OpCost
from pyfuncdbg.observers.record.log.trace_folder import TracePart
from pyfuncdbg.observers.record.trace_info import Pause, TraceInfo, Trip
from pyfuncdbg.ui.views.calls.output import dropped_line
from pyfuncdbg.ui.views.escape import label, one_line, visible
from pyfuncdbg.ui.views.page import Page, Part
from pyfuncdbg.ui.views.reports.process_tree import process_tree
from pyfuncdbg.ui.views.units import count, date, seconds, size, with_retries


def damage_lines(damage: Iterable[str]) -> list[Text]:
    """'damaged: 4711-0001.log: ends in the middle of a record at byte 20 of 40', a line for each."""
    return [Text(f'damaged: {visible(line)}', 'yellow', overflow='fold') for line in damage]


_LONGEST_FIELD = 500
_LISTED_TRIPS = _LISTED_PAUSES = 5
_LISTED_PARTS = 40
_LISTED_UNLIKE = 8
_LONGEST_COMMAND = 2_000
"""Characters of a command line that are shown: rich takes a minute to fold some megabytes."""


def info_view(info: TraceInfo) -> Page:
    """A trace in a few lines."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style='dim', no_wrap=True)
    grid.add_column(overflow='fold')
    grid.add_row('trace', label(info.path, 'underline'))
    grid.add_row('program', label(' '.join(info.argv), limit=_LONGEST_COMMAND))
    grid.add_row('where', Text(f'Python {one_line(info.python, 40)} on {one_line(info.host_name, 100)}'))
    form = {True: ' (compiled)', False: ' (not compiled: recording takes more time)', None: ''}[info.compiled]
    versions = [f'{name} {version}{form * (name == "pyfuncdbg")}' for name, version in info.versions.items()]
    grid.add_row('with', label(', '.join(versions) or 'not known', limit=_LONGEST_FIELD))
    grid.add_row('machine', label(info.machine or 'not known', limit=_LONGEST_FIELD))
    for number, line in enumerate(unlike_lines(info)):
        grid.add_row('' if number else 'unlike', Text(line, 'yellow'))
    if info.settings:
        settings = ', '.join(f'{name}={value}' for name, value in info.settings.items())
        grid.add_row('settings', label(settings, limit=_LONGEST_FIELD))
    unclosed = '' if info.complete or (info.unclosed and not info.cut_off) else (
        ', not closed: still recording, killed, or unable to write')
    grid.add_row('when', Text(f'{date(info.started)}, {seconds(info.duration)}{unclosed}'))
    for name, text in _parts(info.parts):
        grid.add_row(name, text)
    for name, text in _processes(info):
        grid.add_row(name, text)
    calls = with_retries(count(info.calls, 'call'), info.retries[0])
    grid.add_row('holds', Text(f'{run_counts(info)}, {calls} at {count(info.sites, "site")}'))
    budget = f' of {size(info.budget)}' if info.budget else ''
    grid.add_row('size', Text(f'{size(info.nbytes)}{budget}, format {info.version}'))
    if info.pauses:
        grid.add_row('off', Text(pauses_line(info.pauses)))
    if info.trips:
        grid.add_row('kept', Text(kept_line(info.trips)))
    if info.op_cost is not None:
        grid.add_row('ops', Text(op_cost(info.op_cost)))
    parts: list[Part] = [grid]
    if any(info.dropped.values()):
        parts.append(dropped_line(info.dropped))
    parts += damage_lines(info.damage)
    return Page(*parts)


def _processes(info: TraceInfo) -> Iterator[tuple[str, Text]]:
    """Rows of the processes: their tree, of one process its id, unless it has become another program."""
    if len(info.tree) > 1 or any(one.executed for one in info.tree):
        yield 'processes', Text(f'{len(info.tree)}, recorded: {sum(1 for one in info.tree if one.log)}')
        yield '', process_tree(info.tree)
    else:
        pids = ', '.join(map(str, info.processes[:20])) + (', ...' if len(info.processes) > 20 else '')
        yield 'processes', Text(f'{len(info.processes)} ({pids})' if pids else 'none recorded')
    if info.tree_is_full:
        yield '', Text('The list is full: processes that began later are not in it.', 'yellow')


def unlike_lines(info: TraceInfo) -> list[str]:
    """'NumPy 1.26.4 in process #3, 2.4.0 in processes #1, #2': a line for each library whose versions differ."""
    lines = []
    for name, versions in [*info.unlike.items()][:_LISTED_UNLIKE]:
        each = [f'{one_line(version, 40)} in {_which(processes)}' for version, processes in versions.items()]
        more = ', ...' if len(each) > _LISTED_UNLIKE else ''
        lines.append(f'{one_line(name, 40)} {", ".join(each[:_LISTED_UNLIKE])}{more}')
    return lines


def _which(processes: Sequence[int]) -> str:
    """'process #3', 'processes #1, #2'; the first of many."""
    numbers = ', '.join(f'#{one}' for one in processes[:_LISTED_UNLIKE])
    return f'process{"es" * (len(processes) > 1)} {numbers}{", ..." if len(processes) > _LISTED_UNLIKE else ""}'


def _parts(parts: Sequence[TracePart]) -> Iterator[tuple[str, Text]]:
    """Rows of the traces that a trace was merged of."""
    for number, part in enumerate(parts[:_LISTED_PARTS]):
        which = f'process #{part.first}' if part.first == part.last else f'processes #{part.first} to #{part.last}'
        shift = f', {part.clock:+,.3f} s added to its clock' if part.clock else ''
        yield '' if number else 'merged of', Text(f'{one_line(part.name, 60)}  {which}{shift}')
    if len(parts) > _LISTED_PARTS:
        yield '', Text(f'and {count(len(parts) - _LISTED_PARTS, "trace")} more', 'dim')
    if parts:
        yield '', Text(_clocks_line(parts), 'dim')


def _clocks_line(parts: Sequence[TracePart]) -> str:
    """How far the times of parts can be compared."""
    uncertainties = [part.uncertainty for part in parts if part.uncertainty is not None]
    if len(uncertainties) == len(parts):
        most = sum(sorted(uncertainties)[-2:])
        return f'Clocks were compared while this was recorded: times of two of these differ by {seconds(most)} at most.'
    if any(part.clock for part in parts):
        return 'Times are by the clock of each machine, corrected as said above.'
    return 'Times are by the clock of each machine: how far these differ is not known.'


def pauses_line(pauses: Sequence[Pause]) -> str:
    """'from 1.2 s to 3 s, from 5 s: calls then were not recorded'."""
    times = [f'from {seconds(pause.start)}' + (f' to {seconds(pause.end)}' if pause.end is not None else '')
             for pause in pauses[:_LISTED_PAUSES]]
    more = f' and {len(pauses) - _LISTED_PAUSES} times more' if len(pauses) > _LISTED_PAUSES else ''
    return f'{", ".join(times)}{more}: calls then were not recorded'


def kept_line(trips: Sequence[Trip]) -> str:
    """'for has_nan(out) at #17 norm[3], #19 norm[4], with 200 calls before it': why a flight recorder wrote a trace."""
    first = trips[0]
    places = ', '.join(f'{_number(trip)} {one_line(trip.site, 40)}[{trip.ordinal}]' for trip in trips[:_LISTED_TRIPS])
    more = f' and {len(trips) - _LISTED_TRIPS} more' if len(trips) > _LISTED_TRIPS else ''
    return (f'for {one_line(first.condition, 200)} at {places}{more}, with {count(first.before, "call")} before'
            f'{" the first" if len(trips) > 1 else " it"}')


def _number(trip: Trip) -> str:
    return f'#{trip.call}' if trip.call > 0 else f'run #{-trip.call}'


def op_cost(cost: OpCost) -> str:
    """The cost of a framework's callbacks that hand over its ops."""
    return f'{count(cost.calls, "op")} handed over: {seconds(cost.seconds)} in callbacks, {size(cost.nbytes)}'


def run_counts(info: TraceInfo) -> str:
    """'44 runs, 44 backward passes, 1,000 elements of datasets': runs, then what else has a number of a run."""
    counts = []
    if info.runs or not (info.passes or info.elements):
        counts.append(with_retries(count(info.runs, 'run'), info.retries[1]))
    if info.passes:
        counts.append(count(info.passes, 'backward pass', 'backward passes'))
    if info.elements:
        counts.append(f'{count(info.elements, "element")} of datasets')
    return ', '.join(counts)


def run_numbers(info: TraceInfo) -> str:
    """'run #N counts runs and backward passes, from 2': what the numbers of runs count."""
    passes = info.passes + info.inner
    others = [words for words, number in (('backward passes', passes), ('elements of datasets', info.elements)) if number]
    start = f', from {info.first_run}' if info.first_run > 1 else ''
    return f'run #N counts {" and ".join([", ".join(["runs", *others[:-1]]), *others[-1:]])}{start}'


if __name__ == '__main__':
    from pyfuncdbg.ui.views.sample_trace import demo, sample
    demo(info_view(sample().info()))
