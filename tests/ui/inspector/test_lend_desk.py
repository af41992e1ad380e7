"""The desk of a running program: commands cross the socket, the trace is read here, and what happens is told."""
from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from listening import HELLO, STOP, Program, wait_until
from rich.console import Console

from pyfuncdbg.ui.inspector.desks.desk import DeskRequest, Event
from pyfuncdbg.ui.inspector.desks.live_program import LiveDesk
from pyfuncdbg.ui.prompt.connecting.connection import BrokenOffError, Connection, LostConnectionError


class Heard:
    """Events, as they come."""

    def __init__(self, desk: LiveDesk) -> None:
        self.events: list[Event] = []
        desk.listen(self.events.append)

    def await_kind(self, kind: str) -> Event:
        """The next event of this kind; it and those before it are forgotten."""
        wait_until(lambda: any(event.kind == kind for event in self.events))
        while (event := self.events.pop(0)).kind != kind:
            pass
        return event


@contextmanager
def desk_of(program: Program) -> Iterator[tuple[LiveDesk, Heard]]:
    desk = LiveDesk(Connection(str(program.socket)))
    try:
        yield desk, Heard(desk)
    finally:
        desk.close()


def drawn(reply) -> str:
    console = Console(width=100, color_system=None)
    with console.capture() as captured:
        console.print(reply.shown)
    return captured.get()


def test_a_stop_comes_and_commands_act_on_it(tmp_path) -> None:
    with Program(tmp_path) as program, desk_of(program) as (desk, heard):
        assert desk.live and 'train.py' in desk.title and str(program.process.pid) in desk.title
        assert desk.stop() is None
        assert desk.answer('break norm', 80).error == ''
        stop = heard.await_kind('stopped').stop
        assert stop is not None and stop['call']['site'] == 'norm' and desk.stop() == stop
        reply = desk.answer('p x.shape', 80)
        assert reply.error == '' and '(3,)' in drawn(reply)
        assert 'unknown command' in desk.answer('brek norm', 80).error
        assert desk.complete('brea', 4) == (['break', 'breaks'], 0)
        assert desk.answer('into', 80).command == 'into'
        inner = heard.await_kind('stopped').stop
        assert inner is not None and inner['where']['function'] == 'norm' and inner['number'] > stop['number']
        assert desk.answer('clear 1', 80).error == '' and desk.answer('cont', 80).error == ''
        assert heard.await_kind('resumed').text
        wait_until(lambda: desk.stop() is None)
        assert program.runs_on()


def test_the_trace_is_read_here_and_grows(tmp_path) -> None:
    with Program(tmp_path) as program, desk_of(program) as (desk, heard):
        count = desk.trace.count()              # the program begins to record for it
        heard.await_kind('grown')
        wait_until(lambda: desk.trace.count(site='norm') > count + 3)
        call = desk.trace.calls(site='norm', newest_first=True, limit=1)[0]
        assert call.site.function == 'norm' and call.outputs[0].shape == (3,)


def test_nobody_looks_nothing_is_read(tmp_path) -> None:
    with Program(tmp_path) as program, desk_of(program) as (desk, heard):
        desk.trace.count()
        heard.await_kind('grown')
        desk.look_away()
        time.sleep(0.2)                         # a look that was under way is over
        seen = desk.trace.count()
        assert program.runs_on() and desk.trace.count() == seen
        desk.look()
        heard.await_kind('grown')
        assert desk.trace.count() > seen


def test_a_long_command_is_broken_off(tmp_path) -> None:
    with Program(tmp_path) as program, desk_of(program) as (desk, heard):
        desk.answer('break norm', 80)
        heard.await_kind('stopped')
        request = DeskRequest()
        threading.Timer(0.3, request.break_off).start()
        assert 'interrupted' in desk.answer('p [0 for _ in iter(int, 1)]', 80, request).error
        threading.Timer(0.1, request.break_off).start()         # late: what runs now is another one
        assert '3000000' in drawn(desk.answer('p sum(1 for _ in range(3_000_000))', 80))
        assert '3' in drawn(desk.answer('p x.size', 80))


def test_a_command_is_broken_off_once_however_long_the_key_is_held() -> None:
    """A program that is suspended reads nothing: more than its socket holds would stop the screen too."""
    ours, theirs = socket.socketpair()
    theirs.sendall(HELLO)
    connection = Connection(ours)
    asked, other = connection.begin(line='bt'), connection.begin(line='p 1')      # which waits for the answer to it
    for _ in range(3):
        connection.cancel(asked)
    theirs.sendall(b'{"id": 1, "text": "", "error": "interrupted"}\n')
    assert asked.result(20)['error'] == 'interrupted'
    connection.cancel(asked)                    # it is over
    connection.cancel(other)
    theirs.settimeout(20)
    said = b''
    while said.count(b'\n') < 4:
        said += theirs.recv(1 << 16)
    theirs.settimeout(0.2)
    with contextlib.suppress(TimeoutError):
        said += theirs.recv(1 << 16)
    assert [json.loads(line).get('cancel') for line in said.splitlines()] == [None, 1, None, 2]
    theirs.close()


def test_a_request_that_waits_for_others_is_taken_back() -> None:
    """The program breaks off only what it has begun; so it is told of one request at a time."""
    ours, theirs = socket.socketpair()
    theirs.sendall(HELLO)
    connection = Connection(ours)
    first, second, third = (connection.begin(line=line) for line in ('p 1', 'p 2', 'p 3'))
    connection.cancel(second)
    with pytest.raises(BrokenOffError, match='interrupted'):
        second.result(0)
    said = theirs.makefile('r')
    theirs.settimeout(20)
    for future, line in ((first, 'p 1'), (third, 'p 3')):
        request = json.loads(said.readline())
        assert request['line'] == line and not future.done()
        theirs.sendall(json.dumps({'id': None if line == 'p 1' else request['id'], 'error': 'no'}).encode() + b'\n')
        assert future.result(20)['error'] == 'no'
    waiting = [connection.begin(line='p 4'), connection.begin(line='p 5')]
    theirs.shutdown(socket.SHUT_RDWR)
    for future in waiting:
        with pytest.raises(LostConnectionError):
            future.result(20)
        connection.cancel(future)
    said.close()
    theirs.close()


def test_another_stop_in_turn_may_be_an_older_one() -> None:
    """Of threads that wait, any may be looked at next."""
    ours, theirs = socket.socketpair()
    theirs.sendall(HELLO.replace(b'a.py', b'a\\u001b[31m.py'))
    desk = LiveDesk(Connection(ours), attach=False)
    heard = Heard(desk)
    assert '\x1b' not in desk.title
    for number in (2, 1):
        stop = {**STOP, 'number': number}
        theirs.sendall(json.dumps({'event': 'stopped', 'stop': stop}).encode() + b'\n')
        assert heard.await_kind('stopped').stop == stop
        assert desk.stop() == stop
        theirs.sendall(b'{"event": "resumed", "stop": %d, "verb": "cont", "by": 1}\n' % number)
        heard.await_kind('resumed')
        assert desk.stop() is None
    theirs.close()
    assert heard.await_kind('lost').text
    desk.close()


@pytest.mark.parametrize('name', ['KILL', 'TERM'])
def test_a_program_that_dies_is_told_and_asked_in_vain(tmp_path: Path, name: str) -> None:
    with Program(tmp_path) as program, desk_of(program) as (desk, heard):
        desk.answer('break norm', 80)
        heard.await_kind('stopped')
        os.kill(program.process.pid, getattr(signal, f'SIG{name}'))
        assert heard.await_kind('lost').text and desk.stop() is None
        assert 'gone' in desk.answer('p x', 80).error
        assert desk.complete('br', 2) == ([], 2)


def test_a_program_that_ends_by_itself_says_so(tmp_path) -> None:
    with Program(tmp_path, 60) as program, desk_of(program) as (desk, heard):
        desk.answer('quit', 80)
        assert heard.await_kind('ended').text == 'the program has ended'
        assert program.process.wait(20) == 0
