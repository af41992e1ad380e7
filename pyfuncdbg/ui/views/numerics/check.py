"""Gradients against differences (`check`): the bad ones first in sight, one line an edge."""
from __future__ import annotations

from collections.abc import Sequence

from rich.console import ConsoleOptions
from rich.table import Table
from rich.text import Text

from pyfuncdbg.observers.debug.gradients.edge_check import EdgeOutcome
from pyfuncdbg.observers.debug.gradients.gradient_check import CheckedEdge, CheckReport
from pyfuncdbg.ui.views.escape import label, one_line
from pyfuncdbg.ui.views.lists import Column, fitted_table, heading
from pyfuncdbg.ui.views.page import Page, Part
from pyfuncdbg.ui.views.units import count

_ORDER = ('BAD', 'kink', 'OK', 'unchecked')
_NAME = 32
"""Width of a name that is not cut while the figures can go on in the next line."""
_STYLES = {'OK': 'green', 'BAD': 'bold red', 'kink': 'yellow', 'unchecked': 'dim'}


def check_view(report: CheckReport) -> Page:
    """A line for each gradient."""
    first = heading(report.total, one_line(report.unit, 40), shown=report.steps, filters=report.filters)
    named = ', '.join(f'{report.counts[verdict]:,} {verdict}' for verdict in _ORDER if report.counts.get(verdict))
    first.append(f'   gradients: {named or "none"}')
    parts: list[Part] = [first]
    if report.edges:
        parts.append(lambda options: _table(report.edges, options))
        calls = sum({(edge.gradient, edge.name): edge.calls for edge in report.edges}.values())
        values = 'these' if report.remark else 'the recorded ones'
        parts.append(Text(f'Forward calls were made again {count(calls, "time")} on inputs near {values}; what '
                          'they do outside, they did again.' if calls else 'No forward call was made again.', 'dim',
                          overflow='fold'))
    if report.remark:
        origins = ', '.join(dict.fromkeys(one_line(edge.values, 40) for edge in report.edges if edge.values))
        parts.append(Text(f'Rules were checked on: {origins or "nothing"}. {one_line(report.remark, 600)}', 'dim',
                          overflow='fold'))
    if report.foreign:
        parts.append(Text(f"{count(report.foreign, 'step')} of {one_line(report.host, 40)}'s own ops not checked", 'dim',
                          overflow='fold'))
    if report.files:
        parts.append(Text(f'ran {", ".join(one_line(file, 200) for file in report.files)}', 'dim', overflow='fold'))
    return Page(*parts)


def _table(edges: Sequence[CheckedEdge], options: ConsoleOptions) -> Table:
    nodes = [_node(edge) for edge in edges]
    numbers = [_number_of(edge) for edge in edges]
    return fitted_table([
        Column('gradient', [Text(number, 'dim') for number in numbers], 4),
        Column('of', nodes, 2, least=_NAME),
        Column('by', [label(edge.tensor, limit=40) for edge in edges], 3, least=10),
        Column('line', [Text(one_line(edge.place, 60)) for edge in edges], 3),
        Column('on', [Text(one_line(edge.values, 40), 'dim') for edge in edges], 5),
        Column('verdict', [Text(edge.outcome.verdict, _STYLES[edge.outcome.verdict]) for edge in edges], 0),
        Column('found', [_found(edge.outcome) for edge in edges], 1, least=16, folds=True)], options)


def _number_of(edge: CheckedEdge) -> str:
    """The numbers of the gradient call and of its forward call; of a rule, of its newest call."""
    if edge.gradient:
        return f'#{one_line(edge.gradient, 20)}' + (f' of #{one_line(edge.forward, 20)}' if edge.forward else '')
    return f'#{one_line(edge.forward, 20)}' if edge.place and edge.forward else ''


def _node(edge: CheckedEdge) -> Text:
    """The forward node, and the function where its name is another; of a rule, the rule."""
    node = label(edge.name, limit=40)
    kind, _, rest = edge.name.rpartition('/')
    if edge.op_type != edge.name and not (kind and edge.op_type.startswith(kind)):
        node.append(f' {one_line(edge.op_type, 30)}')
    if edge.function and edge.function not in (edge.name, rest):
        node.append(f' {one_line(edge.function, 40)}', 'cyan')
    return node


def _found(outcome: EdgeOutcome) -> Text:
    if outcome.verdict == 'OK':
        return Text(f'{outcome.error or 0.0:.0e}', 'green')
    at = f'at {list(outcome.index)} ' if outcome.index is not None else ''
    if outcome.verdict == 'BAD' and outcome.expected is not None:
        return Text(f'{at}got {_number(outcome.actual)}, expected {_number(outcome.expected)}' + _guess(outcome), 'bold red')
    if outcome.verdict == 'kink':
        return Text(f'{at}got {_number(outcome.actual)}; {_number(outcome.expected)} from below, '
                    f'{_number(outcome.other_side)} from '
                    'above: both are right')
    return Text(f'{at}{one_line(outcome.reason, 300)}')


def _guess(outcome: EdgeOutcome) -> str:
    """The kind of mistake that makes such a difference."""
    got, expected = outcome.actual, outcome.expected
    if not got or not expected or got != got:
        return ''
    ratio = got / expected
    if abs(ratio + 1) < 1e-2:
        return ' (the sign)'
    return f' ({ratio:.4g} times)' if abs(ratio) < 1e6 else ''


def _number(value: float | None) -> str:
    return '?' if value is None else f'{value:.6g}'


if __name__ == '__main__':
    from pyfuncdbg.ui.views.sample_trace import demo
    normalize = CheckedEdge('9', '3', 'norm', 'EagerPyFunc', 'normalize', 0, 'mm:0', EdgeOutcome('OK', 2e-9), 60)
    epsilon = CheckedEdge('9', '3', 'norm', 'EagerPyFunc', 'normalize', 1, 'eps:0',
                          EdgeOutcome('BAD', 2.0, (1, 0), -0.5, 0.5), 60)
    hidden = CheckedEdge('10', '4', 'hid', 'Relu', '', 0, 'h:0', EdgeOutcome('kink', None, (0,), 0.0, 0.0, 1.0), 30)
    demo(check_view(CheckReport((normalize, epsilon, hidden), {'OK': 1, 'BAD': 1, 'kink': 1}, 2, 2, {})))
