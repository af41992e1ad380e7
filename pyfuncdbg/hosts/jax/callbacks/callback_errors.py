"""Exceptions of callbacks, kept until JAX raises its own errors of them.

JAX turns an exception into text on the thread of the function, and raises an error with that text wherever the program first
needs the result. The exception becomes the error's `__cause__`; an abort is raised instead of the error.
"""
from __future__ import annotations

import re
from collections.abc import Callable
from types import FrameType
from typing import Any

from pyfuncdbg.errors import RunAborted
from pyfuncdbg.hooks.own_files import RUNNERS, is_own_file
from pyfuncdbg.hooks.program_traceback import mark_host_error
from pyfuncdbg.hosts.interception.exception_event import await_exception
from pyfuncdbg.hosts.interception.patching import Patches
from pyfuncdbg.hosts.interception.raised_errors import RaisedErrors
from pyfuncdbg.hosts.jax.jax_parts import JaxParts

_FRAME_LINE = re.compile(r'  File "([^"]*)", line \d+, in ([^\n]*)\n')
"""A frame in the text that C++ makes of a traceback."""
_FAILED_CALLBACK = 'Traceback (most recent call last):\n'


class CallbackErrors(RaisedErrors):
    """Exceptions on their way, and the replacement for the constructor of JAX's error.

    Attributes:
        on_surfaced: Called with an error of JAX's and its cause; None while nothing is examined.
    """

    def __init__(self, parts: JaxParts) -> None:
        super().__init__()
        self._parts = parts
        self.on_surfaced: Callable[[BaseException, BaseException], None] | None = None

    def install(self, patches: Patches) -> None:
        """Replace the constructor of the error that C++ raises, which runs wherever one surfaces."""
        kind = self._parts.errors.JaxRuntimeError
        patches.replace(kind, '__init__', self._replace_init(kind.__init__))

    def _replace_init(self, original: Callable[..., None]) -> Callable[..., None]:
        def __init__(error: Any, *args: Any) -> None:  # noqa: N807
            message = args[0] if args else ''
            cause = None
            if isinstance(message, str) and _FAILED_CALLBACK in message:
                cause = self._cause_of(message)         # none where JAX itself refuses what a callback has returned
                args = (text_without_own_frames(message), *args[1:])
            original(error, *args)
            if cause is not None:
                self._give_cause(error, cause)
        return __init__

    def await_error(self, caller: FrameType) -> None:
        """Give its cause to the error that C++ is about to raise in a frame, which dispatched without Python.

        That is a plain ValueError (https://github.com/jax-ml/jax/issues/34083), which no hook sees: the frame's next
        event is its exception. A program that is traced, by a debugger or for its coverage, stays as it is.
        """
        await_exception(caller, lambda error, _: self._complete(error) if isinstance(error, ValueError) else None)

    def _complete(self, error: ValueError) -> None:
        """Complete an error that C++ has raised itself."""
        message = error.args[0] if error.args else ''
        if isinstance(message, str) and (cause := self._cause_of(message)) is not None:
            error.args = (text_without_own_frames(message), *error.args[1:])
            mark_host_error(error)              # C++ has raised it at a line of the program
            self._give_cause(error, cause)

    def _give_cause(self, error: BaseException, cause: BaseException) -> None:
        """Give an error its cause, or raise the abort that it was made of."""
        if isinstance(cause, RunAborted):
            self._end_abort()
            raise cause.with_traceback(None)
        error.__cause__ = cause
        if self.on_surfaced is not None:
            self.on_surfaced(error, cause)

    def _cause_of(self, message: str) -> BaseException | None:
        """The exception that a message was made of.

        It stays here: the program may ask for the same result again, and gets another error.
        """
        with self._lock:
            for failure in reversed(self.failures):
                if failure.is_reported_in(message):
                    return failure.error
        return None

    def _end_abort(self) -> None:
        """Forget an abort that the program gets now, and the tokens for which its later callbacks would wait."""
        self.aborted = None
        self._parts.effects.runtime_tokens.clear()


def text_without_own_frames(message: str) -> str:
    """An error's text without the lines of our frames, and of those outside of the program that we run."""
    head, title, frames = message.partition(_FAILED_CALLBACK)
    runners = {(code.co_filename, code.co_name) for code in RUNNERS}
    for match in _FRAME_LINE.finditer(frames):
        if (match[1], match[2]) in runners:
            frames = frames[match.end():]
            break
    return head + title + _FRAME_LINE.sub(lambda match: '' if is_own_file(match[1]) else match[0], frames)
