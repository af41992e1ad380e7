"""Exceptions of wrapped functions, kept until a framework raises its own errors of them.

A framework turns an exception into text on the thread of the function, and raises an error with that text elsewhere. The
exception becomes the error's `__cause__`; an abort is raised instead of the error.
"""
from __future__ import annotations

import weakref
from collections import deque
from typing import Any

from pyfuncdbg.errors import RunAborted
from pyfuncdbg.hooks.locks import new_lock

_MOST_FAILURES = 16
"""Number of exceptions that wait for their error: one that the graph swallows (`ignore_errors`) waits in vain."""
CAUSE = '_pyfuncdbg_cause'
"""Attribute of the framework's error that holds the exception it was made of."""


class _Failure:
    """An exception that a wrapped function raised.

    Attributes:
        error: The exception; held by the framework's error once that has it.
    """

    __slots__ = ('_error', '_holder')

    def __init__(self, error: BaseException) -> None:
        self._error: BaseException | None = error
        self._holder: weakref.ref[Any] | None = None

    @property
    def error(self) -> BaseException | None:
        if self._holder is None:
            return self._error
        holder = self._holder()
        return None if holder is None else getattr(holder, CAUSE, None)

    def hand_over(self, holder: BaseException) -> None:
        """Let the framework's error hold the exception from now on."""
        self._holder, self._error = weakref.ref(holder), None

    def is_reported_in(self, message: str) -> bool:
        """Whether a message names this exception and its innermost line."""
        error = self.error
        if error is None:
            return False
        try:
            text = str(error)
        except Exception:                       # the user's own __str__ may raise anything
            return False
        if f'{type(error).__name__}: {text}' not in message:
            return False
        entry = error.__traceback__
        while entry is not None and entry.tb_next is not None:
            entry = entry.tb_next
        return entry is None or f'line {entry.tb_lineno}, in {entry.tb_frame.f_code.co_name}' in message


class RaisedErrors:
    """Exceptions on their way to an error of the framework's.

    Attributes:
        failures: The last of them, innermost last.
        aborted: The abort that is under way, if one is.
    """

    __slots__ = ('__dict__', '_last_abort', '_lock', 'aborted', 'failures')      # `doctor` replaces methods

    def __init__(self) -> None:
        self.failures: deque[_Failure] = deque(maxlen=_MOST_FAILURES)
        self._lock = new_lock()
        self.aborted: RunAborted | None = None
        self._last_abort: weakref.ref[RunAborted] | None = None

    def note(self, error: BaseException) -> None:
        """Keep the exception of a wrapped function; on its thread."""
        if isinstance(error, RunAborted) and (self._last_abort is None or self._last_abort() is not error):
            self.aborted = error                # later calls may end with the same abort
        with self._lock:
            self.failures.append(_Failure(error))

    def set_cause(self, error: BaseException, message: Any) -> None:
        """Give an error of the framework's the exception that it was made of."""
        text = message.decode(errors='replace') if isinstance(message, bytes) else str(message)
        with self._lock:
            for failure in reversed(self.failures):
                cause = failure.error
                if cause is not None and cause is not error and failure.is_reported_in(text):
                    setattr(error, CAUSE, cause)
                    error.__cause__ = cause
                    failure.hand_over(error)
                    return

    def raise_abort(self) -> None:
        """Raise an abort that is under way, once."""
        aborted, self.aborted = self.aborted, None
        if aborted is not None:
            self._last_abort = weakref.ref(aborted)
            raise aborted.with_traceback(None)
