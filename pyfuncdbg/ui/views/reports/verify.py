"""The result of `pyfuncdbg verify`: equal or not, the first difference, the cost of each degree of watching."""
from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Any

from rich.console import ConsoleOptions
from rich.table import Table
from rich.text import Text

from pyfuncdbg.ui.views.escape import label, one_line
from pyfuncdbg.ui.views.lists import Column, fitted_table
from pyfuncdbg.ui.views.page import Page, Part
from pyfuncdbg.ui.views.units import count, seconds, size

MEANINGS = {'plain': 'the program alone', 'hooks': 'one hook that does nothing', 'capture': 'prints and warnings of calls',
            'recording': 'every call written to a trace', 'ops': 'every graph node too',
            'debugger': 'a breakpoint everywhere that is never true too'}
_VERDICTS = {
    'equal': ('EQUAL', 'bold green', 'does the same while it is watched'),
    'near': ('EQUAL TO THE LAST BITS', 'bold green', 'does the same while it is recorded. Where its nodes are computed one '
             'by one, the last bits differ: its framework fuses and folds what it runs in one go'),
    'different': ('DIFFERENT', 'bold red', 'does not do the same while it is watched'),
    'nondeterministic': ('NONDETERMINISTIC', 'bold yellow', 'differs from itself in two plain runs: nothing can be said '
                         'about watching it. Seed what is random and run it again.'),
    'nothing compared': ('NOTHING COMPARED', 'bold yellow', 'gave no tensor, so nothing can be said about watching it. '
                         'What counts are results of sessions, traced functions, script ops, datasets and gradient '
                         'tapes; output and exit code were the same.')}
SHORT = 0.05
"""Seconds below which a ratio is mostly noise."""


def verify_view(outcome: Any) -> Page:
    """The answer first.

    Args:
        outcome: A `programs.verify.Verification`.
    """
    command = one_line(shlex.join(outcome.command), 120)
    verdict, style, says = _VERDICTS[outcome.answer]
    parts: list[Part] = [Text.assemble((f'{verdict}  ', style), label(command), f' {says}', overflow='fold')]
    if outcome.recorded != 'not known':
        parts += [_claim('recorded', 'without --ops', outcome.recorded),
                  _claim('stepped', '--ops, breakpoints on nodes', outcome.stepped)]
    ended = f'raised {one_line(outcome.exception, 80)}, ' if outcome.exception else ''
    parts.append(Text(f'compared: {count(outcome.values, "tensor")} of {count(outcome.results, "result")}, '
                      f'{size(outcome.stdout)} of stdout, {size(outcome.stderr)} of stderr; '
                      f'{ended}exit code {outcome.exit_code}',
                      overflow='fold'))
    for difference in outcome.differences:
        parts.append(_difference(difference))
    if outcome.costs:
        parts.append(lambda options: _table(outcome.costs, options))
        note = f'median of {count(outcome.repeats, "run")}, without start-up'
        if outcome.costs[0].seconds < SHORT:
            note += f'; the program runs for less than {seconds(SHORT)}: the ratios are mostly noise'
        parts.append(Text(note, 'dim'))
    return Page(*parts)


def _claim(name: str, what: str, holding: str) -> Text:
    holds = ('not the same', 'red') if holding == 'no' else (holding, '')
    return Text.assemble((f'{name} ', 'bold'), (f'({what}): ', 'dim'), holds, overflow='fold')


def _difference(difference: Any) -> Text:
    text = Text.assemble((f'{difference.level}: ', 'bold'), f'{difference.what} ', label(difference.where), ': ',
                         label(difference.plain, limit=200), (' became ', 'dim'), label(difference.watched, limit=200),
                         overflow='fold')
    if difference.distance is not None:
        text.append(f'; in the last bits, at most {difference.distance:.1e} of the largest element of a tensor', 'dim')
    return text


def _table(costs: Sequence[Any], options: ConsoleOptions) -> Table:
    meanings = [Text(MEANINGS.get(cost.level, ''), 'dim') for cost in costs]
    return fitted_table([
        Column('watched', [Text(cost.level) for cost in costs], 0),
        Column('time', [Text(seconds(cost.seconds)) for cost in costs], 2, right=True),
        Column('ratio', [Text(f'{cost.ratio:.2f}x') for cost in costs], 1, right=True),
        Column('what that is', meanings, 3, least=16, folds=True)], options)


if __name__ == '__main__':
    from types import SimpleNamespace

    from pyfuncdbg.ui.views.sample_trace import demo
    costs = [SimpleNamespace(level=level, seconds=0.2 * ratio, ratio=ratio) for level, ratio in
             (('plain', 1.0), ('hooks', 1.01), ('recording', 1.2))]
    same = {'command': ('train.py', '--fixed'), 'results': 120, 'values': 240, 'stdout': 400, 'stderr': 0, 'exit_code': 0,
            'exception': '', 'repeats': 3}
    other = SimpleNamespace(level='ops', what='results', where="Session.run number 3, loss:0 element [1]", plain='0.5',
                            watched='0.25', distance=None)
    near = SimpleNamespace(level='debugger', what='results', where="Session.run number 3, loss:0", plain='0.5',
                           watched='0.50000006', distance=1.2e-7)
    exact = 'bit for bit'
    demo(verify_view(SimpleNamespace(answer='equal', recorded=exact, stepped=exact, differences=(), costs=costs, **same)),
         verify_view(SimpleNamespace(answer='near', recorded=exact, stepped='to the last bits', differences=(near,),
                                     costs=costs, **same)),
         verify_view(SimpleNamespace(answer='different', recorded=exact, stepped='no', differences=(other,), costs=(),
                                     **same)))
