"""Commands that were given before the prompt asked: those of a command file, and those behind a `;;`.

One for the process; the thread that has the prompt takes from it.
"""
from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from pathlib import Path

from pyfuncdbg.errors import UsageError
from pyfuncdbg.ui.commands.engine.continuation import blocks, commands_of


@dataclass(frozen=True, slots=True)
class PendingCommand:
    """One command.

    Attributes:
        text: As typed.
        place: 'FILE:LINE' where it stands, '' if it was typed.
    """

    text: str
    place: str = ''


def command_file(path: str) -> list[PendingCommand]:
    """The commands of a file, one a line but for blocks; empty lines and those that begin with '#' say nothing.

    Raises:
        UsageError: It cannot be read.
    """
    try:
        lines = Path(path).read_text('utf-8').splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f'cannot read the commands in {path!r}: {getattr(error, "strerror", None) or error}') from None
    return [PendingCommand(command, f'{path}:{number}') for number, text in blocks(lines) for command in commands_of(text)]


class PendingCommands:
    """Queue of commands that are yet to be carried out."""

    def __init__(self) -> None:
        self._commands: deque[PendingCommand] = deque()

    def add(self, commands: list[PendingCommand]) -> None:
        """Behind all others."""
        self._commands.extend(commands)

    def put_first(self, commands: list[PendingCommand]) -> None:
        """Before all others."""
        self._commands.extendleft(reversed(commands))

    def take(self) -> PendingCommand | None:
        """The next one."""
        return self._commands.popleft() if self._commands else None

    def clear(self) -> None:
        """Forget them."""
        self._commands.clear()

    def __bool__(self) -> bool:
        return bool(self._commands)
