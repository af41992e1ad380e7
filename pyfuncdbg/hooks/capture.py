# cython: annotation_typing=False, auto_pickle=False
"""Capture of one call's output: stdout, stderr, warnings, log records and NumPy's floating-point errors.

The innermost hook of every python call, on the call's thread. It finds the call by a context variable that is set inside
the call, so it is exact under threads, native ones too. Python cannot tell apart, so not captured are: bytes written past
the text stream (`sys.stdout.buffer.write`, `os.write(1, ...)`, C code, subprocesses), and the output of threads that the
call starts (unless they run in a copy of its context, as with `asyncio.to_thread`, while it runs). Compiled by
`capture.pxd`.
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
from pyfuncdbg.hooks.transparent_frames import transparent

__all__ = ['Capture', 'Output', 'divert']

CaptureState = tuple[Call | None, Any, Any]
"""The output owner before, NumPy's error state in the call, and the one before."""

Mode = Literal['tee', 'only']

DEPTH = 100
"""Depth of the hook: nearest to the function, so that no hook's own output is taken for the program's."""

_state, _set_state = state.get, state.set       # the look-up costs more than the call
_SPARE = 8
_NO_STREAMS = WatchedStreams(object, object, False)   # equal to no stream


class Capture:
    """The hook: gives each python call an `Output`.

    Several may run at once; they watch the process together, and a call has one `Output`, made by the outermost.
    """

    __slots__ = ('__weakref__', '_starts', '_watched_streams', 'echo')

    kinds: frozenset[Kind] = frozenset({'python'})

    def __init__(self, mode: Mode = 'tee') -> None:
        """Make a capture, which does nothing before `start`.

        Args:
            mode: 'tee' prints as the program would, 'only' keeps what is printed from the streams.

        Raises:
            ValueError: Another mode.
        """
        if mode not in ('tee', 'only'):
            raise ValueError(f"mode is {mode!r}, expected 'tee' or 'only'.")
        self.echo = mode == 'tee'
        self._starts = 0
        self._watched_streams = _NO_STREAMS

    def start(self, *, as_hook: bool = True) -> None:
        """Capture the calls that begin from now on, until `stop` has been called as often as this.

        Args:
            as_hook: Install it as a hook; otherwise it captures the calls that another hook hands to it.
        """
        with _process.lock:
            self._starts += 1
            if self._starts == 1:
                _process.acquire()
                self._watched_streams = _NO_STREAMS
                if as_hook:
                    hooks.add(self, depth=DEPTH)

    def stop(self) -> None:
        """End one `start`. Calls under way are captured to their end; when the last has ended, the watching is undone."""
        with _process.lock:
            if self._starts == 0:
                return
            self._starts -= 1
            if self._starts == 0:
                hooks.remove(self)
                self._watched_streams = _NO_STREAMS
                _process.release()

    def around(self, call: Call, proceed: Callable[[], Outputs]) -> Outputs:
        """Capture the output of one call.

        Args:
            call: The call.
            proceed: Executes it.

        Returns:
            Its outputs.
        """
        state = self.on_begin(call)
        try:
            try:
                outputs = proceed()
            except BaseException as error:      # raised again, without frames of watching code
                self.on_error(call, state, error)
                raise
            self.on_return(call, state, outputs)
        finally:
            self.on_break_off(call, state)
        return outputs

    def on_begin(self, call: Call) -> CaptureState | None:
        """Begin to capture a call.

        Returns:
            The state for the method that ends it; None if another capture owns the call's output, or this one has stopped.
        """
        if call.output_owner is call:
            return None                         # an outer Capture captures it
        process = _process
        process.running_calls.append(None)
        if not process.users:                   # stopped since the chain read the list of hooks
            process.end_call()
            return None
        outer_owner = call.output_owner
        try:
            watched_streams = self._watched_streams
            try:
                unchanged = sys.stdout.write is watched_streams.out and sys.stderr.write is watched_streams.err
            except AttributeError:              # the program has deleted one, or has none
                unchanged = False
            call.streams = watched_streams if unchanged else self._watch_streams()
            output = call.output
            if output is None:
                call.output = NO_OUTPUT
            elif output is not NO_OUTPUT:         # a retry
                output.open = True
            watched_state = states.get(user_state := _state(DEFAULT)) or fp_errors.watched_state(user_state)
            call.output_owner = call
            _set_state(watched_state)
        except BaseException:                   # of a signal handler of the program
            call.output_owner = outer_owner
            process.running_calls.pop()
            raise
        return outer_owner, watched_state, user_state

    def on_return(self, call: Call, state: CaptureState | None, outputs: Outputs) -> None:
        """End the capture of a call.

        Args:
            call: The call.
            state: From `on_begin`.
            outputs: Not used.
        """
        if state is None:
            return
        outer_owner, watched_state, user_state = state
        if _state(None) is watched_state:
            _set_state(user_state)                     # this code is in the cache; resetting a token is other code
        elif outer_owner is None:                     # in a nested call it stays watched, for the outer one
            fp_errors.unwatch()
        call.output_owner = outer_owner
        if (output := call.output) is not NO_OUTPUT and output is not None:
            output.open = False
        process = _process
        process.running_calls.pop()
        if not process.users:
            process.undo_if_idle()

    def on_error(self, call: Call, state: CaptureState | None, error: BaseException) -> None:
        """End the capture of a call that raised, and drop the frames of watching code from its error.

        Args:
            call, state: As in `on_return`.
            error: Raised by the function.
        """
        if state is not None and isinstance(error, Exception):
            _drop_watchers(error.__traceback__)
        self.on_return(call, state, ())

    def on_break_off(self, call: Call, state: CaptureState | None) -> None:
        """End the capture of a call, unless that is done.

        Args:
            call, state: As in `on_return`.
        """
        if state is not None and call.output_owner is call:
            self.on_return(call, state, ())

    def _watch_streams(self) -> WatchedStreams:
        """Watch the present streams."""
        stdout, stderr = getattr(sys, 'stdout', None), getattr(sys, 'stderr', None)
        if not self._watched_streams.match(stdout, stderr):
            warnings_and_logs.restore_module()  # at the first call, too: whatever the program imports, it has by now
            self._watched_streams = _process.streams.watch(stdout, stderr, self.echo)
        return self._watched_streams


@contextmanager
def divert(receive: Callable[[str], object] | None) -> Iterator[None]:
    """Keep what this context prints, warns and logs out of its call's output: that of a command at a stop, for example.

    Args:
        receive: Gets what is printed; None prints it as usual.
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
    """Drop the frames of watching code from an error: of a broken pipe, or of a warning that a filter made an error."""
    while traceback is not None and (entry := traceback.tb_next) is not None:
        if entry.tb_frame.f_code.co_filename in _WATCHERS:
            traceback.tb_next = entry.tb_next
        else:
            traceback = entry


class SharedState:
    """State of the process that all `Capture` objects share: replaced streams, filters and handlers."""

    __slots__ = ('_undo', 'lock', 'running_calls', 'streams', 'users')

    def __init__(self) -> None:
        self.lock = new_rlock()
        # Counters by length, the cheapest that threads can share. The second has some spare entries: a list that becomes
        # empty frees its memory, and each call would allocate it again.
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


transparent(Capture)                            # where it is not compiled, which would take no decorator
