"""Entry point of the inspector: checks the terminal, then runs the app on a saved trace until the user leaves."""
from __future__ import annotations

import os
import signal
import sys

from pyfuncdbg.errors import UsageError
from pyfuncdbg.ui.prompt.terminal_io.terminal_modes import lacks_cursor_control
from pyfuncdbg.ui.views.escape import one_line

_FIRST_PAGE = 0.3
"""Seconds of reading before the screen comes; the rest of a long trace is read behind it."""


def unusable() -> str:
    """The reason why the inspector cannot be shown here, '' if it can."""
    if not (sys.stdin is not None and sys.stdin.isatty() and sys.stdout is not None and sys.stdout.isatty()):
        return 'stdin and stdout are not a terminal'
    if lacks_cursor_control():
        return f'the terminal is of the kind {os.environ.get("TERM", "")!r}, which cannot position text'
    return ''


def open_trace(path: str) -> int:
    """Show a saved trace until the user leaves; the exit code.

    Raises:
        UsageError: This is no terminal for it.
        TraceError: There is no trace, or it cannot be read.
    """
    why = unusable()
    if why:
        raise UsageError(f'open: {why}. "pyfuncdbg show {one_line(path)}" answers without a screen: add a command, '
                         'such as report, calls or "call 17"')
    from pyfuncdbg.ui.inspector.screen.garbage_collector import spare_loaded, wait
    wait()
    from pyfuncdbg.hooks.notice import say
    from pyfuncdbg.ui.inspector.app import Inspector
    from pyfuncdbg.ui.inspector.desks.saved_trace import SavedDesk
    from pyfuncdbg.ui.inspector.screen.saved_layout import load_layout, save_layout
    from pyfuncdbg.ui.prompt.terminal_io.line_editor import history
    from pyfuncdbg.ui.prompt.terminal_io.terminal_guard import guard_of
    from pyfuncdbg.ui.prompt.terminal_io.terminal_modes import LEAVE_SCREEN
    spare_loaded()
    desk = SavedDesk(path, patience=_FIRST_PAGE)
    try:
        kept = history()
        past = tuple(reversed(list(kept.load_history_strings())))
        layout = load_layout(say)
        app = Inspector(desk, past=past, keep=kept.store_string, layout=layout)
        for number in (signal.SIGTERM, signal.SIGHUP):      # the terminal is given back first
            signal.signal(number, lambda number, frame: app.exit(128 + number))
        app.guard = guard_of(0)
        with app.guard.held(0, LEAVE_SCREEN):
            code = app.run() or 0
        if why := save_layout(layout, app.arrangement):
            say(why)
        return code
    finally:
        desk.close()
