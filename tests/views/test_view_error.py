"""The traceback panel begins at the user's frames."""
from __future__ import annotations

from pyfuncdbg import errors
from pyfuncdbg.hooks.call import Frame
from pyfuncdbg.record.records import ErrorRecord
from pyfuncdbg.views.error import error_panel, innermost
from pyfuncdbg.views.source import of_the_user


def inside(text):
    return [line.strip('│').strip() for line in text.splitlines()[1:-1]]


def test_outer_library_frames_are_left_out_and_inner_ones_folded(draw, tmp_path):
    mine = tmp_path / 'mine.py'
    mine.write_text('import numpy\n\ndef f(x):\n    return numpy.linalg.inv(x)\n')
    error = ErrorRecord('LinAlgError', 'Singular matrix', (
        Frame(errors.__file__, 3, 'dispatch'), Frame('/v/lib/python3.11/threading.py', 9, 'run'), Frame(str(mine), 4, 'f'),
        Frame('/v/site-packages/numpy/linalg.py', 5, 'inv'), Frame('/v/site-packages/numpy/linalg.py', 6, 'check')), '')
    assert inside(draw(error_panel(error, 'call #7 f[0]'), 160)) == [
        f'{mine}:4 in f', '4 | return numpy.linalg.inv(x)', '... 2 library frames, the last linalg.py:6 in check',
        'LinAlgError: Singular matrix']
    assert 'LinAlgError in call #7 f[0]' in draw(error_panel(error, 'call #7 f[0]'))
    assert innermost(error) == Frame(str(mine), 4, 'f')


def test_without_a_users_frame_the_last_ones_are_shown(draw):
    error = ErrorRecord('TypeError', '', tuple(Frame('/v/site-packages/a.py', n, 'g') for n in range(1, 9)), '')
    assert inside(draw(error_panel(error))) == [f'/v/site-packages/a.py:{n} in g' for n in (6, 7, 8)] + ['TypeError']


def test_a_recursion_is_cut(draw):
    error = ErrorRecord('RecursionError', 'too deep', tuple(Frame('user.py', n, 'f') for n in range(1, 1001)), '')
    lines = inside(draw(error_panel(error)))
    assert lines[:2] == ['user.py:1 in f', 'user.py:2 in f']
    assert '... 988 frames not shown' in lines
    assert lines[-2:] == ['user.py:1000 in f', 'RecursionError: too deep']


def test_a_long_message_keeps_both_ends(draw):
    text = draw(error_panel(ErrorRecord('ValueError', 'start' + 'x' * 100_000 + 'end', (), '')))
    assert len(text) < 4000
    assert 'start' in text
    assert 'characters not shown' in text
    assert 'end' in text


def test_whose_frame_it_is():
    assert of_the_user('/home/me/model.py')
    assert of_the_user('<ipython-input-3>')
    assert of_the_user('/v/lib/python3.11/site-packages/pyfuncdbg/demo/train.py')
    assert not of_the_user(errors.__file__)
    assert not of_the_user('<frozen importlib._bootstrap>')
    assert not of_the_user('C:\\v\\Lib\\site-packages\\tf\\x.py')
