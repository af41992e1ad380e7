"""Threads that a recorded cell leaves running: what they call later still goes into the trace of their cell.

`around` runs on the thread of each call; the rest on the main thread, between cells.
"""
from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from time import perf_counter_ns

from pyfuncdbg.hooks.call import Call, Kind
from pyfuncdbg.hooks.chain import Outputs, hooks
from pyfuncdbg.observers.record.recorder import DEPTH, Recorder

_OURS = 'pyfuncdbg'
"""How the names of our own threads begin."""
_WAITING = (f'{os.sep}threading.py', f'{os.sep}queue.py')
_POOLS = (os.path.join('concurrent', 'futures', 'thread.py'), os.path.join('multiprocessing', 'pool.py'))


def _waits_for_work(thread: threading.Thread) -> bool:
    """Whether it is one of a pool and has nothing to do: what it is given next is that of another cell."""
    frame = sys._current_frames().get(thread.ident or 0)
    while frame is not None and frame.f_code.co_filename.endswith(_WAITING):
        frame = frame.f_back
    return frame is not None and frame.f_code.co_filename.endswith(_POOLS)


class CellThreads:
    """The threads that are there when a cell begins: others are the cell's own."""

    def __init__(self) -> None:
        self._before = set(threading.enumerate())

    def left(self) -> list[threading.Thread]:
        """Those that began since and go on."""
        return [thread for thread in threading.enumerate() if thread not in self._before and thread.native_id is not None
                and not thread.name.startswith(_OURS) and not isinstance(thread, threading._DummyThread)
                and not _waits_for_work(thread)]


class LeftoverThreads:
    """The hook that hands a recorder the calls of some threads, and those of the runs that they have begun.

    Args:
        recorder: Of a cell that is over; it sees no other calls from now on.
        threads: Left by the cell.
        began: When the cell began: runs of its time are its own.
    """

    passive = True

    def __init__(self, recorder: Recorder, threads: list[threading.Thread], started: int) -> None:
        self.kinds: frozenset[Kind] = recorder.kinds
        self.recorder = recorder
        self._threads = threads
        self._numbers = frozenset(thread.native_id for thread in threads)
        self._began, self._ended = started, perf_counter_ns()
        self._runs: set[int] = set()
        recorder.withdraw()
        hooks.add(self, depth=DEPTH)

    def names(self) -> list[str]:
        """Of the threads that still run; the number of one that has ended may be another thread's soon."""
        self._threads = [thread for thread in self._threads if thread.is_alive() and not _waits_for_work(thread)]
        self._numbers = frozenset(thread.native_id for thread in self._threads)
        return [thread.name for thread in self._threads]

    def takes(self, call: Call) -> bool:
        """Whether a call belongs to the cell."""
        run = call.run
        if call.thread in self._numbers:
            if call.site.kind == 'run' and len(self._runs) < 1 << 16:
                self._runs.add(run.id)
            return True
        return not run.endless and (self._began <= run.started <= self._ended or run.id in self._runs)

    def around(self, call: Call, proceed: Callable[[], Outputs]) -> Outputs:
        return self.recorder.around(call, proceed) if self.takes(call) else proceed()

    def stop(self) -> None:
        """Close the trace."""
        hooks.remove(self)
        self.recorder.stop()


class OtherCalls:
    """The hook that hands a recorder all calls but those of cells that were over when it began.

    Args:
        recorder: Of the cell that begins; it is started.
        earlier: What goes on of cells before.
    """

    passive = True

    def __init__(self, recorder: Recorder, earlier: list[LeftoverThreads]) -> None:
        self.kinds: frozenset[Kind] = recorder.kinds
        self._recorder = recorder
        self._earlier = tuple(earlier)
        hooks.add(self, depth=DEPTH)
        hooks.remove(recorder)

    def around(self, call: Call, proceed: Callable[[], Outputs]) -> Outputs:
        if any(lingering.takes(call) for lingering in self._earlier):
            return proceed()
        return self._recorder.around(call, proceed)

    def stop(self) -> None:
        """Hand over no more calls."""
        hooks.remove(self)
