"""The recordings of one IPython session: of single cells or of every cell; the trace that `%pyfunc` shows.

Used on the main thread, by the magics and between cells.

Calls of threads that a recorded cell leaves running still go into the trace of their cell; that is decided on the thread of
each call.
"""
from __future__ import annotations

import atexit
import os
import shutil
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from time import perf_counter_ns
from typing import Any, cast

from pyfuncdbg.errors import CommandError, TraceError
from pyfuncdbg.hooks.call import Call, Kind
from pyfuncdbg.hooks.chain import Outputs, hooks
from pyfuncdbg.hooks.current_frames import current_frames
from pyfuncdbg.hooks.notice import say
from pyfuncdbg.hooks.transparent_frames import transparent
from pyfuncdbg.observers.debug.debugger import debugger
from pyfuncdbg.observers.record.log.trace_folder import fresh_path
from pyfuncdbg.observers.record.recorder import DEPTH, Recorder, recorders
from pyfuncdbg.observers.record.records import SiteRecord
from pyfuncdbg.observers.record.trace import Trace
from pyfuncdbg.ui.commands.break_commands import breakpoint_of
from pyfuncdbg.ui.commands.engine.command import Context
from pyfuncdbg.ui.ipython.options import RecordingOptions
from pyfuncdbg.ui.prompt.install import install

_OURS = 'pyfuncdbg'
"""Prefix of the names of our own threads."""
_WAITING = (f'{os.sep}threading.py', f'{os.sep}queue.py', os.path.join('multiprocessing', 'connection.py'))
_LIBRARY = (os.path.join('concurrent', 'futures', 'thread.py'), os.path.join('multiprocessing', 'pool.py'),
            os.path.join('multiprocessing', 'queues.py'))
_KEPT = 8
"""Traces of cells in the temporary folder: the newest."""


def _waits_for_work(thread: threading.Thread) -> bool:
    """Whether it has nothing to do: one of a pool, whose next work is another cell's, or a queue's without items."""
    frame = current_frames().get(thread.ident or 0)
    while frame is not None and frame.f_code.co_filename.endswith(_WAITING):
        frame = frame.f_back
    return frame is None or frame.f_code.co_filename.endswith(_LIBRARY)      # without a frame it ends


class CellThreads:
    """The threads that are there when a cell begins: others are the cell's own."""

    def __init__(self) -> None:
        self._before = set(threading.enumerate())

    def left(self) -> list[threading.Thread]:
        """The threads that began since and still run."""
        return [thread for thread in threading.enumerate() if thread not in self._before and thread.native_id is not None
                and not thread.name.startswith(_OURS) and not isinstance(thread, threading._DummyThread)
                and not _waits_for_work(thread)]


class LeftoverThreads:
    """The hook that hands a recorder the calls of some threads, and those of the runs that they have begun.

    Args:
        recorder: Of a cell that is over; it sees no other calls from now on.
        threads: Left by the cell.
        started: When the cell began: runs of its time are its own.
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
        """The names of the threads that still run; the number of an ended one may soon be another thread's."""
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

    @transparent
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

    @transparent
    def around(self, call: Call, proceed: Callable[[], Outputs]) -> Outputs:
        if any(lingering.takes(call) for lingering in self._earlier):
            return proceed()
        return self._recorder.around(call, proceed)

    def stop(self) -> None:
        """Hand over no more calls."""
        hooks.remove(self)


@dataclass(frozen=True, slots=True)
class CellRecording:
    """A cell that is recorded.

    Attributes:
        label: 'In[3]'.
        began: `time.perf_counter_ns()`.
        threads: What tells its threads from others.
        breakpoints: Numbers of those that are its own.
        before: Who was asked at stops, and whether errors stopped, before it.
        interrupted: The debugger's own recording was on before it. It sleeps meanwhile: it would record the same, and show
            what shall only be recorded.
    """

    label: str
    options: RecordingOptions
    recorder: Recorder
    others: OtherCalls | None
    began: int
    threads: CellThreads
    breakpoints: tuple[int, ...]
    before: tuple[str, bool]
    interrupted: bool


class Recordings:
    """Begins and ends recordings, and knows the current trace."""

    def __init__(self) -> None:
        self.session: Recorder | None = None
        """The recorder of every cell, while `%pyfunc on` holds."""
        self.lingering: list[tuple[str, LeftoverThreads]] = []
        self.shown = ''
        """The trace that commands read: 'In[3]', a path; '' if there is none."""
        self._trace: Trace | None = None
        self._recorder: Recorder | None = None  # whose trace it is
        self._opened = False
        self._since = 0.0
        self._folder = ''
        self._temporary: deque[Path] = deque()

    # ------------------------------------------------------------------ a cell
    def begin(self, options: RecordingOptions, label: str) -> CellRecording:
        """A cell begins that shall be recorded.

        Raises:
            CommandError, TraceError: It cannot be; nothing has begun.
        """
        self.tidy()
        path = options.record or self._fresh(label)
        recorder = _start_recorder(options, path)
        others = OtherCalls(recorder, [held for _, held in self.lingering]) if self.lingering else None
        interrupted = debugger.live.sleep()
        before = debugger.broker.front_end_name, debugger.catching
        numbers: list[int] = []
        for place, condition in options.breaks:
            spec, when, settings = breakpoint_of(place, condition)
            numbers.append(debugger.breakpoints.set(spec, when, **settings).number)
        if options.ui is not None:
            install(debugger, options.ui)
        if options.catch:
            debugger.catching = True
        if numbers or options.catch:
            install(debugger)
            debugger.start()
        return CellRecording(label, options, recorder, others, perf_counter_ns(), CellThreads(), tuple(numbers), before,
                             interrupted)

    def end(self, recording: CellRecording) -> Trace:
        """The cell is over: its trace, which is what commands read from now on. Its threads go on being recorded."""
        for number in recording.breakpoints:
            if number in debugger.breakpoints.entries:
                debugger.breakpoints.clear(number)
        debugger.broker.front_end_name = recording.before[0]
        debugger.catching = recording.before[1]
        left = recording.threads.left()
        if left:
            recording.recorder.flush()
            self.lingering.append((recording.label, LeftoverThreads(recording.recorder, left, recording.began)))
        else:
            recording.recorder.stop()
        if recording.others is not None:
            recording.others.stop()
        if recording.interrupted:
            debugger.live.wake()
        return self._show(Trace.open(recording.recorder.path), recording.label, recording.recorder)

    def tidy(self) -> None:
        """Close the traces of cells whose threads have ended."""
        for entry in list(self.lingering):
            if not entry[1].names():
                entry[1].stop()
                self.lingering.remove(entry)
                if entry[1].recorder is self._recorder:
                    self._since = time.time()   # what its threads did until now is in its trace

    def _fresh(self, label: str) -> Path:
        """A folder for the trace of a cell; the oldest of those that are kept goes."""
        if not self._folder:
            self._folder = tempfile.mkdtemp(prefix='pyfuncdbg-')
            atexit.register(_remove, self._folder, os.getpid())     # runs after the handlers of recorders
        folder = self._folder
        open_ones = {held.recorder.path for _, held in self.lingering}
        while len(self._temporary) >= _KEPT and self._temporary[0] not in open_ones:
            shutil.rmtree(self._temporary.popleft(), ignore_errors=True)
        name = label.replace('[', '-').rstrip(']')
        path = next(path for number in count(1)
                    if not (path := Path(folder, f'{name}.pfd' if number == 1 else f'{name}-{number}.pfd')).exists())
        self._temporary.append(path)
        return path

    # ------------------------------------------------------------------ every cell
    def switch_on(self, options: RecordingOptions) -> Path:
        """Record every cell from now on.

        Raises:
            CommandError: That is on already.
            TraceError: It cannot be.
        """
        if self.session is not None:
            raise CommandError(f"every cell is recorded already, to {self.session.path}; '%pyfunc off' ends that")
        self.session = _start_recorder(options, options.record or fresh_path())
        self._show(Trace.open(self.session.path), 'every cell', self.session)
        return self.session.path

    def switch_off(self) -> Trace:
        """Record single cells only.

        Raises:
            CommandError: It was not on.
        """
        if self.session is None:
            raise CommandError("cells are not recorded: '%pyfunc on' begins")
        recorder, self.session = self.session, None
        recorder.stop()
        return self._show(Trace.open(recorder.path), str(recorder.path), recorder)

    # ------------------------------------------------------------------ the current trace
    def open(self, path: Path) -> Trace:
        """Read a trace from now on; its session may be going on elsewhere.

        Raises:
            TraceError: It cannot be read.
        """
        trace = self._show(Trace.open(path), str(path), None)
        self._opened = True
        return trace

    def close_opened(self) -> None:
        """Read what this session records again."""
        before, self._trace = self._trace, None
        self._recorder, self.shown, self._opened = None, '', False
        if before is not None:
            before.close()

    def context(self, width: int, *, of_program: bool) -> Context:
        """The context of a command.

        Args:
            width: Columns.
            of_program: It acts on the program that runs here, whatever the current trace.
        """
        return Context(self.trace(), None, width, None if self._opened and not of_program else debugger, announce=say)

    def trace(self) -> Trace:
        """The trace that commands show, up to now."""
        self.tidy()
        newest = None if self._opened else self._newest()
        if newest is not None and newest is not self._recorder:
            newest.flush()
            self._show(Trace.open(newest.path), str(newest.path), newest)
        if self._trace is None:
            return cast(Trace, EmptyTrace())
        if self._recorder is not None:
            self._recorder.flush()
        try:
            self._trace.refresh()
        except TraceError:
            self.close_opened()                 # it is gone: the next command has no trace
            raise
        return self._trace

    def _newest(self) -> Recorder | None:
        """The active recorder if it is more to the point than the shown cell: it is of every cell, or has newer calls."""
        if self.session is not None:
            return self.session
        on = recorders()
        if not on or self._recorder in on or (self._trace is not None and not _called_since(on[-1], self._since)):
            return None
        return on[-1]

    def _show(self, trace: Trace, name: str, recorder: Recorder | None) -> Trace:
        self.close_opened()
        self._trace, self._recorder, self.shown, self._since = trace, recorder, name, time.time()
        return trace

    def close(self) -> None:
        """The extension goes: everything that records ends, and what was recorded is whole."""
        if self.session is not None:
            self.switch_off()
        for _, held in self.lingering:
            held.stop()
        self.lingering.clear()
        self.close_opened()


class EmptyTrace:
    """The empty trace of a session without a recording: no sites; other queries raise an error with what to type."""

    def sites(self) -> list[SiteRecord]:
        return []

    def __getattr__(self, name: str) -> Any:
        raise CommandError("nothing is recorded yet: '%%pyfunc' above a cell records it, '%pyfunc on' records every cell, "
                           "'%pyfunc open TRACE' shows a trace")


def _called_since(recorder: Recorder, moment: float) -> bool:
    """Whether it has recorded a call that began after a moment."""
    with recorder.trace() as trace:
        last = trace.calls(newest_first=True, limit=1)
        return bool(last) and trace.info().started + last[0].started > moment


def _remove(folder: str, owner: int) -> None:
    if os.getpid() == owner:                    # a forked child comes here too
        shutil.rmtree(folder, ignore_errors=True)


def _start_recorder(options: RecordingOptions, path: Path) -> Recorder:
    if options.budget is None:
        return Recorder(path, ops=options.ops, capture=options.capture).start()
    return Recorder(path, budget=options.budget, ops=options.ops, capture=options.capture).start()
