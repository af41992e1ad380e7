"""Stacks of nodes whose code is gone: TensorFlow's own pointers to it dangle, and to follow one kills the process."""
from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyfuncdbg
from pyfuncdbg.observers.debug.reports.source_files import MissingLines, missing_lines
from pyfuncdbg.observers.record.trace import Trace
from pyfuncdbg.ui.commands.engine.command import Context
from pyfuncdbg.ui.commands.execute import execute

pytestmark = pytest.mark.tensorflow

PROGRAM = '''
import gc, sys
import tensorflow as tf
import pyfuncdbg

BUILD = """
def add(x): return x + x.dtype.type(1)
with graph.as_default():
    x = tf.compat.v1.placeholder(tf.float32, ())
    y = tf.negative(tf.compat.v1.py_func(add, [x], tf.float32, name='py'), name='y')
"""

def build(space):
    exec(compile(BUILD, 'cell.py', 'exec'), space)

space = {'tf': tf, 'graph': tf.Graph()}
if sys.argv[1] == 'before':
    build(space)
with pyfuncdbg.attach('tensorflow'), pyfuncdbg.record('t.pfd', ops=True):
    if sys.argv[1] == 'after':
        build(space)
    gc.collect()
    with tf.compat.v1.Session(graph=space['graph']) as session:
        print(session.run(space['y'], {space['x']: 1.0}))
'''


@pytest.mark.parametrize(('made', 'place'), [('before', None), ('after', ('cell.py', 5))])
def test_a_node_whose_code_is_gone_can_be_looked_at(tmp_path: Path, made: str, place: tuple[str, int] | None) -> None:
    (tmp_path / 'prog.py').write_text(PROGRAM)
    environment = dict(os.environ, PYTHONPATH=str(Path(pyfuncdbg.__file__).parents[1]), TF_CPP_MIN_LOG_LEVEL='3',
                       PYTHONMALLOC='debug')            # memory that is freed holds no address any more
    done = subprocess.run([sys.executable, 'prog.py', made], cwd=tmp_path, env=environment, capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, timeout=100)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout == '-2.0\n'
    with pyfuncdbg.load(tmp_path / 't.pfd') as trace:
        stacks = {call.site.name: call.site.stack for call in trace.calls() if call.site.name in ('py', 'y')}
    assert set(stacks) == {'py', 'y'}
    for stack in stacks.values():
        assert ((Path(stack[-1].filename).name, stack[-1].line) if stack else None) == place


REFUSED = """
import sys
import tensorflow as tf
if sys.argv[1] == 'watched':
    import pyfuncdbg
    pyfuncdbg.attach('tensorflow')
tf.debugging.disable_traceback_filtering()
with tf.Graph().as_default():
    x = tf.compat.v1.placeholder(tf.float32, (2,))
    tf.raw_ops.MatMul(a=x, b=x)
"""


def test_a_node_that_is_refused_is_refused_as_without_us(tmp_path: Path) -> None:
    (tmp_path / 'prog.py').write_text(REFUSED)
    environment = dict(os.environ, PYTHONPATH=str(Path(pyfuncdbg.__file__).parents[1]), TF_CPP_MIN_LOG_LEVEL='3')

    def said(how: str) -> list[str]:
        done = subprocess.run([sys.executable, 'prog.py', how], cwd=tmp_path, env=environment, capture_output=True,
                              text=True, stdin=subprocess.DEVNULL, timeout=100)
        assert done.returncode == 1
        return done.stderr[done.stderr.index('Traceback'):].splitlines()

    watched = said('watched')
    assert 'rank 2' in watched[-1]
    assert watched == said('plain')


def test_why_a_line_is_not_known_is_said_where_one_looks(tf: Any, tmp_path: Path) -> None:
    v1, graph = tf.compat.v1, tf.Graph()
    with graph.as_default():
        x = v1.placeholder(tf.float32, (2,), name='x')
        old = v1.py_func(np.sinh, [tf.nn.relu(x, name='relu')], tf.float32, name='old')
    other = tf.Graph()
    with other.as_default():
        tf.nn.relu(v1.placeholder(tf.float32, (2,), name='x'), name='read')
    with pyfuncdbg.attach('tensorflow'), pyfuncdbg.record(tmp_path / 'old.pfd', ops=True):
        with graph.as_default():
            read, = tf.import_graph_def(other.as_graph_def(), {'x:0': x}, ['read:0'], name='')
            new = tf.add(old, read, name='new')
        with v1.Session(graph=graph) as session:
            assert session.run(new, {x: [0, 1]}).tolist() == [0, np.sinh(np.float32(1)) + 1]
    with Trace.open(tmp_path / 'old.pfd') as trace:
        lines = 'ni relu', 'ni old', 'ni read', 'ni new', 'ls'
        shown = {line: execute(line, Context(trace)).text(200) for line in lines}
        assert missing_lines(trace) == MissingLines(before_attachment=2, imported=1)
    for name in ('relu', 'old'):
        assert 'made before pyfuncdbg attached: attach before' in shown[f'ni {name}']
    assert 'read from a GraphDef' in shown['ni read']
    assert 'not known' not in shown['ni new'] and 'test_tensorflow_creation.py' in shown['ni new']
    assert 'without a line: 2 nodes made before' in shown['ls'] and '1 node read from a GraphDef' in shown['ls']
    assert '_no_line' not in ''.join(shown.values())
