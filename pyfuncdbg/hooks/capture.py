"""Captures what one call says: stdout, stderr, warnings, log records and NumPy's floating-point errors.

The innermost hook of every python call, on the call's thread. Everything is found through a context variable that is
set inside the call, so it is exact under threads, native ones too. What Python cannot tell apart is not captured:
bytes written past the text stream (`sys.stdout.buffer.write`, `os.write(1, ...)`, C code, subprocesses), and what
threads that the call starts say (unless they run in a copy of its context, as `asyncio.to_thread` does, while it runs).
"""
from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Literal

from pyfuncdbg.hooks import floating, messages
from pyfuncdbg.hooks.call import Call, Kind
from pyfuncdbg.hooks.chain import Outputs, hooks
from pyfuncdbg.hooks.errstate import DEFAULT, state
from pyfuncdbg.hooks.floating import states
from pyfuncdbg.hooks.output import Entry, Output, sink
from pyfuncdbg.hooks.streams import Streams

__all__ = ['Capture', 'Entry', 'Output']

Mode = Literal['tee', 'only']

DEPTH = 100
"""Of the hook: nearer to the function than any other, so that no hook's own words are taken for the program's."""


class Capture:
    """The hook: gives each python call an `Output`.

    Several may run at once; they watch the process together, and a call has one `Output`, made by the outermost.
    """

    kinds: frozenset[Kind] = frozenset({'python'})

    def __init__(self, mode: Mode = 'tee') -> None:
        """Make one; it does nothing before `start`.

        Args:
            mode: 'tee' prints as the program would, 'only' keeps what is printed from the streams.
        """
        if mode not in ('tee', 'only'):
            raise ValueError(f"mode is {mode!r}, expected 'tee' or 'only'.")
        self.echo = mode == 'tee'
        self._starts = 0

    def start(self) -> None:
        """Capture the calls that begin from now on, until `stop` has been called as often as this."""
        with _process.lock:
            self._starts += 1
            if self._starts == 1:
                _process.acquire()
                hooks.add(self, depth=DEPTH)

    def stop(self) -> None:
        """End one `start`. Calls inside are captured to their end; what is watched is undone when the last is out."""
        with _process.lock:
            if self._starts == 0:
                return
            self._starts -= 1
            if self._starts == 0:
                hooks.remove(self)
                _process.release()

    def around(self, call: Call, proceed: Callable[[], Outputs]) -> Outputs:
        process = _process
        output = call.output
        if output is None:
            output = call.output = Output(call.started, self.echo)
        elif output.open:
            return proceed()                    # another Capture outside of this one is at work
        process.inside.add(output)
        if not process.users:                   # stopped since this call read the list of hooks
            process.leave(output)
            return proceed()
        output.stdout = stdout = getattr(sys, 'stdout', None)
        output.stderr = stderr = getattr(sys, 'stderr', None)
        known = process.streams.known
        if id(stdout) not in known or id(stderr) not in known:
            process.streams.watch(stdout, stderr)
        output.open = True
        said = sink.set(output)
        user = state.get(DEFAULT)
        within = states.get(user) or floating.watched(user)
        errors = state.set(within)
        try:
            return proceed()
        except RuntimeWarning as error:
            floating.without_report(error.__traceback__)
            raise
        finally:
            sink.reset(said)
            if state.get() is within:
                state.reset(errors)
            elif sink.get() is None:            # in a nested call it stays watched, for the outer one
                floating.unwatch()
            output.open = False
            output.stdout = output.stderr = None
            process.inside.discard(output)
            if not process.users:
                process.leave(output)


class _Process:
    """What is put in place once for all `Capture` objects of this process."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.users = 0
        self.inside: set[Output] = set()
        self.streams = Streams()
        self._undo: list[Callable[[], None]] = []

    def acquire(self) -> None:
        self.users += 1
        if not self._undo:
            self.streams = Streams()
            self._undo = [self.streams.undo, messages.install(), floating.install()]

    def release(self) -> None:
        self.users -= 1
        self._undo_if_idle()

    def leave(self, output: Output) -> None:
        self.inside.discard(output)
        if not self.users:
            self._undo_if_idle()

    def _undo_if_idle(self) -> None:
        with self.lock:
            if not self.users and not self.inside:
                while self._undo:
                    self._undo.pop()()


_process = _Process()
