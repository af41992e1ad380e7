"""What `pyfuncdbg verify` found: equal or not, the first difference, and what each degree of watching costs."""
from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Any

from rich import box
from rich.table import Table
from rich.text import Text

from pyfuncdbg.views.escape import label, one_line
from pyfuncdbg.views.page import Page, Part
from pyfuncdbg.views.units import count, seconds, size

MEANINGS = {'plain': 'the program alone', 'hooks': 'one hook that does nothing', 'capture': 'prints and warnings of calls',
            'recording': 'every call written to a trace', 'ops': 'every graph node too',
            'debugger': 'a breakpoint everywhere that is never true too'}
SHORT = 0.05
"""Seconds below which a ratio is mostly noise."""


def verify_view(found: Any) -> Page:
    """The answer first.

    Args:
        found: A `commands.verify.Verification`.
    """
    command = one_line(shlex.join(found.command), 120)
    if found.answer == 'equal':
        parts: list[Part] = [Text.assemble(('EQUAL  ', 'bold green'), label(command), ' does the same while it is watched',
                                           overflow='fold')]
    elif found.answer == 'different':
        parts = [Text.assemble(('DIFFERENT  ', 'bold red'), label(command), ' does not do the same while it is watched',
                               overflow='fold')]
    else:
        parts = [Text.assemble(
            ('NONDETERMINISTIC  ', 'bold yellow'), label(command), ' differs from itself in two plain runs: nothing can be '
            'said about watching it. Seed what is random and run it again.', overflow='fold')]
    ended = f'raised {one_line(found.exception, 80)}, ' if found.exception else ''
    parts.append(Text(f'compared bit by bit: {count(found.values, "tensor")} of {count(found.results, "result")}, '
                      f'{size(found.stdout)} of stdout, {size(found.stderr)} of stderr; {ended}exit code {found.exit_code}',
                      overflow='fold'))
    for difference in found.differences:
        parts.append(Text.assemble((f'{difference.level}: ', 'bold'), f'{difference.what} ', label(difference.where), ': ',
                                   label(difference.plain, limit=200), (' became ', 'dim'),
                                   label(difference.watched, limit=200), overflow='fold'))
    if found.costs:
        parts.append(_table(found.costs))
        note = f'median of {count(found.repeats, "run")}, without start-up'
        if found.costs[0].seconds < SHORT:
            note += f'; the program runs for less than {seconds(SHORT)}: the ratios are mostly noise'
        parts.append(Text(note, 'dim'))
    return Page(*parts)


def _table(costs: Sequence[Any]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style='dim')
    table.add_column('watched')
    table.add_column('time', justify='right')
    table.add_column('ratio', justify='right')
    table.add_column('', overflow='fold')
    for cost in costs:
        table.add_row(cost.level, seconds(cost.seconds), f'{cost.ratio:.2f}x', Text(MEANINGS.get(cost.level, ''), 'dim'))
    return table


if __name__ == '__main__':
    from types import SimpleNamespace

    from pyfuncdbg.views.page import demo
    costs = [SimpleNamespace(level=level, seconds=0.2 * ratio, ratio=ratio) for level, ratio in
             (('plain', 1.0), ('hooks', 1.01), ('recording', 1.2))]
    same = {'command': ('train.py', '--fixed'), 'results': 120, 'values': 240, 'stdout': 400, 'stderr': 0, 'exit_code': 0,
            'exception': '', 'repeats': 3}
    other = SimpleNamespace(level='ops', what='results', where="Session.run number 3, loss:0 element [1]", plain='0.5',
                            watched='0.25')
    demo(verify_view(SimpleNamespace(answer='equal', differences=(), costs=costs, **same)),
         verify_view(SimpleNamespace(answer='different', differences=(other,), costs=(), **same)))
