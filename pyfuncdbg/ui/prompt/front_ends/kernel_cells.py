"""The cells of a kernel: those that run, and those in which a prompt can be opened.

A front end forgets a cell that has ended: what asks for input in its name is never seen. So the cell in which a stop is
asked about lasts until that is decided, and a stop that comes while no cell runs waits for the next one. IPython tells of
cells on the thread that runs them; stops come on any.
"""
from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable
from typing import Any, NamedTuple

_PATIENCE = 0.02
"""Seconds between two checks whether a cell may end."""


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
        """Of the request, '' if there was none."""
        return str(self.parent.get('header', {}).get('msg_id', ''))


class KernelCells:
    """Those of one kernel.

    Args:
        kernel: It.
        begun: Called at the beginning of a cell, on its thread; not of a cell that another one runs.
        stopped: Whether a thread waits to be asked about.
        ended: Called at the end of a cell, as `begun` at its beginning.
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
