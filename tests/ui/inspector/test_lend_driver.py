"""The driver on a lent terminal: all that the app has written is on it before it is given back."""
from __future__ import annotations

from lent_terminal import Terminal

APP = r'''
import os, socket, sys, threading, time
from textual.app import App
from pyfuncdbg.ui.inspector.lease.terminal_lease import Lease
from pyfuncdbg.ui.inspector.lease.lent_driver import driver_for
from pyfuncdbg.ui.prompt.terminal_io.terminal_guard import TerminalGuard


class SlowTerminal:
    """What is written last takes a while."""

    def __init__(self, file):
        self.file = file

    def write(self, text):
        if '\x1b[?1049l' in text:
            time.sleep(0.5)
        self.file.write(text)

    def __getattr__(self, name):
        return getattr(self.file, name)


class Finished(App):
    def on_mount(self):
        self.call_after_refresh(self.exit)


def program():
    """Write as soon as the terminal is given back, as the program does that has lent it."""
    words = ''
    while 'hidden' not in words:
        words += theirs.recv(1 << 12).decode()
    os.write(terminal, b'<it is mine again>')


terminal = os.dup(2)
sys.__stderr__ = SlowTerminal(sys.__stderr__)
ours, theirs = socket.socketpair()
lent = threading.Event()
nothing, _ = os.pipe()
lease = Lease(ours, os.getpid(), nothing, nothing, TerminalGuard(None))
lease.looked = lambda mine: lent.set()
theirs.sendall(b'lend\n')
lent.wait(10)
heard = threading.Thread(target=program)
heard.start()
app = Finished()
app.driver_class = driver_for(lease)
app.run()
heard.join(10)
os._exit(0)
'''


def test_an_app_that_ends_by_itself_leaves_the_screen_before_the_terminal_is_given_back(tmp_path) -> None:
    """Its last bytes wait in a thread of Textual's."""
    (tmp_path / 'app.py').write_text(APP)
    with Terminal(tmp_path, None, 'app.py') as terminal:
        terminal.end()
        assert b'\x1b[?1049h' in terminal.raw
        assert b'<it is mine again>' in terminal.raw.partition(b'\x1b[?1049l')[2], terminal.raw[-300:]
        assert terminal.restored() and terminal.code == 0
