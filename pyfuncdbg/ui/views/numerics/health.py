"""Verdicts on non-finite values as a table (`health`), with paths to the fetches and the line where one appeared."""
from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.console import ConsoleOptions
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from pyfuncdbg.observers.debug.numerics.nan_line_of_call import LineReport
from pyfuncdbg.observers.debug.numerics.nan_line_tracer import NonfiniteVariable
from pyfuncdbg.observers.debug.numerics.nan_outcomes import HealthReport, NanOutcome, ReachedFetch
from pyfuncdbg.observers.debug.numerics.nan_verdicts import NanVerdict
from pyfuncdbg.observers.record.records import CallRecord
from pyfuncdbg.ui.views.calls.output import output_view
from pyfuncdbg.ui.views.escape import label, one_line
from pyfuncdbg.ui.views.labels import call_name, call_number_text
from pyfuncdbg.ui.views.lists import Column, fitted_table, heading, unrecorded_text
from pyfuncdbg.ui.views.numerics.origin import kind_of
from pyfuncdbg.ui.views.page import Page, Part
from pyfuncdbg.ui.views.sources.source import excerpt, place
from pyfuncdbg.ui.views.tensors.tensor import tensor_line
from pyfuncdbg.ui.views.units import count

PATHS = 8
"""Ways to fetches that are drawn."""
RUNS = 4
"""Runs of one way that are named."""
STEPS = 8
"""Calls of one way that are drawn."""
ORDER = ('born', 'suspected', 'fed', 'entered', 'inherited', 'masked')


def health_view(report: HealthReport) -> Page:
    """Every finding in one line, then the ways from births to fetches."""
    first = heading(report.total, 'finding', shown=len(report.findings), filters=report.filters)
    if report.not_kept:
        first.append(f'   calls not kept: {report.not_kept:,}', 'yellow')
    verdicts = ', '.join(f'{report.counts[verdict]:,} {verdict}' for verdict in ORDER if report.counts.get(verdict))
    if verdicts:
        first.append(f'   {verdicts}')
    parts: list[Part] = [first]
    if report.fusion_mismatches:
        parts.append(_otherwise(report.fusion_mismatches))
    if not report.findings:
        call = report.filters.get('call')
        met = 'No recorded call met NaN or Inf' if call is None else f'Call {one_line(str(call), 60)} met no NaN or Inf'
        remark = unrecorded_text(report.ops, report.stepped) if call is None else ''
        if report.unexamined:
            parts.append(Text(f'{count(report.unexamined, "call")} of the newest had values that were not examined: whether '
                              "NaN or Inf was among them is not known. '--level stats' examines all.", 'yellow',
                              overflow='fold'))
        return Page(*parts, Text(f'{met}; {remark}.' if remark else f'{met}.', 'green'))
    by_number = {outcome.origin.call.number: outcome for outcome in report.outcomes}
    parts.append(lambda options: _table(report.findings, by_number, report.stopped, options))
    parts += [*_ways(report.outcomes), *_ends(report.outcomes, report.stopped)]
    if report.unjudged:
        parts.append(Text(f'{count(report.unjudged, "further call")} with NaN or Inf not looked at', 'yellow'))
    silent = next((finding for finding in report.findings if finding.verdict == 'born' and finding.call.site.kind == 'python'
                   and not finding.places), None)
    if silent is not None:
        number = one_line(silent.call.number, 20)
        way = ('a recording with --ops names the op and its line' if silent.call.site.traits.bound_to_pass else
               f'health --line {number} finds it while the program runs')
        parts.append(Text(f'NumPy named no line in call #{number}: {way}',
                          'cyan', overflow='fold'))
    return Page(*parts)


def _otherwise(calls: Sequence[CallRecord]) -> Text:
    """The values whose verdicts may be wrong."""
    these = ', '.join(call_name(call) for call in calls[:RUNS])
    more = f' and {len(calls) - RUNS:,} more' if len(calls) > RUNS else ''
    return Text(f'In {these}{more} the session had another value than the node gives when it is computed again for display: '
                f'{one_line(calls[0].site.host, 40)} runs nodes fused. That value is used; those of the nodes before it '
                'were computed again, so NaN and Inf may have been elsewhere in the session.', 'yellow', overflow='fold')


def _table(findings: Sequence[NanVerdict], outcomes: Mapping[str, NanOutcome], stopped: bool,
           options: ConsoleOptions) -> Table:
    then = []
    for finding in findings:
        outcome = outcomes.get(finding.call.number)
        then.append(_outcome(outcome, stopped) if outcome is not None and not finding.origin else Text())
    calls = [label(call_name(finding.call, 200), limit=200) for finding in findings]
    return fitted_table([
        Column('call', calls, 1, least=16),
        Column('verdict', [_verdict(finding) for finding in findings], 0),
        Column('value', [_value(finding) for finding in findings], 2),
        Column('first', [_first(finding) for finding in findings], 5),
        Column('where', [_where(finding) for finding in findings], 3, least=14),
        Column('of', [_of(finding) for finding in findings], 6, least=8),
        Column('then', then, 4, least=14, folds=True)], options)


def _verdict(finding: NanVerdict) -> Text:
    if finding.verdict in ('inherited', 'masked'):
        source = f' from {call_number_text(finding.origin)}' if finding.origin else ''
        return Text(f'{finding.verdict}{source}' + ('' if finding.certain else '?'),
                    'green' if finding.verdict == 'masked' else '')
    where = ' in gradient' if finding.call.site.kind == 'gradient' else ''
    word = f'BORN{where}' if finding.verdict == 'born' else str(finding.verdict)
    return Text(word + ('' if finding.certain else '?'), 'bold red')


def _value(finding: NanVerdict) -> Text:
    side = 'out' if any(tensor is finding.tensor for tensor in finding.call.outputs) else 'in'
    stats = finding.tensor.stats
    text = Text(f'{side}{finding.slot} ')
    if stats is None:
        return text.append('not kept', 'yellow')
    text.append(kind_of(stats), 'red')
    if stats.size > 1:
        text.append(f' {stats.bad:,} of {stats.size:,}')
    return text


def _where(finding: NanVerdict) -> Text:
    """'train.py:48', the line that NumPy blamed or that made the node; else 'def train.py:45', where the function begins."""
    site = finding.call.site
    if site.kind == 'run':
        return Text(one_line(f'feed {finding.tensor.name}', 80))
    if finding.places and finding.verdict in ('born', 'suspected'):
        return place(finding.places[0].filename, finding.places[0].line)
    if site.function:
        return Text.assemble(('def ', 'dim'), place(site.filename, site.line))
    return place(site.stack[-1].filename, site.stack[-1].line) if site.stack else label(site.op_type, limit=40)


def _of(finding: NanVerdict) -> Text:
    site = finding.call.site
    return Text() if site.kind == 'run' else label(site.function or (site.op_type if site.stack else ''), 'dim', 40)


def _first(finding: NanVerdict) -> Text:
    """The index of the first bad element."""
    stats = finding.tensor.stats
    return Text(one_line(str(list(stats.first_bad)), 40) if stats is not None and stats.first_bad else '')


def _outcome(outcome: NanOutcome, stopped: bool) -> Text:
    words = []
    for fetch in outcome.fetches[:1]:
        words.append(f'reached fetch {_fetched(fetch)}' + ('' if fetch.certain else '?'))
    if len(outcome.fetches) > 1:
        words.append(f'and {len(outcome.fetches) - 1:,} more')
    if outcome.masked:
        words.append('masked by ' + ', '.join(f'#{one_line(number, 20)}' for number in outcome.masked[:3]))
    if outcome.gradient_only:
        words.append('gradient only')
    if not words:
        inherited = outcome.heirs + outcome.likely
        words.append((f'inherited by {count(inherited, "call")}, no fetch seen' if inherited else 'not seen again')
                     + ' so far' * stopped)
    return Text(', '.join(words), 'bold' if outcome.fetches else '')


def _fetched(fetch: ReachedFetch) -> str:
    name = one_line(fetch.tensor.name, 60) or f'of {one_line(fetch.source, 40)}'
    return f'{name} in run #{fetch.run}'


def _ways(outcomes: Sequence[NanOutcome]) -> list[Part]:
    """'#3 norm[1] -> ... -> #9 loss[0] -> fetch loss:0 in run #2': ways that differ in the run alone are one."""
    ways: dict[tuple[str, ...], list[ReachedFetch]] = {}
    for outcome in outcomes:
        for fetch in outcome.fetches:
            steps = [call_name(call) for call in fetch.path]
            if fetch.gap:
                steps.insert(1, '(not recorded)')
            if len(steps) > STEPS:
                steps[STEPS // 2:len(steps) - STEPS // 2] = [f'({len(steps) - STEPS:,} more)']
            ways.setdefault((*steps, _fetch(fetch)), []).append(fetch)
    parts: list[Part] = [Text()] if ways else []
    for way, fetches in list(ways.items())[:PATHS]:
        runs = ', '.join(f'#{fetch.run}' for fetch in fetches[:RUNS])
        more = f' and {len(fetches) - RUNS:,} more' if len(fetches) > RUNS else ''
        parts.append(Text(f'{" -> ".join(way)} in run{"s" * (len(fetches) > 1)} {runs}{more}', overflow='fold'))
    if len(ways) > PATHS:
        parts.append(Text(f'{len(ways) - PATHS:,} further ways to fetches', 'dim'))
    return parts


def _ends(outcomes: Sequence[NanOutcome], stopped: bool) -> list[Part]:
    """'#3 norm[1]: masked by #5': what became of origins that reached no fetch."""
    without_fetch = [outcome for outcome in outcomes if not outcome.fetches]
    parts: list[Part] = []
    for outcome in without_fetch[:PATHS]:
        call = outcome.origin.call
        parts.append(Text.assemble(f'{call_name(call)}: ', _outcome(outcome, stopped),
                                   overflow='fold'))
    if len(without_fetch) > PATHS:
        parts.append(Text(f'{len(without_fetch) - PATHS:,} further ones: no fetch seen', 'dim'))
    return parts


def _fetch(fetch: ReachedFetch) -> str:
    return 'fetch ' + (one_line(fetch.tensor.name, 60) or f'of {one_line(fetch.source, 40)}')


# ---------------------------------------------------------------- the line
def line_view(report: LineReport) -> Page:
    """Line, variable, statement and operands where the first non-finite value appeared in the re-run."""
    call = report.call
    title = Text.assemble(('Call ', 'bold'), (f'#{one_line(call.number, 20)} ', 'bold'), label(call.label, 'bold'),
                          ' was made again on its recorded inputs, line by line; what it does outside, it did again.',
                          overflow='fold')
    parts: list[Part] = [title]
    if report.cause:
        parts += _cause(report)
    elif not report.functions:
        parts.append(Text('  It runs no Python code of yours: there is no line to name.', 'yellow'))
    elif any(tensor.stats is not None and tensor.stats.bad for tensor in report.outputs):
        parts.append(Text('  No variable of your functions was non-finite: it came out of a library without passing one.',
                          'yellow'))
    else:
        parts.append(Text(f'  No NaN or Inf appeared in {count(report.functions, "traced function")}.', 'green'))
    if report.same is False:
        parts.append(Text('  The re-run gave other outputs than were recorded: the call depends on more than its inputs.',
                          'yellow'))
    if report.raised:
        parts.append(Text(f'  The re-run raised {one_line(report.raised, 300)}', 'yellow', overflow='fold'))
    if report.changed:
        names = ', '.join(one_line(name, 60) for name in report.changed[:8])
        parts.append(Text(f'  It assigned to {names}: put back as it was.', 'yellow', overflow='fold'))
    if report.messages:
        parts.append(Text('printed by the re-run (not by the program)', 'bold'))
        parts.append(Padding(output_view(report.messages, lines=8), (0, 0, 0, 2)))
    return Page(*parts)


def _cause(report: LineReport) -> list[Part]:
    first, *later = report.cause
    what = kind_of(first.tensor.stats)
    if first.is_parameter:
        parts: list[Part] = [
            Text.assemble((f'{what} came in by parameter {one_line(first.variable, 80)}', 'bold red'), ' of ',
                          label(first.function), ' at ', place(first.filename, first.line), overflow='fold')]
    else:
        parts = [Text.assemble((f'{what} first appeared in {one_line(first.variable, 80)}', 'bold red'), ' at ',
                               place(first.filename, first.line), ', ', label(first.function), overflow='fold')]
        source = excerpt(report.source, first.line)
        parts.append(Padding(source, (0, 0, 0, 2)))
        if '\n' not in source.plain or first.statement not in source.plain:
            parts += [Text(f'  statement: {one_line(first.statement, 300)}', overflow='fold')] if first.statement else []
    parts.append(Padding(tensor_line(first.tensor), (0, 0, 0, 2)))
    if first.operands:
        parts.append(Text('operands, before the statement', 'bold'))
    for operand in first.operands:
        line = tensor_line(operand.tensor)
        stats = operand.tensor.stats
        if stats is not None and stats.min is not None and not stats.bad:
            line.append(f'  {stats.min:.6g} .. {stats.max:.6g}' if stats.size > 1 else f'  {stats.min:.6g}')
        if operand.after_statement:
            line.append('  (as it is after the statement)', 'dim')
        parts.append(Padding(line, (0, 0, 0, 2)))
    parts += [_later(appearance) for appearance in later]
    if report.others:
        parts.append(Text(f'{count(report.others, "further value")} non-finite for a time, not on this way', 'dim'))
    return parts


def _later(appearance: NonfiniteVariable) -> Text:
    text = Text.assemble(('then  ', 'dim'), label(appearance.variable, limit=80), '  ',
                         place(appearance.filename, appearance.line), '  ', overflow='fold')
    return text.append(one_line(appearance.statement, 120), 'dim')


if __name__ == '__main__':
    from pyfuncdbg.observers.debug.numerics.nan_outcomes import outcomes
    from pyfuncdbg.observers.debug.numerics.nan_verdicts import judge
    from pyfuncdbg.ui.views.sample_trace import demo, sample
    health = judge(sample())
    demo(health_view(HealthReport(health.findings, len(health.findings), {'born': 1, 'inherited': 1},
                                  outcomes(sample(), health), {}, 0, True, False)))
