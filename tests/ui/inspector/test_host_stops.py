"""The debugger on the full screen of `pyfuncdbg run --ui inspector`: the script is as it was, its sessions are debugged."""
from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hosted_program import INSPECTOR, ITS_KEYS, ROOT, Person, leave, under
from listening import wait_until

pytestmark = [pytest.mark.skipif(not Path('/proc/self/task').exists(), reason='finds processes in /proc'),
              pytest.mark.timeout(180)]

TRAIN = '''
import sys
import numpy as np
from pyfuncdbg import tf

def norm(x):
    mu = x.mean()
    return x - mu

graph = tf.Graph()
with graph.as_default():
    a = tf.compat.v1.placeholder(tf.float32, [3], name='a')
    b = tf.numpy_function(norm, [a], tf.float32, name='norm')
    c = tf.multiply(b, 2., name='c')
total = 0.
with tf.compat.v1.Session(graph=graph) as session:
    for step in range(4):
        total += float(session.run(c, {a: np.arange(3, dtype=np.float32) * step})[2])
        print('step', step, 'total', total, flush=True)
name = input('name? ')
print('bye', name)
sys.exit(3)
'''


@contextmanager
def at_first_card(folder: Path) -> Iterator[Person]:
    with under(folder, TRAIN, *INSPECTOR) as person:
        person.until('1st run of script')
        person.ready()
        yield person


def test_every_run_has_its_card_and_the_program_the_keys_in_between(tmp_path: Path) -> None:
    with at_first_card(tmp_path) as person:
        person.type(':run\r')
        person.until('end of 1st run of script')
        person.ready()
        person.type('c')
        person.until('2nd run of script')
        person.until('step 0 total 0.0')
        person.ready()
        person.type(':quit\r')
        person.until('name?')
        person.until(ITS_KEYS)
        person.type('Eve\r')
        assert 'bye Eve' in person.until('ended with exit code 3')
        assert leave(person) == 3
        assert 'step 3 total 12.0' in person.text


def test_at_the_end_the_last_card_is_gone_and_the_call_that_raised_is_seen(tmp_path: Path) -> None:
    source = TRAIN.replace('    return x', "    if mu > 1:\n        raise ValueError('too much')\n    return x")
    source = source.replace("name='norm'", f"name='norm{'m' * 500}'")
    with under(tmp_path, source, *INSPECTOR) as person:
        for card in ('1st run of script', '2nd run of script', '3rd run of script', 'FAILED after'):
            person.until(card)
            person.ready()
            person.type('c')
        person.until('ended with exit code 1')
        shown = person.until("raise ValueError('too much')")
        assert 'FAILED after' not in shown
        said = person.until('is the first call that raised').split('program: ended')[1]
        assert 'mm...mm' in said                        # a long name is cut
        assert leave(person) == 1


def test_breakpoints_conditions_and_a_command_file(tmp_path: Path) -> None:
    (tmp_path / 'commands').write_text('# what to do first\nrun -t 3\np x.sum() + 0.5\n')
    options = ('--break', 'norm', '--if', 'x.max() > 3', '-x', 'commands')
    with under(tmp_path, TRAIN, *INSPECTOR, *options) as person:
        person.until('6.5', 40)
        person.ready()
        person.type('c')
        person.until('end of 3rd run of script')
        person.ready()
        person.type(':abort\r')
        person.until('program: ended')
        assert leave(person) == 130


def test_the_finished_trace_answers(tmp_path: Path) -> None:
    source = """
import numpy as np
from pyfuncdbg import tf
print(tf.numpy_function(lambda x: x / 0, [np.ones(2)], tf.float64).numpy())
"""
    with under(tmp_path, source, *INSPECTOR) as person:
        person.until('program: ended')
        person.ready()
        person.type(':calls\r')
        person.until('1 call')
        person.ready()
        person.type('\x1b')
        person.ready()
        person.type(':pt #1:0\r')
        person.until('─pt #1:0')
        assert leave(person) == 0


def test_ctrl_c_at_a_stop_does_not_reach_the_program(tmp_path: Path) -> None:
    with at_first_card(tmp_path) as person:
        person.type('9')
        person.until(ITS_KEYS)
        person.type('\x03')
        person.until("the program is stopped: 'abort' ends the run")
        person.type('\x1d')
        person.ready()
        person.type(':quit\r')
        person.until('name?')
        person.until(ITS_KEYS)
        person.type('x\r')
        assert leave(person) == 3


def test_leaving_at_a_stop_lets_the_program_go_on_in_the_terminal(tmp_path: Path) -> None:
    with at_first_card(tmp_path) as person:
        person.type('q')
        person.until('name?')
        person.type('Eve\r')
        assert person.end() == 3
        assert 'step 3 total 12.0' in person.text and 'bye Eve' in person.text
        assert '(pfd)' not in person.text
        assert not person.left_on


SLOW_SCREEN = """
import atexit, os, sys, time
def wait():
    while not os.path.exists('screen_may_end'):
        time.sleep(0.01)
if sys.flags.safe_path:
    atexit.register(wait)
"""
"""As sitecustomize: the process of the screen takes its time to end, as on a machine that has other work to do."""


@pytest.mark.parametrize('first', ['the program', 'the screen'])
def test_what_follows_is_the_same_whichever_ends_first(tmp_path: Path, first: str) -> None:
    source = f"""
import os, time
print('the first word', flush=True)
{TRAIN.split('name = input')[0]}
for number in range(200):
    print('line', number, flush=True)
open('about_to_end', 'x').close()
while not os.path.exists('program_may_end'):
    time.sleep(0.01)
print('the last word')
"""
    (tmp_path / 'site').mkdir()
    (tmp_path / 'site' / 'sitecustomize.py').write_text(SLOW_SCREEN)
    with under(tmp_path, source, *INSPECTOR, PYTHONPATH=os.pathsep.join((str(ROOT), str(tmp_path / 'site')))) as person:
        person.until('1st run of script')
        person.ready()
        processes = {'program': person.program, 'screen': person.screen_process}
        person.type('q')
        wait_until(lambda: person.read(0.02) and (tmp_path / 'about_to_end').exists())
        for name in ('program', 'screen') if first == 'the program' else ('screen', 'program'):
            (tmp_path / f'{name}_may_end').touch()
            # A terminal that is not read holds up what writes to it.
            wait_until(lambda pid=processes[name]: not person.read(0.02) or not runs(pid))
        assert person.end() == 0
        assert not person.left_on
        shown = person.raw[person.raw.rindex(b'\x1b[?1049l'):].decode()
    lines = [line.rstrip('\r') for line in shown.split('\n')]
    begin = next(number for number, line in enumerate(lines) if line.endswith('the first word'))
    steps = [f'step {step} total {total}' for step, total in enumerate((0., 2., 6., 12.))]
    said = [*steps, *(f'line {number}' for number in range(200)), 'the last word']
    assert lines[begin + 1:begin + 1 + len(said)] == said
    report = lines[begin + 1 + len(said):]
    assert '4 runs, 4 calls of 1 Python function in' in report[0]
    assert any('the 4 calls' in line for line in report) and not any('look again with' in line for line in report)


def runs(pid: int) -> bool:
    """Whether there is such a process that has not ended."""
    try:
        return Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2].split()[0] not in 'ZX'
    except OSError:
        return False


def test_a_stop_in_a_process_that_starts_afresh_is_asked_about_on_the_screen(tmp_path: Path) -> None:
    source = """
import multiprocessing, os
import numpy as np
from pyfuncdbg import tf

def norm(x):
    mu = x.mean()
    return x - mu

def work(rank):
    os.environ['RANK'] = str(rank)
    print('result', tf.numpy_function(norm, [np.arange(3.) * rank], tf.float64).numpy(), flush=True)

if __name__ == '__main__':
    for rank in (1, 2):
        process = multiprocessing.get_context('spawn').Process(target=work, args=(rank,))
        process.start()
        process.join()
        print('exit code', process.exitcode, flush=True)
"""
    with under(tmp_path, source, *INSPECTOR, '--break', 'norm') as person:
        for rank in (1, 2):
            person.until(lambda text, rank=rank: f'rank:{rank}' in text and 'STOPPED' in text)
            person.ready()
            person.type(':p x.sum() + 100\r')
            person.until(f'{100. + 3 * rank}')
            person.ready()
            person.type(':processes\r')
            person.until('prompt')
            person.ready()
            person.type('\x1b')
            person.ready()
            person.type('c')
        person.until('program: ended')
        assert leave(person) == 0
        assert 'result [-2.  0.  2.]' in person.text and person.text.count('exit code 0') == 2
