"""How a program goes on: what `pyfuncdbg run --live` shows above the program's screen. Pure."""
from __future__ import annotations

from rich import box
from rich.console import ConsoleOptions, Group
from rich.table import Table
from rich.text import Text

from pyfuncdbg.debug.pulse import Pulse, SitePulse
from pyfuncdbg.views.escape import label
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
        return Group(_rates(pulse), _health(pulse), Text(), _sites(pulse, rows, wide=options.max_width >= 100))
    return Page(draw)


def _rates(pulse: Pulse) -> Text:
    info = pulse.info
    words = [f'{seconds(info.duration)}', f'{count(info.runs, "run")} ({_rate(pulse.run_rate)}/s)',
             f'{count(info.calls, "call")} ({_rate(pulse.call_rate)}/s)']
    if pulse.memory is not None:
        words.append(f'memory {size(pulse.memory)}' + (f', at most {size(pulse.peak)}' if pulse.peak else ''))
    words.append(f'trace {size(info.nbytes)} of {size(info.budget)}')
    return Text('   '.join(words), overflow='fold')


def _health(pulse: Pulse) -> Text:
    bad = f'{count(pulse.bad, "call")} met NaN or infinity' if pulse.bad else 'all values finite'
    failed = f'{count(pulse.failed, "call")} raised' if pulse.failed else 'nothing raised'
    dropped = ', '.join(f'{number:,} {kind}' for kind, number in sorted(pulse.info.dropped.items()) if number)
    return Text.assemble((bad, 'bold red' if pulse.bad else 'green'), '   ',
                         (failed, 'bold red' if pulse.failed else 'green'),
                         (f'   not kept: {dropped}' if dropped else '', 'yellow'), overflow='fold')


def _sites(pulse: Pulse, rows: int, *, wide: bool) -> Table:
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1), pad_edge=False, expand=False)
    table.add_column('site', overflow='ellipsis', no_wrap=True, max_width=40 if wide else 20)
    for name in ('calls', 'per s', 'mean', 'time', *(('busy',) if wide else ()), 'raised', 'NaN/inf'):
        table.add_column(name, justify='right', no_wrap=True)
    if wide:
        table.add_column('function', overflow='ellipsis', no_wrap=True)
    for site in pulse.sites[:rows]:
        table.add_row(*_row(site, wide))
    if len(pulse.sites) > rows:
        table.add_row(f'{len(pulse.sites) - rows} more', style='dim')
    return table


def _row(site: SitePulse, wide: bool) -> tuple[Text | str, ...]:
    use = site.use
    busy = (f'{site.share:.0%}',) if wide else ()
    function = Text.assemble(label(use.site.function, limit=60), '  ', place(use.site.filename, use.site.line))
    return (label(use.site.name, limit=60), f'{use.calls:,}', _rate(site.rate),
            seconds(use.mean) if use.mean is not None else '', seconds(use.total), *busy,
            Text(f'{use.failed:,}', 'bold red') if use.failed else '', Text(f'{use.bad:,}', 'bold red') if use.bad else '',
            *((function,) if wide else ()))


def _rate(rate: float) -> str:
    """'0', '0.25', '12.3', '1,204'."""
    return f'{rate:,.0f}' if rate >= 100 or rate == 0 else f'{rate:.3g}'


if __name__ == '__main__':
    from pyfuncdbg.debug.pulse import Pulses
    from pyfuncdbg.views.page import demo
    from pyfuncdbg.views.sample import sample
    demo(pulse_view(Pulses(sample(), 0).take()))
