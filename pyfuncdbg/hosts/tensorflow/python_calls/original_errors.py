"""The exception that a wrapped function raised, kept until TensorFlow raises its own error of it.

TensorFlow turns an exception into text on the thread of the function, and raises an error with that text on the thread that
asked for the run. Here the two meet: the exception becomes the error's `__cause__`; an abort goes on in its place.
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

_KEPT = 16
"""So many exceptions wait for their error: one that the graph swallows (`ignore_errors`) waits in vain."""
CAUSE = '_pyfuncdbg_cause'
"""Attribute in which an error of TensorFlow's keeps the exception that it was made of."""


class _Failure:
    """An exception that a wrapped function raised.

    Attributes:
        error: The exception, or once TensorFlow's error has it, that error's weak reference.
    """

    __slots__ = ('_error', '_held')

    def __init__(self, error: BaseException) -> None:
        self._error: BaseException | None = error
        self._held: weakref.ref[Any] | None = None

    @property
    def error(self) -> BaseException | None:
        if self._held is None:
            return self._error
        holder = self._held()
        return None if holder is None else getattr(holder, CAUSE, None)

    def hand_over(self, holder: BaseException) -> None:
        """TensorFlow's error keeps it from now on: it lives no longer than that."""
        self._held, self._error = weakref.ref(holder), None

    def is_told_in(self, message: str) -> bool:
        """Whether a message of TensorFlow's is about this exception: it names it and its innermost line."""
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


class Causes:
    """Exceptions on their way, and TensorFlow's places that raise the errors made of them."""

    __slots__ = ('__dict__', '_arrived', '_failures', '_lock', 'aborted')      # `doctor` stands in the place of methods

    def __init__(self, ensured: EnsuredShapes) -> None:
        self.ensured = ensured
        self._failures: deque[_Failure] = deque(maxlen=_KEPT)
        self._lock = new_lock()
        self.aborted: RunAborted | None = None
        self._arrived: weakref.ref[RunAborted] | None = None

    def note(self, error: BaseException) -> None:
        """A wrapped function has raised; on its thread."""
        if isinstance(error, RunAborted) and (self._arrived is None or self._arrived() is not error):
            self.aborted = error                # a call beside it that ends with it later aborts nothing else
        with self._lock:
            self._failures.append(_Failure(error))

    def _cause(self, error: BaseException, message: Any) -> None:
        """Give an error of TensorFlow's the exception that it was made of."""
        text = message.decode(errors='replace') if isinstance(message, bytes) else str(message)
        with self._lock:
            for failure in reversed(self._failures):
                cause = failure.error
                if cause is not None and cause is not error and failure.is_told_in(text):
                    setattr(error, CAUSE, cause)
                    error.__cause__ = cause
                    failure.hand_over(error)
                    return

    def raise_abort(self) -> None:
        """Let an abort go on instead of an error, once."""
        aborted, self.aborted = self.aborted, None
        if aborted is not None:
            self._arrived = weakref.ref(aborted)
            raise aborted.with_traceback(None)

    # ------------------------------------------------------------------ TensorFlow's places
    def install(self, parts: TensorFlowParts, patches: Patches) -> None:
        """Meet TensorFlow's errors where they are made, and keep their cause where they are raised again `from None`."""
        interpolation = parts.functions.InterpolateRuntimeError
        patches.replace(parts.errors.OpError, '__init__', self._made(parts.errors.OpError.__init__))
        patches.replace(parts.errors.OpError, 'with_traceback', self._filtered())
        patches.replace(parts.core, '_status_to_exception', _of_status(parts.core._status_to_exception))
        patches.replace(interpolation, '__exit__', self._interpolated(interpolation.__exit__))

    def _made(self, original: Callable[..., None]) -> Callable[..., None]:
        def __init__(error: Any, node_def: Any, op: Any, message: Any, error_code: Any, *args: Any) -> None:  # noqa: N807
            original(error, node_def, op, message, error_code, *args)
            # Where C++ makes the error, which takes no other in its place, one of the other two lets the abort go on.
            if self.aborted is not None and _made_by_python(sys._getframe(1)):
                self.raise_abort()
            if self._failures:
                self._cause(error, message)
            if self.ensured.waiting:
                self.ensured.refused(message)
        return __init__

    def _interpolated(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """`InterpolateRuntimeError.__exit__`: around every call of a traced function."""
        def __exit__(manager: Any, kind: Any, error: Any, traceback: Any) -> Any:  # noqa: N807
            if error is not None and self.aborted is not None:
                self.raise_abort()
            return original(manager, kind, error, traceback)
        return __exit__

    def _filtered(self) -> Callable[..., Any]:
        def with_traceback(error: Any, traceback: TracebackType | None) -> Any:
            """`BaseException.with_traceback`; in `raise e.with_traceback(tb) from None`, as TensorFlow and Keras filter
            tracebacks, an error that has a cause is raised here, as in `_of_status`."""
            cause = getattr(error, CAUSE, None)
            if cause is None or not _filters(sys._getframe(1)):
                return BaseException.with_traceback(error, traceback)
            if isinstance(cause, RunAborted):
                self.raise_abort()
            try:
                raise error from cause
            except BaseException as raised:
                raised.__traceback__ = traceback
                raise
        return with_traceback


def _of_status(original: Callable[[Any], Any]) -> Callable[[Any], Any]:
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


def _made_by_python(frame: FrameType | None) -> bool:
    """Whether TensorFlow's Python code makes an error to raise it, in the constructor that calls ours; not to show its text,
    as it does where it tells of an exception that came of another."""
    frame = _past(frame, '__init__')
    if frame is None or frame.f_code.co_name == '_do_call':
        return frame is not None
    asking = _past(frame, '_status_to_exception')
    return asking is not frame and (asking is None or asking.f_code.co_name != '__str__')


def _past(frame: FrameType | None, name: str) -> FrameType | None:
    """The innermost frame that is no function of that name."""
    while frame is not None and frame.f_code.co_name == name:
        frame = frame.f_back
    return frame


def _filters(frame: FrameType) -> bool:
    return frame.f_code.co_name == 'error_handler' and frame.f_code.co_filename.endswith('traceback_utils.py')
