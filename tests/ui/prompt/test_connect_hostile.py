"""`pyfuncdbg connect` and a program that is no program of ours: whatever it sends is shown escaped, bounded, in time."""
from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pexpect
import pytest
from hypothesis import given, strategies as st
from listening import CONNECT, HELLO, STOP, environment

from pyfuncdbg.ui.commands.socket.protocol import MOST_HELD, LineBuffer, ProtocolError
from pyfuncdbg.ui.commands.socket.replies import reply
from pyfuncdbg.ui.prompt.connecting.connect import PipeReader
from pyfuncdbg.ui.prompt.connecting.connection import Events, completions_of

NASTY = '\x1b]52;c;aGk=\x07\x1b[2J\x9b31m\r\b\x00\x7f\u202e\ud800\u2028a' + '\u0301' * 500
"""Clipboard, clearing, C1, carriage return, backspace, an override of direction, a lone surrogate, a pile of accents."""
ALLOWED = re.compile(rb'\x1b\[[0-9;]*m')
Talk = Callable[[socket.socket], None]
pytestmark = pytest.mark.timeout(180)


@contextmanager
def serving(folder: Path, talk: Talk) -> Iterator[dict[str, str]]:
    """Somebody who listens where programs do, and says what `talk` does; the environment to find them."""
    place = folder / 'pyfuncdbg'
    place.mkdir(0o700)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(place / '4242.sock'))
        listening.listen(8)

        def serve() -> None:
            while True:
                try:
                    connection, _ = listening.accept()
                except OSError:
                    return
                with connection, contextlib.suppress(OSError):
                    talk(connection)
        threading.Thread(target=serve, daemon=True).start()
        yield environment(folder)


def connected(env: dict[str, str], *options: str, lines: bytes = b'',
              seconds: float = 60) -> subprocess.CompletedProcess[bytes]:
    """`pyfuncdbg connect` with these lines on stdin, and all that it says."""
    return subprocess.run([sys.executable, '-m', 'pyfuncdbg', 'connect', *options, '4242'], input=lines, env=env,
                          capture_output=True, timeout=seconds)


def requests(connection: socket.socket) -> Iterator[dict[str, Any]]:
    """What the client asks, as long as it is there."""
    with connection.makefile('rb') as file:
        yield from map(json.loads, file)


def answering(answer: Callable[[dict[str, Any]], bytes], hello: bytes = HELLO) -> Talk:
    """Somebody who greets, and says this to each request."""
    def talk(connection: socket.socket) -> None:
        connection.sendall(hello)
        for request in requests(connection):
            if 'id' in request:
                connection.sendall(answer(request))
    return talk


def sent(*messages: dict[str, Any]) -> bytes:
    return b''.join(json.dumps(message).encode() + b'\n' for message in messages)


def harmless(said: bytes) -> bool:
    """Whether nothing of it acts on a terminal but colours, and no accents are piled up."""
    text = ALLOWED.sub(b'', said).decode()
    return all(char == '\n' or char.isprintable() for char in text) and '\u0301' * 50 not in text


def test_whatever_is_sent_is_shown_escaped(tmp_path: Path) -> None:
    hello = sent({**json.loads(HELLO), 'program': [NASTY, NASTY]})
    stop = {**STOP, 'reason': NASTY, 'phase': NASTY, 'at': NASTY, 'thread_name': NASTY}

    def answer(request: dict[str, Any]) -> bytes:
        if 'line' not in request:
            return sent({'event': 'log', 'text': NASTY}, {'event': 'stopped', 'stop': stop},
                        {'event': 'resumed', 'stop': 1, 'verb': NASTY, 'by': 9}, {'id': request['id']})
        if request['line'] == 'bad':
            return sent({'id': request['id'], 'error': NASTY})
        return sent({'id': request['id'], 'text': f'{NASTY}\x1b[1;31mred\x1b[8mhidden\n', 'command': NASTY, 'stop': stop})

    with serving(tmp_path, answering(answer, hello)) as env:
        said = connected(env, lines=b'bad\np 1\n')
    assert said.returncode == 0 and said.stderr == b''
    assert harmless(said.stdout)
    assert b'*** \\x1b]52;c;aGk=\\x07\\x1b[2J\\x9b31m' in said.stdout
    assert b'\x1b[1;31mred\\x1b[8mhidden\n\x1b[0m' in said.stdout


def test_json_stays_json_of_plain_characters(tmp_path: Path) -> None:
    def answer(request: dict[str, Any]) -> bytes:
        return sent({'event': 'log', 'text': NASTY}, {'id': request['id'], 'data': {NASTY: [NASTY]}})
    with serving(tmp_path, answering(answer)) as env:
        said = connected(env, '--json', lines=b'p 1\n')
    assert said.returncode == 0 and said.stderr == b''
    assert all(0x20 <= byte < 0x7f or byte == 0x0a for byte in said.stdout)
    answers = [message for line in said.stdout.splitlines() if 'line' in (message := json.loads(line))]
    assert answers[0]['data'] == {NASTY: [NASTY]}


HELLOS = [b'', b'\n\n', b'null\n', b'[]\n', b'{}\n', b'{"event": "hello"}\n', b'\xff\xfe\n', b'[' * 100_000 + b'\n',
          b'9' * 5_000 + b'\n',
          b'{"event": ["hello"]}\n', HELLO.replace(b'"a.py"', b'3'), HELLO.replace(b'"pid": 1', b'"pid": "\\u001b[2J"'),
          HELLO.replace(b'"protocol": 1', b'"protocol": 99'), HELLO.replace(b'"stop": null', b'"stop": {}'),
          HELLO.replace(b'"client": 1', b'"client": NaN'), b'{"id": null, "error": "\\u001b[2J no"}\n', b'x' * 3_000]


@pytest.mark.parametrize('hello', HELLOS, ids=range(len(HELLOS)))
def test_a_greeting_that_is_none_is_told_in_one_line(tmp_path: Path, hello: bytes) -> None:
    with serving(tmp_path, lambda connection: connection.sendall(hello)) as env:
        said = connected(env, lines=b'p 1\n')
    assert (said.returncode, said.stdout) == (2, b'')
    assert said.stderr.startswith(b'pyfuncdbg: ') and said.stderr.count(b'\n') == 1 and harmless(said.stderr)


ANSWERS = [b'null\n', b'{"id": [1]}\n', b'[' * 100_000 + b']' * 100_000 + b'\n', b'{"id": 1, "error": 3}\n',
           b'{"id": 1, "text": null}\n', b'{"id": 1, "stop": {"number": "1"}}\n', b'{"id": 1, "data": NaN}\n',
           b'{"id": 1, "data": 1e999}\n', b'{"id": 1, "completions": "x"}\n', b'{"event": "stopped"}\n',
           b'{"event": "resumed", "stop": 1}\n', b'{"event": "log", "text": {}}\n', b'{"event": "\\u001b[2J"}\n', b'\xff\n',
           b'x' * (MOST_HELD + 2), b'{"id": 1, "text": "half']


@pytest.mark.parametrize('answer', ANSWERS, ids=range(len(ANSWERS)))
def test_an_answer_that_is_none_ends_the_connection_in_one_line(tmp_path: Path, answer: bytes) -> None:
    def talk(connection: socket.socket) -> None:
        connection.sendall(HELLO)
        next(requests(connection))
        connection.sendall(answer)
    with serving(tmp_path, talk) as env:
        said = connected(env, lines=b'p 1\n')
    assert said.returncode == 1 and said.stderr == b'' and harmless(said.stdout)
    lines = said.stdout.decode().splitlines()
    assert len(lines) == 2 and lines[1].startswith('the connection is lost: ')
    assert 'protocol error' in lines[1] or 'half' in answer.decode('latin1')


@pytest.mark.parametrize('later', [['bt'], ['bt'] * 2_000], ids=['without end', 'at once'])
def test_a_program_cannot_send_commands_without_end(tmp_path: Path, later: list[str]) -> None:
    received: list[str] = []

    def answer(request: dict[str, Any]) -> bytes:
        received.append(request.get('line', ''))
        return sent({'id': request['id'], 'text': 'shown\n', 'later': later if request.get('line') != 'p 2' else []})
    with serving(tmp_path, answering(answer)) as env:
        said = connected(env, lines=b'p 1\np 2\n')
    assert said.returncode == 0 and said.stderr == b''
    assert said.stdout.count(b'more than 1,000 commands') == 1
    assert received.count('bt') <= 1_000 and received[-2:] == ['p 2', '']


def resident(pid: int) -> int:
    """Most memory that a process has had, in kB."""
    status = Path(f'/proc/{pid}/status').read_text()
    return int(re.findall(r'VmHWM:\s+(\d+)', status)[0])


@pytest.mark.parametrize('flood', [b'a' * (1 << 16), sent({'id': 77, 'error': 'never asked'}) * 500,
                                   sent({'event': 'log', 'text': 'again'}) * 500, b'\n' * (1 << 16),
                                   sent({'event': 'resumed', 'stop': 5, 'verb': 'cont', 'by': 1}) * 500],
                         ids=['a line without end', 'answers', 'logs', 'blank lines', 'events'])
def test_a_flood_is_borne_in_little_memory_and_the_user_can_leave(tmp_path: Path, flood: bytes) -> None:
    taken = 0

    def talk(connection: socket.socket) -> None:
        nonlocal taken
        connection.sendall(HELLO)
        for request in requests(connection):
            connection.sendall(sent({'id': request['id']}))
            break
        while True:
            connection.sendall(flood)
            taken += 1
    with serving(tmp_path, talk) as env:
        user = pexpect.spawn(sys.executable, ['-m', 'pyfuncdbg', 'connect', '4242'], env=env, timeout=60)
        user.expect('connected to')
        before, end = 0, time.monotonic() + 3
        enough = 0 if b'\n' not in flood else 100          # what is no message is not read to its end
        while (time.monotonic() < end or (taken <= enough and time.monotonic() < end + 60)) and user.isalive():
            with contextlib.suppress(pexpect.TIMEOUT, pexpect.EOF):
                user.read_nonblocking(1 << 16, 0.05)
            with contextlib.suppress(OSError, IndexError):
                before = max(before, resident(user.pid))
        try:
            end = again = time.monotonic()
            while user.isalive():               # what is printed meanwhile must be read
                assert time.monotonic() < end + 60, 'Ctrl-D does not leave'
                if time.monotonic() >= again:   # on a slow machine the prompt may not have been there yet
                    user.sendeof()
                    again += 2
                with contextlib.suppress(pexpect.TIMEOUT, pexpect.EOF):
                    user.read_nonblocking(1 << 16, 0.05)
        finally:
            user.close(force=True)
    assert before < 300_000 and taken > enough


def test_a_greeting_of_a_byte_a_second_is_not_waited_for(tmp_path: Path) -> None:
    def talk(connection: socket.socket) -> None:
        for byte in HELLO:
            connection.sendall(bytes([byte]))
            time.sleep(0.5)
    with serving(tmp_path, talk) as env:
        said = connected(env, seconds=40)
    assert said.returncode == 2
    assert said.stderr.count(b'\n') == 1 and b'no answer; it may be suspended' in said.stderr


def test_a_program_that_never_answers_is_left_in_one_line(tmp_path: Path) -> None:
    with serving(tmp_path, answering(lambda request: b'')) as env:
        said = connected(env, lines=b'p 1\n', seconds=40)
    assert (said.returncode, said.stderr) == (1, b'')
    assert said.stdout.splitlines()[1:] == [b'*** no answer from the program for 10 seconds; it may be suspended']


def test_ctrl_c_and_tab_at_a_program_that_answers_no_more(tmp_path: Path) -> None:
    def answer(request: dict[str, Any]) -> bytes:
        return sent({'id': request['id']}) if 'attach' in request else b''
    with serving(tmp_path, answering(answer)) as env:
        user = pexpect.spawn(sys.executable, ['-m', 'pyfuncdbg', 'connect', '4242'], env=env, timeout=30, encoding='utf-8')
        user.expect('2004h')
        user.send('p 1\t')                      # waits, not for ever
        user.send(' + 1\r')
        user.expect('2004l')
        time.sleep(0.3)
        user.sendintr()
        user.expect('2004h')                    # the program was not told of it yet
        user.sendeof()
        user.expect('no answer from the program')
        user.expect(pexpect.EOF)
        assert user.wait() == 1


def test_ctrl_c_while_the_greeting_is_waited_for(tmp_path: Path) -> None:
    arrived = threading.Event()

    def talk(connection: socket.socket) -> None:
        arrived.set()
        time.sleep(30)
    with serving(tmp_path, talk) as env, subprocess.Popen(
            [sys.executable, '-m', 'pyfuncdbg', 'connect', '4242'], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE) as user:
        assert arrived.wait(20)
        time.sleep(0.2)
        user.send_signal(signal.SIGINT)
        out, errors = user.communicate(timeout=20)
    assert (user.returncode, out, errors) == (130, b'', b'')


def test_completions_that_cannot_be_typed_are_none() -> None:
    answer = reply(sent({'id': 1, 'completions': ['good', 'a\nb', '\x1b[2J', 'x' * 5_000, '\ud800'], 'start': -5}).strip())
    assert completions_of(answer, 3) == (['good'], 0)
    assert completions_of({**answer, 'start': 99, 'completions': ['w'] * 100_000}, 3) == (['w'] * 10_000, 3)


# --- a message, and lines ----------------------------------------------------------------------------------------------

values = st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
                      lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3))
fields = st.sampled_from('event id text stop error left completions start pid verb by data'.split())


@given(st.binary(max_size=100) | st.dictionaries(fields, values | st.sampled_from(
    ['hello', 'stopped', 'resumed', 'log', 'ended']), max_size=5).map(lambda made: json.dumps(made).encode()))
def test_a_message_has_its_fields_or_is_refused(line: bytes) -> None:
    try:
        message = reply(line)
    except ProtocolError as error:
        assert str(error).isprintable()
        return
    if 'event' not in message:
        assert isinstance(message['text'], str) and isinstance(message['error'], str | None)
        assert isinstance(message['start'], int) and all(isinstance(word, str) for word in message['completions'])
        assert message['stop'] is None or isinstance(message['stop']['number'], int)
    assert json.dumps(message, allow_nan=False)


@given(st.lists(st.binary(max_size=30)), st.integers(1, 40), st.integers(1, 20))
def test_lines_are_cut_where_they_are_too_long_however_they_arrive(parts: list[bytes], size: int, longest: int) -> None:
    data = b'\n'.join(parts) + b'\n'
    lines = LineBuffer(longest)
    found = [line for at in range(0, len(data), size) for line in lines.feed(data[at:at + size])]
    assert found == [line[:longest + 1] for line in data.split(b'\n')[:-1]]


def test_a_line_of_64_mb_in_small_pieces_is_work_in_proportion() -> None:
    """Twice the line takes about twice the time; were all of it copied at each piece, four times."""
    def seconds(pieces: int) -> float:
        lines, began = LineBuffer(1 << 30), time.process_time()
        for _ in range(pieces):
            assert lines.feed(b'a' * 4096) == []
        assert len(lines.feed(b'\n')[0]) == pieces * 4096
        return time.process_time() - began
    assert min(seconds(1 << 14) for _ in range(3)) < 30 * min(seconds(1 << 11) for _ in range(3)) + 0.5


def test_events_are_bounded_and_what_is_left_out_is_counted() -> None:
    events = Events()
    for number in range(100_000):
        events.put({'event': 'log', 'text': f'{number}'}, 1_000)
    events.put({'event': 'ended'})
    shown = 0
    while (event := events.get())['event'] == 'log':
        assert event['text'] == f'{shown}'
        shown += 1
    assert event == {'event': 'ended'} and 1_000 < shown < 5_000
    assert events.get()['text'].startswith(f'{100_000 - shown} lines came faster')
    with pytest.raises(ProtocolError, match='more events'):
        for _ in range(100_000):
            events.put({'event': 'resumed', 'stop': 1, 'verb': 'cont', 'by': 1}, 1_000)


# --- what is in the folder ---------------------------------------------------------------------------------------------

@pytest.mark.parametrize('kind', ['link', 'open', pytest.param('foreign', marks=pytest.mark.skipif(
    os.geteuid() != 0, reason='only root can give a folder away'))])
def test_a_folder_that_another_user_may_have_made_is_named_and_not_used(tmp_path: Path, kind: str) -> None:
    place = tmp_path / 'pyfuncdbg'
    if kind == 'link':
        (tmp_path / 'elsewhere').mkdir(0o700)
        place.symlink_to(tmp_path / 'elsewhere')
    else:
        place.mkdir(0o700)
        os.chmod(place, 0o777 if kind == 'open' else 0o700)
        if kind == 'foreign':
            os.chown(place, 12345, -1)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(place / '4242.sock'))
        listening.listen(1)
        said = subprocess.run(CONNECT, env=environment(tmp_path), text=True,
                              capture_output=True)
    assert said.returncode == 2 and said.stderr.count('\n') == 1
    assert f"not checked: '{place}' " in said.stderr


def test_only_stale_sockets_are_removed(tmp_path: Path) -> None:
    place = tmp_path / 'pyfuncdbg'
    place.mkdir(0o700)
    (tmp_path / 'precious').write_text('kept')
    (place / '1.sock').write_text('kept too')
    (place / '2.sock').symlink_to(tmp_path / 'precious')
    os.mkfifo(place / '3.sock')
    (place / '\u00b2.sock').write_text('no number')
    with socket.socket(socket.AF_UNIX) as stale:
        stale.bind(str(place / '4.sock'))
    said = subprocess.run([*CONNECT, '1'], env=environment(tmp_path), text=True,
                          capture_output=True, timeout=30)
    assert said.returncode == 2 and said.stderr.count('\n') == 1 and 'process 1 does not listen' in said.stderr
    assert sorted(path.name for path in place.iterdir()) == ['1.sock', '2.sock', '3.sock', '\u00b2.sock']
    assert (tmp_path / 'precious').read_text() == 'kept' and stat.S_ISFIFO((place / '3.sock').stat().st_mode)


@pytest.mark.parametrize(('text', 'lines'), [(b'step\n', ['step']), (b'step', ['step']), (b'step\n\n', ['step', '']),
                                             (b'', []), (b'a\nb', ['a', 'b'])])
def test_the_end_of_a_pipe_is_no_line(monkeypatch, text, lines):
    """An empty line repeats the command before it."""
    reader = PipeReader(echo=False)
    parts = [text, b'']
    monkeypatch.setattr(reader, '_more', lambda: parts.pop(0) if parts else b'')
    found = []
    with pytest.raises(EOFError):
        while True:
            found.append(reader.read())
    assert found == lines


def test_logs_leave_room_for_stops():
    events = Events()
    for _ in range(100_000):
        events.put({'event': 'log', 'text': 'x'}, 500)
    events.put({'event': 'stopped'}, 300)
    assert events.get()['event'] == 'log'
