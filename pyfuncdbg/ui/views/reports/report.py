"""The run report, printed at the end of `pyfuncdbg run`. Findings first, short when nothing is wrong."""
from __future__ import annotations

import os
import shlex
from collections.abc import Sequence

from rich.console import ConsoleOptions
from rich.table import Table
from rich.text import Text

from pyfuncdbg.errors import RunAborted
from pyfuncdbg.hooks.exception_message import IN_PROCESS, RAISED_AS
from pyfuncdbg.hooks.generator_end import SOURCE
from pyfuncdbg.hooks.own_files import runs_cells
from pyfuncdbg.observers.debug.reports.site_labels import labels_by_site
from pyfuncdbg.observers.debug.reports.summary import LISTED, BadFetch, FailureGroup, NanSource, TraceSummary
from pyfuncdbg.observers.record.index.site_usage import SiteUse
from pyfuncdbg.observers.record.trace_info import TraceInfo
from pyfuncdbg.ui.views.calls.error import error_panel
from pyfuncdbg.ui.views.calls.output import dropped_line, output_view
from pyfuncdbg.ui.views.escape import label, one_line, visible
from pyfuncdbg.ui.views.labels import creation_note
from pyfuncdbg.ui.views.lists import Column, fitted_table
from pyfuncdbg.ui.views.numerics.origin import headline, kind_of, origin_view
from pyfuncdbg.ui.views.page import Page, Part
from pyfuncdbg.ui.views.reports.info import damage_lines, kept_line, op_cost, pauses_line, run_counts, run_numbers
from pyfuncdbg.ui.views.sources.source import site_place
from pyfuncdbg.ui.views.units import count, seconds, size, with_retries

SITES = 12
"""Sites in the table."""
SHORT = 3
"""Further origins and failures that get a line of their own."""
_NO_FILE = ('', '-', '-c')
"""`sys.argv[0]` of programs that are no file: another process cannot run them."""
_ABORTED = f'{RunAborted.__module__}.{RunAborted.__qualname__}'


def report(summary: TraceSummary) -> Page:
    """The whole report.

    Args:
        summary: Of the trace; see `reports.summary.summarize`.
    """
    parts: list[Part] = [_title(summary)]
    findings = sorted([(origin.finding.call.started, 0, i) for i, origin in enumerate(summary.origins[:1])]
                      + [(failure.call.started, 1, i) for i, failure in enumerate(summary.failures[:1])])
    if summary.uncaught:
        parts += [Text(), _end(summary)]
    for _, kind, i in findings:
        parts.append(Text())
        parts += _origins(summary) if kind == 0 else _failed(summary.failures[i], summary)
    if findings or not summary.uncaught:
        parts.append(Text())
    if not findings:
        parts += _clean(summary)
    if summary.sites:
        parts.append(lambda options: _sites(summary.sites, options))
    parts += [Text.assemble(label(use.site.name, 'yellow', 40),
                            (f' has an input that changed during {count(use.changed, "call")}', 'yellow'), overflow='fold')
              for use in summary.sites[:SITES] if use.changed]
    parts += _lost(summary)
    parts.append(next_commands(summary))
    parts += _numbering(summary)
    return Page(*parts)


def next_commands(summary: TraceSummary) -> Page:
    """Commands to type next, with this trace and these calls filled in; on one line each where that fits."""
    rows = _suggestions(summary)
    path = visible(shlex.quote(_nearer(summary.info.path)))
    start = visible(summary.ask) or f'pyfuncdbg show {path} '
    opening = [] if summary.ask or summary.live else [(f'pyfuncdbg open {path}', 'the full screen')]

    def draw(options: ConsoleOptions) -> Page:
        whole = [*opening, *((start + command, meaning) for command, meaning in rows)]
        if _width(whole) <= options.max_width:
            return Page(_align(whole))
        short = [(f'  {command}', meaning) for command, meaning in rows]
        below = [_align(short)] if _width(short) <= options.max_width else [
            Text.assemble((command, 'cyan'), (f'\n      {meaning}', 'dim'), overflow='fold') for command, meaning in short]
        return Page(*(Text(line, 'cyan', overflow='fold') for line, _ in opening),
                    Text(f'{start}COMMAND', 'cyan', overflow='fold'), *below)
    return Page(draw)


def _width(rows: Sequence[tuple[str, str]]) -> int:
    return max(len(command) for command, _ in rows) + 2 + max(len(meaning) for _, meaning in rows)


def _align(rows: Sequence[tuple[str, str]]) -> Table:
    grid = Table.grid(padding=(0, 2))
    for command, meaning in rows:
        grid.add_row(Text(command, 'cyan', no_wrap=True), Text(meaning, 'dim', no_wrap=True))
    return grid


def _numbering(summary: TraceSummary) -> list[Part]:
    """An explanation of the numbers above."""
    calls = [origin.finding.call for origin in summary.origins[:1]] + [failure.call for failure in summary.failures[:1]]
    first = next((call for call in calls if call.site.kind != 'run'), None)
    if first is None:
        return []
    others = _others(summary)
    process = first.number.rpartition('.')[0]
    whose = f'the calls of process {one_line(process, 20)}' if process else 'all calls'

    def draw(options: ConsoleOptions) -> Text:
        room = min(60, options.max_width - 1)   # shorten a name instead of breaking it
        return Text.assemble((f'#{one_line(first.number, 20)} counts {whose}{f", {others} too" if others else ""}; ', 'dim'),
                             label(first.label, 'dim', room), (' those of ', 'dim'), label(first.site.name, 'dim', room),
                             (f', from 0; {run_numbers(summary.info)}', 'dim'), overflow='fold')
    return [draw]


def _suggestions(summary: TraceSummary) -> list[tuple[str, str]]:
    """Commands and what they show."""
    rows: list[tuple[str, str]] = []
    for origin in summary.origins[:1]:
        finding = origin.finding
        number = one_line(finding.call.number, 20)
        if finding.call.site.kind == 'run':
            rows.append((f'pt {one_line(finding.tensor.name, 80)} --run {finding.call.run}', 'the feed'))
            rows.append((f'calls --run {finding.call.run} --kind all', 'what ran with it'))
        else:
            rows.append((f'call {number}', 'all about this call'))
        if finding.call.site.kind != 'run' and any(tensor.level == 'full' for tensor in finding.call.inputs):
            slot = finding.slot if finding.verdict in ('fed', 'entered') else 0
            tensor = finding.call.inputs[slot]
            at = summary.card.rows[:1] if summary.card is not None else ()
            index = f'[{at[0]}]' if at and tensor.shape and at[0] < tensor.shape[0] else ''
            rows.append((f"pt '#{number}:in{slot}{index}'", 'the input'))
        every, functions = sum(summary.bad.values()), summary.bad.get('python', 0)
        if finding.verdict == 'suspected':
            rows.append(('calls --printed', 'every call that printed or warned'))
        elif functions:
            rows.append(('calls --bad', f'{_those(functions)} that met NaN or Inf'))
        if every > functions:
            rows.append(('calls --bad --kind all', f'{every:,} with {_others(summary)}'))
    for failure in summary.failures[:1]:
        aborted = failure.call.error is not None and failure.call.error.type == _ABORTED
        rows.append((f'call {one_line(failure.call.number, 20)}', f'the call that {"was aborted" if aborted else "raised"}'))
        if summary.failed > 1:
            rows.append(('calls --failed', f'{_those(summary.failed)} that raised'))
    changed = sum(use.changed for use in summary.sites)
    if changed:
        rows.append(('calls --changed', f'{_those(changed)} whose inputs changed'))
    if not rows and not summary.calls.get('python'):
        return [('info', 'what the trace holds')]
    return rows or [('calls', _those(summary.calls['python'])), ('lt', 'every tensor')]


def _others(summary: TraceSummary) -> str:
    """Kinds of records beside the calls of Python functions."""
    return ' and '.join(name for kind, name in (('op', 'graph nodes'), ('gradient', 'gradient steps'))
                        if summary.calls.get(kind))


def _those(calls: int) -> str:
    return 'the one call' if calls == 1 else f'the {calls:,} calls'


def _nearer(path: str) -> str:
    """The path as it is shorter to type: from the current folder or from the root."""
    try:
        relative = os.path.relpath(path)
    except (OSError, ValueError):               # no current folder, another drive, a null byte
        return path
    return relative if len(relative) < len(path) else path


def _title(summary: TraceSummary) -> Text:
    info = summary.info
    functions = len({(use.site.function, use.site.filename, use.site.line) for use in summary.sites})
    called = summary.calls.get('python', 0)
    python = with_retries(count(called, 'call'), summary.retries)
    calls = [f'{python} of {count(functions, "Python function")}'] if called else []
    more = [count(summary.calls[kind], name) for kind, name in (('op', 'graph node'), ('gradient', 'gradient step'))
            if summary.calls.get(kind)]
    processes = f' in {len(info.processes)} processes' if len(info.processes) > 1 else ''
    return Text.assemble(('pyfuncdbg', 'bold blue'), '  ', ', '.join([run_counts(info), *calls, *more]), processes,
                         f' in {seconds(info.duration)} -> ', label(info.path, 'underline'), f' ({size(info.nbytes)})',
                         overflow='fold')


def _end(summary: TraceSummary) -> Text:
    """The exception that ended the program, also beside calls that raised: it may have caught those."""
    same = [failure.call.number for failure in summary.failures
            if failure.count == 1 and _is_told(failure, summary.uncaught)]
    where = f' (call #{one_line(same[0], 20)})' if len(same) == 1 else ''
    return Text(f'The program ended with {one_line(summary.uncaught, 500)}{where}', 'red')


def _is_told(failure: FailureGroup, uncaught: str) -> bool:
    """Whether the line of a program's end is the error of a call."""
    error = failure.call.error
    if error is None:
        return False
    first = next((line.strip() for line in error.message.splitlines() if line.strip()), '')
    of_function = uncaught.rpartition(RAISED_AS)[0] or uncaught
    raised = f'{error.type.rpartition(".")[2]}: {first}'.rstrip('.')[:500]
    return raised in (of_function, uncaught.rpartition(IN_PROCESS)[0])


def _clean(summary: TraceSummary) -> list[Part]:
    parts: list[Part] = []
    if summary.fetches:
        parts += [_reached(fetch, summary) for fetch in summary.fetches[:SHORT]]
        more = '' if summary.info.ops else ': --ops records the nodes of the graph too'
        parts.append(Text(f'No recorded call made it{more}.', 'yellow'))
    if not summary.calls.get('python'):
        if summary.live:
            return [*parts, Text('No wrapped function has been called so far.', 'yellow')]
        if not summary.info.complete:
            return [*parts, Text('No finished call is here. The recording has not been closed: the program still runs, '
                                 'was killed, or could not write.', 'yellow')]
        return [*parts, Text('No wrapped function was called.', 'yellow')]
    if summary.masked:
        parts.append(Text(f'{count(summary.masked, "call")} turned non-finite inputs into finite outputs.'))
    made = '' if summary.fetches else ', and none made NaN or Inf'
    return [*parts, Text(f'No call raised{made}.', '' if summary.uncaught else 'green')]


def _origins(summary: TraceSummary) -> list[Part]:
    first, *others = summary.origins
    parts: list[Part] = [origin_view(summary.card, ops=summary.info.ops)] if summary.card is not None else []
    parts += _line_finder(first, summary)
    parts += [_reached(fetch, summary, first.finding.call.started) for fetch in summary.fetches[:SHORT]]
    if others:
        parts.append(Text(f'{count(len(others), "other origin")}, by site:', 'bold'))
        parts += _group_births(others)
    if summary.unjudged:
        parts.append(Text(f'{count(summary.unjudged, "further call")} with NaN or Inf not judged', 'yellow'))
    return parts


def _line_finder(origin: NanSource, summary: TraceSummary) -> list[Part]:
    """Commands that find the line where NumPy named none: a stop after the call, and the call once more, line by line."""
    finding = origin.finding
    site = finding.call.site
    if site.attrs.get(SOURCE):                  # its element is gone: no call gives it again
        return []
    if finding.verdict != 'born' or finding.places or site.kind != 'python' or not site.function or not summary.info.argv:
        return []
    name = shlex.quote(site.name)
    ops = site.traits.bound_to_pass             # its calls cannot be repeated, but its ops have lines
    options = '--ops' if ops else f"--break {name} --if 'has_inf_or_nan(out)'"
    program = summary.info.argv[0]
    if runs_cells(program):
        stop = f'%%pyfunc {options}'
    elif program in _NO_FILE:
        stop = ('pyfuncdbg.record(PATH, ops=True)' if ops else
                f"pyfuncdbg.break_at({site.name!r}, when='has_inf_or_nan(out)')") + ' in the program'
    else:
        stop = f'pyfuncdbg run {options} {shlex.join(summary.info.argv)}'
    if ops:
        return [Text.assemble('Which line: ', (visible(stop), 'cyan'), ' records the ops in it', overflow='fold')]
    return [Text.assemble('Which line: ', (visible(stop), 'cyan'), ', and at the stop: ',
                          (visible(f'health --line {name}'), 'cyan'), overflow='fold')]


def _group_births(origins: Sequence[NanSource]) -> list[Text]:
    """One line for each site and line of birth: in a loop the same line gives birth again and again."""
    groups: dict[tuple[object, ...], list[NanSource]] = {}
    for origin in origins:
        finding = origin.finding
        where = (finding.places[0].filename, finding.places[0].line) if finding.places else ()
        groups.setdefault((finding.verdict, finding.call.site.name, *where), []).append(origin)
    lines = [Text.assemble('  ', headline(group[0].finding), f' and {len(group) - 1:,} more' if len(group) > 1 else '')
             for group in list(groups.values())[:SHORT]]
    if len(groups) > SHORT:
        lines.append(Text(f'  ... {len(groups) - SHORT:,} more', 'dim'))
    return lines


def _reached(fetch: BadFetch, summary: TraceSummary, origin: float | None = None) -> Text:
    """The fetch in which a user sees it; `origin` is when the first recorded call that made it began, in seconds."""
    early = ' already, before this call' if origin is not None and fetch.ended < origin else ''
    least = 'at least ' if summary.bad_runs > LISTED else ''
    again = f', not finite in {least}{count(fetch.runs, "run")}' if fetch.runs > 1 else ''
    what = ('fetch ', repr(fetch.tensor.name)) if fetch.tensor.name else ('a result of ', fetch.source or 'eager code')
    return Text.assemble((f'{kind_of(fetch.tensor.stats)} reached {what[0]}', 'red'), label(what[1], 'red', 80),
                         (f' in run #{fetch.run}{early}{again}', 'red'), overflow='fold')


def _failed(failure: FailureGroup, summary: TraceSummary) -> list[Part]:
    call = failure.call
    if call.error is None:
        return []
    if call.error.type == _ABORTED:             # aborted by the user: not a failure of the call
        parts: list[Part] = [Text.assemble(f'call #{one_line(call.number, 20)} ', label(call.label), ' was ',
                                           label(call.error.message), overflow='fold')]
    else:
        parts = [error_panel(call.error, f'call #{call.number} {call.label}')]
    said = [record for record in call.output if record.kind != 'fp']
    if said:
        parts += [Text('printed by this call', 'bold'), output_view(said, lines=8)]
    if failure.count > 1:
        least = 'at least ' if summary.failed > LISTED else ''
        parts.append(Text(f'{least}{count(failure.count - 1, "later call")} raised the same'
                          f'{" with other numbers" if failure.alike else ""}'))
    others = summary.failures[1:]
    for other in others[:SHORT]:
        if other.call.error is not None:
            parts.append(Text.assemble((f'call #{one_line(other.call.number, 20)} ', 'red'), label(other.call.label, 'red'),
                                       (f' raised {one_line(other.call.error.type, 60)}: ', 'red'),
                                       label(other.call.error.message, limit=120),
                                       f' ({other.count:,} times)' if other.count > 1 else '', overflow='fold'))
    if len(others) > SHORT:
        parts.append(Text(f'... {len(others) - SHORT:,} other errors', 'dim'))
    return parts


def _sites(uses: Sequence[SiteUse], options: ConsoleOptions) -> Page:
    listed_uses, labels = uses[:SITES], labels_by_site(use.site for use in uses)
    functions = [Text.assemble(label(use.site.function or use.site.op_type, limit=60), '  ', site_place(use.site),
                               creation_note(labels.get((use.site.process, use.site.id)))) for use in listed_uses]
    table = fitted_table([
        Column('site', [label(use.site.name, limit=40) for use in listed_uses], 0, least=16),
        Column('calls', [Text(with_retries(f'{use.calls:,}', use.retries)) for use in listed_uses], 1, right=True),
        Column('errors', [Text(f'{use.failed:,}', 'red' if use.failed else 'dim') for use in listed_uses], 3, right=True),
        Column('total', [Text(seconds(use.total)) for use in listed_uses], 2, right=True),
        Column('mean', [Text('' if use.mean is None else seconds(use.mean)) for use in listed_uses], 5, right=True),
        Column('function', functions, 4, least=16, folds=True)], options)
    more = [Text(f'... {len(uses) - SITES:,} more', 'dim')] if len(uses) > SITES else []
    return Page(table, *more)


def _unclosed(info: TraceInfo) -> str:
    """Whose log was not closed; of the first process it is as if the recording was not."""
    later = [process for process in info.cut_off if process not in info.processes[:1]]
    if len(later) < len(info.cut_off) or not later:
        return 'the recording was'
    return f'the log of process {later[0]} was' if len(later) == 1 else (
        f'the logs of processes {", ".join(map(str, later[:SHORT]))}{", ..." if len(later) > SHORT else ""} were')


def _lost(summary: TraceSummary) -> list[Part]:
    info = summary.info
    parts: list[Part] = []
    unrecorded = [process for process in info.tree if process.unrecorded]
    if unrecorded:
        which = count(len(unrecorded), 'process', 'processes')
        parts.append(Text(f'{which} of the program {"was" if len(unrecorded) == 1 else "were"} not recorded; info says why',
                          'yellow', overflow='fold'))
    if info.pauses:
        parts.append(Text(f'recording was off {pauses_line(info.pauses)}', 'yellow', overflow='fold'))
    if info.trips:
        parts.append(Text(f'kept {kept_line(info.trips)}', overflow='fold'))
    if any(info.dropped.values()):
        parts.append(_not_kept(info))
    parts += damage_lines(info.damage)
    if (info.cut_off or not info.unclosed) and not info.complete and not summary.live and summary.calls.get('python'):
        parts.append(Text(f'{_unclosed(info)} not closed: still running, killed, or unable to write; the last calls may be '
                          'missing', 'yellow'))
    if info.op_cost is not None:
        parts.append(Text(op_cost(info.op_cost), 'dim'))
    if summary.unfinished:
        when = 'finished yet' if summary.live else 'finished when the recording ended'
        parts.append(Text(f'{count(summary.unfinished, "call")} had not {when}', 'yellow'))
    return [Text(), *parts, Text()] if parts else [Text()]


def _not_kept(info: TraceInfo) -> Text:
    """Dropped values and the used share of the budget: where much is left, the disk or the memory had no room."""
    used = f' ({size(info.nbytes)} of the budget of {size(info.budget)} used)' if info.budget else ''
    return Text.assemble(dropped_line(info.dropped), used, overflow='fold')


if __name__ == '__main__':
    from pyfuncdbg.observers.debug.reports.summary import summarize
    from pyfuncdbg.ui.views.sample_trace import demo, sample
    demo(report(summarize(sample())))
