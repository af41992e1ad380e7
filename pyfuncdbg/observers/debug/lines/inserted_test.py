"""The object called by an inserted test: a line's breakpoint, as a constant in the function's code.

Runs on the program's threads, inside of the program's frames.
"""
from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from types import FrameType
from typing import Any

from pyfuncdbg.hooks.chain import report_failure
from pyfuncdbg.hooks.notice import say
from pyfuncdbg.observers.debug.lines.inline_condition import InlineCondition, UnsetError

OnHit = Callable[[FrameType, Exception | None], None]


def always_pass(*values: Any) -> None:
    """Placeholder for a test in a copy of the function, such as one that was pickled."""


class LineBreakpoint:
    """Breakpoint of one line, called when a thread comes to it.

    Attributes:
        number: Of the breakpoint.
        condition: None if it always stops.
        live: False once it was cleared: threads that are still in old code pass.
        was_reached: Whether a thread has come to the line, whatever the condition was; kept only where there is one.
    """

    def __init__(self, number: int, condition: InlineCondition | None, on_hit: OnHit, place: str,
                 vocabulary: Mapping[str, Callable[..., Any]]) -> None:
        self.number = number
        self.condition = condition
        self.live = True
        self.was_reached = False
        self._on_hit = on_hit
        self._place = place
        self._vocabulary = vocabulary
        self._said = False

    def hit(self) -> None:
        """The condition is true. Called by the inserted test."""
        if self.live:
            self.tell(sys._getframe(1), None)

    def raised(self) -> None:
        """The condition has raised; in its except clause."""
        error = sys.exc_info()[1]
        if not self.live or not isinstance(error, Exception):
            return
        traceback = error.__traceback__
        try:
            if isinstance(error, NameError) and traceback is not None and traceback.tb_next is None:
                self._say_unset(error)
            else:
                self.tell(sys._getframe(1), error)
        finally:
            del error, traceback                # else frame -> error -> frame waits for the collector

    def tell(self, frame: FrameType, error: Exception | None) -> None:
        """Hand it on."""
        try:
            self._on_hit(frame, error)
        except Exception as ours:               # an internal error must not reach the program
            report_failure(f'breakpoint {self.number} at {self._place} failed', ours)

    def check_frame(self, frame: FrameType, owner: str) -> None:
        """A thread is at the line: look with the names of its frame."""
        if not self.live:
            return
        error: Exception | None = None
        if self.condition is not None:
            self.was_reached = True
            try:
                if not self.condition.value(frame, self._vocabulary, owner):
                    return
            except UnsetError as unset:
                self._say_unset(unset)
                return
            except Exception as raised:         # an error of the condition: shown at the stop
                error = raised
        self.tell(frame, error)

    def _say_unset(self, error: NameError) -> None:
        if self._said:
            return
        self._said = True
        text = self.condition.text if self.condition is not None else ''
        say(f'breakpoint {self.number} at {self._place}: {error}; until it does, {text!r} counts as false.')

    def __reduce__(self) -> tuple[Any, ...]:
        return LineBreakpoint, (self.number, None, always_pass, self._place, {})


class FrameTest:
    """A test as a call expression that returns None. Used in lambdas, which hold no statements, and for conditions that must
    not be part of the function.

    Attributes:
        line_breakpoints: Whom it tells.
        owner: The class around it, '' if none.
    """

    __slots__ = ('line_breakpoints', 'owner')

    def __init__(self, line_breakpoints: tuple[LineBreakpoint, ...], owner: str) -> None:
        self.line_breakpoints = line_breakpoints
        self.owner = owner

    def __call__(self) -> None:
        for line_breakpoint in self.line_breakpoints:
            line_breakpoint.check_frame(sys._getframe(1), self.owner)

    def __reduce__(self) -> tuple[Any, ...]:
        return FrameTest, (self.line_breakpoints, self.owner)
