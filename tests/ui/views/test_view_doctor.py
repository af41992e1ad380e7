"""What doctor tells: a paragraph a finding, code that can be pasted at any width, and how far one may rely on it."""
from __future__ import annotations

import ast
import re
from typing import Any

import pytest
from rich.cells import cell_len

from pyfuncdbg.hooks.diagnosis import Finding, InterpreterUse, Place
from pyfuncdbg.observers.debug.diagnosis.diagnose import Diagnosis
from pyfuncdbg.ui.views.reports.doctor import NAMES, code, doctor_view

LEAK = Finding('leak', 'square', Place('/home/me/train.py', 31), 'Every eager call leaves its function in the registry',
               {'entries': 1200, 'entries a call': 1.0, 'held bytes': 8_400_000, 'CPU seconds': 0.25,
                'share of its time': 0.83}, 'y = square(x)', 'call the function itself', ('17', '2.3'))
LONG = Finding('shape', 'load', Place('data.py', 7), 'The output has no shape ' * 20, {},
               'dataset = tf.data.Dataset.from_tensor_slices((names, numbers), name="the, data").map(lambda n: '
               'tf.ensure_shape(tf.numpy_function(load, [n], tf.float32), [None, 3]), num_parallel_calls=4)')
NASTY = '[red]x[/] \x1b[2J\r\n\u202e\ud800 ' + 'n' * 300


def test_a_paragraph_has_place_words_figures_and_code(draw: Any) -> None:
    diagnosis = Diagnosis((LEAK,), 1200, 2, True, {'TensorFlow': '2.21.0'})
    lines = [line.rstrip() for line in draw(doctor_view(diagnosis), 160).splitlines()]
    assert lines == ['1 finding   1,200 calls at 2 sites judged, TensorFlow 2.21.0', '',
                     '1 LEAK  train.py:31  square',
                     '  Every eager call leaves its function in the registry',
                     '  entries 1,200, entries a call 1, held 8.01 MB, CPU 250 ms, share of its time 83%',
                     '  call #17, #2.3',
                     '  call the function itself:', '    y = square(x)']


def test_the_time_of_functions_is_a_table_that_fits(draw: Any) -> None:
    uses = (InterpreterUse('load', Place('train.py', 12), 1200, 4, 2.1, 6.0, 2.2, 2.4, 4.9e-3),
            InterpreterUse('scale', Place('train.py', 40), 7, 1, 0.0, 0.5, 0.5, 5.0, None))
    wide = [line.split() for line in draw(doctor_view(Diagnosis((), 12, 1, True, uses=uses)), 160).splitlines()]
    assert wide[4:6] == [['load', 'train.py:12', '1,200', '2.1', 's', '3.9', 's', '4', '0.95', '92%', '4.9', 'ms'],
                         ['scale', 'train.py:40', '7', '0', 's', '500', 'ms', '1', '0.00', '10%']]
    narrow = draw(doctor_view(Diagnosis((), 12, 1, True, uses=uses)), 80)
    assert max(map(cell_len, narrow.splitlines())) <= 80 and 'train.py:12' in narrow and '2.1 s' in narrow


@pytest.mark.parametrize('width', [80, 160])
def test_code_that_is_too_wide_is_broken_where_python_allows_it(draw: Any, width: int) -> None:
    text = draw(doctor_view(Diagnosis((LONG,), 1, 1, True)), width)
    assert max(cell_len(line) for line in text.splitlines()) <= width
    shown = text[text.index('    dataset ='):]
    assert ast.dump(ast.parse(re.sub(r'^    ', '', shown, flags=re.MULTILINE))) == ast.dump(ast.parse(LONG.fix))
    assert '"the, data"' in shown


def test_code_without_a_place_to_break_stays_as_it_is() -> None:
    assert code('a' * 200, 80) == 'a' * 200
    assert code('f(a, b)\n  g(c, d)', 80) == 'f(a, b)\n  g(c, d)'


@pytest.mark.parametrize('width', [20, 80, 160])
def test_nothing_of_a_program_acts_on_the_terminal(draw: Any, width: int) -> None:
    nasty = Finding(NASTY, NASTY, Place(NASTY, 3), NASTY, {NASTY: NASTY, f'{NASTY} bytes': 10**15}, NASTY, NASTY, (NASTY,))
    use = InterpreterUse(NASTY, Place(NASTY, 3), 10**18, 10**18, 1e9, 1e9, 1e-9, 1e9, 1e9)
    text = draw(doctor_view(Diagnosis((nasty,), 1, 1, True, {NASTY: NASTY}, NASTY, False, 1e9, (use,))), width)
    assert all(char == '\n' or char.isprintable() for char in text)
    assert max(cell_len(line) for line in text.splitlines()) <= width


@pytest.mark.parametrize(('diagnosis', 'said'), [
    (Diagnosis((), 12, 1, True), 'None of the known faults was found.'),
    (Diagnosis((), 0, 0, True), 'No Python function was called by a framework: there are no calls to judge.'),
    (Diagnosis((), 12, 1, False), 'Judged by calls alone: leaks, waiting and compilations are known of programs that ran '
                                  'under "pyfuncdbg doctor".'),
    (Diagnosis((), 0, 0, True, raised="ModuleNotFoundError: No module named 'tensorflow'", missing='tensorflow'),
     "It is not installed in this Python: pip install 'pyfuncdbg[tensorflow]'"),
    (Diagnosis((LEAK,), 12, 1, True, ended=False, until=2.5),
     'killed or left by os._exit: figures of leaks and time are as of 2.5 s after its start.')])
def test_how_far_one_may_rely_on_it(draw: Any, diagnosis: Diagnosis, said: str) -> None:
    assert said in draw(doctor_view(diagnosis), 200)


def test_every_kind_has_a_name() -> None:
    told = Finding.__doc__ or ''
    kinds = re.findall(r"'([a-z ]+)'", told[told.index('kind:'):told.index('site:')])
    assert sorted(kinds) == sorted(NAMES)
