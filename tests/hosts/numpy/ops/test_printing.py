"""`tf.print`: what it writes and where."""
from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import pyfuncdbg.tf as tf
from pyfuncdbg.hosts.numpy.graph.graph import Graph
from pyfuncdbg.hosts.numpy.runtime.sessions.session import Session


def test_tensors_and_python_values(capsys: pytest.CaptureFixture[str]) -> None:
    tf.print(tf.constant([1., 2.5, 1e-7, 1e20, np.nan, np.inf, 3]), 'a', 5, [1, tf.constant(2)], {'k': tf.constant(1)}, True,
             tf.constant(True), None, tf.constant(['s']), 0.1, tf.constant(0.1, tf.float64))
    out, err = capsys.readouterr()
    assert err == "[1 2.5 1e-07 ... nan inf 3] a 5 [1, 2] {'k': 1} True 1 None [\"s\"] 0.1 0.1\n"
    assert out == ''


def test_numbers_as_tensorflow_writes_them(capsys: pytest.CaptureFixture[str]) -> None:
    tf.print(*(tf.constant(v) for v in (123456789., 1e6, 1e5, 1e-4, 1e-5, 0.0001234, 1e10, 16777216., 1e15)))
    assert capsys.readouterr().err == '123456792 1e+06 100000 0.0001 1e-05 0.0001234 1e+10 16777216 1e+15\n'


def test_axes_separator_and_end(capsys: pytest.CaptureFixture[str]) -> None:
    tf.print(tf.ones([2, 3]), tf.zeros([2, 2, 2]), sep='|', end='!\n')
    assert capsys.readouterr().err == '[[1 1 1]\n [1 1 1]]|[[[0 0]\n  [0 0]]\n\n [[0 0]\n  [0 0]]]!\n'


def test_a_lone_string_is_not_quoted_and_braces_are_kept(capsys: pytest.CaptureFixture[str]) -> None:
    tf.print(tf.constant('plain {}'))
    tf.print('{}', {'a': '{}'}, tf.constant(1))
    assert capsys.readouterr().err == "plain {}\n{} {'a': '{}'} 1\n"


def test_streams(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    tf.print('out', output_stream=sys.stdout)
    tf.print('one', output_stream=f'file://{tmp_path}/log')
    tf.print('two', output_stream=f'file://{tmp_path}/log')
    assert capsys.readouterr() == ('out\n', '')
    assert (tmp_path / 'log').read_text() == 'one\ntwo\n'
    with pytest.raises(ValueError, match='Unsupported output stream'):
        tf.print('x', output_stream='nowhere')


def test_it_prints_each_time_the_node_runs(capsys: pytest.CaptureFixture[str]) -> None:
    with Graph().as_default() as graph:
        op = tf.print('step', tf.constant(3))
        session = Session(graph=graph)
        assert capsys.readouterr().err == ''
        session.run(op)
        session.run(op)
    assert capsys.readouterr().err == 'step 3\nstep 3\n'


def test_print_of_tensorflow_1_counts_per_node(capsys: pytest.CaptureFixture[str]) -> None:
    with Graph().as_default() as graph:
        x = tf.compat.v1.Print(tf.constant([1., 2.]), [tf.constant([5, 6])], 'value ', first_n=2)
        session = Session(graph=graph)
        values = [session.run(x) for _ in range(3)]
    assert capsys.readouterr().err == 'value [5 6]\nvalue [5 6]\n'
    np.testing.assert_array_equal(values, [[1, 2]] * 3)
