"""Stops in the processes of a program, answered at the prompt of the first one: real processes, beside plain Python."""
from __future__ import annotations

import json
import os
import re
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from ui.prompt.pseudo_terminal import Terminal

import pyfuncdbg
from pyfuncdbg.ui.commands.socket import first_process

HERE = Path(pyfuncdbg.__file__).resolve().parents[1]
WORK = '''\
import json, os, subprocess, sys, time
from pyfuncdbg import tf

def half(x):
    y = x / 2
    return y

def other(x):
    return x

def call(function, value):
    return float(tf.numpy_function(function, [tf.constant(value)], tf.float64))

def work(rank, calls=1):
    os.environ['TF_CONFIG'] = json.dumps({'task': {'type': 'worker', 'index': rank}})
    for _ in range(calls):
        sys.stdout.write(f'worker {rank} {call(half, 4.0 + rank)}\\n')       # in one piece
        sys.stdout.flush()
'''
STARTS = {
    'spawn': "import multiprocessing\n    p = multiprocessing.get_context('spawn').Process(target=work, args=(1,))\n"
             '    p.start(); p.join()',
    'forkserver': "import multiprocessing\n    p = multiprocessing.get_context('forkserver').Process(target=work, "
                  'args=(1,))\n    p.start(); p.join()',
    'fork': "import multiprocessing\n    p = multiprocessing.get_context('fork').Process(target=work, args=(1,))\n"
            '    p.start(); p.join()',
    'python -m': "subprocess.run([sys.executable, '-m', 'prog', '1'], check=True)",
    'shell': "subprocess.run(['sh', '-c', f'{sys.executable} prog.py 1'], check=True)"}


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder for a program and its sockets, whose path is not too long for these."""
    runtime = Path(f'/tmp/pfd-test-{os.getpid()}')
    runtime.mkdir(mode=0o700, exist_ok=True)
    yield tmp_path
    assert not list(runtime.glob('pyfuncdbg/*.stops'))       # removed by the program, or by the next one
    for path in [*runtime.glob('pyfuncdbg/*'), *runtime.glob('*')]:
        path.rmdir() if path.is_dir() else path.unlink()
    runtime.rmdir()


def environment() -> dict[str, str]:
    return {**os.environ, 'PYTHONPATH': str(HERE), 'COLUMNS': '120', 'XDG_RUNTIME_DIR': f'/tmp/pfd-test-{os.getpid()}',
            'OPENBLAS_NUM_THREADS': '1'}


def write(folder: Path, start: str) -> None:
    (folder / 'prog.py').write_text(f"{WORK}\nif __name__ == '__main__':\n    if sys.argv[1:]:\n"
                                    f"        work(int(sys.argv[1]))\n        sys.exit()\n    {start}\n    print('end')\n")


def plain(folder: Path) -> str:
    return subprocess.run([sys.executable, 'prog.py'], cwd=folder, env=environment(), capture_output=True, text=True,
                          timeout=60, check=True).stdout


def run(folder: Path, commands: str, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, '-m', 'pyfuncdbg', 'run', '-q', *options, 'prog.py'], cwd=folder, input=commands,
                          env=environment(), capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize('way', STARTS)
def test_a_breakpoint_reaches_every_process_and_its_stop_is_answered_at_the_prompt(way: str, folder: Path) -> None:
    write(folder, STARTS[way])
    done = run(folder, 'p x * 7\nnext\nnext\np y\nup\np rank\nbt\ncont\n', '--break', 'half')
    assert (done.returncode, done.stdout) == (0, plain(folder)) and done.stdout == 'worker 1 2.5\nend\n'
    assert 'worker:1 (pfd) p x * 7\nfloat32 35.0' in done.stderr and 'worker:1 (pfd) p y\nfloat32 2.5' in done.stderr
    assert done.stderr.count('STOPPED') == 3 and 'no user' not in done.stderr
    assert '*** ' in done.stderr and "name 'rank'" in done.stderr     # one frame up is `call`, which has none


@pytest.mark.parametrize('way', ['spawn', 'shell', 'fork'])
def test_breakpoint_in_another_process_asks_at_the_one_prompt(way: str, folder: Path) -> None:
    """Nothing was asked of `run`: the first process loads its debugger when the other one comes to it."""
    write(folder, STARTS[way].replace('join()', "join(); print('first', call(half, 8.0))"))
    program = (folder / 'prog.py').read_text().replace('    y = x / 2\n', '    y = x / 2\n    breakpoint()\n')
    (folder / 'prog.py').write_text(program)
    done = run(folder, 'p x * 7\nprocesses\nup\ncalls\ncont\np y\ncont\n')
    assert done.returncode == 0 and done.stdout.startswith('worker 1 2.5\n') and done.stdout.endswith('end\n'), done.stderr
    assert 'worker:1 (pfd) p x * 7\nfloat32 35.0' in done.stderr and '2 processes' in done.stderr
    assert ('\n(pfd) p y\nfloat32 4.0' in done.stderr) == (way != 'shell') and 'no user' not in done.stderr


FORKS = """def child(rank, depth):
        pid = os.fork()
        if pid:
            return os.waitpid(pid, 0)
        if depth:
            child(rank + 1, depth - 1)
        os.environ['RANK'] = str(rank)
        sys.stdout.write(f'{rank} {call(other, 1.0)}\\n')
        sys.stdout.flush()
        os._exit(0)
    child(1, 1)
    child(3, 0)"""


def test_breakpoint_in_forks_and_their_forks_asks_at_the_one_prompt(folder: Path) -> None:
    write(folder, FORKS)
    program = (folder / 'prog.py').read_text().replace('    return x\n', '    breakpoint()\n    return x\n')
    (folder / 'prog.py').write_text(program)
    done = run(folder, 'p x * 7\nbreak rank:1/other\ncont\nbreaks\nprocesses\ncont\ncont\n', '--no-children')
    assert (done.returncode, done.stdout) == (0, '2 1.0\n1 1.0\n3 1.0\nend\n'), done.stderr
    prompts = list(dict.fromkeys(re.findall(r'^(\S* ?)\(pfd\)', done.stderr, re.MULTILINE)))
    assert prompts == ['rank:2 ', 'rank:1 ', 'rank:3 '] and 'rank:2 (pfd) p x * 7\nfloat32 7.0' in done.stderr
    assert '1 breakpoint, in 1 other process too' in done.stderr and '3 processes' in done.stderr       # one debugger


@pytest.mark.parametrize('way', ['spawn', 'fork'])
def test_a_program_whose_processes_never_stop_loads_no_debugger(way: str, folder: Path) -> None:
    write(folder, STARTS[way] + "; print(sorted(name for name in sys.modules if name.startswith("
                                    "('pyfuncdbg.observers.debug', 'pyfuncdbg.ui.prompt.install', 'rich'))))")
    done = run(folder, '')
    assert (done.returncode, done.stdout, done.stderr) == (0, 'worker 1 2.5\n[]\nend\n', '')


def test_values_that_are_injected_in_another_process_go_on_there(folder: Path) -> None:
    write(folder, STARTS['spawn'])
    done = run(folder, 'x = x * 10\nnext\nnext\ny = y + 1\nstep\ncont\n', '--break', 'half')
    assert (done.returncode, done.stdout) == (0, 'worker 1 26.0\nend\n')


def test_a_tensor_that_is_injected_in_another_process_is_what_its_function_gets_and_gives(folder: Path) -> None:
    write(folder, STARTS['spawn'])
    done = run(folder, 'inject x x * 10\nreturn\np out\ninject out 7.5\ninject no x\ncont\n', '--break', 'half')
    assert (done.returncode, done.stdout) == (0, 'worker 1 7.5\nend\n'), done.stderr
    assert re.search(r'worker:1 \(pfd\) p out\nfloat\d\d 25\.0\n', done.stderr)
    assert "*** no tensor 'no' can be replaced here" in done.stderr


def test_without_a_user_the_first_process_says_what_was_passed(folder: Path) -> None:
    write(folder, STARTS['spawn'])
    done = subprocess.run([sys.executable, '-m', 'pyfuncdbg', 'run', '-q', '--break', 'half', 'prog.py'], cwd=folder,
                          stdin=subprocess.DEVNULL, env=environment(), capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (0, plain(folder))
    assert done.stderr == ('pyfuncdbg: not stopped entering half at prog.py:4, PyFunc[0] in worker:1: breakpoint 1 (no user '
                           'is connected)\n')


TWO = """import multiprocessing
    ps = [multiprocessing.get_context('spawn').Process(target=work, args=(rank, 2)) for rank in range(2)]
    [p.start() for p in ps]
    [p.join() for p in ps]
    print([p.exitcode for p in ps])"""


def test_processes_lists_all_and_switch_goes_to_the_stop_of_one(folder: Path) -> None:
    write(folder, TWO)
    waits = '!import time, os; end = time.time() + 60\n' + 'processes --json\n!time.sleep(1)\n' * 12
    done = run(folder, f'{waits}switch worker:1\np x\nswitch worker:0\np x\nswitch worker:7\nswitch 77\nquit\n',
               '--break', 'half')
    assert (done.returncode, sorted(done.stdout.splitlines())) == (0, sorted(plain(folder).splitlines()))
    lists = [json.loads(text) for text in re.findall(r'^\{"processes".*\}$', done.stderr, re.MULTILINE)]
    states = {one['label']: one for one in lists[-1]['processes']}
    assert {states[name]['state'] for name in ('worker:0', 'worker:1')} == {'prompt', 'waits'}
    assert states['worker:1']['where'].startswith('entering half at ') and states[''] ['state'] == 'runs'
    assert 'worker:1 (pfd) p x\nfloat32 5.0' in done.stderr and 'worker:0 (pfd) p x\nfloat32 4.0' in done.stderr
    assert "no process 'worker:7'; at a stop wait: " in done.stderr and 'no stop 77' in done.stderr
    with pyfuncdbg.load(folder / 'prog.pfd') as trace:
        assert len(list(trace.calls(site='PyFunc'))) == 4


def test_a_breakpoint_of_one_rank_stops_there_alone_and_one_set_at_a_prompt_reaches_all(folder: Path) -> None:
    write(folder, TWO)
    done = run(folder, 'break :1/prog.py:6 --once\nclear 1\ncont\np y\ncont\n', '--break', 'worker:1/half')
    assert done.returncode == 0 and 'worker:0 (pfd)' not in done.stderr
    assert 'worker:1 (pfd) p y\nfloat32 2.5' in done.stderr
    assert sorted(done.stdout.splitlines()) == sorted(plain(folder).splitlines())


HELD = """import multiprocessing
    def stop():
        call(half, 1.0)
    queue = multiprocessing.get_context('fork').Queue()
    def busy():
        os.environ['RANK'] = '5'
        for count in range(10**6):
            queue.put(count)
            call(other, 1.0)
            time.sleep(0.01)
    p = multiprocessing.get_context('fork').Process(target=busy)
    p.start()
    while queue.get() < 3:
        pass
    stop()
    begin = queue.get()
    while queue.get() < begin + 20:
        pass
    p.kill()
    p.join()"""


def test_stop_all_holds_the_others_at_their_next_call_and_lets_them_go_on(folder: Path) -> None:
    write(folder, HELD)
    done = run(folder, '!import time; time.sleep(0.5); before = queue.qsize()\n'
                       '!time.sleep(0.5); print(queue.qsize() - before)\n'
                       'processes --json\nswitch rank:5\np x\nswitch 1\nstopall off\ncont\ncont\n', '--break', 'half',
               '--stop-all')
    assert (done.returncode, done.stdout) == (0, 'end\n')
    assert 'time-outs of collectives' in done.stderr
    states = {one['label']: one['state'] for one in json.loads(
        re.findall(r'^\{"processes".*\}$', done.stderr, re.MULTILINE)[-1])['processes']}
    assert states == {'': 'prompt', 'rank:5': 'halted'}
    assert '\n0\n' in done.stderr and 'rank:5 (pfd) p x\nfloat32 1.0' in done.stderr


class Program:
    """A program at a stop, whose user has typed nothing yet."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.process = subprocess.Popen([sys.executable, '-u', '-m', 'pyfuncdbg', 'run', '-q', *options, 'prog.py'],
                                        cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                        text=True, bufsize=0, env=environment())
        self.text = ''

    def type(self, line: str, *until: str) -> str:
        assert self.process.stdin is not None
        self.process.stdin.write(line + '\n')
        self.process.stdin.flush()
        return self.until(*until)

    def until(self, *texts: str) -> str:
        assert self.process.stdout is not None
        descriptor = self.process.stdout.fileno()
        end = time.monotonic() + 60
        while not all(text in self.text for text in texts):
            assert time.monotonic() < end, self.text
            data = os.read(descriptor, 1 << 16).decode()
            assert data, self.text
            self.text += data
        return self.text

    def end(self) -> tuple[str, int]:
        out, _ = self.process.communicate(timeout=60)
        return self.text + out, self.process.returncode


ONE = """import multiprocessing
    p = multiprocessing.get_context('spawn').Process(target=work, args=(1, 2))
    p.start()
    print('child', p.pid, flush=True)
    p.join()
    print('exit code', p.exitcode, flush=True)"""


def test_a_process_that_is_killed_while_it_is_stopped_is_reported_and_the_program_goes_on(folder: Path) -> None:
    write(folder, ONE)
    program = Program(folder, '--break', 'half')
    pid = int(re.findall(r'child (\d+)', program.until('STOPPED'))[0])
    socket_file, = Path(environment()['XDG_RUNTIME_DIR']).glob('pyfuncdbg/*.stops')
    assert stat.S_IMODE(socket_file.stat().st_mode) == 0o600 and stat.S_IMODE(socket_file.parent.stat().st_mode) == 0o700
    with socket.socket(socket.AF_UNIX) as stranger:                     # no part of the program: it is let go
        stranger.connect(str(socket_file))
        stranger.sendall(b'GET / HTTP/1.0\n')
        assert stranger.recv(100) == b''
    os.kill(pid, signal.SIGKILL)
    program.until('worker:1 was killed while it was stopped', 'exit code -9')
    assert program.end()[1] == 0
    assert not socket_file.exists()


@pytest.mark.skipif(os.geteuid() != 0, reason='only root can become another user')
def test_another_user_gets_nothing_at_the_socket_even_where_the_folder_lets_everybody_in(folder: Path) -> None:
    write(folder, ONE)
    program = Program(folder, '--break', 'half')
    program.until('STOPPED')
    socket_file, = Path(environment()['XDG_RUNTIME_DIR']).glob('pyfuncdbg/*.stops')
    ask = ('import os, socket, sys; os.setuid(int(sys.argv[1])); s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[2]); '
           's.sendall(b\'{"for": "breakpoints", "pid": 1}\\n\'); print(s.recv(1000))')

    def asked(user: int) -> str:
        done = subprocess.run([sys.executable, '-c', ask, str(user), str(socket_file)], capture_output=True, text=True,
                              timeout=60)
        return done.stdout or done.stderr
    assert 'PermissionError' in asked(12345)
    for path in (socket_file, socket_file.parent, socket_file.parent.parent):
        path.chmod(0o777)
    refused = asked(12345)                      # closed, before or after it has sent something
    assert refused == "b''\n" or 'ConnectionResetError' in refused or 'BrokenPipeError' in refused
    assert 'join_debugging' in asked(0)
    for path in (socket_file.parent, socket_file.parent.parent):
        path.chmod(0o700)
    program.type('cont')
    assert program.end()[1] == 0


def test_processes_go_on_when_the_one_with_the_prompt_is_killed(folder: Path) -> None:
    write(folder, "subprocess.Popen([sys.executable, 'prog.py', '1'])\n    time.sleep(60)")
    program = Program(folder, '--break', 'half')
    program.until('STOPPED')
    program.process.send_signal(signal.SIGKILL)
    text, code = program.end()
    assert code == -9 and text.count('worker 1 2.5') == 1 and 'the user is gone: the program continues without stops' in text
    write(folder, STARTS['spawn'])
    assert run(folder, 'cont\n', '--break', 'half').returncode == 0     # removes the socket of the one that was killed


def test_quit_in_one_process_ends_debugging_in_all_and_abort_ends_the_call_where_it_stopped(folder: Path) -> None:
    write(folder, TWO)
    done = run(folder, 'quit\n', '--break', 'half')
    assert (done.returncode, sorted(done.stdout.splitlines())) == (0, sorted(plain(folder).splitlines()))
    assert done.stderr.count('STOPPED') == 1
    write(folder, STARTS['spawn'])
    done = run(folder, 'abort\n', '--break', 'half')
    assert (done.returncode, done.stdout) == (0, 'end\n') and 'RunAborted' in done.stderr


def test_the_end_of_the_commands_lets_all_processes_go_on(folder: Path) -> None:
    write(folder, TWO)
    done = run(folder, 'p x\n', '--break', 'half')
    assert (done.returncode, sorted(done.stdout.splitlines())) == (0, sorted(plain(folder).splitlines()))
    assert done.stderr.count('the user is gone') == 1


ASLEEP = """import multiprocessing
    begin = multiprocessing.get_context({way!r})
    ps = [begin.Process(target=time.sleep, args=(8,)), begin.Process(target=work, args=(1,))]
    [p.start() for p in ps]
    [p.join() for p in ps]
    print([p.exitcode for p in ps])"""


@pytest.mark.parametrize('way', ['fork', 'spawn'])
def test_ctrl_c_at_the_prompt_ends_the_command_in_the_stopped_process_and_no_other_one(way: str, folder: Path) -> None:
    write(folder, ASLEEP.format(way=way))
    with Terminal(folder, '-m', 'pyfuncdbg', 'run', '-q', '--break', 'half', 'prog.py', environment=environment()) as user:
        user.prompt()
        assert 'float32 5.0' in user.type('p x') and 'worker:1 (pfd)' in user.text
        user.child.send('!open("begun", "w").close() or time.sleep(100)\r')
        while not (folder / 'begun').exists():
            time.sleep(0.05)
        time.sleep(0.5)
        user.child.send('\x03')
        assert 'interrupted' in user.prompt()
        assert 'x.shape' in user.type('p x.sh\t')       # completed in the other process
        user.last('cont', '[0, 0]', 'end')
        assert user.end() == 0


def test_a_first_process_that_does_not_answer_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                                       capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(first_process, '_PATIENCE', 0.2)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as silent:
        silent.bind(str(tmp_path / 's'))
        silent.listen()
        assert first_process.ask(str(tmp_path / 's'), 'breakpoints') == {}
    assert capfd.readouterr().err == (f'pyfuncdbg: process {os.getpid()} does not stop at breakpoints: the first process '
                                      'of the program has not answered for 0.2 s\n')
