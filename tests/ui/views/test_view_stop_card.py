"""The pictures of a stop: the card, the stack, the source, values; at any width, without colour, and with hostile text."""
from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from rich.cells import cell_len

from pyfuncdbg.hooks.call import Frame
from pyfuncdbg.observers.debug.cards.stop_card import CardValue, RaisedError
from pyfuncdbg.observers.debug.inspecting.backtrace import StackRow
from pyfuncdbg.observers.debug.inspecting.displays import Displayed
from pyfuncdbg.observers.debug.inspecting.source_listing import Listing
from pyfuncdbg.observers.debug.value import Value, describe_value
from pyfuncdbg.ui.views.calls.stack import row_view, stack_view
from pyfuncdbg.ui.views.calls.stop_card import demo_cards, stop_view
from pyfuncdbg.ui.views.sources.listing import listing_view
from pyfuncdbg.ui.views.tensors.variable import NamedValue, value_page, variables_table

NASTY = '[red]x[/] \x1b[2J\x07\r\n\u202e\ud800\U0001f600\u200d日本 ' + 'n' * 500
STYLES = re.compile(r'\x1b\[[\d;]*m')


def nasty_views():
    line, before = demo_cards()
    nasty = Value(NASTY, NASTY)
    values = (CardValue(NASTY, nasty, NASTY), CardValue('x', describe_value(np.array([NASTY, 'b'])), NASTY))
    listing = Listing(NASTY, NASTY, 9, (NASTY, '\tx = 1', NASTY), 10, 11, (9,))
    rows = tuple(StackRow(kind, NASTY, NASTY, NASTY, 3, NASTY, False, kind == 'node') for kind in ('python', 'node', 'run'))
    raised = RaisedError(NASTY, NASTY * 3, (Frame(NASTY, 1, NASTY),) * 5)
    changed = (Displayed(NASTY, nasty, nasty, True),)
    return [stop_view(replace(card, function=NASTY, filename=NASTY, node=NASTY, op_type=NASTY, run_label=NASTY, reason=NASTY,
                              thread_name=NASTY, listing=listing, values=values, raised=raised, displayed=changed,
                              phase=phase))
            for card in (line, before)
            for phase in ('line', 'before', 'after', 'node', 'return', 'error', 'post-mortem')] + [
        stop_view(replace(before, listing=None, created=Frame(NASTY, 2, NASTY), returned=nasty)), stack_view(rows),
        row_view(rows[0]), listing_view(listing), value_page(nasty), value_page(describe_value([np.ones(2), NASTY])),
        variables_table([NamedValue(NASTY, nasty, NASTY)]), variables_table([NamedValue(NASTY, nasty)], rows=3)]


@pytest.mark.parametrize('width', [20, 80, 160])
@pytest.mark.parametrize('color', [False, True])
def test_nothing_nasty_gets_through(draw, width, color):
    for view in nasty_views():
        text = draw(view, width, color=color)
        plain = STYLES.sub('', text) if color else text
        assert all(c == '\n' or c.isprintable() for c in plain)
        plain.encode('utf-8')
        assert max(cell_len(line) for line in plain.splitlines()) <= width


def test_colour_adds_no_words(draw):
    for view in map(stop_view, demo_cards()):
        assert STYLES.sub('', draw(view, 80, color=True)) == draw(view, 80)


def test_own_marks_are_ascii_on_an_ascii_console(draw):
    for card in demo_cards():
        assert draw(stop_view(card), ascii_only=True).isascii()
    assert draw(listing_view(Listing('a.py', 'f', 1, ('x = 1' * 50,))), 40, ascii_only=True).isascii()


def test_a_card_is_short(draw):
    line, before = demo_cards()
    many = tuple(CardValue(f'v{i}', describe_value(np.arange(100.0)), '') for i in range(8))
    for card in (replace(line, values=many, hidden=12), replace(before, values=many)):
        lines = draw(stop_view(card), 80).splitlines()
        assert len(lines) <= 20
    assert 'changed, 12 more' in draw(stop_view(replace(line, values=many, hidden=12)), 80)


def test_the_current_line_is_marked_and_breakpoints_too(draw):
    shown = Listing("a.py", "f", 8, ("a = 1", "b = 2", "c = 3"), current=9, raised=10, breakpoints=(8,))
    lines = draw(listing_view(shown)).splitlines()
    assert [line[:6] for line in lines] == ['  B 8 ', ' >  9 ', '>> 10 ']
    assert lines[1].endswith('b = 2')


def test_a_long_line_is_cut_not_folded(draw):
    text = draw(listing_view(Listing('a.py', 'f', 1, ('x = ' + '1 + ' * 100,))), 40)
    assert len(text.splitlines()) == 1
    assert text.rstrip().endswith('...')


def test_library_frames_are_folded_unless_asked_for(draw):
    mine = StackRow('python', 'f', '', 'model.py', 3, 'x = 1', False, True)
    theirs = StackRow('python', 'g', '', 'lib.py', 3, '', True, False)
    rows = (*[theirs] * 30, mine)
    folded = draw(stack_view(rows))
    assert folded.splitlines()[0] == '    ... 30 library frames'
    assert draw(stack_view(rows, everything=True)).count('lib.py:3 in g') == 30
    deep = tuple(replace(mine, selected=False, line=i) for i in range(500))
    assert 'bt --all' in draw(stack_view(deep))
    assert len(draw(stack_view(deep)).splitlines()) < 140


def test_values_on_one_line(draw):
    x = np.array([[0.5, np.nan], [np.inf, 0]])
    text = draw(variables_table([NamedValue('x', describe_value(x), 'mm:0'), NamedValue('n', describe_value(3)),
                                 NamedValue('s', describe_value(np.float32(2.5))),
                                 NamedValue('e', describe_value(np.zeros((0, 3))))]), 100)
    assert [line.rstrip() for line in text.splitlines()] == [
        'x  float64[2, 2]  NaN 1, +Inf 1 at [0, 1]  [[0.5, nan], [inf, 0]]  mm:0', 'n  3', 's  float32 2.5',
        'e  float64[0, 3]  empty']


def test_an_unsummarised_array_still_has_its_elements(draw):
    value = describe_value(np.arange(100.0), counted=10)
    assert value.tensor.stats is None
    assert 'no statistics kept' in draw(value_page(value))
    assert draw(variables_table([NamedValue('x', value)])).strip() == 'x  float64[100]'
