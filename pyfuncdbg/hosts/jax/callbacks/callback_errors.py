"""Exceptions of callbacks, kept until JAX raises its own errors of them.

JAX turns an exception into text on the thread of the function, and raises an error with that text wherever the program first
needs the result. The exception becomes the error's `__cause__`; an abort is raised instead of the error.
"""
from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from pyfuncdbg.errors import RunAborted
from pyfuncdbg.hooks.own_files import is_own_file
from pyfuncdbg.hosts.interception.patching import Patches
from pyfuncdbg.hosts.interception.raised_errors import RaisedErrors
from pyfuncdbg.hosts.jax.jax_parts import JaxParts

_FRAME_LINE = re.compile(r'  File "([^"]*)", line \d+, in [^\n]*\n')
"""A frame in the text that C++ makes of a traceback."""
_FAILED_CALLBACK = 'CpuCallback error'


class CallbackErrors(RaisedErrors):
    """Exceptions on their way, and the replacement for the constructor of JAX's error."""

    def __init__(self, parts: JaxParts) -> None:
        super().__init__()
        self._parts = parts

    def install(self, patches: Patches) -> None:
        """Replace the constructor of the error that C++ raises, which runs wherever one surfaces."""
        kind = self._parts.errors.JaxRuntimeError
        patches.replace(kind, '__init__', self._replace_init(kind.__init__))

    def _replace_init(self, original: Callable[..., None]) -> Callable[..., None]:
        def __init__(error: Any, *args: Any) -> None:  # noqa: N807
            message = args[0] if args else ''
            is_of_callback = isinstance(message, str) and _FAILED_CALLBACK in message
            if is_of_callback:
                args = (text_without_own_frames(message), *args[1:])
            original(error, *args)
            if is_of_callback:
                self._give_cause(error, args[0])
        return __init__

    def _give_cause(self, error: BaseException, message: str) -> None:
        """Give an error its cause, or raise the abort that it was made of."""
        cause = self.cause_of(message)
        if isinstance(cause, RunAborted):
            self.end_abort()
            raise cause.with_traceback(None)
        if cause is not None:
            error.__cause__ = cause

    def cause_of(self, message: str) -> BaseException | None:
        """The exception that a message was made of.

        It stays here: the program may ask for the same result again, and gets another error.
        """
        with self._lock:
            for failure in reversed(self.failures):
                if failure.is_reported_in(message):
                    return failure.error
        return None

    def end_abort(self) -> None:
        """Forget an abort that the program gets now, and the tokens for which its later callbacks would wait."""
        self.aborted = None
        self._parts.effects.runtime_tokens.clear()


def text_without_own_frames(message: str) -> str:
    """An error's text without the lines of our frames."""
    return _FRAME_LINE.sub(lambda match: '' if is_own_file(match[1]) else match[0], message)
