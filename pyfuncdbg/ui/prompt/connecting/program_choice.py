"""Choice among the programs that listen on this machine.

On the main thread of `pyfuncdbg connect`.
"""
from __future__ import annotations

import os
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from pyfuncdbg.errors import UsageError
from pyfuncdbg.ui.commands.socket.rendezvous import programs, refusals
from pyfuncdbg.ui.prompt.connecting.connection import Connection, name_of
from pyfuncdbg.ui.prompt.connecting.output import write
from pyfuncdbg.ui.views.escape import one_line

_PATIENCE = 1.0
"""Seconds that each program has to say what it does."""
_MOST_AT_ONCE = 16
_LONGEST = 60


@dataclass(frozen=True, slots=True)
class ListeningProgram:
    """A process that listens.

    Attributes:
        pid: Its id.
        path: Of its socket.
        name: Its command line, in short.
        state: What it does.
    """

    pid: int
    path: str
    name: str
    state: str

    def __str__(self) -> str:
        return f'{self.pid}  {self.name}  {self.state}'


def listening_programs() -> list[ListeningProgram]:
    """The programs that listen, with what each does now."""
    paths = programs()
    paths.pop(os.getpid(), None)
    with ThreadPoolExecutor(_MOST_AT_ONCE) as pool:
        states = list(pool.map(_state, paths.values()))
    return [ListeningProgram(pid, path, name_of(pid), state)
            for (pid, path), state in zip(paths.items(), states, strict=True)]


def _state(path: str) -> str:
    """What a program says of itself in its greeting."""
    try:
        connection = Connection(path, patience=_PATIENCE)
    except UsageError:
        return 'does not answer: it may be suspended'
    hello = connection.hello
    connection.close()
    if hello['stop'] is not None:
        return f'stopped {one_line(hello["stop"]["at"], _LONGEST)}'
    return 'waits to begin' if hello['waiting'] else 'runs'


def find(number: int | None, *, asks: bool) -> str:
    """The socket of the program with this process number; without one, of the only program, or the one that the user picks.

    Args:
        number: A process number, None for any.
        asks: Whether a user at a terminal may be asked.

    Raises:
        UsageError: There is no such program, or there are several and nobody to ask.
    """
    paths = programs()
    paths.pop(os.getpid(), None)
    names = '; '.join(f'{pid} {name_of(pid)}'.rstrip() for pid in paths)
    if number is not None:
        if number in paths:
            return paths[number]
        raise UsageError(f'connect: process {number} does not listen; ' + (
            f'these do: {names}' if paths else 'no process does. Start it with "pyfuncdbg run --listen SCRIPT", or with '
            'PYFUNCDBG_LISTEN=1 in its environment'))
    if len(paths) == 1:
        return next(iter(paths.values()))
    if paths and asks:
        return _picked(listening_programs())
    if paths:
        raise UsageError(f'connect: several programs listen, give the process id of one: {names}')
    refused = ''.join(f'; not checked: {reason}' for reason in refusals())
    raise UsageError('connect: no program listens. Start it with "pyfuncdbg run --listen SCRIPT", or with '
                     f'PYFUNCDBG_LISTEN=1 in its environment{refused}')


def _picked(listening: list[ListeningProgram]) -> str:
    """The program that the user picks, by its place in the list or its process number."""
    for place, program in enumerate(listening, 1):
        write(f'{place:>3}  {program}\n')
    by_name = {str(program.pid): program.path for program in listening}
    by_name |= {str(place): program.path for place, program in enumerate(listening, 1)}
    while True:
        write('which? ')
        line = sys.stdin.readline()
        if not line:
            raise UsageError('connect: no program was picked')
        if (path := by_name.get(line.strip())) is not None:
            return path
        write(f'*** {one_line(line.strip(), _LONGEST)!r}: expected a number from 1 to {len(listening)}, or a process id\n')


def list_programs() -> int:
    """Print the programs that listen, one a line; the exit code."""
    for program in listening_programs():
        write(f'{program}\n')
    return 0
