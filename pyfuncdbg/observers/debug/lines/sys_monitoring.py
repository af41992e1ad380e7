"""Lines that are watched in code as it is: by `sys.monitoring` where there is one, else by a trace function.

For code without a matching source, and for the program's own code objects of functions that got tests: activations that run
already, and functions that are made from them later. Callbacks run on the program's threads.
"""
from __future__ import annotations

import sys
from dataclasses import dataclass
from types import CodeType, FrameType
from typing import Any

from pyfuncdbg.observers.debug.lines.inserted_test import LineBreakpoint


@dataclass(frozen=True, slots=True)
class WatchedCode:
    """A code object with its watched lines.

    Attributes:
        code: It.
        lines: By line, whom to tell, and in which class it is.
    """

    code: CodeType
    lines: dict[int, tuple[tuple[LineBreakpoint, str], ...]]


Watch = dict[int, WatchedCode]
"""By id of the code."""


def report_line(frame: FrameType, watched: WatchedCode, line: int) -> None:
    """Report a line to its breakpoints; a stepper that they arm is given this line at once, for its event has passed."""
    watchers = watched.lines.get(line)
    if not watchers or is_stepped(frame):
        return                                  # a stepper has reported the line already
    for line_breakpoint, owner in watchers:
        line_breakpoint.check_frame(frame, owner)
    if is_stepped(frame):
        trace: Any = frame.f_trace
        trace.__self__.looked = True
        frame.f_trace = trace(frame, 'line', None)


def is_stepped(frame: FrameType) -> bool:
    """Whether a stepper gets the lines of a frame."""
    stepper = getattr(frame.f_trace, '__self__', None)
    return bool(getattr(stepper, 'active', False)) and sys.gettrace() is not None


class MonitoringWatcher:
    """Line watcher by `sys.monitoring`, with a tool id that is free."""

    def __init__(self) -> None:
        self._tool: int | None = None
        self._watch: Watch = {}

    def watch(self, watch: Watch) -> bool:
        if watch and not self._acquire_tool():
            return False
        monitoring: Any = sys.monitoring        # type: ignore[attr-defined,unused-ignore]
        before, self._watch = self._watch, dict(watch)
        for number, watched in before.items():
            if watch.get(number) != watched:
                monitoring.set_local_events(self._tool, watched.code, 0)
        for number, watched in watch.items():
            if before.get(number) != watched:   # set anew: lines that were switched off are on again
                monitoring.set_local_events(self._tool, watched.code, monitoring.events.LINE)
        if not watch and self._tool is not None:
            monitoring.register_callback(self._tool, monitoring.events.LINE, None)
            monitoring.free_tool_id(self._tool)
            self._tool = None
        return True

    def _acquire_tool(self) -> bool:
        monitoring: Any = sys.monitoring        # type: ignore[attr-defined,unused-ignore]
        if self._tool is not None:
            return True
        for tool in (4, 3, 5, 2, 0, 1):         # those without a purpose first
            if monitoring.get_tool(tool) is None:
                monitoring.use_tool_id(tool, 'pyfuncdbg lines')
                monitoring.register_callback(tool, monitoring.events.LINE, self._line)
                self._tool = tool
                return True
        return False

    def _line(self, code: CodeType, line: int) -> Any:
        watched = self._watch.get(id(code))
        if watched is None or line not in watched.lines:
            return sys.monitoring.DISABLE       # type: ignore[attr-defined,unused-ignore]
        report_line(sys._getframe(1), watched, line)
        return None
