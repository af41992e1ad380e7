"""Exceptions of wrapped functions, kept until TensorFlow raises its own errors of them.

TensorFlow turns an exception into text on the thread of the function, and raises an error with that text on the thread of
the run. The exception becomes the error's `__cause__`; an abort is raised instead of the error.
"""
from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any

from pyfuncdbg.errors import RunAborted
from pyfuncdbg.hosts.interception.patching import Patches
from pyfuncdbg.hosts.interception.raised_errors import CAUSE, RaisedErrors
from pyfuncdbg.hosts.tensorflow.python_calls.ensured_shapes import EnsuredShapes
from pyfuncdbg.hosts.tensorflow.tensorflow_parts import TensorFlowParts


class ErrorCauses(RaisedErrors):
    """Exceptions on their way, and the replacements for TensorFlow's functions that raise errors made of them."""

    def __init__(self, ensured: EnsuredShapes) -> None:
        super().__init__()
        self.ensured_shapes = ensured

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
            if self.failures:
                self.set_cause(error, message)
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
