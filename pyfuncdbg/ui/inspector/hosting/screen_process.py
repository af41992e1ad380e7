"""The process of the screen under `pyfuncdbg run --ui inspector` and `--live`, started by `host.py`.

It has the master side of the program's terminal, one end of the command socket, and a pipe that reports the end of
the program. Its exit code says whether the user has left it.
"""
from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.text import Text

from pyfuncdbg.errors import PyfuncdbgError
from pyfuncdbg.ui.inspector.desks.desk import Desk
from pyfuncdbg.ui.inspector.hosting.guest_program import Guest
from pyfuncdbg.ui.inspector.hosting.host import EARLY, LEFT, NOTHING
from pyfuncdbg.ui.inspector.screen.garbage_collector import spare_loaded, wait
from pyfuncdbg.ui.prompt.terminal_io.terminal_guard import TerminalGuard
from pyfuncdbg.ui.views.escape import one_line

if TYPE_CHECKING:
    from pyfuncdbg.ui.inspector.screen.saved_layout import Layout


def main(told: str) -> int:
    """Show a program until the user leaves or the process that started it is gone.

    Args:
        told: By that process, as JSON.
    """
    play = json.loads(told)
    signal.signal(signal.SIGINT, signal.SIG_IGN)            # is the program's
    guest = Guest(play['master'], play['news'], play['pid'])
    if not _begun(play, guest):
        return NOTHING
    code = _watched(play, guest) if play['live'] else _inspected(play, guest)
    if play['guard'] >= 0:
        TerminalGuard(socket.socket(fileno=play['guard'])).free()       # the app has put the terminal back
    if code == LEFT:
        code = EARLY if guest.let_go() else LEFT
        signal.signal(signal.SIGTTOU, signal.SIG_IGN)       # the terminal may be somebody else's again
        _say_goodbye(play, guest)
    return code


def _begun(play: dict[str, Any], guest: Guest) -> bool:
    """Wait until there is something to show; False if the program ends before. One that is killed leaves a trace."""
    news, connection = play['news'], play['connection']
    while True:
        ready, _, _ = select.select([news, *([connection] if connection >= 0 else [])], [], [],
                                    None if connection >= 0 else 0.05)
        if connection in ready:
            with socket.socket(fileno=os.dup(connection)) as peeked:
                if peeked.recv(1, socket.MSG_PEEK):
                    return True
            guest.hear_end()
            return guest.code is not None and guest.code < 0 and os.path.isdir(play['trace'])
        if connection < 0 and os.path.isdir(play['trace']):
            return True
        if news in ready:
            return False


def _inspected(play: dict[str, Any], guest: Guest) -> int:
    """Under the inspector; the exit code of the app."""
    wait()
    from pyfuncdbg.ui.inspector.desks.live_program import LiveDesk
    from pyfuncdbg.ui.inspector.desks.saved_trace import SavedDesk
    from pyfuncdbg.ui.inspector.hosting.hosted_app import HostedInspector
    from pyfuncdbg.ui.inspector.hosting.hosted_desk import HostedDesk
    from pyfuncdbg.ui.inspector.hosting.program_pane import ProgramPane
    from pyfuncdbg.ui.inspector.screen.saved_layout import kept_layout
    from pyfuncdbg.ui.prompt.connecting.connection import Connection
    from pyfuncdbg.ui.prompt.pending_commands import command_file
    from pyfuncdbg.ui.prompt.terminal_io.line_editor import history
    spare_loaded()
    desk: Desk
    if guest.code is None:
        program = LiveDesk(Connection(socket.socket(fileno=play['connection'])), attach=False)
        desk = HostedDesk(program, play['trace'], play['title'])
    else:
        desk = SavedDesk(play['trace'])
    commands = [typed.text for typed in command_file(play['commands'])] if play['commands'] else []
    kept = history()
    try:
        layout = kept_layout()
        app = HostedInspector(desk, ProgramPane(guest, lambda: desk.stop() is not None, id='program'), commands,
                              past=tuple(reversed(list(kept.load_history_strings()))), keep=kept.store_string, layout=layout)
        app.run()
        _keep(layout, app.arrangement)
        return app.return_code or LEFT
    finally:
        desk.close()


def _watched(play: dict[str, Any], guest: Guest) -> int:
    """Without the debugger; the exit code of the app."""
    wait()
    from pyfuncdbg.ui.inspector.hosting.live_view import LiveView
    from pyfuncdbg.ui.inspector.screen.saved_layout import kept_layout, theme_of
    spare_loaded()
    layout = kept_layout()
    app = LiveView(play['trace'], play['title'], guest, layout)
    app.run()
    _keep(layout, replace(layout, theme=theme_of(app, layout)))
    return app.return_code or LEFT


def _keep(before: Layout, after: Layout) -> None:
    from pyfuncdbg.hooks.notice import say
    from pyfuncdbg.ui.inspector.screen.saved_layout import keep_layout
    if why := keep_layout(before, after):
        say(why)


def _say_goodbye(play: dict[str, Any], guest: Guest) -> None:
    """Leave the program's last output on the screen, and how it ended; if it was left before, it writes on below."""
    console = Console(highlight=False, markup=False)
    goes_on = guest.let_go()
    lines = guest.screen.last_lines(max(1, console.height - 2), to_cursor=goes_on)
    for number, line in enumerate(lines):
        last = number == len(lines) - 1 and goes_on
        text = Text.assemble(*((part.text, part.style or '') for part in line))
        console.print(text, end='' if last else '\n', soft_wrap=True)
    if not goes_on:
        from pyfuncdbg.ui.commands.programs.recorded_program import tell_noted_unhit
        print(_report_line(play['trace'], guest.ending), file=sys.stderr, flush=True)
        tell_noted_unhit(Path(play['trace']))


def _report_line(path: str, ending: str) -> str:
    from pyfuncdbg.observers.record.trace import Trace
    from pyfuncdbg.ui.views.units import count, size
    shown = one_line(path)
    held = ''
    with contextlib.suppress(PyfuncdbgError), Trace.open(path) as trace:
        info = trace.info()
        held = f' ({count(info.runs, "run")}, {count(info.calls, "call")}, {size(info.nbytes)})'
    return f'pyfuncdbg: {ending}; recorded to {shown}{held}\npyfuncdbg: look again with: pyfuncdbg open {shown}'
