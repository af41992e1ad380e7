"""The nodes of a graph (`graph`), one line each in order of execution; blue names did not run."""
from __future__ import annotations

from rich.console import ConsoleOptions
from rich.table import Table
from rich.text import Text

from pyfuncdbg.observers.debug.reports.node_list import NodeList, NodeListRow
from pyfuncdbg.ui.views.escape import label, one_line
from pyfuncdbg.ui.views.graph.module_table import module_table
from pyfuncdbg.ui.views.lists import Column, fitted_table, heading
from pyfuncdbg.ui.views.page import Page
from pyfuncdbg.ui.views.tensors.tensor_words import glimpse, holds_values, type_text
from pyfuncdbg.ui.views.units import count, seconds, with_retries

WIDE = 110
NAMES = 4
"""Feeds and fetches that are named."""
NEVER = ('did not run', 'not yet')
"""Status of a node without a call: in a finished run, and in a stopped one."""


def node_list_view(nodes: NodeList) -> Page:
    """The list under what the runs are of."""
    subject = label(f'run #{nodes.run} {nodes.label}' if nodes.run else nodes.label, 'bold', 80)
    title = Text.assemble(('graph of ', 'bold'), subject, overflow='fold')
    title.append('' if nodes.run else f', {count(nodes.runs, "run")}')
    if nodes.values_of and not nodes.run:
        title.append(f'   values: run #{nodes.values_of}', 'dim')
    for what, all_names in (('feeds', nodes.feeds), ('fetches', nodes.fetches)):
        if names := [name for name in all_names if name]:
            more = f' +{len(names) - NAMES}' if len(names) > NAMES else ''
            title.append(f'   {what}: {", ".join(one_line(name, 40) for name in names[:NAMES])}{more}')
    first = heading(nodes.total, 'node', shown=len(nodes.rows), filters=nodes.filters, sort=nodes.sort)
    if not nodes.ops:
        first.append('   ops not recorded: --ops', 'yellow')
    elif nodes.executed < nodes.total:
        first.append(f'   {nodes.total - nodes.executed:,} {NEVER[nodes.live]}', 'blue')

    rows = nodes.rows

    def draw(options: ConsoleOptions) -> Table:
        wide = options.max_width >= WIDE
        kinds = [label(row.site.op_type, 'cyan', 60) if wide or not row.site.function else
                 label(row.site.function, 'bold', 60) for row in rows]
        return fitted_table([
            Column('order', [Text(str(row.position)) for row in rows], 7, right=True),
            Column('name', [_name(row, nodes) for row in rows], 0, least=20),
            Column('type', kinds, 2, least=10),
            Column('function', [label(row.site.function if wide else '', 'bold', 60) for row in rows], 3, least=8),
            Column('inputs', [_inputs(row) for row in rows], 8, least=12),
            Column('users', [_users(row) for row in rows], 9, right=True),
            Column('calls', [_calls(row) for row in rows], 6, right=True),
            Column('time', [_took(row) for row in rows], 4, right=True),
            Column('output', [_typed(row) for row in rows], 5, least=10),
            Column('value', [_value(row, nodes) for row in rows], 1, least=22)], options, sort=nodes.sort)
    modules = [module_table(nodes.modules, nodes.modules_left_out)] if nodes.modules else []
    return Page(title, first, *([draw] if nodes.rows else []), *modules)


def _ran(row: NodeListRow, nodes: NodeList) -> bool:
    """Whether it ran, as far as that is known."""
    return row.time is not None or row.handle or row.unseen or row.possible_calls > 0 or not (nodes.ops or row.site.function)


def _name(row: NodeListRow, nodes: NodeList) -> Text:
    style = 'blue' if not _ran(row, nodes) else 'red' if row.time is not None and (row.time.failed or row.time.bad) else ''
    return label(row.site.name, style, 300)


def _users(row: NodeListRow) -> Text:
    """How many nodes take from it; none are known where the ops between are not recorded."""
    return Text(str(row.users) if row.users or not row.site.traits.unlinked else '')


def _inputs(row: NodeListRow) -> Text:
    more = f' +{len(row.inputs) - 6}' if len(row.inputs) > 6 else ''
    return label(' '.join(row.inputs[:6]) + more, 'dim', 300)


def _calls(row: NodeListRow) -> Text:
    return Text(with_retries(f'{row.time.calls:,}', row.time.retries) if row.time is not None else '-')


def _took(row: NodeListRow) -> Text:
    if row.time is None:
        return Text()
    return Text(seconds(row.time.total)) if row.time.finished else Text('running', 'yellow')


def _typed(row: NodeListRow) -> Text:
    known = row.value is not None and holds_values(row.value)
    return Text(type_text(row.value.dtype, row.value.shape) if row.value is not None and known else '', 'dim')


def _value(row: NodeListRow, nodes: NodeList) -> Text:
    if row.time is None and row.handle:
        return Text(f'held by {one_line(row.site.host, 40)}', 'dim')
    if row.time is None and row.unseen:
        return Text('not seen', 'dim')
    if row.time is None:
        return Text('not known' if row.possible_calls else '' if _ran(row, nodes) else NEVER[nodes.live], 'blue')
    words = [f'{number:,} {what}' for number, what in ((row.time.failed, 'raised'), (row.time.bad, 'bad')) if number]
    text = Text().append(', '.join(words), 'bold red')
    if row.value is None and nodes.values_of and row.time.calls and not nodes.run and row.site.outputs:
        return text.append(' ' if words else '').append(f'not in run #{nodes.values_of}', 'dim')
    return text.append(' ' if words else '').append_text(glimpse(row.value, typed=False))


if __name__ == '__main__':
    from pyfuncdbg.observers.debug.inspecting.recorded_graph import graph_of, plan_of
    from pyfuncdbg.observers.debug.reports.node_list import node_rows
    from pyfuncdbg.ui.views.sample_trace import demo, sample
    nodes = tuple(node_rows(sample(), graph_of(sample(), plan_of(sample()))))
    demo(node_list_view(NodeList(nodes, 2, 2, 'Session.run', 3, True, False, None, ('mm:0',), ('scale:0',), {}, 'order')))
