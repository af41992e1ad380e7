"""The traceback panel begins at the user's frames."""
from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from rich.cells import cell_len
from written_trace import tensor

from pyfuncdbg import errors
from pyfuncdbg.hooks.call import Frame
from pyfuncdbg.hooks.own_files import is_program_file
from pyfuncdbg.observers.record.record_contents import load_error
from pyfuncdbg.observers.record.records import ErrorRecord, FrameRecord, LocalRecord
from pyfuncdbg.observers.record.sources.source_text import SourceText
from pyfuncdbg.ui.commands.engine.to_json import plain
from pyfuncdbg.ui.views.calls.error import error_panel, innermost

X = np.array([[1, 2], [np.nan, 4]], np.float32)
BIG = np.arange(1200.0)
NASTY = '[red]x[/] \x1b[2J\r\u202e' + 'n' * 500
RED = re.compile(r'\x1b\[1;31m([^\x1b]*)\x1b')


def inside(text):
    return [line.strip('│').strip() for line in text.splitlines()[1:-1]]


def test_outer_library_frames_are_left_out_and_inner_ones_folded(draw, tmp_path):
    mine = tmp_path / 'mine.py'
    text = SourceText(3, ('def f(x):', '    return numpy.linalg.inv(x)'), '')
    error = ErrorRecord('LinAlgError', 'Singular matrix', (
        Frame(errors.__file__, 3, 'dispatch'), Frame('/v/lib/python3.11/threading.py', 9, 'run'), Frame(str(mine), 4, 'f'),
        Frame('/v/site-packages/numpy/linalg.py', 5, 'inv'), Frame('/v/site-packages/numpy/linalg.py', 6, 'check')), '',
        _source=lambda filename, line: text)
    assert inside(draw(error_panel(load_error(error), 'call #7 f[0]'), 160)) == [
        f'{mine}:4 in f', '4 | return numpy.linalg.inv(x)', '... 2 library frames, the last linalg.py:6 in check',
        'LinAlgError: Singular matrix']
    assert 'LinAlgError in call #7 f[0]' in draw(error_panel(load_error(error), 'call #7 f[0]'))
    longer = draw(error_panel(load_error(replace(error, type=f'{"framework." * 5}errors.LinAlgError')), 'call #7 f[0]'), 60)
    assert '─ LinAlgError in call #7 f[0] ─' in longer      # the place is not cut off; the full name is in the last line
    assert innermost(error) == Frame(str(mine), 4, 'f')


def test_without_a_users_frame_the_last_ones_are_shown(draw):
    error = ErrorRecord('TypeError', '', tuple(Frame('/v/site-packages/a.py', n, 'g') for n in range(1, 9)), '')
    lines = inside(draw(error_panel(load_error(error))))
    assert lines == [f'/v/site-packages/a.py:{n} in g' for n in (6, 7, 8)] + ['TypeError']


def test_a_recursion_is_cut(draw):
    error = ErrorRecord('RecursionError', 'too deep', tuple(Frame('user.py', n, 'f') for n in range(1, 1001)), '')
    lines = inside(draw(error_panel(load_error(error))))
    assert lines[:3] == ['user.py:1 in f', '1 | (source not recorded)', 'user.py:2 in f']
    assert '... 988 frames not shown' in lines
    assert lines[-3:] == ['user.py:1000 in f', '1000 | (source not recorded)', 'RecursionError: too deep']


def test_a_long_message_keeps_both_ends(draw):
    text = draw(error_panel(load_error(ErrorRecord('ValueError', 'start' + 'x' * 100_000 + 'end', (), ''))))
    assert len(text) < 4000
    assert 'start' in text
    assert 'characters not shown' in text
    assert 'end' in text


def test_whose_frame_it_is():
    assert is_program_file('/home/me/model.py')
    assert is_program_file('<ipython-input-3>')
    assert is_program_file('/v/lib/python3.11/site-packages/pyfuncdbg/demo/train.py')
    assert not is_program_file(errors.__file__)
    assert not is_program_file('<frozen importlib._bootstrap>')
    assert not is_program_file('C:\\v\\Lib\\site-packages\\tf\\x.py')


def with_locals():
    inner = (LocalRecord('x', 'ndarray', '', tensor('', X)), LocalRecord('big', 'ndarray', '', tensor('', BIG)),
             LocalRecord('eps', 'float', 'nan'), LocalRecord(NASTY, 'str', NASTY))
    outer = (*(LocalRecord(f'a{i}', 'int', str(i)) for i in range(9)), LocalRecord('bad', 'ndarray', '', tensor('', X)))
    frames = (Frame('user.py', 3, 'main'), Frame('/v/site-packages/a.py', 5, 'apply'), Frame('user.py', 8, 'scale'))
    return ErrorRecord('ValueError', 'half', frames, '', (FrameRecord(0, outer, 2), FrameRecord(2, inner)))


def test_variables_stand_under_their_frame(draw):
    assert inside(draw(error_panel(load_error(with_locals())), 80)) == [
        'user.py:3 in main', '3 | (source not recorded)', 'a0   0', 'a1   1', 'a2   2', 'a3   3',
        'bad  float32 [2, 2]  16 B  NaN 1  first bad [1, 0]  [[1, 2], [na...', '... 7 more',
        '... library frame a.py:5 in apply',
        'user.py:8 in scale', '8 | (source not recorded)',
        'x           float32 [2, 2]  16 B  NaN 1  first bad [1, 0]  [[1, ...',
        'big         float64 [1200]  9.38 KB', 'eps         nan',
        '[red]x[/] \\...nnnnnnnnnn  [red]x[/] \\x1b[2J\\r\\u202ennnnnnnnnnnnn...', 'ValueError: half']


def test_a_wide_panel_tells_the_range(draw):
    text = draw(error_panel(load_error(with_locals())), 160)
    assert 'first bad [1, 0]  [[1, 2], [nan, 4]]' in text
    assert re.search(r'big +float64 \[1200\] +9.38 KB +0 .. 1199  mean 599.5  std 346.4  ', text)


@pytest.mark.parametrize('width', [20, 80, 160])
@pytest.mark.parametrize('how', [{}, {'color': True}, {'ascii_only': True}])
def test_variables_fit_every_console(draw, width, how):
    text = draw(error_panel(load_error(with_locals())), width, **how)
    if how.get('ascii_only'):
        text.encode('ascii')
    plain_text = re.sub(r'\x1b\[[\d;]*m', '', text)
    assert all(c == '\n' or c.isprintable() for c in plain_text)
    assert max(map(cell_len, plain_text.splitlines())) <= width
    if how.get('color') and width > 20:
        marked = ' '.join(RED.findall(text))
        assert 'NaN 1' in marked and 'x' in marked.split() and 'bad' in marked.split() and 'big' not in marked


def test_json_has_the_variables():
    outer, inner = plain(with_locals())['locals']
    assert (outer['frame'], outer['hidden'], len(outer['variables'])) == (0, 2, 10)
    assert inner['variables'][0]['name'] == 'x'
    assert inner['variables'][0]['tensor']['stats']['first_bad'] == [1, 0]
    assert (inner['variables'][2]['text'], inner['variables'][2]['tensor']) == ('nan', None)
