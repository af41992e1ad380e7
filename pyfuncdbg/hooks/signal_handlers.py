"""The program's signal handlers: one may run between any two lines of ours, and what it raises is the program's.

Asked wherever a mistake of ours is caught on a thread of the program's: a timeout by SIGALRM must not end there.
"""
from __future__ import annotations

import functools
import signal
from collections.abc import Iterator
from types import CodeType
from typing import Any


def raise_program_error(error: BaseException) -> None:
    """Raise an exception that is about to be swallowed if a signal handler of the program has raised it.

    Raises:
        BaseException: `error`, from a handler that is written in Python and still installed.
    """
    entry = error.__traceback__
    codes = set()
    while entry is not None:
        codes.add(entry.tb_frame.f_code)
        entry = entry.tb_next
    if not codes.isdisjoint(_codes()):
        raise error


def _codes() -> Iterator[CodeType]:
    for number in signal.valid_signals():
        handler: Any = signal.getsignal(number)
        while isinstance(handler, functools.partial):
            handler = handler.func
        for function in (handler, vars(type(handler)).get('__call__')):
            code = getattr(getattr(function, '__func__', function), '__code__', None)
            if isinstance(code, CodeType):
                yield code
