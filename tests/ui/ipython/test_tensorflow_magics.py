"""The magics over the real TensorFlow, imported before the extension is loaded: recorded cells, `%debug`, unloading."""
from __future__ import annotations

from collections.abc import Iterator

import pytest
from notebook_kernel import Notebook, started

pytestmark = [pytest.mark.tensorflow, pytest.mark.timeout(240)]

SETUP = '''\
import numpy as np
import tensorflow as tf

def fail(x):
    y = 41
    raise ValueError(f'no {y}')

def outer(x):
    return tf.py_function(fail, [x], tf.float32)

@tf.function
def traced(x):
    return outer(x) + 1.0

graph = tf.Graph()
with graph.as_default():
    fed = tf.compat.v1.placeholder(tf.float32, [], name='fed')
    out = outer(fed)

def run():
    with tf.compat.v1.Session(graph=graph) as session:
        return session.run(out, {fed: 1.0})

from tensorflow.python.client.session import BaseSession
from tensorflow.python.ops import script_ops
parts = [BaseSession, script_ops, script_ops.FuncRegistry, script_ops.EagerFunc]
before = [dict(vars(part)) for part in parts]
'''
CALLS = {'eager': ('outer(1.0)', 'outer()'), 'traced': ('traced(tf.constant(1.0))', '<module>'),
         'session': ('run()', 'run()')}


@pytest.fixture(scope='module')
def notebook() -> Iterator[Notebook]:
    with started(TF_CPP_MIN_LOG_LEVEL='3', TF_ENABLE_ONEDNN_OPTS='0') as one:
        assert one.run(SETUP).status == 'ok'
        assert one.run('%load_ext pyfuncdbg').status == 'ok'
        yield one


@pytest.mark.parametrize('way', CALLS)
def test_debug_begins_in_the_function_and_up_is_where_the_program_called(way: str, notebook: Notebook) -> None:
    source, above = CALLS[way]
    cell = notebook.run(f'%%pyfunc\n{source}')
    assert cell.error == 'InvalidArgumentError'
    assert 'ValueError in call #' in cell.shown[-1]['text/plain']
    cell = notebook.run('%debug', 'p y * 100', 'up', 'q')
    assert '4100' in cell.text
    assert 'fail()' in cell.text
    assert above in cell.text.partition('4100')[2]
    assert 'site-packages' not in cell.text


def test_unloading_puts_tensorflow_back(notebook: Notebook) -> None:
    same = 'print(before == [dict(vars(part)) for part in parts])'
    assert notebook.run(same).text == 'False\n'
    assert notebook.run('%unload_ext pyfuncdbg').status == 'ok'
    assert notebook.run(same).text == 'True\n'
