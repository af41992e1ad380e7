"""The command socket of a real program: what a client can do, and what none can do to the program."""
from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from listening import Program, RawClient, client, environment, wait_until

from pyfuncdbg.ui.commands.socket.protocol import LONGEST, MOST_HELD, LineBuffer, ProtocolError, Request, request
from pyfuncdbg.ui.commands.socket.server import MOST_CLIENTS


def test_only_the_user_can_reach_the_socket(tmp_path: Path) -> None:
    with Program(tmp_path) as program:
        assert stat.S_IMODE(program.socket.stat().st_mode) == 0o600
        assert stat.S_IMODE(program.socket.parent.stat().st_mode) == 0o700


@pytest.mark.skipif(os.geteuid() != 0, reason='only root can be somebody else')
def test_another_user_is_refused_even_where_the_folder_is_open(tmp_path: Path) -> None:
    with Program(tmp_path) as program:
        program.socket.parent.chmod(0o711)
        program.socket.chmod(0o666)
        code = ('import os, socket, sys; os.chdir(sys.argv[1]); os.setresuid(65534, 65534, 65534)\n'
                's = socket.socket(socket.AF_UNIX); s.settimeout(20); s.connect(sys.argv[2])\n'
                'got = b""\nwhile data := s.recv(4096): got += data\nprint(got.decode())')
        words = [sys.executable, '-c', code, str(program.socket.parent), program.socket.name]
        said = subprocess.run(words, capture_output=True, text=True)
        assert json.loads(said.stdout)['error'] == 'this program belongs to user 0, you are user 65534', said
        assert program.runs_on()


@pytest.mark.parametrize('attack', ['link', 'file', 'open'])
def test_a_folder_that_is_not_the_users_alone_is_not_used(tmp_path: Path, attack: str) -> None:
    victim = tmp_path / 'pyfuncdbg'
    if attack == 'link':
        (tmp_path / 'elsewhere').mkdir()
        victim.symlink_to(tmp_path / 'elsewhere')
    elif attack == 'file':
        victim.write_text('')
    else:
        victim.mkdir()
        victim.chmod(0o777)
    code = 'from pyfuncdbg.ui.commands.socket.rendezvous import own_folder; print(own_folder())'
    found = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, env=environment(tmp_path))
    if attack == 'open':
        assert found.stdout.strip() == str(victim)
        assert stat.S_IMODE(victim.stat().st_mode) == 0o700
    else:
        assert found.stdout.strip() not in ('', str(victim)), found
        assert not list((tmp_path / 'elsewhere').iterdir()) if attack == 'link' else True


def test_commands_work_while_the_program_runs(tmp_path: Path) -> None:
    with Program(tmp_path) as program, client(program) as user:
        assert user.hello['pid'] == program.process.pid
        assert user.hello['stop'] is None
        assert user.line('break norm if x[1] == -1')['error'] is None
        listed = user.line('breaks')
        assert 'norm' in listed['text']
        assert 'norm' in json.dumps(listed['data'])
        wrong = user.line('breeks')
        assert "'breaks'" in wrong['error'] and wrong['data'] is None
        assert 'stop' in user.line('bt')['error']
        assert user.ask(complete='brea', position=4)['completions'] == ['break', 'breaks']
        assert program.runs_on()


def test_a_breakpoint_stops_and_the_values_are_those_of_the_frame(tmp_path: Path) -> None:
    with Program(tmp_path, 200) as program, client(program) as user:
        user.line('break norm')
        stop = user.event('stopped')['stop']
        assert (stop['phase'], stop['call']['site']) == ('before', 'norm')
        assert user.line('step')['left'] == stop['number']
        assert user.event('stopped')['stop']['where']['function'] == 'norm'
        user.line('next')
        user.event('stopped')
        assert user.line('p float(mu) == float(x.sum()) / 3')['text'].strip() == 'True'
        user.line('clear all')
        assert user.ask(detach=True)['stop'] is None
        program.process.wait(60)
        assert f'total {200 * 199 + 0.0}' in program.printed


def test_interrupt_stops_at_the_next_call_and_changes_nothing(tmp_path: Path) -> None:
    with Program(tmp_path, 100) as program, client(program) as user:
        assert 'next wrapped call' in user.line('interrupt')['text']
        assert user.event('stopped')['stop']['call']['site'] == 'norm'
        assert user.line('cont')['error'] is None
        user.event('resumed')
        program.process.wait(60)
        assert user.event('ended') == {'event': 'ended'}
        assert f'total {100 * 99 + 0.0}' in program.printed


def test_two_users_look_and_the_decision_of_one_is_news_for_the_other(tmp_path: Path) -> None:
    with Program(tmp_path) as program, client(program) as first, client(program) as second:
        first.line('break norm --once')
        number = first.event('stopped')['stop']['number']
        assert second.event('stopped')['stop']['number'] == number
        assert 'norm' in first.line('bt')['text'] and 'norm' in second.line('bt')['text']
        assert second.line('cont')['left'] == number
        news = first.event('resumed')
        assert (news['stop'], news['verb'], news['by']) == (number, 'cont', second.hello['client'])
        assert 'no thread is stopped' in first.line('cont')['error']


def test_when_one_of_two_users_is_gone_the_other_is_still_asked(tmp_path: Path) -> None:
    with Program(tmp_path) as program, client(program) as stays:
        goes = RawClient(program.socket)
        goes.ask(attach=True)
        stays.line('break norm --once')
        stays.event('stopped')
        goes.close()
        assert stays.line('p int(x[0])')['text'].strip() == '0'
        assert stays.line('cont')['error'] is None
        assert program.runs_on()


def test_the_program_goes_on_when_its_only_user_is_gone(tmp_path: Path) -> None:
    with Program(tmp_path) as program:
        with client(program) as user:
            user.line('break norm')
            user.event('stopped')
        assert program.runs_on()


def test_a_client_that_only_looks_is_not_waited_for(tmp_path: Path) -> None:
    with Program(tmp_path) as program:
        silent = RawClient(program.socket)
        assert silent.line('break norm')['error'] is None
        assert program.runs_on()
        silent.close()


def test_a_command_can_be_broken_off_and_the_stop_stays(tmp_path: Path) -> None:
    with Program(tmp_path) as program, client(program) as user:
        user.line('break norm --once')
        user.event('stopped')
        user.send(id=900, line='while True: pass')
        answer: dict[str, Any] = {}
        while answer.get('id') != 900:
            while not select.select([user.socket], [], [], 0.2)[0]:
                user.send(cancel=900)           # again and again: the next one is not broken off
            answer = user.read()
        assert 'nterrupt' in answer['error']
        assert user.line('p 40 + 2')['text'].strip() == '42'
        assert user.line('step')['error'] is None
        assert user.event('stopped')['stop']['phase'] == 'line'


def test_a_command_that_waits_can_be_broken_off(tmp_path: Path) -> None:
    """Also the moment after it was sent, and behind a command of another client; those behind it are carried out."""
    with Program(tmp_path) as program, client(program) as user, client(program) as other:
        user.line('break norm --once')
        user.event('stopped')
        for number in range(900, 920):
            user.socket.sendall(f'{{"id": {number}, "line": "while True: pass"}}\n{{"cancel": {number}}}\n'.encode())
            answer = user.read()
            assert answer['id'] == number and 'nterrupt' in answer['error']
        other.send(id=1, line='p sum(1 for _ in range(3_000_000))')
        user.send(id=920, line='while True: pass')
        user.send(id=921, line='p 40 + 2')
        user.send(cancel=920)
        answers = [user.read(), user.read()]
        assert [answer['id'] for answer in answers] == [920, 921] and 'nterrupt' in answers[0]['error']
        assert answers[1]['text'].strip() == '42'


def test_what_comes_too_late_for_a_command_does_not_break_off_the_next_one(tmp_path: Path) -> None:
    with Program(tmp_path) as program, client(program) as user:
        user.line('break norm --once')
        user.event('stopped')
        user.send(id=900, line='p 1')
        while user.read().get('id') != 900:
            pass
        user.send(id=901, line='p sum(1 for _ in range(3_000_000))')
        while not select.select([user.socket], [], [], 0.01)[0]:
            user.send(cancel=900)
        answer = user.read()
        assert (answer['id'], answer['error'], answer['text'].strip()) == (901, None, '3000000')


def test_a_cancel_of_nothing_is_refused(tmp_path: Path) -> None:
    with Program(tmp_path) as program, client(program) as user:
        user.send(cancel=True)
        assert '"id"' in user.read()['error']
        assert user.ask(line='version', cancel=3)['id'] == user.number      # a command all the same
        assert 'nterrupt' not in (user.line('p 1')['error'] or '')


def test_twenty_clients_at_once(tmp_path: Path) -> None:
    with Program(tmp_path) as program:
        users = [RawClient(program.socket) for _ in range(20)]
        for user in users:
            user.ask(attach=True)
        users[0].line('break norm --once')
        assert len({user.event('stopped')['stop']['number'] for user in users}) == 1
        assert all(user.line('p 1 + 1')['text'].strip() == '2' for user in users)
        for user in users:
            user.close()
        assert program.runs_on()


def test_a_client_that_does_not_read_is_cut_off(tmp_path: Path) -> None:
    with Program(tmp_path) as program, client(program) as user:
        greedy = RawClient(program.socket)
        asked = json.dumps({'id': 1, 'complete': 'help '}).encode() + b'\n'
        size = len(json.dumps(user.ask(complete='help ')))
        # The program answers after the requests are sent: it is done when no more can be sent.
        with pytest.raises((BrokenPipeError, ConnectionResetError)):
            for _ in range(20 * MOST_HELD // size):
                greedy.socket.sendall(asked)
        assert user.line('p 1')['error']        # no stop: refused, so it is served
        assert program.runs_on()
        resident = next(line for line in Path(f'/proc/{program.process.pid}/status').read_text().splitlines()
                        if line.startswith('VmRSS'))
        assert int(resident.split()[1]) < 600_000


def test_the_socket_goes_with_the_program_and_dead_ones_are_removed(tmp_path: Path) -> None:
    with Program(tmp_path) as killed:
        killed.process.send_signal(signal.SIGKILL)
        killed.process.wait()
        assert killed.socket.exists()
    with Program(tmp_path, 3) as program:
        program.process.wait(60)
        assert program.process.returncode == 0
        assert not killed.socket.exists()
        assert not program.socket.exists()


def test_a_forked_child_has_no_socket_and_leaves_the_parents_alone(tmp_path: Path) -> None:
    source = ('import os, sys, time, pyfuncdbg\n'
              'if os.fork() == 0:\n    sys.exit(0)\n'
              'os.wait()\nprint("child gone", flush=True)\ntime.sleep(60)\n')
    with Program(tmp_path, source=source) as program:
        wait_until(lambda: 'child gone' in program.printed)
        with client(program) as user:
            assert user.hello['pid'] == program.process.pid
            assert user.line('breaks')['error'] is None


def test_listening_loads_little(tmp_path: Path) -> None:
    code = ('import sys, pyfuncdbg\n'
            'print([name for name in ("rich", "argparse", "pyfuncdbg.ui.commands.socket.remote") if name in sys.modules])')
    said = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True,
                          env=environment(tmp_path, PYFUNCDBG_LISTEN='1'))
    assert said.stdout.strip() == '[]'
    assert 'listening; connect with: pyfuncdbg connect' in said.stderr


# --- what anybody may send ------------------------------------------------------------------------------------------

def test_hostile_clients_do_not_disturb_the_program(tmp_path: Path) -> None:
    with Program(tmp_path) as program, client(program) as user:
        bad = [b'\xff\xfe\x00\n', b'{"id": 1, "line": ', b'[' * 60_000 + b'\n', b'9' * 5_000 + b'\n', b'null\n',
               b'{"id": {}, "line": "x"}\n', b'{"line": 3}\n', b'{"line": "breaks", "width": 1e999}\n',
               b'{"complete": "x", "position": -99999999999999999999}\n', b'\n' * 5_000,
               b'{"line": "p\\n1"}\n', b'{"line": "\\ud800"}\n', b'A' * (LONGEST + 10)]
        for data in bad:
            raw = RawClient(program.socket)
            raw.socket.sendall(data)
            raw.close()
        assert user.line('breaks')['error'] is None
        raw = RawClient(program.socket)
        raw.socket.sendall(b'A' * (LONGEST + 10))
        assert 'at most' in raw.read()['error']
        with pytest.raises((EOFError, ConnectionResetError)):
            raw.read()
        assert program.runs_on()


def resident(program: Program) -> int:
    """MB that a program holds in memory."""
    (line,) = [line for line in Path(f'/proc/{program.process.pid}/status').read_text().splitlines() if 'VmRSS' in line]
    return int(line.split()[1]) // 1024


def open_files(program: Program) -> int:
    return len(list(Path(f'/proc/{program.process.pid}/fd').iterdir()))


def test_a_line_of_100_mb_is_refused_at_its_beginning(tmp_path: Path) -> None:
    with Program(tmp_path) as program, client(program) as user:
        assert user.line('breaks')['error'] is None
        before = resident(program)
        raw, sent = RawClient(program.socket), 0
        with pytest.raises((BrokenPipeError, ConnectionResetError)):
            for _ in range(100):
                sent += raw.socket.send(b'A' * 2**20)
        assert sent < 4 * 2**20
        assert 'at most' in raw.read()['error']
        assert user.line('breaks')['error'] is None and program.runs_on()
        assert resident(program) < before + 8


def test_a_thousand_connections_are_refused_beyond_the_first_and_leave_nothing(tmp_path: Path) -> None:
    with Program(tmp_path) as program, client(program) as user:
        assert user.line('breaks')['error'] is None
        before, told = open_files(program), []
        many = []
        for _ in range(1000):
            one = socket.socket(socket.AF_UNIX)
            one.settimeout(20)
            one.connect(str(program.socket))
            told.append(json.loads(one.makefile('rb').readline()))
            if 'error' in told[-1]:
                one.close()
            else:
                many.append(one)
        assert [hello.get('event') for hello in told] == ['hello'] * (MOST_CLIENTS - 1) + [None] * (1001 - MOST_CLIENTS)
        assert {hello['error'] for hello in told[MOST_CLIENTS:]} == {f'{MOST_CLIENTS} clients are connected already'}
        assert user.line('breaks')['error'] is None and program.runs_on()
        for one in many:
            one.close()
        wait_until(lambda: open_files(program) <= before)
        with client(program) as another:
            assert another.line('breaks')['error'] is None


@pytest.mark.parametrize('what', ['{"id": 1, "line": "breaks"}', '{"id": 1, "cancel": 5}', '{"id": 1, "complete": "b"}'])
@pytest.mark.parametrize('reads', [True, False])
def test_a_client_that_floods_delays_nobody(tmp_path: Path, what: str, reads: bool) -> None:
    with Program(tmp_path) as program, client(program) as user:
        assert user.line('breaks')['error'] is None
        before, flood = resident(program), socket.socket(socket.AF_UNIX)
        flood.connect(str(program.socket))
        flood.setblocking(False)
        data = memoryview((what.encode() + b'\n') * 2000)
        sent = 0
        for round in range(400):
            with contextlib.suppress(BlockingIOError):
                sent += flood.send(data[sent % len(data):])
            if reads:
                with contextlib.suppress(BlockingIOError):
                    flood.recv(1 << 20)
            if round % 20 == 19:
                assert user.line('breaks')['error'] is None
        assert sent > len(data) and program.runs_on()
        assert resident(program) < before + 3 * (MOST_HELD >> 20)
        flood.close()
        assert user.line('breaks')['error'] is None


@pytest.fixture(scope='module')
def running(tmp_path_factory: pytest.TempPathFactory) -> object:
    with Program(tmp_path_factory.mktemp('fuzz')) as program:
        yield program


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.one_of(
    st.binary(max_size=300),
    st.dictionaries(st.sampled_from(['id', 'line', 'width', 'color', 'complete', 'position', 'attach', 'detach']),
                    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=20), st.floats(), st.just([]))
                    ).map(lambda made: json.dumps(made).encode())), max_size=8))
def test_any_bytes_are_survived(running: Program, lines: list[bytes]) -> None:
    raw = socket.socket(socket.AF_UNIX)
    raw.connect(str(running.socket))
    raw.sendall(b'\n'.join(lines) + b'\n')
    raw.close()
    asker = RawClient(running.socket)
    assert asker.line('help break')['error'] is None
    asker.close()
    assert running.process.poll() is None


@given(st.lists(st.binary(max_size=40)), st.integers(0, 2**32))
def test_lines_do_not_depend_on_how_they_arrive(parts: list[bytes], cut: int) -> None:
    data = b'\n'.join(parts) + b'\n'
    at = cut % (len(data) + 1)
    lines = LineBuffer()
    assert [*lines.feed(data[:at]), *lines.feed(data[at:])] == data.split(b'\n')[:-1]


@given(st.binary(max_size=200))
def test_a_line_is_a_request_or_refused(line: bytes) -> None:
    try:
        assert isinstance(request(line), Request)
    except ProtocolError as error:
        assert str(error)


@pytest.mark.parametrize('listens', [False, True])
def test_a_client_that_is_connected_already_gets_the_first_stop(tmp_path: Path, listens: bool) -> None:
    ours, theirs = socket.socketpair()
    code = ('import socket, sys\nfrom pyfuncdbg.ui.commands.socket.listen import adopt\n'
            'adopt(socket.socket(fileno=int(sys.argv[1])), attached=True)\n'
            'import numpy as np\nimport pyfuncdbg\nfrom pyfuncdbg import tf\n'
            'def double(x):\n    pyfuncdbg.breakpoint()\n    return x * 2\n'
            'print(tf.numpy_function(double, [np.arange(3.)], tf.float64).numpy().tolist())\n')
    env = environment(tmp_path, **({'PYFUNCDBG_LISTEN': '1'} if listens else {}))
    with theirs, subprocess.Popen([sys.executable, '-c', code, str(theirs.fileno())], stdout=subprocess.PIPE,
                                  stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=env,
                                  pass_fds=[theirs.fileno()]) as program:
        theirs.close()
        user = RawClient(ours)
        try:
            assert user.hello['event'] == 'hello' and user.hello['pid'] == program.pid
            assert user.event('stopped')['stop']['where']['function'] == 'double'
            assert '3.0' in user.line('p x.sum()')['text']
            assert (tmp_path / 'pyfuncdbg' / f'{program.pid}.sock').exists() == listens
            assert user.line('cont')['left'] == 1
            assert user.event('ended')
            with pytest.raises(EOFError):
                user.read()
            out, errors = program.communicate(timeout=20)
            assert (out, program.returncode) == ('[0.0, 2.0, 4.0]\n', 0), errors
        finally:
            program.kill()
            user.close()


def test_the_end_is_told_though_the_servers_thread_is_faster(tmp_path: Path) -> None:
    ours, theirs = socket.socketpair()
    code = ('import socket, sys, time\nfrom pyfuncdbg.ui.commands.socket.clients import Client\n'
            'from pyfuncdbg.ui.commands.socket.listen import adopt\nsend = Client.send\n'
            'def slow(client, message):\n'
            '    if message.get("event") == "ended":\n        client._wake()\n        time.sleep(0.2)\n'
            '    send(client, message)\n'
            'Client.send = slow\nadopt(socket.socket(fileno=int(sys.argv[1])), attached=True)\n')
    with theirs, subprocess.Popen([sys.executable, '-c', code, str(theirs.fileno())], stdin=subprocess.DEVNULL,
                                  env=environment(tmp_path), pass_fds=[theirs.fileno()]):
        theirs.close()
        user = RawClient(ours)
        try:
            assert user.hello['event'] == 'hello'
            assert user.event('ended')
        finally:
            user.close()
