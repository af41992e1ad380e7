"""Where the prompt writes: the terminal itself or stderr, past what the program has put in their place.

Used on the stopped thread. What is written here is nobody's output: neither a call's nor the program's stdout.
"""
from __future__ import annotations

import contextlib
import io
import os
import sys
from typing import Any

from rich.console import Console

from pyfuncdbg.commands.execute import Answer
from pyfuncdbg.views.escape import visible


class Screen:
    """Text and pictures on a file descriptor.

    Args:
        descriptor: Where to write.

    Attributes:
        terminal: Whether a person looks at it.
    """

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self.terminal = os.isatty(descriptor)
        encoding = getattr(sys.__stderr__, 'encoding', None) or 'utf-8'
        self.file = io.TextIOWrapper(io.FileIO(descriptor, 'w', closefd=False), encoding, 'backslashreplace',
                                     write_through=True)

    @property
    def width(self) -> int:
        """Columns: of the terminal now, else what the environment says."""
        try:
            return os.get_terminal_size(self.descriptor).columns or 80
        except OSError:
            wanted = os.environ.get('COLUMNS', '')
            return int(wanted) if wanted.isdigit() and int(wanted) else 100

    def write(self, text: str) -> None:
        """Write text as it is.

        Raises:
            EOFError: Nobody is there any more.
        """
        with self._reaching():
            self.file.write(text)
            self.file.flush()

    def say(self, text: str) -> None:
        """One line of ours; what it quotes of the program is escaped."""
        self.write(visible(text) + '\n')

    def show(self, answer: Answer) -> None:
        """Draw the answer to a command."""
        with self._reaching():
            answer.show(self.console())

    def console(self) -> Console:
        """A console of the present width; colour only on a terminal that has it."""
        return Console(file=self.file, width=self.width, highlight=False, markup=False, emoji=False, soft_wrap=False)

    @contextlib.contextmanager
    def _reaching(self) -> Any:
        settle()
        try:
            yield
        except OSError as error:
            raise EOFError(str(error)) from None


def settle() -> None:
    """Write out what the program has printed so far and its own streams still hold, so that it comes before what we say."""
    for stream in (sys.__stdout__, sys.__stderr__):
        if stream is not None:
            with contextlib.suppress(OSError, ValueError, RuntimeError):    # closed, or another thread is writing to it
                stream.flush()
