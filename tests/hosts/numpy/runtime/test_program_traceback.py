"""What a program's author sees of an error: the program's own frames, and next to none of ours."""
from __future__ import annotations

import copyreg
import pickle
import re
import subprocess
import sys
import traceback
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import pyfuncdbg
from pyfuncdbg import tf
from pyfuncdbg.hooks.program_traceback import whole_traceback

PACKAGE = str(Path(pyfuncdbg.__file__).parent)
tf1 = tf.compat.v1


def boom(*_: object) -> object:
    raise KeyError('boom')


def in_session() -> None:
    with tf.Graph().as_default():
        x = tf1.placeholder(tf.float32, [2])
        y = tf.numpy_function(boom, [x], tf.float32)
        with tf1.Session() as sess:
            sess.run(y, {x: np.ones(2)})            # raises


def in_session_of_no_such_tensor() -> None:
    with tf.Graph().as_default():
        tf.constant(1)
        with tf1.Session() as sess:
            sess.run('nothing:0')                   # raises


def in_graph() -> None:
    with tf.Graph().as_default():
        x = tf1.placeholder(tf.float32, [2, 3])
        tf.matmul(x, x)                             # raises


def in_function() -> None:
    @tf.function
    def f(x):                                       # type: ignore[no-untyped-def]
        return tf.numpy_function(boom, [x], tf.float32)
    f(tf.ones(2))                                   # raises


def while_traced() -> None:
    @tf.function
    def f(x):                                       # type: ignore[no-untyped-def]
        return tf.matmul(x, x)
    f(tf.ones([2, 3]))                              # raises


def in_concrete() -> None:
    f = tf.function(lambda x: x + 1).get_concrete_function(tf.TensorSpec([2], tf.float32))
    f(tf.constant([1, 2]))                          # raises


def in_dataset() -> None:
    data = tf.data.Dataset.range(3).map(lambda x: tf.numpy_function(boom, [x], tf.int64))
    next(iter(data))                                # raises


def in_mapped_function() -> None:
    tf.data.Dataset.range(3).map(lambda x: [][0])   # raises


def in_branch() -> None:
    tf.cond(tf.constant(True), lambda: boom(), lambda: tf.constant(1))          # raises


def in_loop() -> None:
    tf.while_loop(lambda i: i < 3, lambda i: boom(), [tf.constant(0)])          # raises


def in_map_fn() -> None:
    tf.map_fn(boom, tf.ones(3))                     # raises


def in_gradient() -> None:
    @tf.custom_gradient
    def f(x):                                       # type: ignore[no-untyped-def]
        return x, boom
    x = tf.Variable(1.0)
    with tf.GradientTape() as tape:
        y = f(x)
    tape.gradient(y, x)                             # raises


def in_eager_function() -> None:
    tf.py_function(boom, [tf.ones(2)], tf.float32)  # raises


def in_op() -> None:
    tf.matmul(tf.ones([2, 3]), tf.ones([2, 3]))     # raises


def in_operator() -> None:
    tf.ones(3) + tf.ones(2)                         # raises


def in_cast() -> None:
    tf.cast('a', tf.float32)                        # raises


MOST = {in_op: 1, in_operator: 1, in_graph: 1}
"""Frames of ours that stay, where more are not allowed than none: TensorFlow leaves two of its own."""


@pytest.mark.parametrize('program', [
    in_session, in_session_of_no_such_tensor, in_graph, in_function, while_traced, in_concrete, in_dataset,
    in_mapped_function, in_branch, in_loop, in_map_fn, in_gradient, in_eager_function, in_op, in_operator, in_cast])
def test_the_frames_are_the_programs(program: Callable[[], None], monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Exception) as caught:
        program()
    chain, error = [], caught.value
    while error is not None:
        chain.append(error)
        error = error.__cause__
    frames = traceback.extract_tb(chain[0].__traceback__)
    here = [frame for frame in frames if frame.filename == __file__]
    assert any('# raises' in (frame.line or '') for frame in here)
    for one in chain:
        ours = [frame for frame in traceback.extract_tb(one.__traceback__) if frame.filename.startswith((PACKAGE, '<plan'))]
        assert len(ours) <= (MOST.get(program, 0) if one is chain[0] else 1), ours
    monkeypatch.setenv('PYFUNCDBG_FULL_TRACEBACK', '1')
    with pytest.raises(type(chain[0])) as full:
        program()
    assert re.sub(r'\d+', '', str(full.value)) == re.sub(r'\d+', '', str(chain[0]))
    assert len(traceback.extract_tb(full.value.__traceback__)) > len(frames)


def test_the_debugger_has_all_frames() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        tf.cond(tf.constant(True), lambda: tf.reshape(tf.ones(3), [2, 2]), lambda: tf.zeros(1))
    error = caught.value
    whole = traceback.extract_tb(whole_traceback(error))
    shown = traceback.extract_tb(error.__traceback__)
    assert [frame for frame in whole if not frame.filename.startswith(PACKAGE)] == [
        frame for frame in shown if not frame.filename.startswith(PACKAGE)]
    assert [frame.name for frame in whole][-1] == '_reshape' and {'cond', 'apply', 'reshape'} <= {
        frame.name for frame in whole} and len(shown) < len(whole)
    again = pickle.loads(pickle.dumps(ValueError('x')))
    assert whole_traceback(again) is None
    error.__traceback__ = None                  # who clears it means it
    assert whole_traceback(error) is None


def test_an_error_is_pickled_without_its_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match='non-rectangular') as caught:
        tf.constant([[1], [2, 3]])
    monkeypatch.delitem(copyreg.dispatch_table, ValueError, raising=False)  # `distributed` lets errors take frames along
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value) and whole_traceback(again) is None


def test_frames_of_the_program_in_the_middle_stay() -> None:
    def inner() -> object:
        return boom()
    with pytest.raises(KeyError) as caught:
        tf.cond(tf.constant(True), inner, inner)
    names = [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert names[-2:] == ['inner', 'boom'] and len(names) == 3


@pytest.mark.parametrize('full', ['', '1'])
def test_a_script_and_ipython_show_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, full: str) -> None:
    (tmp_path / 'prog.py').write_text('from pyfuncdbg import tf\ntf.map_fn(lambda x: [][0], tf.ones(3))\n')
    monkeypatch.setenv('PYFUNCDBG_FULL_TRACEBACK', full)
    monkeypatch.setenv('IPYTHONDIR', str(tmp_path))
    for command in ([], ['-m', 'pyfuncdbg', 'run'], ['-m', 'IPython', '--colors=NoColor']):
        done = subprocess.run([sys.executable, *command, 'prog.py'], cwd=tmp_path, capture_output=True, text=True,
                              timeout=100, check=False)
        said = done.stdout + done.stderr
        assert 'IndexError: list index out of range' in said and 'lambda x: [][0]' in said
        assert (PACKAGE in said.replace('~', str(Path.home()))) == bool(full), said
