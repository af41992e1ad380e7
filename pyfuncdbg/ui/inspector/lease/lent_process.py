"""The inspector of a program that lends its terminal: the main program of the process that
`prompt.lending.inspector_process` starts."""
from __future__ import annotations

import os
import signal
import socket
import sys
import traceback
from types import FrameType

from pyfuncdbg.ui.inspector.lease.terminal_lease import Lease
from pyfuncdbg.ui.prompt.terminal_io.terminal_guard import TerminalGuard


def main() -> None:
    """Show the inspector while the terminal is ours, until the program ends or the user leaves.

    `sys.argv` has the descriptors that the program has passed on: the lease, the command socket, the file of held output and
    its pipe, the guard of the terminal (-1 if there is none); and the program's process number.
    """
    line, commands, held, pipe, watchdog, program = map(int, sys.argv[1:7])
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    for number in (signal.SIGINT, signal.SIGQUIT):      # keys typed while the program has the terminal belong to it
        signal.signal(number, signal.SIG_IGN)
    guard = TerminalGuard(socket.socket(fileno=watchdog) if watchdog >= 0 else None)
    lease = Lease(socket.socket(fileno=line), program, held, pipe, guard)

    def leave(number: int, frame: FrameType | None) -> None:
        lease.leave_at_once()
        os._exit(128 + number)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, leave)
    try:
        _show(lease, commands)
    except BaseException as error:              # the program reports any error in one line and continues
        lease.tell(f'failed {_in_short(error)}')
    finally:
        lease.leave_at_once()
    os._exit(0)                                 # a worker thread may wait for an answer that never comes


def _show(lease: Lease, commands: int) -> None:
    from pyfuncdbg.ui.inspector.screen.garbage_collector import spare_loaded, wait
    wait()
    from pyfuncdbg.ui.inspector.app import Inspector
    from pyfuncdbg.ui.inspector.desks.live_program import LiveDesk
    from pyfuncdbg.ui.inspector.lease.lent_driver import driver_for
    from pyfuncdbg.ui.inspector.screen.saved_layout import load_layout, save_layout
    from pyfuncdbg.ui.prompt.connecting.connection import Connection
    from pyfuncdbg.ui.prompt.terminal_io.line_editor import history
    spare_loaded()
    desk = LiveDesk(Connection(socket.socket(fileno=commands)), attach=False)
    kept = history()
    layout = load_layout()
    app = Inspector(desk, past=tuple(reversed(list(kept.load_history_strings()))), keep=kept.store_string, layout=layout)
    app.driver_class = driver_for(lease)  # type: ignore[assignment]
    lease.looked = lambda mine: desk.look() if mine else desk.look_away()
    lease.printed = desk.note_printed
    app.run()
    save_layout(layout, app.arrangement)        # the terminal is returned: an error cannot be shown
    if app._exception is not None:
        raise app._exception
    lease.tell('left')


def _in_short(error: BaseException) -> str:
    """An error in one line, with its place."""
    passed = list(traceback.extract_tb(error.__traceback__))
    frames = [frame for frame in passed if 'pyfuncdbg' in frame.filename] or passed
    place = f' ({os.path.basename(frames[-1].filename)}:{frames[-1].lineno})' if frames else ''
    return ' '.join(f'{type(error).__name__}: {error}{place}'.split())[:300]
