"""Captured output in order, with kinds in words, places and source lines, and what was dropped."""
from __future__ import annotations

from pyfuncdbg.observers.record.record_contents import load_call, load_output
from pyfuncdbg.observers.record.records import OutputRecord
from pyfuncdbg.observers.record.sources.source_text import SourceText
from pyfuncdbg.ui.views.calls.output import output_view
from pyfuncdbg.ui.views.sample_trace import sample


def rows(text):
    return [line.rstrip() for line in text.splitlines()]


def test_pieces_of_one_stream_become_lines_in_order(draw):
    said = (OutputRecord('out', 'a', offset=0.001), OutputRecord('out', '\n', offset=0.001), OutputRecord('out', 'b\nc\n'),
            OutputRecord('err', 'oops\n', offset=0.002), OutputRecord('out', 'last', offset=0.003))
    assert rows(draw(output_view(said))) == [
        '+1.00 ms  out  a', '               b', '               c', '+2.00 ms  err  oops', '+3.00 ms  out  last']


def test_events_have_category_place_and_source(draw):
    call = load_call(sample().call(3))
    text = draw(output_view(call.output))
    assert rows(text) == ['+0.08 ms  out  row 1 constant',
                          '+0.11 ms  fp   invalid: invalid value encountered in divide  model.py:44',
                          '               44 | return (x - mu) / sd']


def test_source_of_a_line_that_the_record_knows(draw):
    text = SourceText(1, ('x = 1', '    y = [bold]2'), '')
    record = OutputRecord('warning', 'careful', 'UserWarning', '/home/me/user.py', 2, 'f', 0.0, lambda filename, line: text)
    text = draw(output_view(load_output((record,))))
    assert 'warn  UserWarning: careful  user.py:2' in text
    assert '2 | y = [bold]2' in text


def test_a_warning_speaks_for_the_error_that_it_repeats(draw):
    both = load_output((OutputRecord('fp', 'invalid value', 'invalid', 'a.py', 3),
                        OutputRecord('warning', 'invalid value', 'W', 'a.py', 3)))
    assert rows(draw(output_view(both))) == ['+0.00 ms  warn  W: invalid value  a.py:3',
                                             '                3 | (source not recorded)']
    other = (both[0], OutputRecord('warning', 'invalid value', 'W', 'a.py', 4))
    assert len(rows(draw(output_view(other)))) == 4


def test_dropped_counts_are_shown(draw):
    assert 'not kept: prints 3, bytes 4,096' in draw(output_view((), {'prints': 3, 'bytes': 4096, 'calls': 0}))
    assert draw(output_view((), {'prints': 0})) == 'no output\n'


def test_long_output_shows_both_ends(draw):
    text = draw(output_view((OutputRecord('out', ''.join(f'line {i}\n' for i in range(100))),), lines=4))
    assert [line.split()[-1] for line in rows(text)] == ['0', '1', 'shown', '98', '99']
    assert '... 96 lines not shown' in text


def test_escape_sequences_of_a_print_are_shown(draw):
    text = draw(output_view((OutputRecord('out', '\x1b[2J[red]50%\r100%\n'),)), color=True)
    assert '\\x1b[2J[red]50%\\r100%' in text
    assert '\x1b[2J' not in text
