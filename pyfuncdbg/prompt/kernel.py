"""A notebook as a front end: lines come from the input box of the cell that runs, answers are part of its output.

Made by `front_ends.install`; stops come on any thread, also native ones. Talks to the ipykernel of this process, of 6.29 or
later, by its own messages: they reach the cell whatever the program has done to `sys.stdout`.
"""
from __future__ import annotations

import contextlib
import contextvars
import os
import sys
from typing import Any

from rich.console import Console

from pyfuncdbg.commands.execute import Answer
from pyfuncdbg.debug.broker import Broker
from pyfuncdbg.debug.debugger import Debugger
from pyfuncdbg.debug.stop import Stop
from pyfuncdbg.debug.unasked import note_stop
from pyfuncdbg.prompt.conversation import PROMPT, Conversation
from pyfuncdbg.prompt.interrupt import listen
from pyfuncdbg.prompt.terminal import TerminalReader
from pyfuncdbg.views.escape import visible

_WIDTH = 100
_PATIENCE = 0.02
"""Seconds between two looks at whether a line is still wanted."""


class Kernel:
    """The notebook whose kernel this process is.

    It is asked before any terminal or pipe: a kernel's own stdin is a pipe in which nothing ever comes.
    """

    name = 'kernel'
    priority = 40

    def __init__(self, conversation: Conversation, debugger: Debugger) -> None:
        self._conversation = conversation
        self._debugger = debugger
        self._process = os.getpid()
        self._known: Any = None                 # the kernel that tells of its cells
        self._quit = self._told = False
        self.usable()

    def usable(self) -> bool:
        kernel = _kernel()
        if kernel is not None and kernel is not self._known:
            self._known = kernel
            kernel.shell.events.register('pre_run_cell', self._begin_cell)
        return kernel is not None

    def interact(self, stop: Stop, broker: Broker) -> None:
        kernel = self._known
        page = Page(kernel)
        if os.getpid() != self._process:        # forked: the kernel's sockets are the parent's
            note_stop(stop)
            stop.decide(broker.lost)
        elif not kernel._allow_stdin:
            note_stop(stop)
            if not self._told:
                self._told = True
                end = 'ends' if broker.lost == 'abort' else 'goes on without stops'
                page.say(f'pyfuncdbg: a stop, but this front end sends no input: the program {end}')
            stop.decide(broker.lost)
        else:
            self._told = False
            try:
                self._conversation.hold(stop, _Reader(kernel), page)
            except EOFError:
                if stop.decision is None:
                    stop.decide('quit')
            self._quit = stop.decision is not None and stop.decision.verb == 'quit'

    def _begin_cell(self, info: object) -> None:
        """On the main thread, at each cell: `quit` was about the one before, and SIGINT has Python's handler."""
        if self._quit:
            self._quit = False
            self._debugger.start()
        if self._debugger.on:
            listen()


class Page:
    """The output of the cell that runs.

    Args:
        kernel: Whose cell.
    """

    width = _WIDTH

    def __init__(self, kernel: Any) -> None:
        self._kernel = kernel

    def say(self, text: str) -> None:
        """One line of ours; what it quotes of the program is escaped."""
        self._write(visible(text) + '\n')

    def show(self, answer: Answer) -> None:
        """Draw the answer to a command, in colours, which notebooks show."""
        console = Console(width=self.width, force_terminal=True, force_jupyter=False, color_system='256', highlight=False,
                          markup=False, emoji=False, soft_wrap=False, no_color='NO_COLOR' in os.environ)
        with console.capture() as drawn:
            answer.show(console)
        self._write(drawn.get())

    def _write(self, text: str) -> None:
        for stream in (sys.stdout, sys.stderr):     # what the program has printed comes first
            with contextlib.suppress(OSError, ValueError, RuntimeError, AttributeError):
                stream.flush()
        if text:
            self._kernel.send_response(self._kernel.iopub_socket, 'stream', {'name': 'stdout', 'text': text})


class _Reader:
    """Lines of the cell's input box. An interrupt of the kernel while one is typed ends the run, and with it the cell."""

    def __init__(self, kernel: Any) -> None:
        self._kernel = kernel

    def read(self, stop: Stop, broker: Broker) -> str | None:
        try:
            return TerminalReader(_Box(self._kernel)).read(stop, broker)
        except KeyboardInterrupt:
            if stop.decision is None:
                stop.decide('abort')
            return None


class _Box:
    """One input box. It does what `kernel.raw_input` does, and can be taken back from another thread."""

    def __init__(self, kernel: Any) -> None:
        self._kernel = kernel
        self._cancelled = False
        self._context = contextvars.copy_context()      # of the stopped thread: it knows the cell

    def edit(self, stop: Stop) -> str:
        """The line, in a thread of its own."""
        return self._context.run(self._ask)

    def cancel(self) -> None:
        """End it; other threads call this."""
        self._cancelled = True

    def _ask(self) -> str:
        kernel, socket = self._kernel, self._kernel.stdin_socket
        while socket.poll(0):                   # replies to boxes that were taken back
            kernel.session.recv(socket)
        kernel.session.send(socket, 'input_request', {'prompt': PROMPT, 'password': False}, kernel.get_parent('shell'),
                            ident=kernel._parent_ident['shell'])
        while not self._cancelled:
            if socket.poll(_PATIENCE * 1000):
                reply = kernel.session.recv(socket)[1]
                if reply is not None:
                    line = str(reply['content'].get('value', ''))
                    if line == '\x04':
                        raise EOFError
                    return line
        raise KeyboardInterrupt


def _kernel() -> Any:
    """The ipykernel that runs in this process, None if there is none."""
    shells = sys.modules.get('IPython')
    if shells is None or 'ipykernel' not in sys.modules:
        return None
    return getattr(shells.get_ipython(), 'kernel', None)
