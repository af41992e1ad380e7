"""Stops on the real TensorFlow's own threads, in a real kernel: answered in the cell, and interrupted."""
from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from notebook_kernel import Notebook, started

pytestmark = [pytest.mark.tensorflow, pytest.mark.timeout(240)]

SETUP = '''\
import numpy as np
import tensorflow as tf
import pyfuncdbg
%load_ext pyfuncdbg
attachment = pyfuncdbg.attach('tensorflow')

def twice(x):
    y = x * 2
    return y

def mapped():
    values = tf.data.Dataset.from_tensor_slices(np.arange(4.0))
    return [float(v) for v in values.map(lambda v: tf.numpy_function(twice, [v], tf.float64)).as_numpy_iterator()]

graph = tf.Graph()
with graph.as_default():
    fed = tf.compat.v1.placeholder(tf.float64, [], name='fed')
    out = tf.numpy_function(twice, [fed], tf.float64, name='out')
session = tf.compat.v1.Session(graph=graph)
'''
SOURCES = {'dataset': 'print(mapped())', 'session': 'print(session.run(out, {fed: 3.0}))'}


@pytest.fixture(scope='module')
def notebook() -> Iterator[Notebook]:
    with started(TF_CPP_MIN_LOG_LEVEL='3', TF_ENABLE_ONEDNN_OPTS='0') as one:
        assert one.run(SETUP).status == 'ok'
        yield one


@pytest.mark.parametrize('source', SOURCES.values(), ids=SOURCES)
def test_a_stop_is_answered_in_the_cell(source: str, notebook: Notebook) -> None:
    cell = notebook.run(f'%%pyfunc --break twice\n{source}', 's', 'n', 'p y * 0 + 77', 'y = y + 100.0', 'quit')
    assert (cell.status, cell.asked) == ('ok', ['(pfd) '] * 5)
    assert re.search(r'\b77\b', cell.text)
    assert re.search(r'10[06]\.0', cell.text)


@pytest.mark.parametrize('source', SOURCES.values(), ids=SOURCES)
def test_an_interrupt_ends_the_cell_and_nothing_of_it_is_left(source: str, notebook: Notebook) -> None:
    cell = notebook.run(f'%%pyfunc --break twice\n{source}', 's', notebook.manager.interrupt_kernel)
    assert (cell.status, cell.error, cell.displayed) == ('error', 'KeyboardInterrupt', 'KeyboardInterrupt'), cell.text
    assert cell.asked == ['(pfd) '] * 2         # TensorFlow's thread goes on with the next element, which asks no more
    wrong = notebook.run('try:\n    tf.constant([1.0, 2.0]) + tf.constant([1.0, 2.0, 3.0])\n'
                         'except tf.errors.OpError as error:\n    print(type(error).__name__)')
    assert (wrong.status, wrong.text) == ('ok', 'InvalidArgumentError\n')
    again = notebook.run(source)
    assert (again.status, again.text) == ('ok', {'print(mapped())': '[0.0, 2.0, 4.0, 6.0]\n'}.get(source, '6.0\n'))
