"""The node card (`ni`): type, inputs and outputs with their last values, creation line, calls."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.cells import cell_len
from rich.console import ConsoleOptions, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from pyfuncdbg.hooks.declared_outputs import contradicted_declaration
from pyfuncdbg.hooks.own_files import is_program_file
from pyfuncdbg.observers.debug.cards.node_card import NodeCard, NodeOutput
from pyfuncdbg.observers.debug.inspecting.creation_line import unlocated_reason
from pyfuncdbg.observers.debug.inspecting.recorded_graph import TensorUse
from pyfuncdbg.observers.debug.numerics.fused_values import has_fused_remark
from pyfuncdbg.observers.record.records import CallRecord
from pyfuncdbg.ui.views.calls.call import input_names, state, undeclared_text
from pyfuncdbg.ui.views.calls.output import OTHERWISE
from pyfuncdbg.ui.views.escape import label, one_line, shorten
from pyfuncdbg.ui.views.graph.lineage import returned_text
from pyfuncdbg.ui.views.lists import Column, fitted_table
from pyfuncdbg.ui.views.page import Page, Part
from pyfuncdbg.ui.views.sources.listing import cut_line, highlight
from pyfuncdbg.ui.views.sources.source import line_text, place, unlocated_text
from pyfuncdbg.ui.views.tensors.tensor_words import glimpse, glimpse_of_constant, holds_values, type_text
from pyfuncdbg.ui.views.units import count, milliseconds, seconds, size, with_retries

USERS = 6
"""Consumers of one output that are named."""
INPUTS = 40
_NAMED = 4
"""Functions that are named of further sites."""
ATTRS = 12
VALUE = 60
"""Characters of an attribute's value where not all is asked for."""


def node_view(card: NodeCard) -> Page:
    """The whole card."""
    parts: list[Part] = [_title(card), _facts(card)]
    if card.newest is not None and has_fused_remark(card.newest):
        parts.append(Text(OTHERWISE, 'yellow', overflow='fold'))
    of = f', values of run #{card.values_of}' if card.values_of and not card.run else ''
    if card.inputs:
        parts += [Text.assemble((f'inputs ({len(card.inputs):,})', 'bold'), (of, 'dim')), _inputs(card)]
    if card.outputs:
        parts += [Text.assemble((f'outputs ({len(card.outputs):,})', 'bold'), (of, 'dim')), _outputs(card)]
        parts += _undeclared_outputs(card)
    if card.attrs:
        parts += [Text('attributes', 'bold'), *_attrs(card)]
    if card.frames:
        stack = _stack(card)
        parts += [Text('created at', 'bold'), lambda options: Text('\n').join(
            cut_line(row, options.max_width) for line in stack for row in line.split('\n'))]
    elif card.site is not None and (reason := unlocated_text(unlocated_reason(card.site.attrs))) is not None:
        parts += [Text('created at', 'bold'), Padding(reason, (0, 0, 0, 2))]
    if card.dumps:
        parts += [Text(f'{count(len(card.dumps), "call")}, the newest first', 'bold'), _dumps(card.dumps)]
    return Page(*parts)


def _title(card: NodeCard) -> Text:
    style = 'bold' if card.newest is not None else 'bold blue'
    text = Text.assemble(('node ', style), label(card.name, style, limit=300), overflow='fold')
    if card.site is None:
        return text.append(f'  {"from outside" if card.kind == "elsewhere" else card.kind}', 'cyan')
    text.append(f'  {one_line(card.site.op_type, 60)}', 'cyan')
    if card.newest is None and card.site.attrs.get('_handle') is True:
        return text.append(f'  held by {one_line(card.site.host, 40)}: it has no calls', 'dim')
    if card.newest is None and card.site.attrs.get('_unseen') is True:
        return text.append('  its calls are not seen', 'dim')
    if card.newest is None and card.possible_calls:
        return text.append(f'  {count(card.possible_calls, "call")} may be of run #{card.run}: not known', 'yellow')
    if card.newest is None:
        missing = 'its calls were not recorded: --ops' if not card.recorded else 'has not run yet' if card.live else (
            'did not run' + (f' in run #{card.run}' if card.run else ' while it was recorded'))
        return text.append(f'  {missing}', 'blue')
    return text.append('  ').append_text(state(card.newest))


def _facts(card: NodeCard) -> Table:
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style='dim', no_wrap=True)
    grid.add_column(overflow='fold')
    site = card.site
    if site is not None and site.function:
        grid.add_row('function', Text.assemble(label(site.function, limit=200), '  ',
                                               place(site.filename, site.line, full=True)))
    if site is not None:
        kinds = {'python': 'a wrapped Python function', 'op': 'an op of the graph', 'gradient': 'a backward step'}
        host = Text(f'{kinds.get(site.kind, one_line(site.kind, 40))}, of {one_line(site.host, 40)}')
        if site.kind == 'gradient' and isinstance(site.attrs.get('forward'), str):
            host.append(f', of the node {one_line(site.attrs["forward"], 60)}')
        grid.add_row('kind', host.append(f', process {site.process}' if site.process != 1 else ''))
    if card.device:
        grid.add_row('device', label(card.device, limit=100))
    if part := _part_text(card):
        grid.add_row('part of', part)
    if card.calls:
        mean = f', {seconds(card.total / card.calls)} each' if card.calls > 1 else ''
        took = f'{seconds(card.total)} in all{mean}' if card.total else 'running'
        words = Text(f'{with_retries(count(card.calls, "call"), card.retries)}, {took}', overflow='fold')
        if card.failed:
            words.append(f', {card.failed:,} raised', 'bold red')
        if card.bad:
            first = f', #{one_line(card.first_bad, 20)} the first' if card.first_bad else ''
            words.append(f', {card.bad:,} met NaN or Inf{first}', 'bold red')
        if card.newest is not None:
            words.append(f'; the newest is #{one_line(card.newest.number, 20)} {one_line(card.newest.label, 60)}')
        grid.add_row('calls', words)
    for name, nodes in (('waits for', card.before), ('then run', card.after)):
        if nodes:
            grid.add_row(name, _names(nodes).append(' (control)', 'dim'))
    if card.constant is not None:
        grid.add_row('value', glimpse_of_constant(card.constant))
    return grid


def _part_text(card: NodeCard) -> Text:
    """What a node is part of; empty where that is not known."""
    part = f'run #{card.run} {card.label}' if card.run else (
        f'{card.label}, {count(card.runs, "run")}' if card.label else _place_text(card))
    text = label(part, limit=160)
    if part and card.namesakes:
        text.append(f'; {count(len(card.namesakes), "further site")} of that name')
        if functions := list(dict.fromkeys(one_line(name, 40) for name in card.namesakes if name)):
            more = f' and {len(functions) - _NAMED:,} more' if len(functions) > _NAMED else ''
            text.append(f': {", ".join(functions[:_NAMED])}{more}')
    return text


def _place_text(card: NodeCard) -> str:
    """The place of a node that no run announced; '' where it is not known."""
    site = card.site
    if site is None:
        return ''
    if site.kind == 'gradient':
        return 'a backward pass'
    if card.called_in and isinstance(graph := site.attrs.get('graph'), str):
        others = '' if card.ops else '; its other nodes are recorded with --ops'
        return f'function {graph}, called in {card.called_in}{others}'
    if card.called_in:
        return f'no graph: called eagerly in {card.called_in}'
    if any((*site.inputs, *site.outputs)):
        return 'a loop, branch or function inside of a run'
    return 'no graph: called eagerly'


def _names(names: Sequence[str]) -> Text:
    text = Text(', ').join(label(name, limit=60) for name in names[:USERS])
    text.overflow = 'fold'
    return text.append(f' and {len(names) - USERS:,} more' if len(names) > USERS else '')


def _inputs(card: NodeCard) -> Page:
    rows = []
    parameters = input_names(card.newest) if card.newest is not None else []
    for node_input in card.inputs[:INPUTS]:
        sort = label(node_input.op_type, 'cyan', 30) if node_input.kind == 'node' else Text(
            'from outside' if node_input.kind == 'elsewhere' else node_input.kind, 'dim')
        held = glimpse_of_constant(node_input.constant) if node_input.constant is not None else glimpse(node_input.value)
        slot = node_input.use.slot
        name = label(node_input.use.tensor or (parameters[slot] if slot < len(parameters) else ''), limit=60)
        if not name:
            name = Text('(no name)', 'dim')
        rows.append((Text(f'  {slot}', 'dim'), name, sort if node_input.use.tensor else Text(), held))
    return _in_columns(rows, len(card.inputs) - INPUTS)


def _outputs(card: NodeCard) -> Page:
    return _in_columns([(Text('  ').append_text(label(made.name, limit=60)), glimpse(made.value),
                         _users_of_output(card, made))
                        for made in card.outputs[:INPUTS]], len(card.outputs) - INPUTS)


def _undeclared_outputs(card: NodeCard) -> list[RenderableType]:
    """The outputs of the newest call that are not what `Tout` declares."""
    call = card.newest
    if call is None:
        return []
    found = [(slot, contradicted_declaration(call.site, slot, tensor)) for slot, tensor in enumerate(call.outputs)]
    return [Padding(Text.assemble(f'output {slot} ' if len(found) > 1 else '', undeclared_text(declared, call)),
                    (0, 0, 0, 2)) for slot, declared in found if declared]


def _in_columns(rows: Sequence[tuple[Text, ...]], more: int) -> Page:
    """Rows in columns; the last column goes on below. Where that would break a name, under the others of its row."""
    left_out = [Text(f'  ... {more:,} more', 'dim')] if more > 0 else []
    before = sum(max(cell.cell_len for cell in column) + 2 for column in list(zip(*rows, strict=True))[:-1])
    longest = max((cell_len(word) for row in rows for word in row[-1].plain.split()), default=0)

    def draw(options: ConsoleOptions) -> RenderableType:
        if before + longest > options.max_width:
            return Page(*(part for row in rows for part in _below(row)))
        grid = Table.grid(padding=(0, 2))
        for _ in rows[0][:-1]:
            grid.add_column(no_wrap=True)
        grid.add_column(overflow='fold')
        for row in rows:
            grid.add_row(*row)
        return grid
    return Page(draw, *left_out)


def _below(row: Sequence[Text]) -> list[RenderableType]:
    first = Text('  ', overflow='fold').join(cell for cell in row[:-1] if cell.plain)
    return [first, Padding(row[-1], (0, 0, 0, 6))] if row[-1].plain else [first]


def _users_of_output(card: NodeCard, output: NodeOutput) -> Text:
    """The users of an output."""
    if output.returned:
        text = returned_text(output.returned, slot=False)
        return Text.assemble(('-> ', 'dim'), _users(output.users), '; ', text, overflow='fold') if output.users else text
    if not output.users and not output.fetched:
        if card.site is not None and card.site.traits.unlinked:
            return Text('what takes it is not known: --ops', 'dim')
        return Text('not used' if card.label else '', 'dim')        # unknown for eager calls
    text = Text.assemble(('-> ', 'dim'), _users(output.users), overflow='fold') if output.users else Text(overflow='fold')
    return text.append('; fetched' if output.users else 'fetched', 'dim') if output.fetched else text


def _users(users: Sequence[TensorUse]) -> Text:
    return _names(list(dict.fromkeys(use.node for use in users)))


def _attrs(card: NodeCard) -> list[Text]:
    lines = []
    for name, value in list(card.attrs.items())[:None if card.all_attrs else ATTRS]:
        shown = one_line(_value(value), 0 if card.all_attrs else VALUE)
        lines.append(Text.assemble('  ', (f'{one_line(name, 60)}  ', 'dim'), shown, overflow='fold'))
    if len(lines) < len(card.attrs):
        lines.append(Text(f'  ... {len(card.attrs) - len(lines):,} more, -a lists all', 'dim'))
    return lines


def _value(value: Any) -> str:
    """An attribute: plain data out of a log."""
    if isinstance(value, bytes):
        return value.decode('utf-8', 'backslashreplace')
    if isinstance(value, list | tuple):
        return '[' + ', '.join(_value(each) for each in value) + ']'
    if isinstance(value, dict):
        return '{' + ', '.join(f'{key}: {_value(each)}' for key, each in value.items()) + '}'
    return value if isinstance(value, str) else repr(value) if isinstance(value, bool | int | float) else str(value)


def _stack(card: NodeCard) -> list[Text]:
    """The user's frames, innermost first; with everything, all of them, libraries' gray, with their lines of source."""
    frames, everything = card.frames, card.all_frames
    lines = []
    stack = list(zip(frames, card.sources, strict=False))[::-1]
    mine = [(frame, source) for frame, source in stack if is_program_file(frame.filename)]
    for frame, source in stack if everything or not mine else mine[:3]:
        style = '' if is_program_file(frame.filename) else 'dim'
        line = Text.assemble('  ', place(frame.filename, frame.line, full=everything),
                             (f' in {one_line(frame.function, 60)}', style), overflow='fold')
        text = line_text(source, frame.line, frame.filename)
        if text:
            line.append('\n' + ' ' * 6).append_text(
                text if source.missing else highlight([shorten(text.plain, 160)])[0])
        if style:
            line.stylize(style)
        lines.append(line)
    left = len(frames) - len(lines)
    return [*lines, Text(f'  ... {count(left, "frame")} further out, -t shows all', 'dim')] if left else lines


def _dumps(calls: Sequence[CallRecord]) -> Page:
    output_tensors = [[tensor for tensor in call.outputs if holds_values(tensor)] for call in calls]
    outputs = [Text(' '.join(type_text(tensor.dtype, tensor.shape) for tensor in tensors[:4])
                    + (f' +{len(tensors) - 4}' if len(tensors) > 4 else '')) for tensors in output_tensors]
    columns = [
        Column('call', [Text('#' + one_line(call.number, 20)) for call in calls], 0, right=True),
        Column('run', [Text(f'#{call.run}') for call in calls], 3, right=True),
        Column('t ms', [Text(milliseconds(call.started)) for call in calls], 4, right=True),
        Column('output', outputs, 1, least=14),
        Column('bytes', [Text(size(sum(tensor.nbytes for tensor in tensors))) for tensors in output_tensors], 5, right=True),
        Column('kept', [Text(' '.join(dict.fromkeys(tensor.level for tensor in tensors[:4])))
                        for tensors in output_tensors], 6),
        Column('result', [state(call) for call in calls], 2, least=10, folds=True)]
    return Page(lambda options: fitted_table(columns, options))


if __name__ == '__main__':
    from pyfuncdbg.observers.debug.cards.node_card import node_card
    from pyfuncdbg.observers.debug.inspecting.node_search import find_node
    from pyfuncdbg.ui.views.sample_trace import demo, sample
    demo(node_view(node_card(sample(), find_node(sample(), 'norm'), dumps=True)))
