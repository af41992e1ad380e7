"""The run report: what `pyfuncdbg run` prints at the end. Findings first, short when nothing is wrong."""
from __future__ import annotations

import os
import shlex
from collections.abc import Sequence

from rich import box
from rich.console import ConsoleOptions
from rich.table import Table
from rich.text import Text

from pyfuncdbg.debug.alike import alike
from pyfuncdbg.debug.summary import LISTED, BadFetch, Failure, Origin, Summary
from pyfuncdbg.errors import RunAborted
from pyfuncdbg.hooks.exhausted import SOURCE
from pyfuncdbg.record.records import TraceInfo
from pyfuncdbg.record.usage import SiteUse
from pyfuncdbg.views.alike import creation_note
from pyfuncdbg.views.damage import damage_lines
from pyfuncdbg.views.error import error_panel
from pyfuncdbg.views.escape import label, one_line, visible
from pyfuncdbg.views.info import op_cost
from pyfuncdbg.views.origin import bad_rows, headline, kind_of, origin_card
from pyfuncdbg.views.output import dropped_line, output_view
from pyfuncdbg.views.page import Page, Part
from pyfuncdbg.views.source import place
from pyfuncdbg.views.units import count, seconds, size, with_retries

SITES = 12
"""Sites in the table."""
SHORT = 3
"""Further origins and failures that get a line of their own."""
_ABORTED = f'{RunAborted.__module__}.{RunAborted.__qualname__}'


def report(summary: Summary) -> Page:
    """The whole report.

    Args:
        summary: Of the trace; see `debug.summary.summarized`.
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
        parts.append(_sites(summary.sites))
    parts += _lost(summary)
    parts.append(next_commands(summary))
    return Page(*parts)


def next_commands(summary: Summary) -> Page:
    """What to type next, with this trace and these calls filled in; on one line each where that fits."""
    rows = _suggestions(summary)
    start = visible(summary.ask) or f'pyfuncdbg show {visible(shlex.quote(_nearer(summary.info.path)))} '

    def draw(options: ConsoleOptions) -> Table:
        fits = max(len(start) + len(command) + 2 + len(meaning) for command, meaning in rows) <= options.max_width
        grid = Table.grid(padding=(0, 2))
        grid.add_column(overflow='fold')
        grid.add_column(style='dim', overflow='fold')
        for command, meaning in rows:
            grid.add_row(Text((start if fits else '  ') + command, 'cyan', overflow='fold'), Text(meaning))
        if fits:
            return grid
        both = Table.grid()
        both.add_column(overflow='fold')
        both.add_row(Text(f'{start}COMMAND', 'cyan', overflow='fold'))
        both.add_row(grid)
        return both
    return Page(draw)


def _suggestions(summary: Summary) -> list[tuple[str, str]]:
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
            at = bad_rows(finding.tensor)[:1]
            index = f'[{at[0]}]' if at and tensor.shape and at[0] < tensor.shape[0] else ''
            rows.append((f"pt '#{number}:in{slot}{index}'", 'the input'))
        rows.append(('calls --printed', 'every call that printed or warned') if finding.verdict == 'suspected' else
                    ('calls --bad', 'every call that met NaN or Inf'))
    for failure in summary.failures[:1]:
        aborted = failure.call.error is not None and failure.call.error.type == _ABORTED
        rows.append((f'call {one_line(failure.call.number, 20)}', f'the call that {"was aborted" if aborted else "raised"}'))
        rows.append(('calls --failed', 'every call that raised'))
    if not rows and not summary.calls.get('python'):
        return [('info', 'what the trace holds')]
    return rows or [('calls', 'every call'), ('lt', 'every tensor')]


def _nearer(path: str) -> str:
    """The path as it is shorter to type: from the current folder or from the root."""
    try:
        relative = os.path.relpath(path)
    except (OSError, ValueError):               # no current folder, another drive, a null byte
        return path
    return relative if len(relative) < len(path) else path


def _title(summary: Summary) -> Text:
    info = summary.info
    functions = len({(use.site.function, use.site.filename, use.site.line) for use in summary.sites})
    called = summary.calls.get('python', 0)
    runs = with_retries(count(info.runs, 'run'), info.retries[1])
    python = with_retries(count(called, 'call'), summary.retries)
    calls = [f'{python} of {count(functions, "Python function")}'] if called else []
    more = [count(summary.calls[kind], name) for kind, name in (('op', 'graph node'), ('gradient', 'gradient step'))
            if summary.calls.get(kind)]
    processes = f' in {len(info.processes)} processes' if len(info.processes) > 1 else ''
    return Text.assemble(('pyfuncdbg', 'bold blue'), '  ', ', '.join([runs, *calls, *more]), processes,
                         f' in {seconds(info.duration)} -> ', label(info.path, 'underline'), f' ({size(info.nbytes)})',
                         overflow='fold')


def _end(summary: Summary) -> Text:
    """Of what the program died, also beside calls that raised: it may have caught those."""
    same = [failure.call.number for failure in summary.failures
            if failure.count == 1 and _is_told(failure, summary.uncaught)]
    where = f' (call #{one_line(same[0], 20)})' if len(same) == 1 else ''
    return Text(f'The program ended with {one_line(summary.uncaught, 500)}{where}', 'red')


def _is_told(failure: Failure, uncaught: str) -> bool:
    """Whether the line of a program's end is the error of a call."""
    error = failure.call.error
    if error is None:
        return False
    first = next((line.strip() for line in error.message.splitlines() if line.strip()), '')
    return f'{error.type.rpartition(".")[2]}: {first}'.rstrip('.')[:500] == uncaught


def _clean(summary: Summary) -> list[Part]:
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


def _origins(summary: Summary) -> list[Part]:
    first, *others = summary.origins
    parts: list[Part] = [origin_card(first.finding, first.heirs, first.likely, ops=summary.info.ops)]
    parts += _line_finder(first, summary)
    parts += [_reached(fetch, summary, first.finding.call.started) for fetch in summary.fetches[:SHORT]]
    if others:
        parts.append(Text(f'{count(len(others), "other origin")}, by site:', 'bold'))
        parts += _grouped(others)
    if summary.unjudged:
        parts.append(Text(f'{count(summary.unjudged, "further call")} with NaN or Inf not judged', 'yellow'))
    return parts


def _line_finder(origin: Origin, summary: Summary) -> list[Part]:
    """What finds the line where NumPy named none: a stop after the call, and the call once more, line by line."""
    finding = origin.finding
    site = finding.call.site
    if site.attrs.get(SOURCE):                  # its element is gone: no call gives it again
        return []
    if finding.verdict != 'born' or finding.places or site.kind != 'python' or not site.function or not summary.info.argv:
        return []
    name = shlex.quote(site.name)
    stop = f"pyfuncdbg run --break {name} --if 'has_inf_or_nan(out)' {shlex.join(summary.info.argv)}"
    return [Text.assemble('Which line: ', (visible(stop), 'cyan'), ', and at the stop: ',
                          (visible(f'health --line {name}'), 'cyan'), overflow='fold')]


def _grouped(origins: Sequence[Origin]) -> list[Text]:
    """One line for each site and line of birth: in a loop the same line gives birth again and again."""
    groups: dict[tuple[object, ...], list[Origin]] = {}
    for origin in origins:
        finding = origin.finding
        where = (finding.places[0].filename, finding.places[0].line) if finding.places else ()
        groups.setdefault((finding.verdict, finding.call.site.name, *where), []).append(origin)
    lines = [Text.assemble('  ', headline(group[0].finding), f' and {len(group) - 1:,} more' if len(group) > 1 else '')
             for group in list(groups.values())[:SHORT]]
    if len(groups) > SHORT:
        lines.append(Text(f'  ... {len(groups) - SHORT:,} more', 'dim'))
    return lines


def _reached(fetch: BadFetch, summary: Summary, origin: float | None = None) -> Text:
    """Where a user sees it; `origin` is when the first recorded call that made it began, in seconds."""
    early = ' already, before this call' if origin is not None and fetch.ended < origin else ''
    least = 'at least ' if summary.bad_runs > LISTED else ''
    again = f', not finite in {least}{count(fetch.runs, "run")}' if fetch.runs > 1 else ''
    what = ('fetch ', repr(fetch.tensor.name)) if fetch.tensor.name else ('a result of ', fetch.source or 'eager code')
    return Text.assemble((f'{kind_of(fetch.tensor.stats)} reached {what[0]}', 'red'), label(what[1], 'red', 80),
                         (f' in run #{fetch.run}{early}{again}', 'red'), overflow='fold')


def _failed(failure: Failure, summary: Summary) -> list[Part]:
    call = failure.call
    if call.error is None:
        return []
    if call.error.type == _ABORTED:             # by the user, in its function: no fault of that, and no traceback to read
        parts: list[Part] = [Text.assemble(f'call #{one_line(call.number, 20)} ', label(call.label), ' was ',
                                           label(call.error.message), overflow='fold')]
    else:
        parts = [error_panel(call.error, f'call #{call.number} {call.label}')]
    said = [record for record in call.output if record.kind != 'fp']
    if said:
        parts += [Text('printed by this call', 'bold'), output_view(said, lines=8)]
    if failure.count > 1:
        least = 'at least ' if summary.failed > LISTED else ''
        parts.append(Text(f'{least}{count(failure.count - 1, "later call")} raised the same'))
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


def _sites(uses: Sequence[SiteUse]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style='dim')
    table.add_column('site', overflow='fold')
    for name in ('calls', 'errors', 'total', 'mean'):
        table.add_column(name, justify='right', no_wrap=True)
    table.add_column('function', overflow='fold')
    labels = alike(use.site for use in uses)
    for use in uses[:SITES]:
        errors = Text(f'{use.failed:,}', 'red' if use.failed else 'dim')
        table.add_row(label(use.site.name, limit=40), with_retries(f'{use.calls:,}', use.retries), errors,
                      seconds(use.total), '' if use.mean is None else seconds(use.mean),
                      Text.assemble(label(use.site.function, limit=60), '  ', place(use.site.filename, use.site.line),
                                    creation_note(labels.get((use.site.process, use.site.id)))))
    if len(uses) > SITES:
        table.add_row(Text(f'... {len(uses) - SITES:,} more', 'dim'))
    return table


def _lost(summary: Summary) -> list[Part]:
    info = summary.info
    parts: list[Part] = []
    if any(info.dropped.values()):
        parts.append(_not_kept(info))
    parts += damage_lines(info.damage)
    if not info.complete and not summary.live and summary.calls.get('python'):
        whose = 'the recording was' if len(info.processes) == 1 else 'the log of a process was'
        parts.append(Text(f'{whose} not closed: still running, killed, or unable to write; its last calls may be missing',
                          'yellow'))
    if info.op_cost is not None:
        parts.append(Text(op_cost(info.op_cost), 'dim'))
    if summary.unfinished:
        when = 'finished yet' if summary.live else 'finished when the recording ended'
        parts.append(Text(f'{count(summary.unfinished, "call")} had not {when}', 'yellow'))
    return [Text(), *parts, Text()] if parts else [Text()]


def _not_kept(info: TraceInfo) -> Text:
    """What was dropped, and how much of the budget was used: where much is left, the disk or the memory had no room."""
    used = f' ({size(info.nbytes)} of the budget of {size(info.budget)} used)' if info.budget else ''
    return Text.assemble(dropped_line(info.dropped), used, overflow='fold')


if __name__ == '__main__':
    from pyfuncdbg.debug.summary import summarized
    from pyfuncdbg.views.page import demo
    from pyfuncdbg.views.sample import sample
    demo(report(summarized(sample())))
