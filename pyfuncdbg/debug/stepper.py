"""The stepper: pdb's stepping for one thread, through the program's frames and past ours.

A `bdb.Bdb` that is armed only after a stop, on the thread that stopped; without one a thread is never traced.
"""
from __future__ import annotations

import bdb
import sys
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any

from pyfuncdbg.debug.stop import Decision, Phase
from pyfuncdbg.hooks.machinery import is_machinery

OnStop = Callable[[Phase, FrameType, str, Any], None]
"""`on_stop(phase, frame, reason, value)`: asks the user and then calls `follow`; the value is a return value or an error."""


class Stepper(bdb.Bdb):
    """Steps one thread.

    Attributes:
        active: Whether the thread is traced.
    """

    def __init__(self, on_stop: OnStop) -> None:
        super().__init__()
        self._on_stop = on_stop
        self.active = False
        self._before: Any = None
        self._reason = 'step'
        self.reset()

    # ------------------------------------------------------------------ arming
    def enter(self, reason: str = 'step') -> None:
        """Stop at the first line of the program's code that the thread comes to, in whatever frame."""
        self._reason = reason
        self.set_step()
        self._arm(sys._getframe(1))

    def here(self, frame: FrameType, reason: str) -> None:
        """Stop at the next line (or return) of this frame."""
        self._reason = reason
        self._set_stopinfo(frame, None)  # type: ignore[attr-defined]
        self._arm(frame)

    def follow(self, decision: Decision, frame: FrameType) -> None:
        """Go on from a stop in `frame` as the user decided; a verb that is not about Python disarms.

        Raises:
            ValueError: `jump` to a line that Python does not allow.
        """
        self._reason = decision.verb
        if decision.verb == 'step':
            self.set_step()
        elif decision.verb == 'next':
            self.set_next(frame)
        elif decision.verb == 'until':
            self.set_until(frame, decision.argument)
        elif decision.verb == 'return':
            self.set_return(frame)
        else:
            self.disarm()
            return
        self._arm(frame)

    def disarm(self) -> None:
        """Trace the thread no more."""
        if self.active:
            self.active = False
            self._set_stopinfo(self.botframe, None, -1)  # type: ignore[attr-defined]
            sys.settrace(self._before)

    def _arm(self, frame: FrameType) -> None:
        """Trace the program's frames from this one outwards, and what is called from now on."""
        outer: FrameType | None = frame
        while outer is not None:
            if not is_machinery(outer.f_code.co_filename):
                outer.f_trace = self.trace_dispatch
                self.botframe = outer
            outer = outer.f_back
        if not self.active:
            self.active = True
            self._before = sys.gettrace()
        sys.settrace(self.trace_dispatch)

    # ------------------------------------------------------------------ what Bdb asks and tells
    def stop_here(self, frame: FrameType) -> bool:
        """Never in our own frames; else as bdb says."""
        return self.active and not is_machinery(frame.f_code.co_filename) and super().stop_here(frame)

    def break_anywhere(self, frame: FrameType) -> bool:
        """There are no bdb breakpoints: lines are compiled in."""
        return False

    def user_line(self, frame: FrameType) -> None:
        self._on_stop('line', frame, self._reason, None)

    def user_return(self, frame: FrameType, return_value: Any) -> None:
        back = frame.f_back
        if back is not None and is_machinery(back.f_code.co_filename):
            return                              # the end of a wrapped function: its call stops after it
        self._on_stop('return', frame, 'return', return_value)

    def user_exception(self, frame: FrameType, exc_info: tuple[type[BaseException], BaseException, TracebackType]) -> None:
        self._on_stop('exception', frame, f'raised {exc_info[0].__name__}', exc_info[1])
