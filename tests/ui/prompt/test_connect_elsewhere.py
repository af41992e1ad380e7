"""`pyfuncdbg connect` of one among several programs, and of one that ssh reaches: a fake ssh, through real pipes."""
from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pexpect
import pytest
from listening import CONNECT, Program, environment

from pyfuncdbg.errors import UsageError
from pyfuncdbg.ui.prompt.connecting.remote_host import Destination, destination

SSH = '''#!PYTHON
import os, subprocess, sys, threading
with open(os.environ['SSH_LOG'], 'a') as log:
    print(*sys.argv[1:], file=log)
if sys.argv[2] == 'nowhere':
    sys.exit('ssh: Could not resolve hostname nowhere')
process = subprocess.Popen(['sh', '-c', sys.argv[3]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
def send():
    while data := os.read(0, 1000):
        process.stdin.write(data)
    process.stdin.close()
threading.Thread(target=send, daemon=True).start()
while data := process.stdout.read(1000):
    try:
        os.write(1, data)
    except BrokenPipeError:             # who reads has gone, as ssh finds, too
        break
os._exit(process.wait())
'''


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[dict[str, str]]:
    """An environment in which ssh runs commands on this machine."""
    tools = tmp_path / 'tools'
    tools.mkdir()
    (tools / 'ssh').write_text(SSH.replace('PYTHON', sys.executable))
    (tools / 'pyfuncdbg').write_text(f'#!/bin/sh\nexec {shlex.join(CONNECT[:-1])} "$@"\n')
    for tool in tools.iterdir():
        tool.chmod(0o755)
    yield environment(tmp_path, PATH=f'{tools}:{os.environ["PATH"]}', SSH_LOG=str(tmp_path / 'ssh.log'))


def connect(env: dict[str, str], *words: str, typed: str = '') -> subprocess.CompletedProcess[str]:
    return subprocess.run([*CONNECT, *words], env=env, input=typed, capture_output=True, text=True, timeout=60)


def test_a_program_on_another_machine_is_debugged_by_one_command(machine: dict[str, str], tmp_path: Path) -> None:
    with Program(tmp_path) as program:
        commands = 'break norm --once\ncont\np x.size\nstep\nbt\nclear all\ndetach\n'
        there = connect(machine, 'user@train-7:', typed=commands)
        here = connect(machine, str(program.process.pid), typed=commands)
        assert there.returncode == here.returncode == 0 and there.stderr == ''
        assert '(pfd) p x.size\n3\n' in there.stdout and 'STOPPED in norm' in there.stdout
        assert there.stdout.count('STOPPED') == here.stdout.count('STOPPED') == 2
        said = connect(machine, f'train-7:{program.process.pid}', '--json', typed='p "\\u00e9" * 70000\n')
        answer = next(message for message in map(json.loads, said.stdout.splitlines()) if 'line' in message)
        assert answer['error'] is not None or answer['data'] is not None
        assert program.runs_on()
    lines = (tmp_path / 'ssh.log').read_text().splitlines()
    assert lines == ['-T user@train-7 pyfuncdbg connect --stdio',
                     f'-T train-7 pyfuncdbg connect --stdio {program.process.pid}']


def test_what_is_wrong_on_the_other_machine_is_said(machine: dict[str, str], tmp_path: Path) -> None:
    none = connect(machine, 'train-7:')
    assert none.returncode == 2 and 'connect: no program listens' in none.stderr
    assert none.stderr.splitlines()[-1] == ('pyfuncdbg: connect: ssh train-7 pyfuncdbg connect --stdio has ended with exit '
                                            'code 2; its message is above')
    unknown = connect(machine, 'nowhere:', '--remote', 'venv/bin/pyfuncdbg')
    assert unknown.returncode == 2 and 'Could not resolve hostname' in unknown.stderr
    assert 'ssh nowhere venv/bin/pyfuncdbg connect --stdio has ended with exit code 1' in unknown.stderr
    (tmp_path / 'tools/ssh').unlink()
    missing = connect({**machine, 'PATH': str(tmp_path / 'tools')}, 'train-7:')
    assert missing.returncode == 2 and 'ssh cannot be run: No such file' in missing.stderr
    with Program(tmp_path), Program(tmp_path):
        several = connect(machine, '--stdio')
        assert (several.returncode, several.stdout) == (2, '') and 'several programs listen' in several.stderr


@pytest.mark.parametrize(('text', 'where'), [
    (None, Destination()), ('17', Destination(17)), ('gpu:', Destination(None, 'gpu')), ('a@b.c:5', Destination(5, 'a@b.c')),
    ('[fe80::1]:', Destination(None, 'fe80::1')), ('train.py', None), ('-oProxyCommand=x:', None), ('a b:', None),
    ('host:x', None), (':', None), ('-17', None)])
def test_what_connect_takes(text: str | None, where: Destination | None) -> None:
    if where is None:
        with pytest.raises(UsageError, match='is no program: expected a process id'):
            destination(text)
    else:
        assert destination(text) == where


def test_the_programs_are_listed_and_one_is_picked(machine: dict[str, str], tmp_path: Path) -> None:
    with Program(tmp_path) as first, Program(tmp_path) as second:
        listed = connect(machine, '--list').stdout.splitlines()
        assert [line.split()[0] for line in listed] == sorted(str(one.process.pid) for one in (first, second))
        assert all('train.py' in line and line.endswith('runs') for line in listed)
        user = pexpect.spawn(sys.executable, list(CONNECT[1:]), env=machine, encoding='utf-8', timeout=60,
                             dimensions=(40, 110))
        user.expect('which\\? ')
        user.send('7\r')
        user.expect('expected a number from 1 to 2')
        user.send(f'{second.process.pid}\r')
        user.expect(f'connected to {second.process.pid}')
        user.expect('\\(pfd\\)')
        user.send('\x04')
        user.expect(pexpect.EOF)
        assert second.runs_on()
