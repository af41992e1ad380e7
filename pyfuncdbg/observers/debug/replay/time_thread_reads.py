"""Reads of the clock and of the thread's identity by the program's code.

A profile function of one thread, during one execution.
"""
from __future__ import annotations

import _thread
import datetime
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import BuiltinFunctionType, CodeType, FrameType
from typing import Any

from pyfuncdbg.hooks.own_files import is_library, is_machinery

CLOCKS: dict[Any, str] = {function: f'time.{name}' for name in (
    'time', 'time_ns', 'monotonic', 'monotonic_ns', 'perf_counter', 'perf_counter_ns', 'process_time', 'process_time_ns',
    'thread_time', 'thread_time_ns', 'localtime', 'gmtime', 'ctime', 'strftime', 'asctime')
    if (function := getattr(time, name, None)) is not None}
_DATES = 'now', 'utcnow', 'today'
_THREADS: dict[Any, str] = {_thread.get_ident: 'threading.get_ident', _thread.get_native_id: 'threading.get_native_id'}
_CURRENT_THREAD = threading.current_thread.__code__


class TimeThreadReads:
    """Reads of the clock and of the thread by the program's code.

    Attributes:
        clocks: Names of functions that read the clock, in order.
        threads: Names of functions that ask for the thread.
    """

    def __init__(self) -> None:
        self.clocks: dict[str, None] = {}
        self.threads: dict[str, None] = {}
        self._of_program: dict[CodeType, bool] = {}

    @contextmanager
    def watching(self) -> Iterator[None]:
        """A block whose calls on this thread are seen."""
        before = sys.getprofile()
        sys.setprofile(self._on_event)
        try:
            yield
        finally:
            sys.setprofile(before)

    def _on_event(self, frame: FrameType, event: str, function: Any) -> None:
        if event == 'c_call':
            if type(function) is BuiltinFunctionType and self._is_program(frame):
                self._note(function)
        elif event == 'call' and frame.f_code is _CURRENT_THREAD and frame.f_back is not None and self._is_program(
                frame.f_back):
            self.threads['threading.current_thread'] = None

    def _note(self, function: Any) -> None:
        owner = function.__self__
        if isinstance(owner, type):
            if function.__name__ in _DATES and issubclass(owner, datetime.date):
                self.clocks[f'{owner.__name__}.{function.__name__}'] = None
        elif owner is time and function in CLOCKS:
            self.clocks[CLOCKS[function]] = None
        elif owner is _thread and function in _THREADS:
            self.threads[_THREADS[function]] = None

    def _is_program(self, frame: FrameType) -> bool:
        code = frame.f_code
        known = self._of_program.get(code)
        if known is None:
            known = self._of_program[code] = not (is_library(code.co_filename) or is_machinery(code.co_filename))
        return known
