"""Programs that record themselves, without `pyfuncdbg run`, and end by `os.exec*` or `os._exit`: nothing is lost."""
from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import pyfuncdbg
from pyfuncdbg.observers.record.trace import Trace
from pyfuncdbg.observers.record.trace_info import TraceInfo

HERE = Path(pyfuncdbg.__file__).resolve().parents[1]
BEGIN = '''
import os, posix, sys
import pyfuncdbg
from pyfuncdbg import tf

def work(value):
    return float(tf.numpy_function(lambda x: x / 2, [tf.constant(value)], tf.float64))

plain = os.execv, os.execve, os._exit
recorder = pyfuncdbg.record('own.pfd', level='full').start()
'''


def run(folder: Path, end: str) -> tuple[TraceInfo, list[float], str]:
    """What a program is whose trace was made by itself, the values of its calls, and its output."""
    (folder / 'own.py').write_text(BEGIN + end)
    done = subprocess.run([sys.executable, 'own.py'], cwd=folder, env=dict(os.environ, PYTHONPATH=str(HERE)), timeout=100,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, '')
    with Trace.open(folder / 'own.pfd') as trace:
        return trace.info(), sorted(call.inputs[0].to_numpy().item() for call in trace.calls()), done.stdout


def test_a_program_that_becomes_another_one(tmp_path: Path) -> None:
    info, values, output = run(tmp_path, '''
work(1.0)
for path in '/no/such/program', 'own.py':
    try:
        os.execv(path, ['x'])
    except OSError as error:
        assert error.__traceback__.tb_next is None          # no frame of ours
        work(2.0)
os.execlp('echo', 'echo', 'replaced')
''')
    assert (values, output) == ([1.0, 2.0, 2.0], 'replaced\n')
    (process,) = info.tree
    assert process.executed and process.replaced_by[1:] == ('replaced',) and process.command == ('own.py',)
    shown = subprocess.run([sys.executable, '-m', 'pyfuncdbg', 'show', 'own.pfd', 'info'], cwd=tmp_path, text=True,
                           env=dict(os.environ, PYTHONPATH=str(HERE)), capture_output=True).stdout
    assert 'replaced by echo replaced' in shown and 'not closed' not in shown


@pytest.mark.parametrize('first', ['the program', 'the fork'])
def test_a_fork_that_becomes_another_program(tmp_path: Path, first: str) -> None:
    info, values, _ = run(tmp_path, f'''
work(1.0)
child = os.fork()
if not child:
    work(2.0)
    os.execv('/bin/true', ['true', 'fork'])
os.waitpid(child, 0)
if {first == "the program"}:
    os.execv('/bin/true', ['true', 'own'])
''')
    assert values == [1.0, 2.0]
    own, fork = info.tree
    assert (own.is_forked, own.executed, own.log) == (False, first == 'the program', 1)
    assert (fork.is_forked, fork.replaced_by, fork.log, fork.parent) == (True, ('/bin/true', 'fork'), 2, own.pid)


def test_what_ends_without_exit_handlers_and_what_goes_on_after_the_recording(tmp_path: Path) -> None:
    info, values, output = run(tmp_path, '''
work(1.0)
kept = os.execv
if not os.fork():
    work(2.0)
    os._exit(0)
os.wait()
print(os.execv is plain[0], posix._exit is plain[2], os.execv.__name__, flush=True)
recorder.stop()
print((os.execv, os.execve, os._exit) == plain, posix.execv is plain[0], flush=True)
kept('/bin/true', ['true'])                     # replaces nothing that is recorded
''')
    assert values == [1.0, 2.0] and info.tree == ()
    assert output == 'False False execv\nTrue True\n'
