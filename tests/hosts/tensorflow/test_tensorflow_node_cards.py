"""`ni` and `graph` on functions of the real TensorFlow: whose nodes they are, and none of the nodes that watch them."""
from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyfuncdbg
from pyfuncdbg.errors import CommandError
from pyfuncdbg.ui.commands.engine.command import Context
from pyfuncdbg.ui.commands.execute import execute

pytestmark = pytest.mark.tensorflow


@pytest.fixture
def step(tf: Any) -> Any:
    """A function whose second Python function TensorFlow runs after the first."""
    def norm(x: Any) -> Any:
        return x / x.max()

    def scale(x: Any) -> Any:
        return x * 2

    @tf.function
    def step(x: Any) -> Any:
        h = tf.add(x, 1., name='h')
        first = tf.ensure_shape(tf.numpy_function(norm, [h], tf.float32, name='norm'), [3])
        return tf.py_function(scale, [first], tf.float32, name='scale')
    return step


def shown(context: Context, line: str) -> str:
    return ' '.join(execute(line, context).text(200).split())


def test_nodes_that_were_not_recorded_are_said_to_be_of_their_function(tf: Any, step: Any, tmp_path: Path) -> None:
    with pyfuncdbg.attach('tensorflow'), pyfuncdbg.record(tmp_path / 't.pfd'):
        step(tf.ones(3))
    with pyfuncdbg.load(tmp_path / 't.pfd') as trace:
        context = Context(trace)
        card, h = shown(context, 'ni norm'), shown(context, 'ni h')
        assert 'part of function step, called in run #' in card and 'its other nodes are recorded with --ops' in card
        assert 'then run scale (control)' in card and 'eager' not in card
        assert h.startswith('node h from outside') and 'feed' not in h and 'eager' not in h and '-> norm' in h
        with pytest.raises(CommandError, match='are of functions whose nodes were not recorded, which --ops does'):
            execute('graph', context)


def test_our_own_nodes_are_no_nodes_of_the_program(tf: Any, step: Any, tmp_path: Path) -> None:
    with pyfuncdbg.attach('tensorflow'), pyfuncdbg.record(tmp_path / 't.pfd', ops=True):
        assert np.array_equal(step(tf.ones(3)), [2, 2, 2])
    with pyfuncdbg.load(tmp_path / 't.pfd') as trace:
        context = Context(trace)
        cards = {name: shown(context, f'ni {name}') for name in ('h', 'norm', 'scale')}
        assert 'waits for' not in cards['norm'] and 'waits for norm (control)' in cards['scale']
        assert 'part of step, 1 run' in cards['norm'] and 'h:0 AddV2 float32[3] = 2 2 2' in cards['norm']
        lists = [shown(context, line) for line in ('graph', 'li scale --control', 'lo h --control', 'lt --json')]
        assert not any('observer' in text for text in (*cards.values(), *lists))


def test_nodes_of_a_loop_wait_for_those_of_its_body(tf: Any, tmp_path: Path) -> None:
    """A control input in a body was a node of that name outside, and a constant there came 'from outside'."""
    def halve(x: Any) -> Any:
        return x / 2

    def check(x: Any, i: Any) -> Any:
        return x

    @tf.function
    def shrink(x: Any) -> Any:
        i = 0
        while tf.reduce_sum(x) > 1.:
            x = tf.ensure_shape(tf.numpy_function(halve, [x], tf.float32, name='halve'), [3])
            i += 2
            if i > 2:
                x = tf.ensure_shape(tf.numpy_function(check, [x, i], tf.float32, name='check'), [3])
        return x
    with pyfuncdbg.attach('tensorflow'), pyfuncdbg.record(tmp_path / 't.pfd', ops=True):
        assert float(shrink(tf.constant([1., 2., 3.]))[2]) == 0.375
    with pyfuncdbg.load(tmp_path / 't.pfd') as trace:
        context = Context(trace)
        site = trace.calls(site='*halve')[0].site
        body = str(site.attrs['graph'])
        card, branch = shown(context, f'ni {site.name}'), shown(context, f'ni {body}/while/cond')
        assert card.startswith(f'node {body}/') and 'halve' in card and '3 calls' in card and 'outside x' not in card
        assert f'then run {body}/while/cond (control)' in card and f'waits for {body}/{site.name} (control)' in branch
        tree = shown(context, 'li check')
        assert 'add/y:0 constant int32[] = 2' in tree and 'values: newest of run #' in tree
        assert 'values: run #' in shown(context, 'li while')


def test_an_element_that_tensorflow_does_not_tell_is_said_to_be_unknown(tf: Any, tmp_path: Path) -> None:
    """A condition on it was never true before, without a word."""
    program = tmp_path / 'program.py'
    program.write_text('''
import numpy as np, tensorflow as tf
def load(i):
    return np.full(3, i, np.float32)
data = tf.data.Dataset.range(4).map(lambda i: tf.numpy_function(load, [i], tf.float32, name='load'))
print([float(x[0]) for x in data])
''')
    environment = os.environ | {'PYTHONPATH': os.pathsep.join(sys.path), 'COLUMNS': '160', 'TF_CPP_MIN_LOG_LEVEL': '3'}
    command = [sys.executable, '-m', 'pyfuncdbg', 'run', '--break', 'load if element == 2', 'program.py']
    done = subprocess.run(command, input='ni load\nc\n', capture_output=True, text=True, cwd=tmp_path, env=environment,
                          timeout=100)
    assert done.returncode == 0 and '[0.0, 1.0, 2.0, 3.0]' in done.stdout
    told = ' '.join(done.stderr.split())
    assert told.count('STOPPED') == 1
    assert "NameError: 'element' is not known: tensorflow does not tell which element a call works on" in told
    assert 'program.py:5 in <lambda>' in told


def test_functions_of_datasets_whose_nodes_have_one_name_are_told_apart(tf: Any, tmp_path: Path) -> None:
    def load(i: Any) -> Any:
        return np.float32(i)

    def scale(x: Any, by: Any) -> Any:
        return x * by

    def mean(x: Any) -> Any:
        return x.mean()
    with pyfuncdbg.attach('tensorflow'), pyfuncdbg.record(tmp_path / 't.pfd'):
        data = tf.data.Dataset.range(4).map(lambda i: tf.numpy_function(load, [i], tf.float32))
        data = data.map(lambda x: tf.numpy_function(scale, [x, tf.constant(2.)], tf.float32))
        assert [float(tf.numpy_function(mean, [x], tf.float32)) for x in data] == [0, 2, 4, 6]
    with pyfuncdbg.load(tmp_path / 't.pfd') as trace:
        context = Context(trace)
        for name, inputs in (('load', 'args_0:0 from outside'), ('scale', 'Const:0 constant float32[] = 2'), ('mean', '')):
            number = next(call.number for call in trace.calls() if call.site.function.endswith(name))
            for line in (f'ni {name}', f'ni #{number}'):
                card = shown(context, line)
                assert f'.{name} ' in card and inputs in card and 'calls 4 calls' in card


def test_a_list_of_the_nodes_of_several_functions_has_each(tf: Any, tmp_path: Path) -> None:
    def load(i: Any) -> Any:
        return np.float32(i)

    def scale(x: Any) -> Any:
        return x * 2
    with pyfuncdbg.attach('tensorflow'), pyfuncdbg.record(tmp_path / 't.pfd', ops=True):
        data = tf.data.Dataset.range(4).map(lambda i: tf.sqrt(tf.numpy_function(load, [i], tf.float32)))
        data = data.map(lambda x: tf.numpy_function(scale, [x], tf.float32))
        assert [float(x) for x in data][:2] == [0, 2]
    with pyfuncdbg.load(tmp_path / 't.pfd') as trace:
        context = Context(trace)
        rows = [(row.site.function.rpartition('.')[2] or row.site.op_type, float(row.value.to_numpy()))
                for row in execute('graph', context).result.rows]
        assert rows == [('load', 3), ('Sqrt', np.sqrt(np.float32(3))), ('scale', 2 * np.sqrt(np.float32(3)))]
        assert execute('li Sqrt', context).result.lineage.rows[1].function.endswith('load')
        assert 'recorded with --ops' not in shown(context, 'ni load')
        with pytest.raises(CommandError, match='a diagram cannot tell apart'):
            execute('graph --as dot', context)
