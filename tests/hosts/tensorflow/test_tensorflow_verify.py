"""`pyfuncdbg verify` compares what the real TensorFlow gives to a program, whatever it is wrapped in."""
from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pyfuncdbg.hosts import FRAMEWORKS
from pyfuncdbg.hosts.tensorflow.results import RESULT_SOURCES
from pyfuncdbg.ui.commands.programs.result_list import HostResult
from pyfuncdbg.ui.commands.programs.verify import ProgramInput, _at_level, _Outcome, _run
from pyfuncdbg.ui.commands.programs.verify_probe import ResultNotes

pytestmark = pytest.mark.tensorflow


def test_results_in_optionals_and_composites_are_noted(tf: Any, tmp_path: Path) -> None:
    notes = ResultNotes(tmp_path)
    places = []
    for source in RESULT_SOURCES:
        *classes, name = source.path.split('.')
        owner: Any = sys.modules[source.module]
        for part in classes:
            owner = getattr(owner, part)
        places.append((owner, name, getattr(owner, name)))
    notes._install_in(FRAMEWORKS['tensorflow'])
    try:
        iterator = iter(tf.data.Dataset.from_tensors({'loss': tf.constant([1.5, 2.5])}))
        tf.function(lambda: iterator.get_next_as_optional())()
        tf.function(lambda: iterator.get_next_as_optional())()
        tf.function(lambda: tf.ragged.constant([[1, 2], [3]]))()
    finally:
        for owner, name, original in places:
            assert getattr(owner, name) is not original
            setattr(owner, name, original)
    notes.flush()
    lines = (tmp_path / 'results.jsonl').read_text().splitlines()
    assert len(lines) == 2                      # the second Optional is empty
    assert '"float32", [2]' in lines[0] and '"int32", [3]' in lines[1] and '"int64", [3]' in lines[1]


SESSION = '''
import numpy as np, tensorflow.compat.v1 as tf
tf.disable_v2_behavior()
tf.set_random_seed(1)
rng = np.random.RandomState(0)
x = tf.placeholder(tf.float32, [32, 64], name='x')
w = tf.get_variable('w', [64, 50], initializer=tf.random_uniform_initializer(-.1, .1, seed=3))
h = tf.py_func(lambda a: a * np.float32(0.9), [tf.nn.relu(tf.matmul(x, w) + 0.1)], tf.float32, name='shrink')
h.set_shape([32, 50])
y = tf.nn.softmax(h / tf.sqrt(tf.reduce_mean(tf.square(h), -1, keepdims=True) + 1e-5))
loss = tf.reduce_mean(-tf.log(y[:, 0] + 1e-3) * 1.7 / 3.1)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for _ in range(5):
        print('loss', session.run(loss, {x: rng.randn(32, 64).astype('f')}))
'''


def outcome(text: str, results: list[tuple[str, np.ndarray]]) -> _Outcome:
    """A run of a program that imported TensorFlow."""
    data, listed = b'', []
    for what, value in results:
        entry = [repr(value.tobytes()), value.dtype.name, list(value.shape), len(data)]
        listed.append(HostResult('MainThread', None, what, [], [entry]))
        data += value.tobytes()
    return _Outcome(0, text.encode(), b'', '', 1.0, listed, data, fuses_ops=True, said={})


@pytest.mark.parametrize(('level', 'what', 'distance'), [
    ('recording', 'Session.run', None), ('ops', 'Session.run', None), ('ops', 'step', 6e-8),
    ('debugger', 'Session.run', 6e-8)])
def test_where_last_bits_may_differ(level: str, what: str, distance: float | None) -> None:
    value = np.array([2.0, 0.5], np.float32)
    plain, watched = (outcome(f'loss {each[1]!s}\n', [(what, each)]) for each in (value, np.nextafter(value, np.float32(0))))
    assert _at_level(level, plain, plain) is None
    found = _at_level(level, plain, watched)
    assert found is not None and (found.what, found.where) == ('results', f'{what} number 1, value 0 element [0]')
    assert found.distance == (None if distance is None else pytest.approx(distance, rel=0.05))


def test_what_native_code_logs_while_nodes_are_stepped_through_is_no_difference() -> None:
    value = np.array([2.0], np.float32)
    log = 'W cost.cc:699] Error in PredictCost() for the op\n\t [[{{node w}}]]\n'
    plain, watched, other = (outcome(text, [('Session.run', value)]) for text in (log + 'a 1.0\n', 'a 1.0\n', 'b 1.0\n'))
    found = _at_level('debugger', plain, watched)
    assert found is not None and (found.what, found.distance) == ('stdout', 0.0)
    for level, text in (('recording', watched), ('debugger', other)):
        far = _at_level(level, plain, text)
        assert far is not None and far.distance is None


def test_breakpoints_on_nodes_change_last_bits_alone(tmp_path: Path) -> None:
    program = tmp_path / 'program.py'
    program.write_text(SESSION)
    plain, recorded, stepped = (_run([str(program)], level, ProgramInput(3), noted=True)
                                for level in ('plain', 'ops', 'debugger'))
    assert plain.fuses_ops and (plain.code, recorded.code, stepped.code) == (0, 0, 0)
    assert [one.what for one in plain.results] == ['Session.run'] * 5 and _at_level('ops', plain, recorded) is None
    found = _at_level('debugger', plain, stepped)
    assert found is not None and found.what == 'results' and 0 < (found.distance or 0) < 1e-5


EAGER = '''
import numpy as np, tensorflow as tf
x = tf.constant([1.0, 2.0])
with tf.GradientTape() as tape:
    tape.watch(x)
    y = tf.py_function(lambda a: a * a, [x], tf.float32) + tf.numpy_function(np.negative, [x], tf.float32)

@tf.function
def slope(x):
    with tf.GradientTape() as inner:
        inner.watch(x)
        y = tf.numpy_function(np.negative, [x], tf.float32) + x * x
    return inner.gradient(y, x)

print(tape.gradient(y, x), slope(x))
for element in tf.data.Dataset.range(3):
    print(element)
'''


def test_results_of_eager_code_are_noted(tmp_path: Path) -> None:
    (tmp_path / 'program.py').write_text(EAGER)
    plain = _run([str(tmp_path / 'program.py')], 'plain', ProgramInput(1), noted=True)
    assert plain.code == 0, plain.stderr[-2000:]
    assert [one.what for one in plain.results] == [
        'py_function', 'numpy_function', 'GradientTape.gradient', 'py_function', 'GradientTape.gradient',   # of its step too
        'slope', *['Iterator.get_next'] * 3]
