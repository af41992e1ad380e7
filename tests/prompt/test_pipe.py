"""Commands from a pipe, from a file, and from nowhere: what is said, what the program prints and how it ends."""
from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import pyfuncdbg

HERE = Path(pyfuncdbg.__file__).resolve().parents[1]

MODEL = '''\
import numpy as np
from pyfuncdbg import tf

def twice(x):
    y = x * 2
    return y

for i in range(3):
    print(tf.numpy_function(twice, [np.array([i])], tf.int64).numpy()[0])
'''


def run(folder: Path, *options: str, given: str | None = None, source: str = MODEL) -> subprocess.CompletedProcess[str]:
    (folder / 'model.py').write_text(source)
    source_of_commands = {'stdin': subprocess.DEVNULL} if given is None else {'input': given}
    return subprocess.run([sys.executable, '-m', 'pyfuncdbg', 'run', *options, 'model.py'], cwd=folder, text=True,
                          timeout=60, env=dict(os.environ, PYTHONPATH=str(HERE), COLUMNS='120'), capture_output=True,
                          **source_of_commands)  # type: ignore[call-overload]


def test_commands_come_from_a_pipe_and_stdout_is_the_programs_alone(tmp_path: Path) -> None:
    done = run(tmp_path, '--break', 'twice', '--if', 'x[0] == 1', given='p x * 7\nstep\nnext\np y\ny = y + 40\ncont\n')
    assert (done.returncode, done.stdout) == (0, '0\n42\n4\n')
    for line in ('(pfd) p x * 7', '(pfd) step', '(pfd) cont'):
        assert line in done.stderr
    assert done.stderr.index('(pfd) step') < done.stderr.index('model.py:5') < done.stderr.index('(pfd) next')


def test_a_program_reads_the_lines_behind_its_commands(tmp_path: Path) -> None:
    source = MODEL.replace('    return y', '    return y + int(input())')
    done = run(tmp_path, '--break', 'twice', given='cont\n10\ncont\n20\ncont\n30\n', source=source)
    assert (done.returncode, done.stdout) == (0, '10\n22\n34\n')


@pytest.mark.parametrize('verb', ['step', 'next', 'return', 'until'])
def test_steps_end_with_the_program_and_go_on_in_no_library(verb: str, tmp_path: Path) -> None:
    source = 'import atexit, logging\nhandler = logging.StreamHandler()\natexit.register(print, "bye")\n' + MODEL
    done = run(tmp_path, '--break', 'twice', '--if', 'x[0] == 2', given='next\n' * 3 + f'{verb}\n' * 5, source=source)
    assert (done.returncode, done.stdout) == (0, '0\n2\n4\nbye\n')
    assert done.stderr.count('STOPPED') == 4 and 'STOPPED returning from <module>' in done.stderr
    assert 'Exception ignored' not in done.stderr and 'nobody is there' not in done.stderr


STEPPED = MODEL + 'import sys\nprint(sys.gettrace())\n'


@pytest.mark.parametrize(('commands', 'places'), [
    (['return', 'cont', 'cont', 'cont'], ['line', 'after', 'line', 'line']),
    (['next', 'next', 'cont', 'cont', 'cont'], ['line', 'line', 'after', 'line', 'line']),
    (['retry', 'cont', 'cont', 'cont'], ['line', 'line', 'line', 'line']),
    (['quit'], ['line'])])
def test_a_line_that_is_the_only_breakpoint(commands: list[str], places: list[str], tmp_path: Path) -> None:
    done = run(tmp_path, '--break', 'model.py:5', given='\n'.join(commands) + '\n', source=STEPPED)
    assert (done.returncode, done.stdout) == (0, '0\n2\n4\nNone\n'), done.stderr
    found = ['after' if line.startswith('STOPPED after') else 'line' for line in done.stderr.splitlines()
             if line.startswith('STOPPED')]
    assert found == places
    assert 'Error' not in done.stderr


def test_an_error_below_a_line_that_is_the_only_breakpoint(tmp_path: Path) -> None:
    source = MODEL.replace('    return y', '    raise ValueError(y)').replace('    print(', '    try: print(') + (
        '    except Exception as error: print(type(error).__name__)\nimport sys\nprint(sys.gettrace())\n')
    done = run(tmp_path, '--break', 'model.py:5', given='next\nnext\ncont\ncont\ncont\n', source=source)
    assert done.stdout.splitlines() == ['ValueError'] * 3 + ['None'], done.stderr
    assert done.stderr.count('breakpoint 1\n') == 3 and 'Exception ignored' not in done.stderr


@pytest.mark.parametrize(('end', 'code', 'printed'), [('cont', 0, '0\n2\n4\n'), ('abort', 130, '0\n')])
def test_when_the_pipe_ends_the_run_goes_on_or_ends_as_set(end: str, code: int, printed: str, tmp_path: Path) -> None:
    done = run(tmp_path, '--break', 'twice', '--on-eof', end, given='cont\n')
    assert (done.returncode, done.stdout) == (code, printed)
    assert done.stderr.count('nobody is there to ask any more') == 1
    assert done.stderr.count('STOPPED') == 2
    assert '-> model.pfd' in done.stderr


def test_without_a_terminal_or_pipe_stops_are_told_and_noted(tmp_path: Path) -> None:
    for options in ((), ('--ui', 'none')):
        done = run(tmp_path, '--break', 'twice', *options)
        assert (done.returncode, done.stdout) == (0, '0\n2\n4\n')
        assert done.stderr.count('not stopped before twice') + done.stderr.count('not stopped before PyFunc') == 3
    with pyfuncdbg.load(tmp_path / 'model.pfd') as trace:
        assert [note.data['reason'] for note in trace.notes() if note.kind == 'stop'] == ['breakpoint 1'] * 3


def test_a_command_file_comes_first_and_its_errors_are_placed(tmp_path: Path) -> None:
    (tmp_path / 'commands').write_text('# look\n\np x + 100\nptt x\ncont\n')
    done = run(tmp_path, '--break', 'twice', '-x', 'commands', given='quit\n')
    assert (done.returncode, done.stdout) == (0, '0\n2\n4\n')
    assert '(pfd) p x + 100' in done.stderr
    assert '*** commands:4: ' in done.stderr
    assert done.stderr.index('*** commands:4') < done.stderr.index('(pfd) quit')


def test_breakpoint_needs_no_option(tmp_path: Path) -> None:
    source = MODEL.replace('    return y', '    breakpoint()\n    return y')
    done = run(tmp_path, given='y = y * 0 + 9\nquit\n', source=source)
    assert (done.returncode, done.stdout) == (0, '9\n2\n4\n')


@pytest.mark.parametrize(('options', 'said'), [
    (['--if', 'x'], 'it belongs to the --break before it, and there is none'),
    (['--break', 'f', '--if', 'x', '--if', 'y'], 'there is another --if'),
    (['--break', ''], 'no place given'),
    (['--break', 'f', '--if', 'x +'], 'bad condition'),
    (['--ui', 'screen'], "invalid choice: 'screen'"),
    (['--on-eof', 'wait'], "invalid choice: 'wait'"),
    (['-x', 'nothing'], "cannot read the commands in 'nothing'"),
])
def test_options_that_make_no_sense_get_one_line(options: list[str], said: str, tmp_path: Path) -> None:
    done = run(tmp_path, *options)
    assert (done.returncode, done.stdout) == (2, '')
    assert done.stderr.startswith('pyfuncdbg: ')
    assert said in done.stderr
    assert not list(tmp_path.glob('*.pfd'))


def test_ctrl_c_ends_a_program_that_waits_for_commands_that_never_come(tmp_path: Path) -> None:
    (tmp_path / 'model.py').write_text(MODEL)
    words = [sys.executable, '-m', 'pyfuncdbg', 'run', '--break', 'twice', 'model.py']
    with subprocess.Popen(words, cwd=tmp_path, text=True, env=dict(os.environ, PYTHONPATH=str(HERE)),
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as program:
        assert program.stdin is not None
        assert program.stderr is not None
        program.stdin.write('p x\n')
        program.stdin.flush()
        while 'x  int64' not in program.stderr.readline():
            pass
        program.stdin.write('p 6*7\n')
        program.stdin.flush()
        while '42' not in program.stderr.readline():
            pass
        time.sleep(0.2)                         # until it reads again
        program.send_signal(signal.SIGINT)
        assert program.wait(30) == 130
