"""The terminal as a front end, and reading lines from it while the stopped thread stays at the service of others.

A line is typed in a thread of its own, so that the prompt works on any thread: native ones, those with an asyncio loop, the
main thread with its signals. The stopped thread meanwhile does what other faces ask of it.
"""
from __future__ import annotations

import contextlib
import os
import threading
from typing import Protocol

from pyfuncdbg.debug.broker import Broker
from pyfuncdbg.debug.stop import Stop
from pyfuncdbg.prompt.conversation import Conversation
from pyfuncdbg.prompt.interrupt import cancelling
from pyfuncdbg.prompt.screen import Screen
from pyfuncdbg.prompt.typing_line import PlainEditor


class Editor(Protocol):
    """Lets the user type a line."""

    def edit(self, stop: Stop) -> str:
        """The line; in whatever thread.

        Raises:
            EOFError: Ctrl-D, or the terminal is gone.
            KeyboardInterrupt: Ctrl-C, or `cancel`.
        """

    def cancel(self) -> None:
        """End the line that is being typed; other threads call it."""


class TerminalReader:
    """Reads lines on a thread of their own."""

    def __init__(self, editor: Editor) -> None:
        self._editor = editor

    def read(self, stop: Stop, broker: Broker) -> str | None:
        line = _Line(self._editor, stop)
        thread = threading.Thread(target=line.edit, name='pyfuncdbg prompt', daemon=True)
        try:
            thread.start()
        except RuntimeError:                    # none can be had, as at the interpreter's end
            return self._editor.edit(stop)
        try:
            with cancelling(line.cancel):
                while not line.done and stop.decision is None and broker.focus is stop:
                    stop.serve()
        except KeyboardInterrupt:
            line.cancel()
        if not line.done:
            self._editor.cancel()
        thread.join()
        if line.error is not None and not (line.text is None and (stop.decision is not None or broker.focus is not stop)):
            raise line.error
        return line.text


class _Line:
    """One line, typed in another thread."""

    def __init__(self, editor: Editor, stop: Stop) -> None:
        self._editor = editor
        self._stop = stop
        self.text: str | None = None
        self.error: BaseException | None = None
        self.done = False

    def edit(self) -> None:
        try:
            self.text = self._editor.edit(self._stop)
        except BaseException as error:          # it belongs to the stopped thread, which raises it
            self.error = error
        self.done = True
        self._stop.wake()

    def cancel(self) -> None:
        self._editor.cancel()


class Terminal:
    """The terminal on which the program was started."""

    name = 'terminal'
    priority = 20

    def __init__(self, conversation: Conversation) -> None:
        self._conversation = conversation
        self._device = _device(0)
        self._descriptor = -1
        self._reader: TerminalReader | None = None

    def usable(self) -> bool:
        if not self._device:
            return False
        try:
            descriptor = self._opened()
            return os.tcgetpgrp(descriptor) == os.getpgrp()     # a program in the background would be stopped
        except OSError:
            return False

    def interact(self, stop: Stop, broker: Broker) -> None:
        descriptor = self._opened()
        screen = Screen(descriptor)
        if self._reader is None:
            self._reader = TerminalReader(PlainEditor(descriptor, screen))
        try:
            self._conversation.hold(stop, self._reader, screen)
        except EOFError:
            if stop.decision is None:
                if self.usable():
                    with contextlib.suppress(EOFError):
                        screen.write('\n')
                    stop.decide('quit')
                else:
                    broker.lose(self)

    def _opened(self) -> int:
        """A descriptor of our own: the program may close or redirect its streams."""
        if self._descriptor < 0:
            self._descriptor = os.open(self._device, os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
        return self._descriptor


def _device(descriptor: int) -> str:
    try:
        return os.ttyname(descriptor)
    except OSError:
        return ''
