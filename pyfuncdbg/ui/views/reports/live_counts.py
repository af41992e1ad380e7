"""Live figures of a program above its screen (`pyfuncdbg run --live`). Pure."""
from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from rich.console import ConsoleOptions, Group, RenderableType
from rich.table import Table
from rich.text import Text

from pyfuncdbg.observers.debug.reports.live_counts import LiveCounts, SiteCounts
from pyfuncdbg.observers.record.records import SiteRecord
from pyfuncdbg.ui.views.escape import label, one_line
from pyfuncdbg.ui.views.lists import Column, fitted_table
from pyfuncdbg.ui.views.page import Page
from pyfuncdbg.ui.views.sources.source import site_place
from pyfuncdbg.ui.views.units import align, count, seconds, size

_CELL = 26
"""Columns of a cell: as wide as figures are, for the most part."""


def live_counts_view(counts: LiveCounts, rows: int = 12, *, old: float = 0.0, why: str = '') -> Page:
    """Rates, memory and health in a few cells, and a table of sites.

    Args:
        counts: Of the program.
        rows: Most sites that are listed.
        old: Seconds that have gone by since, if these are so many that it must be said.
        why: Why that is so.
    """
    def draw(options: ConsoleOptions) -> Group:
        more = len(counts.sites) - rows
        parts: list[RenderableType] = []
        if old or why:
            age = f'{old:.0f} s old' if old else 'the last there are'
            parts.append(Text(f'these figures are {age}: {one_line(why, 200)}', 'bold yellow', overflow='fold'))
        parts += _figures(counts, options.max_width)
        if not counts.sites:
            return Group(*parts, Text('no wrapped function was called yet', 'dim'))
        return Group(*parts, Text(), _sites(counts.sites[:rows], options),
                     *([Text(f'... {more:,} more', 'dim')] if more > 0 else []))
    return Page(draw)


def _figures(counts: LiveCounts, width: int) -> list[RenderableType]:
    """Each figure in a cell of its own, which stays where it is when figures get longer."""
    info = counts.info
    running = sum(site.running for site in counts.sites)
    cells = [Text(f'ran {counts.elapsed:.1f} s, mean rates' if counts.over else f'running {counts.elapsed:.1f} s'),
             Text(f'{count(info.runs, "run")}, {_rate(counts.run_rate)}/s'),
             *([Text(f'{count(info.passes, "backward pass", "backward passes")}, {_rate(counts.pass_rate)}/s')]
               if info.passes else []),
             Text(f'{count(info.calls, "call")}, {_rate(counts.call_rate)}/s')]
    if not counts.over:
        cells.append(Text(f'{running:,} running now'))
    if counts.memory is not None:
        cells.append(Text(f'memory {size(counts.memory)}'))
    if counts.peak:
        cells.append(Text(f'memory at most {size(counts.peak)}'))
    cells += [Text(f'trace {size(info.nbytes)} of {size(info.budget)}'),
              Text(f'{counts.bad:,} met NaN or infinity', 'bold red') if counts.bad else Text('all values finite', 'green'),
              Text(f'{counts.failed:,} raised', 'bold red') if counts.failed else Text('nothing raised', 'green')]
    dropped = ', '.join(f'{number:,} {one_line(kind, 40)}' for kind, number in sorted(info.dropped.items()) if number)
    return [*_placed(cells, width), *([Text(f'not kept: {dropped}', 'yellow', overflow='fold')] if dropped else [])]


def _placed(cells: Sequence[Text], width: int) -> list[RenderableType]:
    """Lines of cells of one width; a figure that is longer has two of them."""
    cell = _CELL if width >= 2 * _CELL else max(1, width // 2)
    lines = [Text(overflow='fold')]
    for figure in cells:
        room = min(width, -(-(cell_len(figure.plain) + 1) // cell) * cell)
        if lines[-1].plain and cell_len(lines[-1].plain) + room > width:
            lines.append(Text(overflow='fold'))
        lines[-1].append_text(figure).append(' ' * max(0, room - cell_len(figure.plain)))
    return [*lines]


def _sites(sites: Sequence[SiteCounts], options: ConsoleOptions) -> Table:
    uses = [site.use for site in sites]
    running = [Text(f'{site.running:,}', 'bold') if site.running else Text() for site in sites]
    mean, total = (align([seconds(value) if value is not None else '' for value in values])
                   for values in ([use.mean for use in uses], [site.spent for site in sites]))
    rates = align([_rate(site.rate) for site in sites])
    return fitted_table([
        Column('site', [label(use.site.name, limit=60) for use in uses], 0, least=10),
        Column('calls', [Text(f'{use.calls:,}') for use in uses], 1, right=True),
        *([Column('now', running, 3, right=True)] if any(site.running for site in sites) else []),
        Column('per s', [Text(rate) for rate in rates], 2),
        Column('mean', [Text(text) for text in mean], 6),
        Column('time', [Text(text) for text in total], 7),
        Column('raised', [Text(f'{use.failed:,}', 'bold red') if use.failed else Text() for use in uses], 4, right=True),
        Column('NaN/inf', [Text(f'{use.bad:,}', 'bold red') if use.bad else Text() for use in uses], 5, right=True),
        Column('busy', [Text(f'{site.share:.0%}') for site in sites], 8, right=True),
        Column('function', [_function(use.site) for use in uses], 9, least=16)], options)


def _function(site: SiteRecord) -> Text:
    """'normalize  train.py:45'; of what has no place, as the gradient of a parameter, what it is."""
    if not site.function and not site.filename and not site.stack:
        return label(site.op_type, 'dim', 60)
    return Text.assemble(label(site.function, limit=60), '  ' if site.function else '', site_place(site))


def _rate(rate: float) -> str:
    """'0', '0.25', '12.3', '1,204'."""
    return f'{rate:,.0f}' if rate >= 100 or rate == 0 else f'{rate:.3g}'


if __name__ == '__main__':
    from pyfuncdbg.observers.debug.reports.live_counts import LiveCounter
    from pyfuncdbg.ui.views.sample_trace import demo, sample
    demo(live_counts_view(LiveCounter(sample(), 0).take()))
