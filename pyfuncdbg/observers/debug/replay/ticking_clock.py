"""Clock of one thread that starts where an audit sets it, and ticks with each reading.

The functions of `time` and the classes of `datetime` are replaced in their modules and in the globals of the program's
functions; other threads get the true time from them. On the thread of the command, in a process without the program.
"""
from __future__ import annotations

import datetime
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import get_ident
from typing import Any

from pyfuncdbg.observers.debug.replay.time_thread_reads import CLOCKS
from pyfuncdbg.observers.record.snapshots.function_values import program_functions

EARLY, LATE = 1_700_000_000.25, 1_703_763_431.6212
"""Seconds since 1970, in another month, hour, minute and fraction."""
_TICK = 1 / 1024
_STRFTIME, _ASCTIME, _LOCALTIME = time.strftime, time.asctime, time.localtime
_OF_SECONDS = time.localtime, time.gmtime, time.ctime
_OF_FIELDS = {_STRFTIME: 1, _ASCTIME: 0}
"""Place of the argument with the time."""


class TickingClock:
    """The clock.

    Args:
        start: What it first shows, in seconds.
    """

    def __init__(self, start: float) -> None:
        self._thread = get_ident()
        self._now = start

    def _read(self) -> float:
        self._now += _TICK
        return self._now

    @contextmanager
    def in_force(self, function: Any) -> Iterator[None]:
        """A block in which this thread has this clock.

        Args:
            function: Of the site; its program's functions may have functions of the clock by name.
        """
        replacements = {id(clock): self._function(clock) for clock in CLOCKS}
        for kind in (datetime.datetime, datetime.date):
            replacements[id(kind)] = self._class(kind)
        functions = program_functions(function)
        spaces: list[dict[str, Any]] = [vars(time), vars(datetime), *(one.__globals__ for one in functions)]
        before: list[tuple[dict[str, Any], str, Any]] = []
        try:
            for space in {id(space): space for space in spaces}.values():
                for name, value in list(space.items()):
                    replacement = replacements.get(id(value))
                    if replacement is not None:
                        before.append((space, name, value))
                        space[name] = replacement
            yield
        finally:
            for space, name, value in before:
                space[name] = value

    def _function(self, clock: Any) -> Callable[..., Any]:
        def read(*args: Any) -> Any:
            if get_ident() != self._thread:
                return clock(*args)
            if clock in _OF_SECONDS:
                return clock(*(args if args and args[0] is not None else (self._read(),)))
            if clock in _OF_FIELDS:
                return clock(*args, *(() if len(args) > _OF_FIELDS[clock] else (_LOCALTIME(self._read()),)))
            return int(self._read() * 1e9) if clock.__name__.endswith('_ns') else self._read()
        return read

    def _class(self, kind: Any) -> Any:
        """A subclass whose constructors of the present read this clock; instances of the class count as its own."""
        class Meta(type):
            def __instancecheck__(cls, value: object) -> bool:
                return isinstance(value, kind)

            def __subclasscheck__(cls, other: type) -> bool:
                return issubclass(other, kind)

        def constructor(name: str, zone: Any = None) -> Any:
            def present(cls: Any, *args: Any, **keywords: Any) -> Any:
                if get_ident() != self._thread:
                    return getattr(kind, name)(*args, **keywords)
                if zone is not None:
                    return kind.fromtimestamp(self._read(), zone).replace(tzinfo=None)
                return kind.fromtimestamp(self._read(), *args, **keywords)
            return classmethod(present)
        methods = {'today': constructor('today')}
        if kind is datetime.datetime:
            methods |= {'now': constructor('now'), 'utcnow': constructor('utcnow', datetime.UTC)}
        return Meta(kind.__name__, (kind,), {'__module__': kind.__module__, **methods})
