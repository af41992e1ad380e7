"""The panes at a stop: answers of the program's commands, drawn by the same views.

The program says plain data; records are made of it again for the views.
"""
from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.text import Text

from pyfuncdbg.errors import CommandError
from pyfuncdbg.hooks.syntax_tree import tree_of
from pyfuncdbg.observers.debug.inspecting.source_listing import Listing
from pyfuncdbg.observers.record.record_contents import load_call
from pyfuncdbg.observers.record.records import Stats, TensorRecord
from pyfuncdbg.ui.inspector.desks.desk import Desk, Reply
from pyfuncdbg.ui.inspector.lists.drawn_lines import DrawnPicture, PicturePart
from pyfuncdbg.ui.views.calls.output import output_view
from pyfuncdbg.ui.views.calls.run_nodes import NodeRow, Standing, node_line
from pyfuncdbg.ui.views.escape import one_line, visible
from pyfuncdbg.ui.views.sources.source import place
from pyfuncdbg.ui.views.sources.source_values import beside_lines, tensor_note
from pyfuncdbg.ui.views.units import count

_STANDINGS: Mapping[str, Standing] = {'fed': 'ran', 'here': 'ran', 'dropped': 'ran', 'next': 'here', 'later': 'later'}
_SUMMARIES = 1_000
"""Tensors whose summaries the graph pane asks for."""
_SAID = 5
"""Calls whose output is shown."""


def graph(desk: Desk, width: int) -> DrawnPicture:
    """The nodes of the stopped run; outside of one, the stack."""
    data = _answer_data(desk, f'lt -n {_SUMMARIES}', width)
    if 'node' not in data:
        reply = desk.answer('bt', width)
        return DrawnPicture('stack', [PicturePart(reply.shown if not reply.error else Text(reply.error, 'dim',
                                                                                           overflow='fold'))])
    feeds = [row for row in data['rows'] if row['state'] == 'fed']
    outputs: dict[str, list[Mapping[str, Any]]] = {}
    for row in data['rows']:
        if row['state'] != 'fed':
            outputs.setdefault(str(row['name']).rpartition(':')[0], []).append(row)
    parts = [_node_part(row) for row in feeds]
    fed = {str(row['name']).rpartition(':')[0] for row in feeds}
    nodes = [node for node in data['nodes'] if node['name'] not in fed or node['name'] in outputs]
    for node in nodes:
        parts += [_node_part(row) for row in outputs.get(node['name'], (node,))]
    return DrawnPicture(f'graph  run #{data["run"]}  {count(len(feeds) + len(nodes), "node")}',
                        parts or [PicturePart(Text('this run has no nodes', 'dim'))])


def _node_part(row: Mapping[str, Any]) -> PicturePart:
    """An output, or a node: one without outputs, or one of those whose outputs were not asked for."""
    standing = _STANDINGS.get(row['state'], 'later')
    name, tensor = str(row['name']), _tensor(row.get('tensor'))
    if standing == 'ran' and row.get('silent') is False:
        standing = 'unknown'
    shown = NodeRow(name.removesuffix(':0'), row['op_type'] or 'feed', standing, tensor=tensor)
    node = name if 'silent' in row else name.rpartition(':')[0]
    return PicturePart(node_line(shown), f'pt {name}' if tensor is not None else f'break {node}', standing == 'here')


def source(desk: Desk, width: int) -> DrawnPicture:
    """The function of the selected frame, its line, and its variables beside the lines that set them."""
    reply = desk.answer('longlist', width)
    card = _answer_data(desk, 'stop', width)
    data = reply.data if not reply.error else card.get('listing')
    if not isinstance(data, dict) or 'lines' not in data:
        hint = PicturePart(Text(reply.error or 'there is no source here', 'dim', overflow='fold'))
        if 'suggestions' in card or 'end' in card:      # the card of a run says more than the stack that it is in
            return DrawnPicture('source', [PicturePart(desk.answer('stop', width).shown, offers=offers_of(card)), hint])
        return DrawnPicture('source', [hint, PicturePart(desk.answer('bt', width).shown)])
    listing = Listing(data['filename'], data['function'], data['first'], tuple(data['lines']), data['current'],
                      data['raised'], tuple(data['breakpoints']))
    raised = card.get('raised') or {}
    notes = notes_of(listing, list(_values(desk, card, width)))
    if raised and (listing.raised or listing.current):
        said = f'{raised.get("type", "")}: {raised.get("message", "")}'.rstrip(': ')
        notes.setdefault(listing.raised or listing.current, []).append(Text(one_line(said, 120), 'bold red'))
    where = place(listing.filename, listing.current or listing.first).plain
    return DrawnPicture(f'source  {listing.function}  {where}',
                        [PicturePart(line, f'break {listing.filename}:{number}', number == listing.current)
                         for number, line in enumerate(beside_lines(listing, notes), listing.first)])


def tensors(desk: Desk, width: int) -> DrawnPicture:
    """The variables here, then the tensors of the run."""
    card = _answer_data(desk, 'stop', width)
    parts = [PicturePart(_value_note(name, value), f'p {name}') for name, value in _values(desk, card, width)]
    if card.get('returned'):
        parts.append(PicturePart(_value_note('returns', card['returned']), 'retval'))
    listed = _list_tensors(desk, card, width)
    if not listed.error:
        parts += [PicturePart(Text()), PicturePart(listed.shown)] if parts else [PicturePart(listed.shown)]
    return DrawnPicture('tensors and variables', parts or [PicturePart(Text('no variables here', 'dim'))])


def _list_tensors(desk: Desk, card: Mapping[str, Any], width: int) -> Reply:
    """The tensors of the stopped run; else those recorded of the run that is over; else all, the newest first."""
    listed = desk.answer('lt', width)
    if listed.error or not isinstance(listed.data, dict) or 'node' in listed.data:
        return listed
    run = (card.get('end') or {}).get('run') or (desk.stop() or {}).get('run')
    recorded = desk.answer(f'lt --run {run}', width) if run else None
    if recorded is not None and not recorded.error and recorded.data.get('total'):
        return recorded
    return desk.answer('lt --reverse', width)


def output(desk: Desk, width: int) -> DrawnPicture:
    """The captured output of the last calls."""
    said = desk.trace.calls(kind='python', printed=True, newest_first=True, limit=_SAID)
    parts = []
    for call in [load_call(call, 0) for call in reversed(said)]:
        parts.append(PicturePart(Text(f'#{one_line(call.number, 20)} {one_line(call.label, 60)}', 'bold'),
                                 f'out {call.number}'))
        parts.append(PicturePart(output_view(call.output, call.dropped), f'out {call.number}'))
    if desk.printed:
        parts.append(PicturePart(Text('written since; it goes to the terminal when the program continues', 'bold')))
        parts.append(PicturePart(Text(_as_shown(desk.printed), overflow='fold'), chosen=True))
    return DrawnPicture('output  of the last calls', parts or [PicturePart(Text('nothing was printed so far', 'dim'))])


def _as_shown(printed: str) -> str:
    """A text as a terminal shows it: without colours, and of a rewritten line its last state."""
    lines = (line.rstrip('\r').rpartition('\r')[2] for line in printed.split('\n'))
    return '\n'.join(visible(Text.from_ansi(line).plain) for line in lines)


def notes_of(listing: Listing, values: Sequence[tuple[str, Any]]) -> dict[int, list[Text]]:
    """Variables beside the lines that set them: the last one before the current line; parameters at the `def`.

    What the current line sets, and has not set yet, is said there.
    """
    setting = _assignments(listing)
    current = listing.current or listing.last + 1
    notes: dict[int, list[Text]] = {}
    known = {name for name, _ in values}
    for name, value in values:
        before = [line for line in setting.get(name, ()) if line < current]
        line = before[-1] if before else listing.first if name not in setting else setting[name][0]
        notes.setdefault(line, []).append(_value_note(name, value))
    for name, lines in setting.items():
        if name not in known and current in lines:
            notes.setdefault(current, []).append(Text(f'{name} not set yet', 'dim'))
    return notes


def _assignments(listing: Listing) -> dict[str, list[int]]:
    """The lines of a listing that set each name."""
    tree = tree_of(textwrap.dedent('\n'.join(listing.lines)))
    lines_by_name: dict[str, list[int]] = {}
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            lines_by_name.setdefault(node.id, []).append(node.lineno + listing.first - 1)
        elif isinstance(node, ast.arg):
            lines_by_name.setdefault(node.arg, []).append(node.lineno + listing.first - 1)
    return {name: sorted(lines) for name, lines in lines_by_name.items()}


def _values(desk: Desk, card: Mapping[str, Any], width: int) -> Iterator[tuple[str, Any]]:
    """Names and values of the selected frame or node; after a call, its outputs."""
    found = card.get('values') if card.get('values_are') == 'outputs' else desk.answer('locals', width).data
    for one in found if isinstance(found, list) else ():
        if isinstance(one, dict) and isinstance(one.get('value'), dict):
            yield str(one.get('name', '')), one['value']


def _value_note(name: str, value: Mapping[str, Any]) -> Text:
    """'sd float32[3,1] 0 .. 1.1' or 'eps = 1e-06'."""
    tensor = _tensor(value.get('tensor'))
    if tensor is not None and (tensor.shape or tensor.stats is None):
        return tensor_note(name, tensor)
    return Text.assemble((one_line(name, 30), 'bold cyan'), (' = ', 'dim'), one_line(str(value.get('text', '')), 200))


def _tensor(data: Any) -> TensorRecord | None:
    """A tensor record from plain data; None if it is none."""
    if not isinstance(data, dict):
        return None
    stats = data.get('stats')
    found = None
    if isinstance(stats, dict):
        numbers = {key: _number(value) for key, value in stats.items() if key in Stats.__slots__}
        numbers['histogram'] = tuple(stats.get('histogram') or ())
        numbers['first_bad'] = tuple(stats['first_bad']) if stats.get('first_bad') is not None else None
        found = Stats(**numbers)
    return TensorRecord(str(data['name']), str(data['dtype']), tuple(data['shape']), int(data['nbytes']), data['level'],
                        found, None, bool(data['changed']), str(data['note']))


def _number(value: Any) -> Any:
    """JSON has no NaN and no infinities: they come as words."""
    return float(value) if isinstance(value, str) else value


def _answer_data(desk: Desk, line: str, width: int) -> dict[str, Any]:
    """The data of an answer that is an object; of a refused command, none.

    Raises:
        CommandError: The program went on meanwhile.
    """
    reply = desk.answer(line, width)
    if reply.error and desk.stop() is None:
        raise CommandError('the program runs')
    return reply.data if isinstance(reply.data, dict) else {}


def offers_of(data: Any) -> tuple[str, ...]:
    """The commands of a card from the plain data of `stop`; none of another answer. The first is what Enter
    types: `run`, if it is there."""
    if not isinstance(data, dict):
        return ()
    card = data['end'] if isinstance(data.get('end'), dict) else data
    listed = card.get('suggestions')
    commands = [str(one['command']) for one in listed if isinstance(one, dict) and one.get('command')] if isinstance(
        listed, list) else []
    return tuple(sorted(commands, key=lambda command: command != 'run'))
