"""Output of the prompt: the terminal itself or stderr, bypassing replacements by the program.

Used on the stopped thread. What is written here is not captured: neither as a call's output nor as the program's stdout.
"""
from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import NamedTuple

from rich.console import Console

from pyfuncdbg.ui.commands.engine.answer import Answer
from pyfuncdbg.ui.views.escape import visible
from pyfuncdbg.ui.views.progress import Tell, work_progress


class Size(NamedTuple):
    """As prompt_toolkit wants it."""

    rows: int
    columns: int


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
        self.file = open(descriptor, 'w', encoding=encoding, errors='backslashreplace', closefd=False)   # noqa: SIM115

    @property
    def width(self) -> int:
        """Columns: of the terminal now, else what the environment says."""
        return self.size().columns

    def size(self) -> Size:
        """Rows and columns."""
        try:
            found = os.get_terminal_size(self.descriptor)
            if found.columns:
                return Size(found.lines or 24, found.columns)
        except OSError:
            pass
        wanted = os.environ.get('COLUMNS', '')
        return Size(24, int(wanted) if wanted.isdigit() and int(wanted) else 100)

    def write(self, text: str) -> None:
        """Write text as it is.

        Raises:
            EOFError: The reader is gone.
        """
        with self._reaching():
            self.file.write(text)

    def say(self, text: str) -> None:
        """One line of ours; what it quotes of the program is escaped."""
        self.write(visible(text) + '\n')

    def show(self, answer: Answer) -> None:
        """Draw the answer to a command."""
        with self._reaching():
            answer.show(self.console())

    def progress(self, what: str) -> contextlib.AbstractContextManager[Tell | None]:
        """A bar where a person looks; nothing of it is left."""
        return work_progress(what, self.console(), threads=False)

    def console(self) -> Console:
        """A console of the present width; colour only on a terminal that has it."""
        return Console(file=self.file, width=self.width, highlight=False, markup=False, emoji=False, soft_wrap=False)

    @contextlib.contextmanager
    def _reaching(self) -> Iterator[None]:
        self.settle()
        try:
            yield
            self.file.flush()
        except OSError as error:
            raise EOFError(str(error)) from None

    @staticmethod
    def settle() -> None:
        """Write out what the program has printed and its own streams still hold, so that it comes before what we say."""
        for stream in (sys.__stdout__, sys.__stderr__):
            if stream is not None:
                with contextlib.suppress(OSError, ValueError, RuntimeError):    # closed, or another thread is writing to it
                    stream.flush()
