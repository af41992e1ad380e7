"""Exceptions of wrapped functions, kept until TensorFlow raises its own errors of them.

TensorFlow turns an exception into text on the thread of the function, and raises an error with that text on the thread of
the run. The exception becomes the error's `__cause__`; an abort is raised instead of the error.
"""
from __future__ import annotations

import sys
import weakref
from collections import deque
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any

from pyfuncdbg.errors import RunAborted
from pyfuncdbg.hooks.locks import new_lock
from pyfuncdbg.hosts.tensorflow.patching import Patches
from pyfuncdbg.hosts.tensorflow.python_calls.ensured_shapes import EnsuredShapes
from pyfuncdbg.hosts.tensorflow.tensorflow_parts import TensorFlowParts

_MOST_FAILURES = 16
"""Number of exceptions that wait for their error: one that the graph swallows (`ignore_errors`) waits in vain."""
CAUSE = '_pyfuncdbg_cause'
"""Attribute of TensorFlow's error that holds the exception it was made of."""


class _Failure:
    """An exception that a wrapped function raised.

    Attributes:
        error: The exception; held by TensorFlow's error once that has it.
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
        """Let TensorFlow's error hold the exception from now on."""
        self._holder, self._error = weakref.ref(holder), None

    def is_reported_in(self, message: str) -> bool:
        """Whether a message of TensorFlow's names this exception and its innermost line."""
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


class ErrorCauses:
    """Exceptions on their way, and the replacements for TensorFlow's functions that raise errors made of them."""

    __slots__ = ('__dict__', '_failures', '_last_abort', '_lock', 'aborted')      # `doctor` replaces methods

    def __init__(self, ensured: EnsuredShapes) -> None:
        self.ensured_shapes = ensured
        self._failures: deque[_Failure] = deque(maxlen=_MOST_FAILURES)
        self._lock = new_lock()
        self.aborted: RunAborted | None = None
        self._last_abort: weakref.ref[RunAborted] | None = None

    def note(self, error: BaseException) -> None:
        """Keep the exception of a wrapped function; on its thread."""
        if isinstance(error, RunAborted) and (self._last_abort is None or self._last_abort() is not error):
            self.aborted = error                # later calls may end with the same abort
        with self._lock:
            self._failures.append(_Failure(error))

    def _set_cause(self, error: BaseException, message: Any) -> None:
        """Give an error of TensorFlow's the exception that it was made of."""
        text = message.decode(errors='replace') if isinstance(message, bytes) else str(message)
        with self._lock:
            for failure in reversed(self._failures):
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

    # ------------------------------------------------------------------ TensorFlow's places
    def install(self, parts: TensorFlowParts, patches: Patches) -> None:
        """Replace the functions that make TensorFlow's errors, and those that raise them again `from None`."""
        interpolation = parts.functions.InterpolateRuntimeError
        patches.replace(parts.errors.OpError, '__init__', self._replace_init(parts.errors.OpError.__init__))
        patches.replace(parts.errors.OpError, 'with_traceback', self._replace_with_traceback())
        patches.replace(parts.core, '_status_to_exception', _replace_status_to_exception(parts.core._status_to_exception))
        patches.replace(interpolation, '__exit__', self._replace_exit(interpolation.__exit__))

    def _replace_init(self, original: Callable[..., None]) -> Callable[..., None]:
        def __init__(error: Any, node_def: Any, op: Any, message: Any, error_code: Any, *args: Any) -> None:  # noqa: N807
            original(error, node_def, op, message, error_code, *args)
            # C++ accepts no other exception than its error: there one of the other replacements raises the abort.
            if self.aborted is not None and _is_raised_by_python(sys._getframe(1)):
                self.raise_abort()
            if self._failures:
                self._set_cause(error, message)
            if self.ensured_shapes.misfits:
                self.ensured_shapes.match_refusal(message)
        return __init__

    def _replace_exit(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """`InterpolateRuntimeError.__exit__`: around every call of a traced function."""
        def __exit__(manager: Any, kind: Any, error: Any, traceback: Any) -> Any:  # noqa: N807
            if error is not None and self.aborted is not None:
                self.raise_abort()
            return original(manager, kind, error, traceback)
        return __exit__

    def _replace_with_traceback(self) -> Callable[..., Any]:
        def with_traceback(error: Any, traceback: TracebackType | None) -> Any:
            """`BaseException.with_traceback`; in `raise e.with_traceback(tb) from None`, as TensorFlow and Keras filter
            tracebacks, an error that has a cause is raised here, as in `_replace_status_to_exception`."""
            cause = getattr(error, CAUSE, None)
            if cause is None or not _is_traceback_filter(sys._getframe(1)):
                return BaseException.with_traceback(error, traceback)
            if isinstance(cause, RunAborted):
                self.raise_abort()
            try:
                raise error from cause
            except BaseException as raised:
                raised.__traceback__ = traceback
                raise
        return with_traceback


def _replace_status_to_exception(original: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """`_status_to_exception`, which TensorFlow calls in `raise _status_to_exception(e) from None`: an error that has a cause
    is raised here, for that would take the cause away. Leaving by a bare `raise`, this frame is in no traceback."""
    def _status_to_exception(status: Any) -> Any:
        error = original(status)
        cause = getattr(error, CAUSE, None)
        if cause is None or sys._getframe(1).f_code.co_name == '__str__':
            return error
        try:
            raise error from cause
        except BaseException as raised:
            raised.__traceback__ = None
            raise
    return _status_to_exception


def _is_raised_by_python(frame: FrameType | None) -> bool:
    """Whether TensorFlow's Python code makes an error to raise it, in the constructor that calls ours.

    It also makes some to show their text, where an exception came of another.
    """
    frame = _frame_outside(frame, '__init__')
    if frame is None or frame.f_code.co_name == '_do_call':
        return frame is not None
    asking = _frame_outside(frame, '_status_to_exception')
    return asking is not frame and (asking is None or asking.f_code.co_name != '__str__')


def _frame_outside(frame: FrameType | None, name: str) -> FrameType | None:
    """The innermost frame that is no function of that name."""
    while frame is not None and frame.f_code.co_name == name:
        frame = frame.f_back
    return frame


def _is_traceback_filter(frame: FrameType) -> bool:
    return frame.f_code.co_name == 'error_handler' and frame.f_code.co_filename.endswith('traceback_utils.py')
