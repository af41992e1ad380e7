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
from pyfuncdbg.ui.inspector.hosting.host import EARLY, LEFT, NOTHING
from pyfuncdbg.ui.inspector.hosting.hosted_program import HostedProgram
from pyfuncdbg.ui.inspector.screen.garbage_collector import spare_loaded, wait
from pyfuncdbg.ui.prompt.terminal_io.terminal_guard import TerminalGuard
from pyfuncdbg.ui.views.escape import one_line

if TYPE_CHECKING:
    from pyfuncdbg.ui.inspector.screen.saved_layout import Layout


def main(arguments: str) -> int:
    """Show a program until the user leaves or the process that started it is gone.

    Args:
        arguments: By that process, as JSON.
    """
    options = json.loads(arguments)
    signal.signal(signal.SIGINT, signal.SIG_IGN)            # is the program's
    program = HostedProgram(options['master'], options['news'], options['pid'])
    if not _wait_for_begin(options, program):
        return NOTHING
    code = _run_live_view(options, program) if options['live'] else _run_inspector(options, program)
    if options['guard'] >= 0:
        TerminalGuard(socket.socket(fileno=options['guard'])).free()       # the app has put the terminal back
    if code == LEFT:
        code = EARLY if program.let_go() else LEFT
        signal.signal(signal.SIGTTOU, signal.SIG_IGN)       # the terminal may belong to another process again
        _say_goodbye(options, program)
    return code


def _wait_for_begin(options: dict[str, Any], program: HostedProgram) -> bool:
    """Wait until there is something to show; False if the program ends before. One that is killed leaves a trace."""
    news, connection = options['news'], options['connection']
    while True:
        ready, _, _ = select.select([news, *([connection] if connection >= 0 else [])], [], [],
                                    None if connection >= 0 else 0.05)
        if connection in ready:
            with socket.socket(fileno=os.dup(connection)) as peeked:
                if peeked.recv(1, socket.MSG_PEEK):
                    return True
            program.hear_end()
            return program.code is not None and program.code < 0 and os.path.isdir(options['trace'])
        if connection < 0 and os.path.isdir(options['trace']):
            return True
        if news in ready:
            return False


def _run_inspector(options: dict[str, Any], program: HostedProgram) -> int:
    """Under the inspector; the exit code of the app."""
    wait()
    from pyfuncdbg.ui.inspector.desks.live_program import LiveDesk
    from pyfuncdbg.ui.inspector.desks.saved_trace import SavedDesk
    from pyfuncdbg.ui.inspector.hosting.hosted_app import HostedInspector
    from pyfuncdbg.ui.inspector.hosting.hosted_desk import HostedDesk
    from pyfuncdbg.ui.inspector.hosting.program_pane import ProgramPane
    from pyfuncdbg.ui.inspector.screen.saved_layout import load_layout
    from pyfuncdbg.ui.prompt.connecting.connection import Connection
    from pyfuncdbg.ui.prompt.pending_commands import command_file
    from pyfuncdbg.ui.prompt.terminal_io.line_editor import history
    spare_loaded()
    desk: Desk
    if program.code is None:
        live = LiveDesk(Connection(socket.socket(fileno=options['connection'])), attach=False)
        desk = HostedDesk(live, options['trace'], options['title'])
    else:
        desk = SavedDesk(options['trace'])
    commands = [typed.text for typed in command_file(options['commands'])] if options['commands'] else []
    kept = history()
    try:
        layout = load_layout()
        app = HostedInspector(desk, ProgramPane(program, lambda: desk.stop() is not None, id='program'), commands,
                              past=tuple(reversed(list(kept.load_history_strings()))), keep=kept.store_string, layout=layout)
        app.run()
        _keep(layout, app.arrangement)
        return app.return_code or LEFT
    finally:
        desk.close()


def _run_live_view(options: dict[str, Any], program: HostedProgram) -> int:
    """Without the debugger; the exit code of the app."""
    wait()
    from pyfuncdbg.ui.inspector.hosting.live_view import LiveView
    from pyfuncdbg.ui.inspector.screen.saved_layout import load_layout, theme_of
    spare_loaded()
    layout = load_layout()
    app = LiveView(options['trace'], options['title'], program, layout)
    app.run()
    _keep(layout, replace(layout, theme=theme_of(app, layout)))
    return app.return_code or LEFT


def _keep(before: Layout, after: Layout) -> None:
    from pyfuncdbg.hooks.notice import say
    from pyfuncdbg.ui.inspector.screen.saved_layout import save_layout
    if why := save_layout(before, after):
        say(why)


def _say_goodbye(options: dict[str, Any], program: HostedProgram) -> None:
    """Leave the program's last output on the screen, and how it ended; if it was left before, it writes on below."""
    console = Console(highlight=False, markup=False)
    goes_on = program.let_go()
    lines = program.screen.last_lines(max(1, console.height - 2), to_cursor=goes_on)
    for number, line in enumerate(lines):
        last = number == len(lines) - 1 and goes_on
        text = Text.assemble(*((part.text, part.style or '') for part in line))
        console.print(text, end='' if last else '\n', soft_wrap=True)
    if not goes_on:
        from pyfuncdbg.ui.commands.programs.recorded_program import tell_noted_unhit
        print(_report_line(options['trace'], program.ending), file=sys.stderr, flush=True)
        tell_noted_unhit(Path(options['trace']))


def _report_line(path: str, ending: str) -> str:
    from pyfuncdbg.observers.record.trace import Trace
    from pyfuncdbg.ui.views.units import count, size
    shown = one_line(path)
    held = ''
    with contextlib.suppress(PyfuncdbgError), Trace.open(path) as trace:
        info = trace.info()
        held = f' ({count(info.runs, "run")}, {count(info.calls, "call")}, {size(info.nbytes)})'
    return f'pyfuncdbg: {ending}; recorded to {shown}{held}\npyfuncdbg: look again with: pyfuncdbg open {shown}'
