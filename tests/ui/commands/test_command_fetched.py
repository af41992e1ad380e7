"""`ni` tells who takes each output of a node: other nodes, the program that fetches it, or nobody."""
from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_command_graph import typing

import pyfuncdbg
from pyfuncdbg import tf
from pyfuncdbg.ui.commands.engine.command import Context
from pyfuncdbg.ui.commands.execute import execute


def halved(x: Any) -> Any:
    return x / np.float32(2)


def taken(context: Context, line: str) -> tuple[bool, str]:
    """Whether the only output is fetched, and what stands behind its value."""
    answer = execute(line, context)
    (made,) = answer.result.outputs
    (row,) = [row for row in answer.text(120).splitlines() if row.startswith(f'  {made.name}')]
    return made.fetched, row.rpartition('   ')[2].rpartition('] = ')[2].partition('  ')[2].strip()


def run_in(tf: Any, v1: Any, path: Path) -> None:
    with pyfuncdbg.record(path, ops=True), tf.Graph().as_default() as graph:
        x = v1.placeholder(tf.float32, [2], name='x')
        half = tf.numpy_function(halved, [x], tf.float32, name='half')
        twice = tf.multiply(half, half, name='twice')
        aside = tf.negative(half, name='aside')
        with v1.Session(graph=graph) as session:
            session.run([half, twice], {x: [1.0, 3.0]})
            session.run(aside.op, {x: [1.0, 3.0]})


def check(path: Path) -> None:
    with pyfuncdbg.load(path) as trace:
        context = Context(trace)
        last, first = [call.run for call in trace.calls(kind='run', newest_first=True)]
        expected = {'half': (True, '-> aside, twice; fetched'), 'twice': (True, 'fetched'), 'aside': (False, 'not used')}
        assert {name: taken(context, f'ni {name}') for name in expected} == expected
        assert taken(context, f'ni half --run {first}') == (True, '-> twice; fetched')
        assert taken(context, f'ni half --run {last}') == (False, '-> aside')


def test_fetched_outputs_are_no_unused_ones(tmp_path: Path) -> None:
    run_in(tf, tf, tmp_path / 't.pfd')
    check(tmp_path / 't.pfd')


@pytest.mark.tensorflow
def test_fetched_outputs_of_tensorflow(tmp_path: Path) -> None:
    import tensorflow
    with pyfuncdbg.attach('tensorflow'):
        run_in(tensorflow, tensorflow.compat.v1, tmp_path / 't.pfd')
    check(tmp_path / 't.pfd')


def test_what_a_stopped_run_will_fetch_is_known() -> None:
    with tf.Graph().as_default() as graph:
        half = tf.numpy_function(halved, [tf.constant([1.0, 3.0])], tf.float32, name='half')
        with tf.Session(graph=graph) as session, typing('ni half', 'cont') as typist:
            session.run(half)
    assert 'fetched' in typist.texts[0] and 'not used' not in typist.texts[0]


def test_what_a_run_that_raised_was_to_fetch_is_known(tmp_path: Path) -> None:
    def fails(x: Any) -> Any:
        raise ValueError('on purpose')
    with pyfuncdbg.record(tmp_path / 't.pfd', ops=True), tf.Graph().as_default() as graph:
        half = tf.numpy_function(halved, [tf.constant([1.0, 3.0])], tf.float32, name='half')
        bad = tf.numpy_function(fails, [half], tf.float32, name='bad')
        with tf.Session(graph=graph) as session, pytest.raises(tf.errors.OpError):
            session.run([half, bad])
    with pyfuncdbg.load(tmp_path / 't.pfd') as trace:
        (run,) = trace.calls(kind='run')
        assert taken(Context(trace), f'ni half --run {run.run}') == (True, '-> bad; fetched')
