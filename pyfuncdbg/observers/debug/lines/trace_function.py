"""Line watcher by a trace function: `tracer`, one per process. For Python 3.11 and where `sys.monitoring` has no free tool.

A thread is traced as long as it is in an activation that has no tests, or code without a source is watched. A thread that
steps has a trace function already: the stepper then asks `tracer` at each line.
"""
from __future__ import annotations

import opcode
import sys
import threading
from types import FrameType
from typing import Any

from pyfuncdbg.observers.debug.lines.sys_monitoring import Watch, is_stepped, report_line

_YIELD = opcode.opmap['YIELD_VALUE']


class _Thread(threading.local):
    """Watch state of one thread.

    Attributes:
        generation: Of the watch that it has seen last.
        frames: Ids of its frames that are watched.
    """

    generation = 0

    def __init__(self) -> None:
        self.frames: set[int] = set()


class TraceFunction:
    """Trace function for the activations that are watched.

    Attributes:
        always: Whether code is watched that gets no tests: then calls of it are traced on every thread that is armed.
        generation: Changes with what is watched.
    """

    def __init__(self) -> None:
        self._watch: Watch = {}
        self._thread = _Thread()
        self.always = False
        self.generation = 0

    def watch(self, watch: Watch, always: bool = False) -> bool:
        """Watch exactly this from now on, on each thread as soon as it calls `join`."""
        if watch != self._watch or always != self.always:
            self._watch, self.always = dict(watch), always
            self.generation += 1
        return True

    def watches(self, frame: FrameType) -> bool:
        """Whether lines of the frame's code are watched."""
        return id(frame.f_code) in self._watch

    def look(self, frame: FrameType) -> None:
        """Report the line of a frame to its breakpoints; called by a stepper, which then decides whether to stop."""
        watched = self._watch.get(id(frame.f_code))
        for line_breakpoint, owner in watched.lines.get(frame.f_lineno, ()) if watched is not None else ():
            line_breakpoint.check_frame(frame, owner)

    def join(self, suspended: list[FrameType]) -> None:
        """On the thread itself: trace what is watched of its stack, and these suspended frames."""
        state = self._thread
        state.generation = self.generation
        frames = [frame for frame in suspended if self.watches(frame)]
        frame: FrameType | None = sys._getframe(1)
        while frame is not None:
            if self.watches(frame):
                frames.append(frame)
            frame = frame.f_back
        if not frames and not self.always:
            return
        state.frames.update(map(id, frames))
        for frame in frames:
            if frame.f_trace is None:
                frame.f_trace = self._local
        if sys.gettrace() is None:
            sys.settrace(self._called)

    @property
    def has_unseen_watch(self) -> bool:
        """Whether this thread has not seen yet what is watched."""
        return self._thread.generation != self.generation

    def resume(self) -> None:
        """A stepper has let go of this thread: trace it if it was traced before."""
        if self._thread.frames or self.always:
            self.join([])

    def _called(self, frame: FrameType, event: str, arg: Any) -> Any:
        if not self._watch or not (self.always or self._thread.frames):
            sys.settrace(None)
            return None
        return self._local if self.watches(frame) else None

    def _local(self, frame: FrameType, event: str, arg: Any) -> Any:
        watched = self._watch.get(id(frame.f_code))
        if event == 'line' and watched is not None:
            report_line(frame, watched, frame.f_lineno)
            if is_stepped(frame):
                return frame.f_trace            # it goes on with the frame
        elif event == 'return' and frame.f_code.co_code[frame.f_lasti] != _YIELD:
            self._thread.frames.discard(id(frame))
            if not self._thread.frames and not self.always and sys.gettrace() == self._called:
                sys.settrace(None)
        return self._local


tracer = TraceFunction()
