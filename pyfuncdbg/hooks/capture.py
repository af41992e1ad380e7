# cython: annotation_typing=False, auto_pickle=False
"""Capture of one call's output: stdout, stderr, warnings, log records and NumPy's floating-point errors.

The innermost hook of every python call, on the call's thread. Everything is found through a context variable that is
set inside the call, so it is exact under threads, native ones too. What Python cannot tell apart is not captured:
bytes written past the text stream (`sys.stdout.buffer.write`, `os.write(1, ...)`, C code, subprocesses), and what
threads that the call starts say (unless they run in a copy of its context, as `asyncio.to_thread` does, while it runs).
Compiled by `capture.pxd`.
"""
from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from types import TracebackType
from typing import Any, Literal

from pyfuncdbg.hooks.call import Call, Kind, current
from pyfuncdbg.hooks.chain import Outputs, hooks
from pyfuncdbg.hooks.locks import new_rlock
from pyfuncdbg.hooks.output import fp_errors, streams, warnings_and_logs
from pyfuncdbg.hooks.output.fp_errors import states
from pyfuncdbg.hooks.output.numpy_errstate import DEFAULT, state
from pyfuncdbg.hooks.output.output import NO_OUTPUT, Output
from pyfuncdbg.hooks.output.output_owner import muted_owner
from pyfuncdbg.hooks.output.streams import Streams, divert_writes
from pyfuncdbg.hooks.output.watched_streams import WatchedStreams

__all__ = ['Capture', 'Output', 'divert']

CaptureState = tuple[Call | None, Any, Any]
"""Who has listened before, NumPy's error state in the call, and the one before."""

Mode = Literal['tee', 'only']

DEPTH = 100
"""Of the hook: nearer to the function than any other, so that no hook's own words are taken for the program's."""

_state, _set_state = state.get, state.set       # to look them up at each call costs more than to call them
_SPARE = 8
_NO_STREAMS = WatchedStreams(object, object, False)   # no stream is one of these


class Capture:
    """The hook: gives each python call an `Output`.

    Several may run at once; they watch the process together, and a call has one `Output`, made by the outermost.
    """

    __slots__ = ('__weakref__', '_starts', '_watched_streams', 'echo')

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
        self._watched_streams = _NO_STREAMS

    def start(self, *, chained: bool = True) -> None:
        """Capture the calls that begin from now on, until `stop` has been called as often as this.

        Args:
            chained: As a hook of its own; otherwise calls are captured that another hook hands to `around`.
        """
        with _process.lock:
            self._starts += 1
            if self._starts == 1:
                _process.acquire()
                self._watched_streams = _NO_STREAMS
                if chained:
                    hooks.add(self, depth=DEPTH)

    def stop(self) -> None:
        """End one `start`. Calls inside are captured to their end; what is watched is undone when the last is out."""
        with _process.lock:
            if self._starts == 0:
                return
            self._starts -= 1
            if self._starts == 0:
                hooks.remove(self)
                self._watched_streams = _NO_STREAMS
                _process.release()

    def around(self, call: Call, proceed: Callable[[], Outputs]) -> Outputs:
        heard = self.on_begin(call)
        try:
            try:
                outputs = proceed()
            except BaseException as error:      # raised again, without the frames of what watches
                self.on_error(call, heard, error)
                raise
            self.on_return(call, heard, outputs)
        finally:
            self.on_break_off(call, heard)
        return outputs

    def on_begin(self, call: Call) -> CaptureState | None:
        """Listen to a call from now on; gives what was in force before, None if another capture listens, or none."""
        if call.output_owner is call:
            return None                         # another Capture outside of this one is at work
        process = _process
        process.running_calls.append(None)
        if not process.users:                   # stopped since this call read the list of hooks
            process.end_call()
            return None
        outer = call.output_owner
        try:
            standing = self._watched_streams
            try:
                held = sys.stdout.write is standing.out and sys.stderr.write is standing.err
            except AttributeError:              # the program has deleted one, or has none
                held = False
            call.streams = standing if held else self._watch_streams()
            output = call.output
            if output is None:
                call.output = NO_OUTPUT
            elif output is not NO_OUTPUT:         # the function runs again
                output.open = True
            within = states.get(user := _state(DEFAULT)) or fp_errors.watched_state(user)
            call.output_owner = call
            _set_state(within)
        except BaseException:                   # of a signal handler of the program
            call.output_owner = outer
            process.running_calls.pop()
            raise
        return outer, within, user

    def on_return(self, call: Call, heard: CaptureState | None, outputs: Outputs) -> None:
        """The call is over: it says no more."""
        if heard is None:
            return
        outer, within, user = heard
        if _state(None) is within:
            _set_state(user)                     # this code has just run; what a token does is other
        elif outer is None:                     # in a nested call it stays watched, for the outer one
            fp_errors.unwatch()
        call.output_owner = outer
        if (output := call.output) is not NO_OUTPUT and output is not None:
            output.open = False
        process = _process
        process.running_calls.pop()
        if not process.users:
            process.undo_if_idle()

    def on_error(self, call: Call, heard: CaptureState | None, error: BaseException) -> None:
        """As `on_return`; and the error has no frames of what watches."""
        if heard is not None and isinstance(error, Exception):
            _drop_watchers(error.__traceback__)
        self.on_return(call, heard, ())

    def on_break_off(self, call: Call, heard: CaptureState | None) -> None:
        """As `on_return`, unless that has been done."""
        if heard is not None and call.output_owner is call:
            self.on_return(call, heard, ())

    def _watch_streams(self) -> WatchedStreams:
        """Watch the streams that stand there now."""
        stdout, stderr = getattr(sys, 'stdout', None), getattr(sys, 'stderr', None)
        if not self._watched_streams.match(stdout, stderr):
            self._watched_streams = _process.streams.watch(stdout, stderr, self.echo)
        return self._watched_streams


@contextmanager
def divert(receive: Callable[[str], object] | None) -> Iterator[None]:
    """Keep what this context prints, warns and logs from the call that it is in, such as of a command at a stop.

    Args:
        receive: Gets what is printed; None: it is printed as ever.
    """
    call = current.get()
    token = muted_owner.set(call.output_owner if call is not None else None)
    with _process.lock:
        _process.acquire()
    try:
        _process.streams.watch(sys.stdout, sys.stderr, True)
        with nullcontext() if receive is None else divert_writes(receive):
            yield
    finally:
        with _process.lock:
            _process.release()
        muted_owner.reset(token)


_WATCHERS = frozenset(module.__file__ for module in (fp_errors, warnings_and_logs, streams))


def _drop_watchers(traceback: TracebackType | None) -> None:
    """Take the frames of what watches out of an error: of a pipe that broke, of a warning that a filter made an error."""
    while traceback is not None and (inner := traceback.tb_next) is not None:
        if inner.tb_frame.f_code.co_filename in _WATCHERS:
            traceback.tb_next = inner.tb_next
        else:
            traceback = inner


class SharedState:
    """State of the process that all `Capture` objects share: replaced streams, filters and handlers."""

    __slots__ = ('_undo', 'lock', 'running_calls', 'streams', 'users')

    def __init__(self) -> None:
        self.lock = new_rlock()
        # As long as users are there, and calls are inside: the cheapest counts that threads share. The second is longer by
        # some, for a list that becomes empty gives its memory back, and each call would take it anew.
        self.users: list[None] = []
        self.running_calls: list[None] = [None] * _SPARE
        self.streams = Streams()
        self._undo: list[Callable[[], None]] = []

    def acquire(self) -> None:
        self.users.append(None)
        if not self._undo:
            self.streams = Streams()
            self._undo = [self.streams.undo, warnings_and_logs.install(), fp_errors.install()]

    def release(self) -> None:
        self.users.pop()
        self.undo_if_idle()

    def end_call(self) -> None:
        self.running_calls.pop()
        self.undo_if_idle()

    def undo_if_idle(self) -> None:
        with self.lock:
            if not self.users and len(self.running_calls) == _SPARE:
                while self._undo:
                    self._undo.pop()()


_process = SharedState()
