"""The profile (`lp`): a bar of time for each node, function, line, op type or file."""
from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.console import ConsoleOptions
from rich.table import Table
from rich.text import Text

from pyfuncdbg.observers.debug.reports.profile import By, Profile, ProfileRow
from pyfuncdbg.ui.views.escape import label
from pyfuncdbg.ui.views.labels import site_label_text
from pyfuncdbg.ui.views.lists import Column, fitted_table, heading, unrecorded_text
from pyfuncdbg.ui.views.page import Page, Part
from pyfuncdbg.ui.views.pictures.cost_bar import cost_bar, percent
from pyfuncdbg.ui.views.sources.source import line_text, place
from pyfuncdbg.ui.views.units import seconds, with_retries

WIDE = 110
NARROW_BAR, WIDE_BAR = 8, 16
_NOUNS: Mapping[By, str] = {'node': 'node', 'function': 'function or op', 'line': 'line', 'type': 'op type', 'file': 'file'}
_PLURALS: Mapping[By, str] = {'function': 'functions and ops'}


def profile_view(report: Profile) -> Page:
    """The table under its heading."""
    def draw(options: ConsoleOptions) -> Table:
        return _table(report.rows, report.by, report.own, report.sort, options)
    first = heading(report.total, _NOUNS[report.by], plural=_PLURALS.get(report.by, ''), shown=len(report.rows),
                    filters=report.filters, sort=report.sort)
    first.append(f'   {seconds(report.own)} in all')
    parts: list[Part] = [first]
    if report.rows:
        parts.append(draw)
    if remark := unrecorded_text(report.ops, report.stepped):
        parts.append(Text(remark, 'dim'))
    return Page(*parts)


def _table(rows: Sequence[ProfileRow], by: By, own: float, sort: str, options: ConsoleOptions) -> Table:
    wide = options.max_width >= WIDE
    shares = [cost.own / own if own > 0 else 0.0 for cost in rows]
    columns = [Column('self', [Text(seconds(cost.own)) for cost in rows], 0, right=True),
               Column('share', [_bar(share, options, wide=wide) for share in shares], 2),
               Column('calls', [_calls(cost) for cost in rows], 3, right=True),
               Column('mean', [Text(seconds(cost.mean)) for cost in rows], 4, right=True),
               Column('total', [Text(seconds(cost.total)) for cost in rows], 6, right=True),
               Column('longest', [Text(seconds(cost.longest)) for cost in rows], 7, right=True)]
    if by not in ('node', 'function'):
        columns.append(Column('nodes', [Text(f'{cost.nodes:,}') for cost in rows], 8, right=True))
    remarks = Column('remarks', [_remarks(cost) for cost in rows], 2, least=8)
    return fitted_table([*columns, *_named(rows, by, wide=wide), remarks], options, sort=sort)


def _bar(share: float, options: ConsoleOptions, *, wide: bool) -> Text:
    width = WIDE_BAR if wide else NARROW_BAR
    bar = cost_bar(share, width, ascii_only=options.ascii_only)
    return Text.assemble((bar, 'yellow' if share >= 0.25 else 'cyan'), f' {percent(share):>4}')


def _calls(cost: ProfileRow) -> Text:
    return Text(with_retries(f'{cost.calls:,}', cost.retries))


def _remarks(cost: ProfileRow) -> Text:
    words = [f'{number:,} {what}' for number, what in ((cost.failed, 'raised'), (cost.bad, 'bad')) if number]
    return Text(', '.join(words), 'bold red')


def _named(rows: Sequence[ProfileRow], by: By, *, wide: bool) -> list[Column]:
    """Columns that name the rows."""
    places = [place(cost.filename, cost.line, full=wide and by == 'file') if cost.filename else Text() for cost in rows]
    if by == 'file':
        return [Column('place', places, 1, least=12)]
    if by == 'line':
        return [Column('place', places, 1, least=12),
                Column('code', [line_text(cost.source, cost.line, cost.filename) for cost in rows], 1, least=28)]
    names = [label(cost.name, 'bold' if cost.function else '', limit=200) for cost in rows]
    columns = [Column('name', names, 1, least=16)]
    if by == 'node':
        columns.append(Column('kind', [label(cost.function or cost.op_type, 'cyan', 40) for cost in rows], 5, least=8))
    return columns if by == 'type' else [*columns, Column('place', places, 4, least=12),
                                         Column('made', [site_label_text(cost.alike) for cost in rows], 3, least=10)]


if __name__ == '__main__':
    from pyfuncdbg.observers.debug.reports.profile import profile_rows
    from pyfuncdbg.ui.views.sample_trace import demo, sample
    found = profile_rows(sample().profile(), sample().sites(), 'node')
    demo(profile_view(Profile(tuple(found), len(found), sum(cost.own for cost in found), 'node', {}, 'self', True)))
