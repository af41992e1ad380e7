"""The terminal as a front end: lines are read while the stopped thread serves other front ends.

A line is typed in a thread of its own, so that the prompt works on any thread: native ones, those with an asyncio loop, the
main thread with its signals. The stopped thread meanwhile does what other faces ask of it.
"""
from __future__ import annotations

import atexit
import contextlib
import os
import termios
import threading
from collections.abc import Callable
from typing import Protocol

from pyfuncdbg.observers.debug.stops.broker import Broker
from pyfuncdbg.observers.debug.stops.stop import Stop
from pyfuncdbg.ui.prompt.pending_commands import PendingCommand
from pyfuncdbg.ui.prompt.terminal_io.conversation import Conversation, LineRequest
from pyfuncdbg.ui.prompt.terminal_io.ctrl_c import asking, cancelling
from pyfuncdbg.ui.prompt.terminal_io.plain_line_editor import PlainEditor
from pyfuncdbg.ui.prompt.terminal_io.screen import Screen
from pyfuncdbg.ui.prompt.terminal_io.terminal_guard import guard_of
from pyfuncdbg.ui.prompt.terminal_io.terminal_lock import turn
from pyfuncdbg.ui.prompt.terminal_io.terminal_modes import lacks_cursor_control


class Editor(Protocol):
    """Lets the user type a line."""

    def edit(self, stop: Stop, request: LineRequest) -> str:
        """The line; in whatever thread.

        Raises:
            EOFError: Ctrl-D, or the terminal is gone.
            KeyboardInterrupt: Ctrl-C, or `cancel`.
        """

    def cancel(self) -> None:
        """End the line that is being typed; other threads call it."""


class TerminalReader:
    """Line reader with a thread for each line.

    Args:
        editor: Lets the user type.
        is_left_behind: Whether the terminal is of no use to this process any more.
    """

    def __init__(self, editor: Editor, is_left_behind: Callable[[], bool] = lambda: False) -> None:
        self._editor = editor
        self._is_left_behind = is_left_behind

    def read(self, stop: Stop, broker: Broker, request: LineRequest) -> str | None:
        line = _Line(self._editor, stop, request)
        thread = threading.Thread(target=line.edit, name='pyfuncdbg prompt', daemon=True)
        with cancelling(line.cancel):           # set before the thread starts: the user may answer before `start` returns
            try:
                thread.start()
            except RuntimeError:                # no thread can start at interpreter shutdown
                return self._editor.edit(stop, request)
            except KeyboardInterrupt:           # raised by a signal handler of the program
                line.cancel()
                raise
            while not line.done:
                try:
                    if stop.decision is not None or broker.focus is not stop or self._is_left_behind():
                        line.cancel()
                    stop.serve()
                except KeyboardInterrupt:       # on the main thread, by a signal from elsewhere
                    line.cancel()
        thread.join()
        if line.error is None:
            return line.text
        if isinstance(line.error, KeyboardInterrupt) and (stop.decision is not None or broker.focus is not stop):
            return None
        if self._is_left_behind():
            raise EOFError
        raise line.error


class _Line:
    """One line, typed in another thread."""

    def __init__(self, editor: Editor, stop: Stop, request: LineRequest) -> None:
        self._editor = editor
        self._stop = stop
        self._wanted = request
        self.text: str | None = None
        self.error: BaseException | None = None
        self.done = self._cancelled = False

    def edit(self) -> None:
        try:
            if self._cancelled:
                raise KeyboardInterrupt
            self.text = self._editor.edit(self._stop, self._wanted)
        except BaseException as error:          # raised by the stopped thread
            self.error = error
        self.done = True
        self._stop.wake()

    def cancel(self) -> None:
        self._cancelled = True
        if not self.done:
            self._editor.cancel()


class FallbackEditor:
    """An editor that is replaced by a plain one when it fails."""

    def __init__(self, editor: Editor, plain: Editor, screen: Screen) -> None:
        self._editor = editor
        self._plain = plain
        self._screen = screen

    def edit(self, stop: Stop, request: LineRequest) -> str:
        """The line; see `Editor`."""
        try:
            return self._editor.edit(stop, request)
        except (EOFError, KeyboardInterrupt):
            raise
        except Exception as error:              # if prompt_toolkit fails, the plain editor still works
            if self._editor is self._plain:
                raise EOFError(str(error)) from None
            self._screen.say(f'typing without completion and history: {type(error).__name__}: {error}')
            self._editor = self._plain
            return self._plain.edit(stop, request)

    def cancel(self) -> None:
        """End the line that is being typed."""
        self._editor.cancel()


class Terminal:
    """The terminal on which the program was started."""

    name = 'terminal'
    priority = 20

    def __init__(self, conversation: Conversation) -> None:
        self._conversation = conversation
        self._device = device_of(0)
        self._descriptor = -1
        self._reader: TerminalReader | None = None
        self._screen: Screen

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
        if self._reader is None:
            self._screen = Screen(descriptor)
            self._reader = TerminalReader(self._editor(self._screen), self._is_left_behind)
            _restore_at_exit(descriptor)
        screen = self._screen
        def is_wanted() -> bool:
            return stop.decision is None and broker.focus is stop and self.usable()
        with asking(), turn(descriptor, screen.say, is_wanted) as mine:
            if mine:
                self._converse(self._reader, stop, broker)
                if stop.decision is not None and stop.decision.verb == 'quit':
                    self._conversation.announce_quit()          # before another process has its turn

    def _converse(self, reader: TerminalReader, stop: Stop, broker: Broker) -> None:
        """Ask until the stop is decided; Ctrl-D means `quit`."""
        screen = self._screen
        try:
            self._conversation.hold(stop, reader, screen)
        except EOFError:
            if stop.decision is None:
                if self.usable():
                    with contextlib.suppress(EOFError):
                        screen.write('\n')
                        self._conversation.carry_out(PendingCommand('quit'), stop, screen)
                    if stop.decision is None:
                        stop.decide('quit')
                else:
                    broker.lose(self)

    def _is_left_behind(self) -> bool:
        """Whether the program has ended but for this process: the shell has the terminal, and no job to give it back to."""
        return self._conversation.is_orphan and not self.usable()

    def _editor(self, screen: Screen) -> Editor:
        """The best one for this terminal."""
        plain = PlainEditor(screen.descriptor, screen)
        if lacks_cursor_control():
            return plain
        try:
            from pyfuncdbg.ui.prompt.terminal_io.line_editor import LineEditor
            return FallbackEditor(LineEditor(screen, self._conversation.completions), plain, screen)
        except Exception as error:              # if prompt_toolkit fails, the plain editor still works
            screen.say(f'typing without completion and history: {type(error).__name__}: {error}')
            return plain

    def _opened(self) -> int:
        """A descriptor of our own: the program may close or redirect its streams."""
        if self._descriptor < 0:
            self._descriptor = os.open(self._device, os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
        return self._descriptor


def _restore_at_exit(descriptor: int) -> None:
    """The terminal as it was before the first line, should the program end while one is being typed."""
    modes = termios.tcgetattr(descriptor)

    def restore() -> None:
        with contextlib.suppress(OSError, termios.error):
            termios.tcsetattr(descriptor, termios.TCSADRAIN, modes)
            guard_of(descriptor).free()
    atexit.register(restore)


def device_of(descriptor: int) -> str:
    """The terminal behind a descriptor, '' if there is none."""
    try:
        return os.ttyname(descriptor)
    except OSError:
        return ''
