"""How a program goes on: what `pyfuncdbg run --live` shows above the program's screen. Pure."""
from __future__ import annotations

from collections.abc import Sequence

from rich.console import ConsoleOptions, Group
from rich.table import Table
from rich.text import Text

from pyfuncdbg.debug.pulse import Pulse, SitePulse
from pyfuncdbg.views.columns import Column, fitted_table
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
        return Group(_rates(pulse), _health(pulse), Text(), _sites(pulse.sites[:rows], options),
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


def _sites(sites: Sequence[SitePulse], options: ConsoleOptions) -> Table:
    uses = [site.use for site in sites]
    return fitted_table([
        Column('site', [label(use.site.name, limit=60) for use in uses], 0, least=10),
        Column('calls', [Text(f'{use.calls:,}') for use in uses], 1, right=True),
        Column('per s', [Text(_rate(site.rate)) for site in sites], 2, right=True),
        Column('mean', [Text(seconds(use.mean) if use.mean is not None else '') for use in uses], 5, right=True),
        Column('time', [Text(seconds(use.total)) for use in uses], 6, right=True),
        Column('raised', [Text(f'{use.failed:,}', 'bold red') if use.failed else Text() for use in uses], 3, right=True),
        Column('NaN/inf', [Text(f'{use.bad:,}', 'bold red') if use.bad else Text() for use in uses], 4, right=True),
        Column('busy', [Text(f'{site.share:.0%}') for site in sites], 7, right=True),
        Column('function', [Text.assemble(label(use.site.function, limit=60), '  ', place(use.site.filename, use.site.line))
                            for use in uses], 8, least=16)], options)


def _rate(rate: float) -> str:
    """'0', '0.25', '12.3', '1,204'."""
    return f'{rate:,.0f}' if rate >= 100 or rate == 0 else f'{rate:.3g}'


if __name__ == '__main__':
    from pyfuncdbg.debug.pulse import Pulses
    from pyfuncdbg.views.page import demo
    from pyfuncdbg.views.sample import sample
    demo(pulse_view(Pulses(sample(), 0).take()))
