"""The card of a stop: reason, source and values, in at most about twenty lines."""
from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.padding import Padding
from rich.text import Text

from pyfuncdbg.hooks.own_files import is_machinery
from pyfuncdbg.observers.debug.cards.stop_card import CardValue, RaisedError, StopCard
from pyfuncdbg.observers.debug.inspecting.displays import Displayed
from pyfuncdbg.observers.debug.inspecting.remote_error import RemoteCall
from pyfuncdbg.observers.debug.stops.stop import Phase
from pyfuncdbg.ui.views.calls.rewind_report import differences_view
from pyfuncdbg.ui.views.escape import label, one_line, visible
from pyfuncdbg.ui.views.page import Page, Part
from pyfuncdbg.ui.views.sources.listing import cut_line, listing_view
from pyfuncdbg.ui.views.sources.source import place, unlocated_text
from pyfuncdbg.ui.views.tensors.variable import NamedValue, inline, variables_table

_MESSAGE = 400
_LINES = 4
_FRAMES = 3
_DOT = ' \u00b7 '
_RETRY = 'retry once more'
_KEYS: Mapping[Phase, Sequence[str]] = {
    'before': ('s into it', 'n over it'), 'node': ('s into it', 'n over it'),
    'call': ('n to its first line', 'r to its end'),
    'line': ('n next line', 's into calls', 'r to the end'), 'return': ('n back to the caller',),
    'after': ('n on from here', _RETRY), 'error': (_RETRY, 'n to where the program meets it'),
    'exception': ('n on with the error', 'u, d the frames'), 'post-mortem': ('u, d the frames', 'q leave')}


def stop_view(card: StopCard) -> Page:
    """The card."""
    parts: list[Part] = [_title(card), _subtitle(card)]
    if card.raised is not None:
        parts.append(_error_lines(card.raised))
    if card.remote is not None:
        parts.append(_remote_line(card.remote))
    if card.listing is not None:
        parts += listing_view(card.listing, dedent=True).parts
    elif card.created is not None:
        text = Text.assemble(('  created at ', 'dim'), place(card.created.filename, card.created.line))
        text.append(f'  {one_line(card.created_text, 200)}')
        parts.append(lambda options: cut_line(text, options.max_width))
    elif (reason := unlocated_text(card.unlocated)) is not None:
        parts.append(Padding(reason, (0, 0, 0, 2)))
    if card.remark:
        parts.append(Text(f'  {one_line(card.remark, 300)}', 'yellow', overflow='fold'))
    parts += _values(card)
    parts += [_display_line(one) for one in card.displayed]
    if card.differences:
        parts.append(differences_view(card.differences))
    parts.append(lambda options: Text((' | ' if options.ascii_only else _DOT).join(keys(card)), 'dim', overflow='fold'))
    return Page(*parts)


def keys(card: StopCard) -> Sequence[str]:
    """Commands to type here first: the last line of the card."""
    words = _KEYS.get(card.phase, ())
    if card.phase in ('before', 'node') and not card.enters:
        words = words[1:]
    if not card.steppable:
        words = ('u, d the frames', 'node to the next call')
    if not card.repeatable:
        words = [word for word in words if word != _RETRY]
    if card.phase == 'node' and not card.node:
        words = ('n out of the run',)
    return *words, *(() if card.phase == 'post-mortem' else ('c continue',)), '? help'


def _title(card: StopCard) -> Text:
    error = card.raised is not None
    word = 'ERROR ' if card.phase == 'post-mortem' else 'STOPPED '
    text = Text(overflow='fold').append(word, 'bold red' if error or 'breakpoint' in card.reason else 'bold blue')
    call = f'call {card.ordinal + 1} of node ' if card.call else 'node ' if card.node else ''
    node = f"{call}'{one_line(card.node, 60)}'" if card.node else ''
    where = place(card.filename, card.line) if card.filename else None
    if card.phase in ('before', 'after', 'node'):
        before = 'before ' if card.phase != 'after' else 'after '
        text.append(before + node if node else 'at the end of the run', 'bold')
    elif where is not None:
        over = card.phase == 'error' and bool(card.call)    # the call has ended; the place is where it was raised
        verb = {'return': 'leaving ' if error else 'returning from ', 'call': 'entering '}.get(card.phase, 'in ')
        text.append(f'after {node}, {verb}' if over else verb).append(one_line(card.function, 60), 'bold')
        text.append(' at ').append_text(where)
        if node and not over:
            text.append(f', {node}')
    else:
        text.append(f'at {node}' if node else one_line(card.phase, 20), 'bold')
    return text.append(f'  {one_line(card.reason, 300)}', 'yellow' if card.raised is None else 'red')


def _subtitle(card: StopCard) -> Text:
    words = []
    if card.run:
        words.append(f'run #{card.run} {one_line(card.run_label, 40)}')
    if card.nodes:
        words.append(f'step {card.position}/{card.nodes}')
    if card.op_type:
        words.append(one_line(card.op_type, 40))
    name = '' if card.thread_name == 'MainThread' else f' {one_line(card.thread_name, 30)}'
    words.append(f'thread {card.thread}{name}')
    return Text('  '.join(words), 'dim', overflow='fold')


def _error_lines(raised: RaisedError) -> Text:
    lines = [line for line in visible(raised.message)[:_MESSAGE].split('\n') if line.strip()]
    message = '\n'.join(lines[:_LINES]) + (' ...' if len(lines) > _LINES or len(raised.message) > _MESSAGE else '')
    text = Text.assemble((one_line(raised.type, 100), 'bold red'), f': {message}' if message else '', overflow='fold')
    mine = [frame for frame in raised.frames if not is_machinery(frame.filename)]
    for frame in mine[-_FRAMES:] if len(mine) > 1 else ():
        text.append('\n  ').append_text(place(frame.filename, frame.line))
        text.append(f' in {one_line(frame.function, 60)}', 'dim')
    return text


def _remote_line(remote: RemoteCall) -> Text:
    number = one_line(remote.number, 20)
    return Text.assemble((f'raised in call #{number} ', 'bold'), label(remote.label, 'bold', 60),
                         f' of process {remote.process}: {one_line(remote.error, 200)}',
                         (f'; call {number} shows it', 'dim'), overflow='fold')


def _values(card: StopCard) -> list[Part]:
    returned: list[Part] = []
    if card.returned is not None:
        returned.append(Text.assemble(('returns  ', 'dim'), inline(card.returned), overflow='fold'))
    return [*_table('inputs', card.inputs, card.more_inputs), *_table(card.values_are, card.values, card.hidden), *returned]


def _table(head: str, values: Sequence[CardValue], hidden: int) -> list[Part]:
    if not values:
        return []
    more = f', {hidden} more' if hidden else ''
    rows = [NamedValue(one.name, one.value, one.note) for one in values]
    return [Text(f'{head}{more}', 'dim'), variables_table(rows, indent=2)]


def _display_line(one: Displayed) -> Text:
    text = Text.assemble(('display ', 'dim'), (one_line(one.expression, 60), 'bold'), '  ', inline(one.value),
                         overflow='fold')
    return text.append('  was ', 'dim').append_text(inline(one.before)) if one.before is not None else text


def demo_cards() -> Sequence[StopCard]:
    """A stop at a line and one before a call."""
    import numpy as np  # the demo only

    from pyfuncdbg.observers.debug.inspecting.source_listing import Listing
    from pyfuncdbg.observers.debug.value import describe_value
    from pyfuncdbg.ui.views.sample_trace import sample
    x = np.array([[0.5, 1, 1.5, 2], [3, 3, 3, 3], [-1, 0, 0, 1]], np.float32)
    lines = tuple(sample().call(1).site.source.splitlines())
    values = (CardValue('x', describe_value(x), 'mm:0'), CardValue('eps', describe_value(1e-6), ''))
    return (
        StopCard(1, 'line', 'normalize', 'model.py', 41, 'norm', 'EagerPyFunc', 2, 17, 12, 'Session.run', 4, 9, 8123,
                 'MainThread', 'step', Listing('model.py', 'normalize', 39, lines[:5], 41), None,
                 (CardValue('mu', describe_value(x.mean(-1, keepdims=True)), ''),), 'changed', 0, None, None, ()),
        StopCard(2, 'before', '', '', 0, 'norm', 'EagerPyFunc', 2, 17, 12, 'Session.run', 4, 9, 8123, 'Dummy-3',
                 'breakpoint 2', Listing('model.py', 'normalize', 39, lines[:4]), None, values, 'inputs', 0, None, None, ()))


if __name__ == '__main__':
    from pyfuncdbg.ui.views.sample_trace import demo
    demo(*map(stop_view, demo_cards()))
