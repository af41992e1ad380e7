"""Changes of breakpoints and of debugging that reach every process of the program.

Whichever process changes something appends a record to the list in the shared memory; a thread in each of the others reads
it there and makes the same change. A process that starts afresh gets what is set then, and reads on from there. A program
of one process has neither thread nor list.
"""
from __future__ import annotations

import _thread
import atexit
import contextlib
import os
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from pyfuncdbg.hooks.bare_thread import BareThread
from pyfuncdbg.hooks.locks import new_rlock
from pyfuncdbg.hooks.notice import say
from pyfuncdbg.observers.debug.processes import change_list, child_hits, process_table, shared_memory
from pyfuncdbg.observers.debug.processes.process_label import own_label
from pyfuncdbg.observers.record import fork

_INTERVAL = 0.1
"""Seconds between two looks at the list."""
_PATIENCE = 0.5
"""Seconds that a change waits at most for the other processes to make it."""
_ENDING = 1.0
"""Seconds that a fork waits at most for the thread to end."""

Change = Mapping[str, Any]
"""A change: its name under 'change', and what it needs."""


class ProgramChanges:
    """The changes of one debugger, as its process tells and hears them. Any thread.

    Attributes:
        position: How far this process has read.
        is_orphan: Whether the process that has started this one has ended.
        on_orphan: Called when that is noticed, on the thread that hears.
    """

    def __init__(self) -> None:
        self.is_orphan = False
        self.on_orphan: Callable[[], None] = lambda: None
        self._parent = 0
        self.position = self._told = self._settled = 0
        self._lock = new_rlock()
        self._apply: Callable[[Change], None] | None = None
        self._applying = self._is_child = self._is_full = False
        self._follower: _Follower | None = None

    # ------------------------------------------------------------------ who takes part
    def share(self, apply: Callable[[Change], None]) -> None:
        """Tell and hear from now on, whenever the program has several processes.

        Args:
            apply: Makes a change of another process in this one.
        """
        if self._apply is None:
            self._apply = apply
            shared_memory.share()
            fork.follow(self)
            os.register_at_fork(after_in_parent=self._after_fork_in_parent)
            atexit.register(self.stop)
            self.follow()

    def join(self, path: str, position: int) -> None:
        """In a process that has started afresh, before `share`: read on where its parent was when it started.

        Args:
            path: Of the memory.
            position: In the list.

        Raises:
            OSError: That process has ended.
        """
        shared_memory.join(path)
        self.position, self._is_child, self._parent = position, True, os.getppid()

    @property
    def is_shared(self) -> bool:
        """Whether there may be another process of the program to tell."""
        return self._apply is not None and (self._is_child or child_hits.children() > 0)

    def others(self) -> dict[int, bool]:
        """The other processes, each with whether it has made the changes that this one has told."""
        memory = shared_memory.memory()
        if memory is None or not self.is_shared:
            return {}
        return {row.pid: row.position >= self._told for row in sorted(process_table.rows(memory)) if row.pid != os.getpid()}

    def settle(self) -> None:
        """Wait until the others have made what was told, but not for one that is in native code for longer."""
        told, end = self._told, time.monotonic() + _PATIENCE
        while self._settled < told and not all(self.others().values()) and time.monotonic() < end:
            time.sleep(_INTERVAL / 20)
        self._settled = max(self._settled, told)

    # ------------------------------------------------------------------ told
    @contextlib.contextmanager
    def changing(self) -> Iterator[None]:
        """A block that changes something: first all is as in the other processes, which change nothing meanwhile."""
        with self._lock:
            if self._applying or not self.is_shared:
                yield
                return
            with change_list.exclusive(shared_memory.path()):
                self.catch_up()
                yield

    def tell(self, change: Change) -> None:
        """Let the other processes make a change that was made in this one, within `changing`."""
        memory = shared_memory.memory()
        if memory is None or self._applying or not self.is_shared:
            return
        if change_list.append(memory, {**change, 'process': os.getpid()}):
            self._told = change_list.length(memory)
            self._read_to(self._told)
        elif not self._is_full:
            self._is_full = True
            say('too many changes of breakpoints: the other processes of the program learn of no more')

    # ------------------------------------------------------------------ heard
    def catch_up(self) -> None:
        """Make the changes of the other processes that are new."""
        memory = shared_memory.memory()
        if memory is None or self._apply is None or self.position >= change_list.length(memory):
            return
        with self._lock:
            self._applying = True
            try:
                while self.position < change_list.length(memory):
                    change, end = change_list.record_at(memory, self.position)
                    if change['process'] != os.getpid():
                        self._apply(change)
                    self._read_to(end)
            finally:
                self._applying = False

    def _read_to(self, position: int) -> None:
        self.position = position
        memory = shared_memory.memory()
        if memory is not None:
            process_table.note(memory, position=position)

    def follow(self) -> None:
        """Hear from now on, by a thread that the program does not see."""
        if self._follower is None and self.is_shared:
            follower = self._follower = _Follower()
            with contextlib.suppress(RuntimeError):             # no thread can start at interpreter shutdown
                follower.thread.start(lambda: self._listen(follower))

    def _listen(self, follower: _Follower) -> None:
        try:
            self._read_to(self.position)
            label = own_label()
            while not follower.is_ended(_INTERVAL):
                self.catch_up()
                if label != (label := own_label()):     # the program has set it
                    self._read_to(self.position)
                if self._parent and not self.is_orphan and os.getppid() != self._parent:
                    self.is_orphan = True
                    self.on_orphan()
        except Exception as error:              # a mistake of ours, or a damaged list: the program goes on
            say(f'process {os.getpid()} learns no more of changes of breakpoints: {type(error).__name__}: {error}')

    # ------------------------------------------------------------------ forks
    @property
    def thread(self) -> int:
        """`threading.get_ident()` of the thread that hears, 0 if there is none; see `fork.ForkFollower`."""
        return self._follower.thread.ident if self._follower is not None else 0

    def before_fork(self) -> None:
        """End the thread: Python 3.12 warns of a process of several threads that forks."""
        follower, self._follower = self._follower, None
        if follower is not None:
            follower.end()

    def _after_fork_in_parent(self) -> None:
        self.follow()

    def after_fork(self) -> None:
        """In the child, which has what was set in its parent."""
        self._is_child, self._follower, self._applying = True, None, False
        self.is_orphan, self._parent = False, os.getppid()
        self.follow()

    def stop(self) -> None:
        """The process ends."""
        memory = shared_memory.memory()
        self.before_fork()
        if memory is not None:
            process_table.remove(memory)


class _Follower:
    """A thread that hears.

    Attributes:
        thread: The thread.
    """

    __slots__ = ('_ending', 'thread')

    def __init__(self) -> None:
        self.thread = BareThread()
        self._ending = _thread.allocate_lock()
        self._ending.acquire()

    def is_ended(self, seconds: float) -> bool:
        """Wait that long; whether the thread is to end."""
        return self._ending.acquire(timeout=seconds)

    def end(self) -> None:
        """End the thread and wait for it, for a short time."""
        self._ending.release()
        self.thread.wait(_ENDING)
