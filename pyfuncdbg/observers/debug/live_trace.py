"""The trace of the running program, for commands at a stop.

Asked on whichever thread carries out a command. Where nothing records yet, a small recording in a temporary folder begins.
"""
from __future__ import annotations

import atexit
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from pyfuncdbg.hooks.chain import hooks
from pyfuncdbg.hooks.locks import new_lock
from pyfuncdbg.observers.record import recording_switch
from pyfuncdbg.observers.record.recorder import DEPTH, Recorder, recorders

if TYPE_CHECKING:
    from pyfuncdbg.observers.debug.stops.stop import Stop
    from pyfuncdbg.observers.record.trace import Trace

_BUDGET = 64 << 20


class LiveTrace:
    """Opens the newest recording of this process, once for each, and brings it up to date when asked."""

    def __init__(self) -> None:
        self._lock = new_lock()
        self._own: Recorder | None = None
        self._asleep = False
        self._recorder: Recorder | None = None
        self._trace: Trace | None = None

    def recorder(self, *, ops: bool = False) -> Recorder:
        """The newest recorder that is on; a new one in a temporary folder if there is none."""
        with self._lock:
            on = recorders()
            if on and on[-1] is not self._own:
                return on[-1]                   # the trace of the debugger would be a copy
            self._wake()
            if on:
                return on[-1]
            folder = tempfile.mkdtemp(prefix='pyfuncdbg-')
            atexit.register(shutil.rmtree, folder, ignore_errors=True)
            self._own = Recorder(Path(folder) / 'live.pfd', budget=_BUDGET, ops=ops).start()
            recording_switch.unregister(self._own)
            return self._own

    def sleep(self) -> bool:
        """Debugging is off, or another recording is on: what was recorded for the debugger alone stays, and no more is added
        until it is asked for. Whether anything was added until now."""
        with self._lock:
            if self._own is None or self._own not in hooks:
                return False
            self._asleep = True
            hooks.remove(self._own)
            return True

    def wake(self) -> None:
        """Go on recording."""
        with self._lock:
            self._wake()

    def end(self) -> None:
        """End the debugger's own recording: the next one is new."""
        with self._lock:
            recorder, self._own = self._own, None
            self._asleep = False
        if recorder is not None:
            recorder.stop()

    def _wake(self) -> None:
        if self._asleep and self._own is not None and self._own in recorders():
            hooks.add(self._own, depth=DEPTH)
        self._asleep = False

    def trace(self, stop: Stop | None = None) -> Trace:
        """The trace so far.

        Args:
            stop: Its call's node is in the trace also where the call has not begun, which it does after the stop before it.

        Raises:
            TraceError: It cannot be read.
        """
        from pyfuncdbg.observers.record.trace import Trace  # a program that never stops, or asks nothing, reads none
        recorder = self.recorder()
        if stop is not None and stop.remote is None and stop.call is not None:
            recorder.calls.announce(stop.call.run, stop.call.site)
        recorder.flush()
        with self._lock:
            if self._trace is None or self._recorder is not recorder:
                if self._trace is not None:
                    self._trace.close()
                self._trace, self._recorder = Trace.open(recorder.path), recorder
            else:
                self._trace.refresh()
            return self._trace

    def on_demand(self, stop: Stop | None = None) -> Trace:
        """The trace as it is when it is first asked something, for one command: most commands at a stop ask nothing.

        Args:
            stop: Where the command was typed.
        """
        return cast('Trace', _OnDemand(self, stop))


class _OnDemand:
    """A trace that is brought up to date, and opened, at the first look at one of its attributes."""

    def __init__(self, live: LiveTrace, stop: Stop | None) -> None:
        self._live = live
        self._stop = stop
        self._opened: Trace | None = None

    def __getattr__(self, name: str) -> Any:
        if self._opened is None:
            self._opened = self._live.trace(self._stop)
        return getattr(self._opened, name)
