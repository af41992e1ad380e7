"""An IPython shell without a terminal, with the extension loaded: cells are run, and what they show is read."""
from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import CapturedIO, capture_output

from pyfuncdbg.observers.debug.debugger import debugger
from pyfuncdbg.observers.record.recorder import recorders

SETUP = '''from pyfuncdbg import tf
import numpy as np

def double(x):
    print('doubling', x)
    return x * 2

def fail(x):
    y = x + 1
    raise ValueError(f'no {y}')
'''


class Shell:
    """Runs cells.

    Attributes:
        ip: IPython's own.
    """

    def __init__(self) -> None:
        self.ip: Any = InteractiveShell.instance()
        self.ip.run_line_magic('xmode', 'Minimal')
        self.ip.colors = 'nocolor'

    def run(self, cell: str) -> Any:
        """Run a cell as a user does; its ExecutionResult."""
        return self.ip.run_cell(cell, store_history=True)

    def shown(self, cell: str) -> str:
        """Run a cell; all that it shows, errors too."""
        captured: CapturedIO
        with capture_output(display=False) as captured:
            self.run(cell)
        return captured.stdout + captured.stderr

    def value(self, expression: str) -> Any:
        """Of the user's variables."""
        return eval(expression, self.ip.user_ns)


@contextmanager
def fresh_shell(*, loaded: bool = True) -> Iterator[Shell]:
    """A shell of its own; at the end nothing of it is left."""
    shell = Shell()
    if loaded:
        shell.shown('%load_ext pyfuncdbg')
        shell.shown(SETUP)
    try:
        yield shell
    finally:
        shell.shown('%unload_ext pyfuncdbg')
        for number in list(debugger.breakpoints.entries):
            debugger.breakpoints.clear(number)
        debugger.catching = False
        debugger.leave()
        debugger.left = False
        for recorder in recorders():
            if recorder.path.name == 'live.pfd':        # that of the debugger itself
                recorder.stop()
        debugger.broker.front_end_name = 'auto'
        shell.ip.history_manager.end_session()
        InteractiveShell.clear_instance()
