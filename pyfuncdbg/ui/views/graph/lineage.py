"""Ancestors or descendants of a node as a tree (`li`, `lo`): each node once, '^' at a repetition."""
from __future__ import annotations

from rich.console import ConsoleOptions
from rich.text import Text

from pyfuncdbg.observers.debug.inspecting.recorded_graph import ReturnedOutput
from pyfuncdbg.observers.debug.reports.lineage import Lineage, LineageRow
from pyfuncdbg.ui.views.escape import label, one_line
from pyfuncdbg.ui.views.page import Page
from pyfuncdbg.ui.views.sources.listing import cut_line
from pyfuncdbg.ui.views.tensors.tensor_words import glimpse, glimpse_of_constant
from pyfuncdbg.ui.views.units import count

NAME = 60
_OUTSIDE = 6
DEEPEST = 12
"""Levels that are indented; further ones say their number."""


def lineage_view(found: Lineage, *, types: bool = False) -> Page:
    """The tree under a line that says how much of it is shown.

    Args:
        found: The rows.
        types: Show op types.
    """
    def draw(options: ConsoleOptions) -> Text:
        marks = ('|  ', '   ', '|- ', '`- ') if options.ascii_only else ('│  ', '   ', '├─ ', '└─ ')
        return Text('\n').join(cut_line(_row(row, marks, found, types=types), options.max_width) for row in found.rows)
    return Page(_heading(found), draw)


def _heading(found: Lineage) -> Text:
    one, many = ('goes into', 'go into') if found.direction == 'inputs' else ('comes of', 'come of')
    text = Text.assemble((f'{count(found.reached, "node")} {one if found.reached == 1 else many} ', 'bold'),
                         label(found.node, 'bold', limit=NAME), overflow='fold')
    if found.shown < found.reached:
        text.append(f', {found.shown:,} shown')
    text.append(f'   depth: {found.depth}', 'dim')
    text.append('   control: yes' if found.control else '   control: no', 'dim')
    text.append(f'   values: {f"run #{found.run}" if found.run else "none"}', 'dim')
    if not found.reached:
        text.append(f'   {_missing_reason(found)}')
    if found.direction == 'outputs':
        for returned in found.returned:
            text.append('\n').append_text(returned_text(returned, slot=len(found.returned) > 1))
        if found.fetched and not found.returned:
            text.append('\nfetched: its runs give it to the program')
    return text


def _missing_reason(found: Lineage) -> str:
    """The reason why there is nothing to list."""
    first = found.rows[0] if found.rows else None
    if found.direction == 'inputs':
        unknown = first is not None and first.sort == 'elsewhere'
        missing = 'no node of this graph: what goes in is not known' if unknown else 'no inputs'
    elif not found.known:
        return 'what takes its outputs is not known: nodes are recorded with --ops'
    else:
        missing = 'no node takes its outputs'
    return missing if found.label or found.in_graph else f'{missing}: an eager call is in no graph'


def returned_text(returned: ReturnedOutput, *, slot: bool) -> Text:
    """'while_body_27 returns it: while:3'."""
    text = Text.assemble(label(returned.function, limit=NAME), f' returns {f"output {returned.slot}" if slot else "it"}',
                         overflow='fold')
    if returned.outside:
        text.append(': outside it is ').append_text(Text(', ').join(
            label(name, 'bold', limit=NAME) for name in returned.outside[:_OUTSIDE]))
        if len(returned.outside) > _OUTSIDE:
            text.append(f' and {len(returned.outside) - _OUTSIDE:,} more')
    return text


def _row(row: LineageRow, marks: tuple[str, str, str, str], found: Lineage, *, types: bool) -> Text:
    text = Text.assemble((_indent(row, marks), 'dim'), no_wrap=True)
    if row.use is not None and row.use.slot < 0:
        text.append('^ctrl ', 'magenta')
    tensor = row.use.tensor if row.use is not None and row.use.tensor and found.direction == 'inputs' else row.node
    style = 'bold' if row.depth == 0 or row.function else ''
    text.append_text(label(tensor, style, limit=NAME))
    if found.direction == 'outputs' and row.use is not None and row.use.slot > 0:
        text.append(f' in{row.use.slot}', 'dim')
    if types and row.op_type:
        text.append(f' [{one_line(row.op_type, 30)}]', 'cyan')
    if row.function:
        text.append(f' {one_line(row.function, 40)}', 'cyan')
    if row.again:
        return text.append(f'  ^ its {found.direction} are listed {row.again}', 'dim')
    if row.sort != 'node':
        text.append('  from outside' if row.sort == 'elsewhere' else f'  {row.sort}', 'dim')
    held = glimpse_of_constant(row.constant) if row.constant is not None else glimpse(row.value)
    if held:
        text.append('  ').append_text(held)
    for slot, further in row.further:
        text.append(f'  :{slot} ', 'dim').append_text(glimpse(further))
    if row.hidden:
        text.append(f'  ... {row.hidden} further', 'yellow')
    return text


def _indent(row: LineageRow, marks: tuple[str, str, str, str]) -> str:
    if not row.depth:
        return ''
    bar, blank, tee, corner = marks
    upper = row.last[:-1][:DEEPEST - 1]
    deep = f'({row.depth}) ' if row.depth > DEEPEST else ''
    return ''.join(blank if last else bar for last in upper) + (corner if row.last[-1:] != (False,) else tee) + deep


if __name__ == '__main__':
    from pyfuncdbg.observers.debug.inspecting.node_values import NodeValues
    from pyfuncdbg.observers.debug.inspecting.recorded_graph import find_node
    from pyfuncdbg.observers.debug.reports.lineage import lineage
    from pyfuncdbg.ui.views.sample_trace import demo, sample
    node = find_node(sample(), 'scale')
    values = NodeValues(sample(), node.graph, node=node.name)
    demo(lineage_view(lineage(node.graph, node.name, 'inputs', depth=3, limit=20,
                              value=values.tensor, run=values.run), types=True))
