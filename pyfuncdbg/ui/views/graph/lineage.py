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


def lineage_view(tree: Lineage, *, types: bool = False) -> Page:
    """The tree under a line that says how much of it is shown.

    Args:
        tree: The rows.
        types: Show op types.
    """
    def draw(options: ConsoleOptions) -> Text:
        marks = ('|  ', '   ', '|- ', '`- ') if options.ascii_only else ('│  ', '   ', '├─ ', '└─ ')
        return Text('\n').join(cut_line(_row(row, marks, tree, types=types), options.max_width) for row in tree.rows)
    return Page(_heading(tree), draw)


def _heading(tree: Lineage) -> Text:
    one, many = ('goes into', 'go into') if tree.direction == 'inputs' else ('comes of', 'come of')
    text = Text.assemble((f'{count(tree.reached, "node")} {one if tree.reached == 1 else many} ', 'bold'),
                         label(tree.node, 'bold', limit=NAME), overflow='fold')
    if tree.shown < tree.reached:
        text.append(f', {tree.shown:,} shown')
    text.append(f'   depth: {tree.depth}', 'dim')
    text.append('   control: yes' if tree.control else '   control: no', 'dim')
    newest = 'newest of ' if tree.repeats else ''   # in a loop, that of one node may be of another iteration
    text.append(f'   values: {f"{newest}run #{tree.run}" if tree.run else "none"}', 'dim')
    if not tree.reached:
        text.append(f'   {_missing_reason(tree)}')
    if tree.direction == 'outputs':
        for returned in tree.returned:
            text.append('\n').append_text(returned_text(returned, slot=len(tree.returned) > 1))
        if tree.fetched and not tree.returned:
            text.append('\nfetched: its runs give it to the program')
    return text


def _missing_reason(tree: Lineage) -> str:
    """The reason why there is nothing to list."""
    first = tree.rows[0] if tree.rows else None
    if tree.direction == 'inputs':
        unknown = first is not None and first.kind == 'elsewhere'
        missing = 'no node of this graph: what goes in is not known' if unknown else 'no inputs'
    elif not tree.consumers_recorded:
        return 'what takes its outputs is not known: nodes are recorded with --ops'
    else:
        missing = 'no node takes its outputs'
    return missing if tree.label or tree.in_graph else f'{missing}: an eager call is in no graph'


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


def _row(row: LineageRow, marks: tuple[str, str, str, str], tree: Lineage, *, types: bool) -> Text:
    text = Text.assemble((_indent(row, marks), 'dim'), no_wrap=True)
    if row.use is not None and row.use.slot < 0:
        text.append('^ctrl ', 'magenta')
    tensor = row.use.tensor if row.use is not None and row.use.tensor and tree.direction == 'inputs' else row.node
    style = 'bold' if row.depth == 0 or row.function else ''
    text.append_text(label(tensor, style, limit=NAME))
    if tree.direction == 'outputs' and row.use is not None and row.use.slot > 0:
        text.append(f' in{row.use.slot}', 'dim')
    if types and row.op_type:
        text.append(f' [{one_line(row.op_type, 30)}]', 'cyan')
    if row.function:
        text.append(f' {one_line(row.function, 40)}', 'cyan')
    if row.listed_at:
        return text.append(f'  ^ its {tree.direction} are listed {row.listed_at}', 'dim')
    if row.kind != 'node':
        text.append('  from outside' if row.kind == 'elsewhere' else f'  {row.kind}', 'dim')
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
    from pyfuncdbg.observers.debug.inspecting.node_search import find_node
    from pyfuncdbg.observers.debug.inspecting.tensor_values import NodeValues
    from pyfuncdbg.observers.debug.reports.lineage import lineage
    from pyfuncdbg.ui.views.sample_trace import demo, sample
    node = find_node(sample(), 'scale')
    values = NodeValues(sample(), node.graph, node=node.name)
    demo(lineage_view(lineage(node.graph, node.name, 'inputs', depth=3, limit=20,
                              value=values.tensor, run=values.run), types=True))
