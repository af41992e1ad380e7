"""Textual's driver for a lent terminal: it leaves the screen when the lease ends, and comes back to it.

All on Textual's main thread, but for reading keys. Between two leases the app lives on, and its drawing is discarded.
"""
from __future__ import annotations

import contextlib
import os
import signal
import termios
import threading
import tty
from collections.abc import Callable
from typing import Any, ClassVar

from textual import events
from textual.app import App
from textual.message import Message

from pyfuncdbg.ui.inspector.lease.terminal_lease import Lease, silence
from pyfuncdbg.ui.inspector.screen.driver import InspectorDriver


class LentDriver(InspectorDriver):
    """The driver; `driver_for` makes the class of one lease."""

    lease: ClassVar[Lease]

    def __init__(self, app: App[Any], **options: Any) -> None:
        super().__init__(app, **options)
        self._on = False
        self._asked = False
        self._relaxed = False
        self._resized: Any = signal.SIG_DFL
        self.lease.let(self)

    # ------------------------------------------------------------------ the lease's thread
    def come(self) -> None:
        """Show the screen."""
        self._loop.call_soon_threadsafe(self.resume_application_mode)

    def go(self) -> None:
        """Leave it."""
        self._loop.call_soon_threadsafe(self._leave)

    def relax(self) -> None:
        """Leave the keys to the program."""
        self._loop.call_soon_threadsafe(self._release_keys)

    def resume(self) -> None:
        """Take them again."""
        self._loop.call_soon_threadsafe(self._take_keys)

    # ------------------------------------------------------------------ the main thread
    def start_application_mode(self) -> None:
        """Take the terminal, if it is ours."""
        if not self._on and self.lease.show():
            self._on = True
            super().start_application_mode()  # type: ignore[no-untyped-call]
            self._asked = True

    def resume_application_mode(self) -> None:
        """Come back to the screen, and draw all of it."""
        self.start_application_mode()
        if self._on:
            self._app.refresh(layout=True)
            self._app.screen.refresh_bindings()         # what was to be done after a refresh may wait for this one

    def stop_application_mode(self) -> None:
        """Leave the screen; Textual does so too, when the app ends. All is written before the terminal is given back."""
        if self._on:
            super().stop_application_mode()
            super().close()                     # waits for the thread that writes
            self._on = self._relaxed = False

    def suspend_application_mode(self) -> None:
        """Leave the screen for some time."""
        self.stop_application_mode()

    def _leave(self) -> None:
        self.suspend_application_mode()
        self.lease.hidden()

    def close(self) -> None:
        """The app has ended; what it would still say, of an error, is said by the program in one line."""
        self.suspend_application_mode()
        self.lease.hidden()
        silence()

    def _release_keys(self) -> None:
        if self._on and not self._relaxed:
            self._relaxed = True
            self._resized = signal.getsignal(signal.SIGWINCH)
            self.disable_input()
            if self.attrs_before is not None:
                with contextlib.suppress(termios.error):
                    termios.tcsetattr(self.fileno, termios.TCSANOW, self.attrs_before)
        self.lease.tell('relaxed')

    def _take_keys(self) -> None:
        if self._on and self._relaxed:
            self._relaxed = False
            with contextlib.suppress(termios.error):
                modes = termios.tcgetattr(self.fileno)
                modes[tty.LFLAG] = self._patch_lflag(modes[tty.LFLAG])
                modes[tty.IFLAG] = self._patch_iflag(modes[tty.IFLAG])
                modes[tty.CC][termios.VMIN] = 1
                termios.tcsetattr(self.fileno, termios.TCSANOW, modes)
            signal.signal(signal.SIGWINCH, self._resized)
            if callable(self._resized) and self._get_terminal_size() != tuple(self._app.size):
                self._resized(signal.SIGWINCH, None)
            self._key_thread = threading.Thread(target=self._run_input_thread, name='textual-input')
            self._key_thread.start()
            self._enable_mouse_support()

    def write(self, data: str) -> None:
        """Write, while the terminal is ours."""
        if self._on:
            super().write(data)

    def disable_input(self) -> None:
        """Read no more keys."""
        if self._on:
            super().disable_input()

    def _request_terminal_sync_mode_support(self) -> None:
        """Once is enough: an answer that comes when the terminal is the program's again would be read by that."""
        if not self._asked:
            super()._request_terminal_sync_mode_support()

    def _query_in_band_window_resize(self) -> None:
        if not self._asked:
            super()._query_in_band_window_resize()
        elif self._in_band_window_resize:
            self._enable_in_band_window_resize()

    # ------------------------------------------------------------------ keys
    def _hang_up(self) -> None:
        self.lease.tell('failed the terminal is gone')
        self._app.exit(1)

    def process_message(self, message: Message) -> None:
        """Ctrl-Z suspends the program and us, as it would without us."""
        if isinstance(message, events.Key) and message.key == 'ctrl+z':
            if os.getpgrp() != os.getsid(0):    # else no shell could resume it
                self._loop.call_soon_threadsafe(self._suspend_job)
        else:
            super().process_message(message)

    def _suspend_job(self) -> None:
        self.suspend_application_mode()
        os.kill(0, signal.SIGTSTP)              # ours too: Textual's handler stops us, and resumes when the job goes on


def driver_for(lease: Lease) -> Callable[..., LentDriver]:
    """The driver of this lease, a class as Textual wants it."""
    return type('LentDriver', (LentDriver,), {'lease': lease})
