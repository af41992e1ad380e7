"""A client of the Debug Adapter Protocol, as VS Code is one: talks to debugpy over its socket."""
from __future__ import annotations

import contextlib
import itertools
import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

TESTS = Path(__file__).resolve().parent

Message = dict[str, Any]


class DebugAdapterClient:
    """One connection.

    Args:
        port: Where debugpy listens on this machine.
    """

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(('127.0.0.1', port))
        self._socket.settimeout(60)
        self._file = self._socket.makefile('rb')
        self._numbers = itertools.count(1)
        self._early: list[Message] = []

    def attach(self, breakpoints: dict[Path, list[int]], *, only_own_code: bool = False) -> None:
        """Do what VS Code does when it attaches to a program that waits for it."""
        self._begin(breakpoints, 'attach', justMyCode=only_own_code)

    def launch(self, configuration: dict[str, Any], breakpoints: dict[Path, list[int]]) -> None:
        """Do what VS Code does with a configuration of `launch.json`."""
        self._begin(breakpoints, 'launch', **configuration)

    def output(self) -> str:
        """What the program has written so far."""
        return ''.join(one['body']['output'] for one in self._early if one['type'] == 'event' and one['event'] == 'output'
                       and one['body'].get('category') in ('stdout', 'stderr'))

    def _begin(self, breakpoints: dict[Path, list[int]], command: str, **arguments: Any) -> None:
        self.ask('initialize', clientID='test', adapterID='debugpy', pathFormat='path', linesStartAt1=True,
                 columnsStartAt1=True)
        attaching = self._send(command, **arguments)
        self.event('initialized')
        for path, lines in breakpoints.items():
            self.ask('setBreakpoints', source={'path': str(path)}, breakpoints=[{'line': line} for line in lines])
        self.ask('configurationDone')
        self._until(lambda message: message['type'] == 'response' and message['request_seq'] == attaching)

    def ask(self, command: str, **arguments: Any) -> Message:
        """The body of the answer to a request."""
        number = self._send(command, **arguments)
        answer = self._until(lambda message: message['type'] == 'response' and message['request_seq'] == number)
        assert answer['success'], answer
        body: Message = answer.get('body', {})
        return body

    def event(self, *names: str) -> Message:
        """The next event of one of these kinds."""
        return self._until(lambda message: message['type'] == 'event' and message['event'] in names)

    def variables(self, frame: int) -> dict[str, str]:
        """The local variables of a frame."""
        scope = self.ask('scopes', frameId=frame)['scopes'][0]
        found = self.ask('variables', variablesReference=scope['variablesReference'])['variables']
        return {one['name']: one['value'] for one in found}

    def close(self) -> None:
        """End it."""
        self._file.close()
        self._socket.close()

    def _send(self, command: str, **arguments: Any) -> int:
        number = next(self._numbers)
        data = json.dumps({'seq': number, 'type': 'request', 'command': command, 'arguments': arguments}).encode()
        self._socket.sendall(b'Content-Length: %d\r\n\r\n' % len(data) + data)
        return number

    def _until(self, wanted: Callable[[Message], bool]) -> Message:
        for index, message in enumerate(self._early):
            if wanted(message):
                return self._early.pop(index)
        while not wanted(message := self._read()):
            self._early.append(message)
        return message

    def _read(self) -> Message:
        length = 0
        while header := self._file.readline().strip():
            length = int(header.split(b':')[1])
        message: Message = json.loads(self._file.read(length))
        return message


@dataclass(frozen=True)
class Stopped:
    """Where a client sees a thread."""

    thread: int
    line: int
    name: str
    variables: dict[str, str]


def stopped(client: DebugAdapterClient) -> Stopped:
    """The next stop."""
    event = client.event('stopped', 'terminated')
    assert event['event'] == 'stopped'
    thread = event['body']['threadId']
    frame = client.ask('stackTrace', threadId=thread)['stackFrames'][0]
    return Stopped(thread, frame['line'], frame['name'], client.variables(frame['id']))


@contextlib.contextmanager
def program(script: Path) -> Iterator[tuple[subprocess.Popen[str], DebugAdapterClient]]:
    """A program that prints its port, and a client there; its stderr is a file."""
    env = {**os.environ, 'PYTHONPATH': f'{TESTS.parent}{os.pathsep}{TESTS}', 'PYDEVD_DISABLE_FILE_VALIDATION': '1'}
    with (script.parent / 'stderr').open('w') as errors, subprocess.Popen(
            [sys.executable, str(script)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors, text=True,
            env=env) as process:
        assert process.stdout is not None
        client = DebugAdapterClient(int(process.stdout.readline()))
        try:
            yield process, client
        finally:
            client.close()
            process.kill()
