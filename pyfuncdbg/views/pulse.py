"""How a program goes on: what `pyfuncdbg run --live` shows above the program's screen. Pure."""
from __future__ import annotations

from rich import box
from rich.console import ConsoleOptions, Group
from rich.table import Table
from rich.text import Text

from pyfuncdbg.debug.pulse import Pulse, SitePulse
from pyfuncdbg.views.escape import label, one_line
from pyfuncdbg.views.page import Page
from pyfuncdbg.views.source import place
from pyfuncdbg.views.units import count, seconds, size


def pulse_view(pulse: Pulse, rows: int = 12) -> Page:
    """Rates, memory and health in three lines, and a table of sites.

    Args:
        pulse: Of the program.
        rows: Most sites that are listed.
    """
    def draw(options: ConsoleOptions) -> Group:
        more = len(pulse.sites) - rows
        if not pulse.sites:
            return Group(_rates(pulse), Text('no wrapped function was called yet', 'dim'))
        return Group(_rates(pulse), _health(pulse), Text(), _sites(pulse, rows, options.max_width),
                     *([Text(f'... {more:,} more', 'dim')] if more > 0 else []))
    return Page(draw)


def _rates(pulse: Pulse) -> Text:
    info = pulse.info
    words = [f'{pulse.elapsed:.1f} s', f'{count(info.runs, "run")} ({_rate(pulse.run_rate)}/s)',
             f'{count(info.calls, "call")} ({_rate(pulse.call_rate)}/s)']
    if pulse.memory is not None:
        words.append(f'memory {size(pulse.memory)}' + (f', at most {size(pulse.peak)}' if pulse.peak else ''))
    words.append(f'trace {size(info.nbytes)} of {size(info.budget)}')
    return Text('   '.join(words), overflow='fold')


def _health(pulse: Pulse) -> Text:
    bad = f'{count(pulse.bad, "call")} met NaN or infinity' if pulse.bad else 'all values finite'
    failed = f'{count(pulse.failed, "call")} raised' if pulse.failed else 'nothing raised'
    dropped = ', '.join(f'{number:,} {one_line(kind, 40)}' for kind, number in sorted(pulse.info.dropped.items()) if number)
    return Text.assemble((bad, 'bold red' if pulse.bad else 'green'), '   ',
                         (failed, 'bold red' if pulse.failed else 'green'),
                         (f'   not kept: {dropped}' if dropped else '', 'yellow'), overflow='fold')


def _sites(pulse: Pulse, rows: int, width: int) -> Table:
    """As many columns as there is room for."""
    kept = _COLUMNS if width >= 100 else _COLUMNS[:7] if width >= 70 else (*_COLUMNS[:3], *_COLUMNS[5:7])
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1), pad_edge=False, show_edge=False)
    for name in kept:
        text = name in ('site', 'function')
        table.add_column(name, justify='left' if text else 'right', overflow='ellipsis', no_wrap=True,
                         max_width=max(10, width // 3) if text else None)
    for site in pulse.sites[:rows]:
        cells = dict(zip(_COLUMNS, _row(site), strict=True))
        table.add_row(*(cells[name] for name in kept))
    return table


_COLUMNS = ('site', 'calls', 'per s', 'mean', 'time', 'raised', 'NaN/inf', 'busy', 'function')


def _row(site: SitePulse) -> tuple[Text | str, ...]:
    use = site.use
    return (label(use.site.name, limit=60), f'{use.calls:,}', _rate(site.rate),
            seconds(use.mean) if use.mean is not None else '', seconds(use.total),
            Text(f'{use.failed:,}', 'bold red') if use.failed else '', Text(f'{use.bad:,}', 'bold red') if use.bad else '',
            f'{site.share:.0%}',
            Text.assemble(label(use.site.function, limit=60), '  ', place(use.site.filename, use.site.line)))


def _rate(rate: float) -> str:
    """'0', '0.25', '12.3', '1,204'."""
    return f'{rate:,.0f}' if rate >= 100 or rate == 0 else f'{rate:.3g}'


if __name__ == '__main__':
    from pyfuncdbg.debug.pulse import Pulses
    from pyfuncdbg.views.page import demo
    from pyfuncdbg.views.sample import sample
    demo(pulse_view(Pulses(sample(), 0).take()))
