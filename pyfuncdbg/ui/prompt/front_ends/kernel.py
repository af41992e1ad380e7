"""A notebook as a front end: lines from the input box of the running cell, answers in its output.

Made by `front_ends.install`; stops come on any thread, also native ones. Talks to the ipykernel of this process, of 6.29 or
later, by its own messages: they reach the cell whatever the program has done to `sys.stdout`.

A front end of a kernel forgets a cell that has ended: what asks for input in its name is never seen. So the cell in which a
stop is asked about lasts until that is decided, and a stop that comes while no cell runs waits for the next one.
"""
from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from rich.console import Console

from pyfuncdbg.errors import RunInterrupted
from pyfuncdbg.hooks import notice
from pyfuncdbg.observers.debug.debugger import Debugger
from pyfuncdbg.observers.debug.stops.broker import Broker, note_stop
from pyfuncdbg.observers.debug.stops.stop import Stop, location_text
from pyfuncdbg.ui.commands.engine.answer import Answer
from pyfuncdbg.ui.prompt.front_ends.terminal import TerminalReader
from pyfuncdbg.ui.prompt.pending_commands import PendingCommand
from pyfuncdbg.ui.prompt.terminal_io.conversation import Conversation, LineRequest
from pyfuncdbg.ui.prompt.terminal_io.ctrl_c import asking, listen, tell_main
from pyfuncdbg.ui.prompt.terminal_io.signal_pipe import signals
from pyfuncdbg.ui.views.escape import visible
from pyfuncdbg.ui.views.progress import Tell, announce_work

_PATIENCE = 0.02
"""Seconds between two looks at whether a cell may end, or a line is still wanted."""
_WIDTH = 100


class Cell(NamedTuple):
    """A cell that runs, as the kernel's messages name it.

    Attributes:
        parent: The request to run it.
        ident: Identity of the client that has sent it.
    """

    parent: dict[str, Any]
    ident: Any

    @property
    def id(self) -> str:
        """The id of the request, '' if there was none."""
        return str(self.parent.get('header', {}).get('msg_id', ''))


class KernelCells:
    """Those of one kernel.

    Args:
        kernel: It.
        on_begin: Called at the beginning of a cell, on its thread; not of a cell that another one runs.
        stopped: Whether a thread waits to be asked about.
        on_end: Called at the end of a cell, as `on_begin` at its beginning.
    """

    def __init__(self, kernel: Any, on_begin: Callable[[], None], stopped: Callable[[], bool],
                 on_end: Callable[[], None]) -> None:
        self.kernel = kernel
        self.last = self._own()
        self._begun = on_begin
        self._stopped = stopped
        self._over = on_end
        self._lock = threading.Lock()
        self._running: dict[int, list[tuple[Any, Cell]]] = {}       # by thread; a cell may run others
        self._asked = 0
        self._running[threading.main_thread().ident or 0] = [(None, self.last)]     # the cell in which this module is loaded
        self.input = threading.Lock()
        """Held while a line is asked for: there is one input box."""
        ask = kernel._input_request

        def ask_in_turn(*args: Any, **options: Any) -> Any:
            with self.input:
                return ask(*args, **options)
        kernel._input_request = ask_in_turn                         # of `input()` and `getpass`, on any thread
        kernel.shell.events.register('pre_run_cell', self._begin)
        kernel.shell.events.register('post_run_cell', self._end)

    def _own(self) -> Cell:
        """The cell of this thread; in threads of the program's own, the last one of all."""
        return Cell(self.kernel.get_parent('shell'), self.kernel._parent_ident['shell'])

    def enter(self) -> Cell | None:
        """The cell to ask in, which lasts until `leave`; None where none runs."""
        own = self._own()
        with self._lock:
            cells = [entries[-1][1] for entries in self._running.values()]
            if not cells:
                return None
            self._asked += 1
            return next((cell for cell in cells if cell.id == own.id), cells[-1])

    @property
    def current(self) -> Cell:
        """The cell of this thread if that runs, else the last one that was begun."""
        own = self._own()
        with self._lock:
            return own if any(entries[-1][1].id == own.id for entries in self._running.values()) else self.last

    def leave(self) -> None:
        """The prompt in the cell is over."""
        with self._lock:
            self._asked -= 1

    def _begin(self, info: Any) -> None:
        thread = threading.get_ident()
        cell = self._own()
        with self._lock:
            entries = [] if self._running.get(thread, [(None, None)])[0][0] is None else self._running[thread]
            self._running[thread] = [*entries, (info, cell)]
            self.last = cell
        if not entries:
            self._begun()

    def _end(self, result: Any) -> None:
        """End it, unless a prompt is open in it."""
        thread = threading.get_ident()
        entries = self._running.get(thread, [])
        if not entries or (result is not None and entries[-1][0] not in (None, result.info)):
            return
        is_ended = False
        while not is_ended:
            with contextlib.suppress(KeyboardInterrupt):        # the cell has ended meanwhile
                is_ended = self._ended(thread, entries)
                if not is_ended:
                    time.sleep(_PATIENCE)
        if not entries:
            self._over()

    def _ended(self, thread: int, entries: list[tuple[Any, Cell]]) -> bool:
        stopped = self._stopped()
        with self._lock:
            last = len(entries) == 1 and len(self._running) == 1
            if last and (stopped or self._asked):
                return False
            if entries:
                entries.pop()
            if not entries:
                self._running.pop(thread, None)
        return True


_HEARING = 1.0
"""Seconds in which the main thread hears of an interrupt, unless native code keeps it."""


class NotebookKernel:
    """The front end of a notebook, in its kernel's process.

    It is asked before any terminal or pipe: a kernel's own stdin is a pipe in which nothing ever comes.
    """

    name = 'kernel'
    priority = 40

    def __init__(self, conversation: Conversation, debugger: Debugger) -> None:
        self._conversation = conversation
        self._debugger = debugger
        self._process = os.getpid()
        self._cells: KernelCells | None = None        # None before the first cell
        self._quit = self._told = self._interrupted = False
        self.usable()

    def usable(self) -> bool:
        kernel = _kernel()
        if kernel is not None and (self._cells is None or kernel is not self._cells.kernel):
            self._cells = KernelCells(kernel, self._begin_cell, self._waited_for, signals.close)
            signals.open()
            notice.outlet = self._put
        return kernel is not None

    def _put(self, line: str) -> bool:
        """Print a notice into the cell, in order with what the program prints. Any thread."""
        cells = self._cells
        if cells is None or os.getpid() != self._process:
            return False
        CellPage(cells.kernel, cells.current).write(line, 'stderr')
        return True

    def interact(self, stop: Stop, broker: Broker) -> None:
        cells = self._cells
        assert cells is not None                # `usable` was true
        kernel = cells.kernel
        if os.getpid() != self._process:        # forked: the kernel's sockets are the parent's
            note_stop(stop)
            stop.decide(broker.lost)
        elif not kernel._allow_stdin:
            note_stop(stop)
            if not self._told:
                self._told = True
                end = 'ends' if broker.lost == 'abort' else 'continues without stops'
                CellPage(kernel, cells.last).say(f'pyfuncdbg: a stop, but this front end sends no input: the program {end}')
            stop.decide(broker.lost)
        elif self._interrupted:
            stop.decide('cont')                 # a thread that goes on in the cell which the user has ended
        else:
            self._told = False
            cell = cells.enter() or self._next_cell(stop, broker, cells)
            if cell is not None:
                try:
                    self._ask(stop, cells, cell)
                finally:
                    cells.leave()

    def _next_cell(self, stop: Stop, broker: Broker, cells: KernelCells) -> Cell | None:
        """Wait for one: there is no input box while no cell runs. None if the stop is decided otherwise."""
        CellPage(cells.kernel,
                 cells.last).say(f'pyfuncdbg: {location_text(stop)} a thread waits: the next cell shows its prompt')
        while stop.decision is None and broker.focus is stop:
            cell = cells.enter()
            if cell is not None:
                return cell
            stop.serve()
        return None

    def _ask(self, stop: Stop, cells: KernelCells, cell: Cell) -> None:
        try:
            with asking(ends_main=threading.current_thread() is not threading.main_thread()):
                self._conversation.hold(stop, _Reader(cells, cell), CellPage(cells.kernel, cell))
                tell_main(_HEARING)
        except EOFError:
            if stop.decision is None:
                self._conversation.carry_out(PendingCommand('quit'), stop, CellPage(cells.kernel, cell))
            if stop.decision is None:           # the command was interrupted
                stop.decide('quit')
        decision = stop.decision
        self._quit = decision is not None and decision.verb == 'quit'
        self._interrupted = decision is not None and decision.argument is RunInterrupted

    def _begin_cell(self) -> None:
        """At each cell: `quit` and an interrupt were about the one before, SIGINT has Python's handler, and who waited for a
        cell is asked."""
        self._interrupted = False
        if self._quit:
            self._quit = False
            self._debugger.start()
        if self._debugger.on:
            listen()
        signals.open()
        for stop in self._debugger.broker.stops:
            stop.wake()

    def _waited_for(self) -> bool:
        """Whether a stop is asked about here, or will be."""
        broker = self._debugger.broker
        return any(stop.decision is None for stop in broker.stops) and broker.front_end() is self


class CellPage:
    """The output of a cell.

    Args:
        kernel: Whose cell.
        cell: It.
    """

    width = _WIDTH

    def __init__(self, kernel: Any, cell: Cell) -> None:
        self._kernel = kernel
        self._cell = cell

    def say(self, text: str) -> None:
        """One line of ours; what it quotes of the program is escaped."""
        self.write(visible(text) + '\n')

    def progress(self, what: str) -> contextlib.AbstractContextManager[Tell]:
        """One line, where it takes long: a cell's output is not drawn again."""
        return announce_work(what, self.say)

    def show(self, answer: Answer) -> None:
        """Draw the answer to a command, in colours, which notebooks show."""
        console = Console(width=self.width, force_terminal=True, force_jupyter=False, color_system='256', highlight=False,
                          markup=False, emoji=False, soft_wrap=False, no_color='NO_COLOR' in os.environ)
        with console.capture() as drawn:
            answer.show(console)
        self.write(drawn.get())

    def write(self, text: str, name: str = 'stdout') -> None:
        """Text as it is, on the stream of that name."""
        for stream in (sys.stdout, sys.stderr):     # what the program has printed comes first
            with contextlib.suppress(OSError, ValueError, RuntimeError, AttributeError):
                stream.flush()
        if text:
            kernel = self._kernel
            kernel.session.send(kernel.iopub_socket, 'stream', {'name': name, 'text': text}, self._cell.parent)


class _Reader:
    """Lines of the cell's input box. An interrupt of the kernel while one is typed ends the run, and with it the cell."""

    def __init__(self, cells: KernelCells, cell: Cell) -> None:
        self._cells = cells
        self._cell = cell

    def read(self, stop: Stop, broker: Broker, request: LineRequest) -> str | None:
        try:
            return TerminalReader(_Box(self._cells, self._cell)).read(stop, broker, request)
        except KeyboardInterrupt:
            if stop.decision is None:
                stop.decide('abort', RunInterrupted)
            return None


class _Box:
    """One input box. It does what `kernel.raw_input` does, and can be taken back from another thread."""

    def __init__(self, cells: KernelCells, cell: Cell) -> None:
        self._kernel = cells.kernel
        self._turn = cells.input
        self._cell = cell
        self._cancelled = False

    def edit(self, stop: Stop, request: LineRequest) -> str:
        """The line, in a thread of its own."""
        while not self._turn.acquire(timeout=_PATIENCE):        # the program asks for something itself
            if self._cancelled:
                raise KeyboardInterrupt
        try:
            return self._ask(request.prompt)
        finally:
            self._turn.release()

    def cancel(self) -> None:
        """End it; other threads call this."""
        self._cancelled = True

    def _ask(self, prompt: str) -> str:
        kernel, socket = self._kernel, self._kernel.stdin_socket
        while socket.poll(0):                   # replies to boxes that were taken back
            kernel.session.recv(socket)
        kernel.session.send(socket, 'input_request', {'prompt': prompt, 'password': False}, self._cell.parent,
                            ident=self._cell.ident)
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
