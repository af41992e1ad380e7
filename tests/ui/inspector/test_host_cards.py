"""The panes at the cards of a run, under `pyfuncdbg run --ui inspector`: a run has no source, its pane has the card."""
from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hosted_program import INSPECTOR, leave, under

pytestmark = [pytest.mark.skipif(not Path('/proc/self/task').exists(), reason='finds processes in /proc'),
              pytest.mark.timeout(120)]

ONE_RUN = '''
import numpy as np
from pyfuncdbg import tf
graph = tf.Graph()
with graph.as_default():
    a = tf.compat.v1.placeholder(tf.float32, [3], name='a')
    b = tf.numpy_function(lambda x: x + 1, [a], tf.float32, name='more')
with tf.compat.v1.Session(graph=graph) as session:
    print(session.run(b, {a: np.zeros(3, np.float32)}))
'''


def test_the_source_pane_has_the_card_of_a_run(tmp_path: Path) -> None:
    with under(tmp_path, ONE_RUN, *INSPECTOR, size=(32, 110)) as person:
        person.until('run to the end and stop there')
        person.ready()
        person.type('\x1b')                     # from the card to the panes
        person.until('a run has no source')
        shown = person.ready()
        assert '[2 source]' in shown and 'more:0' in shown and 'run to the end and stop there' in shown
        person.type(':run\r')
        person.until('end of 1st run of script')
        person.ready()
        person.type('\x1b')
        person.until('a run has no source')
        assert 'end of 1st run of script' in person.ready()
        person.type(':quit\r')
        person.until('ended')
        assert leave(person) == 0


NORM = '''
def norm(x):
    top = x.max()
    return x / top
'''
MANY_RUNS = '''
import numpy as np
from pyfuncdbg import tf
graph = tf.Graph()
with graph.as_default():
    a = tf.compat.v1.placeholder(tf.float32, [3], name='a')
    b = tf.numpy_function(lambda x: x / x.max(), [a], tf.float32, name='norm')
with tf.compat.v1.Session(graph=graph) as session:
    for step in range(60):
        session.run(b, {a: np.arange(3, dtype=np.float32) * (59 - step)})
'''


def test_after_a_run_its_own_tensors_are_listed(tmp_path: Path) -> None:
    (tmp_path / 'commands').write_text('run -f has_nan\n')
    with under(tmp_path, MANY_RUNS, *INSPECTOR, '-x', 'commands', size=(50, 160)) as person:
        person.until('end of 60th run of script')
        person.ready()
        person.type('\x1b')
        person.until('2 tensors   sort: time   filter: run 60')
        person.until(lambda text: any('norm:0' in line and 'NaN 3' in line for line in text.split('\n')))


INIT = '''
import numpy as np
from pyfuncdbg import tf
graph = tf.Graph()
with graph.as_default():
    tf.compat.v1.get_variable('w', initializer=np.ones(3, np.float32))
    init = tf.compat.v1.global_variables_initializer()
with tf.compat.v1.Session(graph=graph) as session:
    session.run(init)
'''


def test_nodes_without_outputs_are_in_the_graph_and_the_next_one_is_marked(tmp_path: Path) -> None:
    def rows(*wanted: list[str]) -> Callable[[str], bool]:
        return lambda text: [line.split('│')[1].split()[:2] for line in text.split('\n')[2:5] if '│' in line] == [*wanted]

    with under(tmp_path, INIT, *INSPECTOR, size=(50, 160)) as person:
        person.until('run to the end')
        person.until(lambda text: any('nodes   ' in line and ' 3 ' in line for line in text.split('\n')))
        person.ready()
        person.type('N')
        person.until('graph  run #1  3 nodes')
        person.until(rows(['>', 'w'], ['.', 'w/Assign'], ['.', 'init']))    # a screen may be read while it is drawn
        person.ready()
        person.type('N')
        person.until(rows(['*', 'w'], ['>', 'w/Assign'], ['.', 'init']))


def test_enter_runs_what_the_card_offers_first_and_a_word_typed_there_is_a_command(tmp_path: Path) -> None:
    with under(tmp_path, MANY_RUNS, *INSPECTOR, size=(40, 110)) as person:
        person.until('stop  Enter: run')
        person.ready()
        person.type('\r')
        person.until('after run #1')
        person.until('done after')
        person.type('\r')                       # past the value and health, to `run`
        person.until('before run #2')
        person.ready()
        person.type('run')                      # r is the report, n a step
        person.until(lambda text: text.rstrip().split('\n')[-2].strip() == 'run' and 'before run #2' in text)
        person.type('\r')
        person.until('after run #2')
        person.type('\x1b')
        person.until('end of 2nd run')
        person.type(':run\r')
        person.until('before run #3')
        person.type('N')                        # a key alone acts, here too
        person.until('> norm')


def test_pdbs_letters_at_a_stop_in_a_function(tmp_path: Path) -> None:
    (tmp_path / 'commands').write_text('break function:norm\nrun\n')
    source = MANY_RUNS.replace('lambda x: x / x.max()', 'norm').replace('graph = tf.Graph()', NORM + 'graph = tf.Graph()')
    with under(tmp_path, source, *INSPECTOR, '-x', 'commands', size=(50, 160)) as person:
        person.until('5 def norm')
        for keys, shown in (('n', 'top = x.max()'), ('n', 'return x / top'), ('a', 'x  float32'), ('w', 'Session.run'),
                            ('\x1b', 'graph  run #1'), ('l', 'top = x.max()'), ('u', '> node norm'), ('d', 'return x / top'),
                            ('ptop', 'ptop')):
            person.ready()
            person.type(keys)
            person.until(shown)
            person.settle(0.4)
        person.type('\x1b')
        person.ready()
        person.type('r')
        person.until('return')
