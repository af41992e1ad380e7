"""Textual's driver with our reading of keys: pastes are limited, and a terminal that is gone ends the app.

Keys are read on a thread of the driver's; all else is on Textual's main thread.
"""
from __future__ import annotations

import os
import selectors
import signal
from codecs import getincrementaldecoder
from typing import Any

from textual._xterm_parser import XTermParser
from textual.app import App
from textual.drivers.linux_driver import LinuxDriver

from pyfuncdbg.ui.prompt.terminal_io.paste_limit import PasteLimit
from pyfuncdbg.ui.prompt.terminal_io.terminal_modes import LEAVE_SCREEN

_TICK = 0.1


class InspectorDriver(LinuxDriver):
    """The driver.

    Its app says whether it takes any text (`takes_all`: the keys are a program's), and forgets what is typed when that is
    the beginning of a text that is too long (`refuse_paste`).
    """

    def __init__(self, app: App[Any], **options: Any) -> None:
        super().__init__(app, **options)
        self._bell = os.pipe()
        self._away = False                      # suspended: the terminal is the shell's

    # ------------------------------------------------------------------ suspension
    def suspend_job(self) -> bool:
        """Leave the screen and stop this job, as Ctrl-Z does elsewhere; False where no shell would let it go on."""
        if os.getpgrp() == os.getsid(0):
            return False
        self.suspend_application_mode()         # before the shell takes the terminal back
        os.kill(0, signal.SIGTSTP)              # Textual's handler stops us, and resumes when the job goes on
        return True

    def suspend_application_mode(self) -> None:
        """Give the terminal back as it was; who kills us now must not have it put back once more."""
        if not self._away:
            self._away = True
            super().suspend_application_mode()
            if (guard := getattr(self._app, 'guard', None)) is not None:
                guard.free()

    def resume_application_mode(self) -> None:
        """Take it again, and draw all of the screen. What was stopped by force has not given it back before."""
        if not self._away:
            self.disable_input()
            self.close()
        self._away = False
        if (guard := getattr(self._app, 'guard', None)) is not None:
            guard.hold(self.fileno, LEAVE_SCREEN)
        super().resume_application_mode()
        self._app.refresh(layout=True)

    # ------------------------------------------------------------------ keys
    def disable_input(self) -> None:
        """Read no more keys."""
        if self._key_thread is not None and self._key_thread.is_alive():
            os.write(self._bell[1], b'!')
            super().disable_input()
            os.read(self._bell[0], 1 << 10)

    def run_input_thread(self) -> None:
        """Read keys until a byte comes through the bell: Textual's own looks only ten times a second."""
        parser = XTermParser(self._debug)
        decode = getincrementaldecoder('utf-8')('replace').decode
        app: Any = self._app
        limit = PasteLimit(lambda: app.call_later(app.refuse_paste))
        with selectors.SelectSelector() as selector:
            selector.register(self.fileno, selectors.EVENT_READ)
            selector.register(self._bell[0], selectors.EVENT_READ)
            while not self.exit_event.is_set():
                ready = [key.fd for key, _ in selector.select(_TICK)]
                if self.fileno in ready:
                    try:
                        data = os.read(self.fileno, 1 << 12)
                    except OSError:             # the terminal is gone
                        data = b''
                    if not data:
                        self._loop.call_soon_threadsafe(self._hang_up)
                        return
                    text = decode(data)
                    if passed := text if app.takes_all else limit.passed(text):     # an empty read would mean end of file
                        for message in parser.feed(passed):
                            self.process_message(message)
                for message in parser.tick():
                    self.process_message(message)

    def _hang_up(self) -> None:
        self._app.exit(1)

