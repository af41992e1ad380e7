"""The stepper: pdb's stepping for one thread, through the program's frames and past ours.

A `bdb.Bdb` that is armed only after a stop, on the thread that stopped; without one a thread is never traced. What traced
the thread before, such as a coverage tool, sees nothing while it steps, and is back as it was when it goes on.
"""
from __future__ import annotations

import bdb
import gc
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from opcode import opname
from types import FrameType, TracebackType
from typing import Any, TypeVar

from pyfuncdbg.hooks.call_frames import calls_function, code_of, function_call, is_function_frame
from pyfuncdbg.hooks.chain import Hook
from pyfuncdbg.hooks.own_files import is_library, is_machinery
from pyfuncdbg.hooks.source_map import exact_line, frame_line, function_frame, is_block, is_generated
from pyfuncdbg.observers.debug.lines.trace_function import tracer
from pyfuncdbg.observers.debug.stops.stop import Decision, Phase

_Result = TypeVar('_Result')
OnStop = Callable[[Phase, FrameType, str, Any], None]
"""`on_stop(phase, frame, reason, value)` asks the user, then calls `follow`; value: result, `ExitError` or error."""


@dataclass(frozen=True, slots=True)
class ExitError:
    """The error that leaves a function, where it would return."""

    error: BaseException


_owed: dict[int, Any] = {}
"""By native thread, what traced it before an exception left a trace function of ours: Python traces it no more then."""


def restore_tracing() -> None:
    """After an exception, on the thread it came through: what traced the thread before it was stepped is back."""
    if _owed and (trace := _owed.pop(threading.get_native_id(), None)) is not None:
        sys.settrace(trace)


class Stepper(bdb.Bdb):
    """Steps one thread.

    Args:
        on_stop: Called at each stop.
        hook: Stops after a call whose function has been stepped to its end; without one that end is one like any other.

    Attributes:
        active: Whether the thread is traced.
        left: Id of the call whose function has come to its end while that end was stepped to: stop after the call. Else 0.
        looked: Whether the breakpoints of the line that it is given next have been told already.
    """

    def __init__(self, on_stop: OnStop, hook: Hook | None = None) -> None:
        super().__init__()
        self._on_stop = on_stop
        self._hook = hook
        self.active = False
        self.left = 0
        self.looked = False
        self._before: Any = None
        self._given_up = False
        self._collecting = False
        self._marked: list[tuple[FrameType, Any]] = []
        self._reason = 'step'
        self._arriving = False
        self._entering = False
        self._beginning = False
        self._begun = 0
        self._decided: Decision | None = None
        self._line: tuple[int, int] | None = None
        self._error: BaseException | None = None
        self.reset()

    # ------------------------------------------------------------------ arming
    def enter(self, reason: str = 'step') -> None:
        """Stop at the first line of the program's code that the thread comes to, in whatever frame."""
        self._reason = reason
        self._entering = True
        self.set_step()
        self._arm(sys._getframe(1))

    def begin(self, reason: str, decided: Decision | None = None) -> None:
        """Stop where the wrapped function begins that the thread calls next, before any line of it; where that is decided,
        do so there without a stop."""
        self._reason = reason
        self._beginning, self._decided = True, decided
        self._entering = self._arriving = False
        self.set_step()
        self._arm(sys._getframe(1))

    def at_start(self, frame: FrameType, reason: str) -> None:
        """Stop here and now, where the function of a frame begins; unless a step has led here."""
        if self._begun != id(frame) or not self.active:
            self._tell('call', frame, reason, None)

    def clear_begin(self) -> None:
        """The call is over in which the thread was to stop where its function begins: there was none."""
        if self._beginning:
            self.disarm()

    def here(self, frame: FrameType, reason: str) -> None:
        """Stop at the next line (or return) of this frame; the reasons of several breakpoints there are joined."""
        again = self.active and self._arriving and self.stopframe is frame
        self._reason = f'{self._reason}, {reason}' if again else reason
        self._arriving = True
        self._entering = False
        self._line = None
        self._set_stopinfo(frame, None)  # type: ignore[attr-defined]
        self._arm(frame)

    def follow(self, decision: Decision, frame: FrameType) -> None:
        """Go on from a stop in `frame` as the user decided; a verb that is not about Python disarms."""
        self._reason = decision.verb
        self._arriving = self._entering = False
        self._line = id(function_frame(frame)), frame_line(frame)
        if decision.verb == 'step':
            self.set_step()
        elif decision.verb == 'next':
            self.set_next(function_frame(frame))
        elif decision.verb == 'until':
            self.set_until(function_frame(frame), decision.argument or frame_line(frame) + 1)
        elif decision.verb == 'return':
            self.set_return(function_frame(frame))
        else:
            self.disarm()
            return
        self._arm(frame)

    @property
    def is_stepping_in(self) -> bool:
        """Whether it stops at the very next line of the program, in whatever frame that is."""
        return self.active and self.stopframe is None

    def disarm(self) -> None:
        """Trace the thread no more; on the thread itself."""
        self.left = 0
        self._beginning = False
        if self.active:
            self.active = self._given_up = False
            self._unmark()
            sys.settrace(self._before)
            tracer.resume()

    def run_unseen(self, action: Callable[[], _Result]) -> _Result:
        """Do something on the thread that is not the program's, and is not to be stepped through."""
        if not self.active:
            return action()
        trace = sys.gettrace()
        sys.settrace(None)
        try:
            return action()
        finally:
            sys.settrace(trace)

    def give_up(self) -> None:
        """Trace the thread no more, from its next line on; other threads may say so."""
        self._given_up = True

    def _arm(self, frame: FrameType) -> None:
        """Trace the program's frames from this one outwards, and what is called from now on."""
        if not self.active:
            self.active = True
            self._given_up = False
            self._before = sys.gettrace()
        outer: FrameType | None = frame
        while outer is not None:
            if not is_machinery(outer.f_code.co_filename) and outer.f_trace != self.trace_dispatch:
                self._marked.append((outer, outer.f_trace))
                outer.f_trace = self.trace_dispatch
            self.botframe = outer
            outer = outer.f_back
        sys.settrace(self.trace_dispatch)

    def _unmark(self) -> None:
        """Give every frame of the thread the trace function it had; one that began meanwhile has none."""
        frames, self._marked = self._marked, []
        frame: FrameType | None = sys._getframe(1)
        while frame is not None:
            if frame.f_trace == self.trace_dispatch:
                frame.f_trace = None
            frame = frame.f_back
        for known, trace in frames:
            known.f_trace = trace
        self._error = None
        self.botframe = self.stopframe = self.returnframe = self.enterframe = self.frame_returning = None  # they hold values

    # ------------------------------------------------------------------ what Python calls
    def trace_dispatch(self, frame: FrameType, event: str, arg: Any) -> Any:
        """bdb's, but silent in what is not the program, in what the garbage collector calls, and once it is disarmed."""
        if event == 'call' and (self._collecting or _of_collector(frame)):
            return None if self._collecting else self._through_collection(frame, event, arg)
        if self._given_up:
            self.disarm()
        if not self.active:
            if frame.f_trace == self.trace_dispatch:
                frame.f_trace = None            # a generator that slept while the others were given back theirs
            return None
        if event == 'call' and (not _in_program(frame) or (self.is_stepping_in and _of_condition(frame))):
            return None
        try:
            followed = super().trace_dispatch(frame, event, arg)
        except BaseException:                   # abort or retry: it goes through the program, up to the call
            if self.active:
                self.active = False
                self._unmark()
            if self._before is not None:
                _owed[threading.get_native_id()] = self._before
            raise
        return followed if self.active else None

    def _through_collection(self, frame: FrameType, event: str, arg: Any) -> Any:
        """Of a callback of the garbage collector: it and what it calls are not stepped, nor are frames around it looked at.
        The collector comes at any allocation, also while Python itself makes or drops one of those frames, and 3.11 crashes
        then."""
        self._collecting = event != 'return'
        return self._through_collection

    # ------------------------------------------------------------------ what Bdb asks and tells
    def stop_here(self, frame: FrameType) -> bool:
        """Never in frames that are not the program's; else as bdb says."""
        if self._beginning and not is_function_frame(frame):
            return False
        return self.active and not self.left and self._is_wanted(frame) and _in_program(frame)

    def _is_wanted(self, frame: FrameType) -> bool:
        """As bdb says; by the program's lines, and blocks are within the function that they are of."""
        inside = frame is self.stopframe or (is_block(frame.f_code) and function_frame(frame) is self.stopframe)
        if not inside:
            return bool(super().stop_here(frame))
        return self.stoplineno != -1 and frame_line(frame) >= self.stoplineno

    def break_anywhere(self, frame: FrameType) -> bool:
        """There are no bdb breakpoints: lines are compiled in."""
        return False

    def dispatch_call(self, frame: FrameType, arg: Any) -> Any:
        followed = super().dispatch_call(frame, arg)
        wanted = tracer.watches(frame) or (is_block(frame.f_code) and function_frame(frame) is self.stopframe)
        return self.trace_dispatch if followed is None and wanted else followed

    def dispatch_line(self, frame: FrameType) -> Any:
        if not self.looked:
            tracer.look(frame)                  # a line breakpoint in code that runs already and got no test
        self.looked = False
        return super().dispatch_line(frame)

    def user_call(self, frame: FrameType, argument_list: Any) -> None:
        if self._beginning:
            self._beginning = False
            self._tell('call', frame, self._reason, self._decided)
        elif not self._entering and not is_block(frame.f_code):
            self._tell('call', frame, 'call', None)

    def user_line(self, frame: FrameType) -> None:
        if is_generated(frame.f_code) or is_block(frame.f_code):
            line = exact_line(frame.f_code, frame.f_lineno)
            if not line or (id(function_frame(frame)), line) == self._line:
                return                          # of no line of the program, or of the one that it is at already
        self._tell('line', frame, self._reason, None)

    def user_return(self, frame: FrameType, return_value: Any) -> None:
        if is_block(frame.f_code):
            return
        call = function_call(frame, self._hook)
        if call is not None and not self._arriving:
            self.left = call.id                 # the end of a wrapped function: its call stops after it
            return
        value = ExitError(self._error) if self._error is not None and _is_unwound(frame) else return_value
        self._tell('return', frame, self._reason if self._arriving else 'return', value)
        if call is not None and self.active:
            self.left = call.id

    def dispatch_exception(self, frame: FrameType, arg: tuple[type[BaseException], BaseException, TracebackType]) -> Any:
        if frame.f_lineno is None:              # raised by the condition of a line breakpoint, which handles it
            return self.trace_dispatch
        self._error = arg[1]
        return super().dispatch_exception(frame, arg)

    def user_exception(self, frame: FrameType, exc_info: tuple[type[BaseException], BaseException, TracebackType]) -> None:
        self._tell('exception', frame, f'raised {exc_info[0].__name__}', exc_info[1])

    def _tell(self, phase: Phase, frame: FrameType, reason: str, value: Any) -> None:
        self._entering = self._arriving = False
        self._begun = id(frame) if phase == 'call' else 0
        self._on_stop(phase, frame, reason, value)


def program_around(frame: FrameType) -> bool:
    """Whether a frame was called by the program, however far out, and not only by libraries and the interpreter."""
    outer = frame.f_back
    while outer is not None and (is_machinery(outer.f_code.co_filename) or is_library(outer.f_code.co_filename)):
        outer = outer.f_back
    return outer is not None


def _in_program(frame: FrameType) -> bool:
    """Whether a frame is the program's, or a library's that it called: not ours, and not what we use for our own work."""
    while not is_machinery(frame.f_code.co_filename):
        if not _is_borrowed(frame.f_code.co_filename) or frame.f_back is None:
            return True
        if calls_function(frame.f_back):
            return True
        frame = frame.f_back
    return False


def _is_unwound(frame: FrameType) -> bool:
    """Whether a frame is left by an error; for Python's trace functions that is a return of None like any other."""
    return not opname[frame.f_code.co_code[frame.f_lasti]].startswith(('RETURN_', 'YIELD_'))


def _of_collector(frame: FrameType) -> bool:
    return any(code_of(callback) is frame.f_code for callback in gc.callbacks)


def _of_condition(frame: FrameType) -> bool:
    """Whether a call is made by the condition of a line breakpoint: that is no step of the program."""
    caller = frame.f_back
    while caller is not None:
        # The tests that are compiled into a function have no line.
        if caller.f_lineno is None or caller.f_code.co_filename == '<condition>':
            return True
        caller = caller.f_back
    return False


def _is_borrowed(filename: str) -> bool:
    """Whether code of this file belongs to its caller; '<string>' is also what dataclasses of ours are made of."""
    return filename == '<string>' or is_library(filename)
