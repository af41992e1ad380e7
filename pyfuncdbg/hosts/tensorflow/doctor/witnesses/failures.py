"""Exceptions of wrapped functions that no error of TensorFlow's reports: a dataset that ignores errors drops them.

Watches each exception on the thread of its call, and each error that is made of one.
"""
from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from pyfuncdbg.hooks.facts import Fact
from pyfuncdbg.hooks.locks import new_lock
from pyfuncdbg.hooks.source_map import place
from pyfuncdbg.hosts.interception.patching import Patches
from pyfuncdbg.hosts.interception.raised_errors import CAUSE
from pyfuncdbg.hosts.tensorflow.python_calls.original_errors import ErrorCauses
from pyfuncdbg.hosts.tensorflow.tensorflow_parts import TensorFlowParts


class _Origin(NamedTuple):
    """Class of an exception, and the line that raised it."""

    type: str
    filename: str
    line: int


class Failures:
    """Counts of exceptions, and of those that became errors, by origin."""

    def __init__(self, parts: TensorFlowParts, causes: ErrorCauses) -> None:
        self._parts = parts
        self._causes = causes
        self._lock = new_lock()
        self._raised: Counter[_Origin] = Counter()
        self._reported: Counter[_Origin] = Counter()

    def install(self, patches: Patches) -> None:
        """Watch exceptions and errors."""
        errors = self._parts.errors.OpError
        patches.replace(self._causes, 'note', self._replace_note(self._causes.note))
        patches.replace(errors, '__init__', self._replace_init(errors.__init__))

    def _replace_note(self, original: Callable[[BaseException], None]) -> Callable[[BaseException], None]:
        def note(error: BaseException) -> None:
            original(error)
            with self._lock:
                self._raised[_origin(error)] += 1
        return note

    def _replace_init(self, original: Callable[..., None]) -> Callable[..., None]:
        def __init__(error: Any, *args: Any, **options: Any) -> None:  # noqa: N807
            original(error, *args, **options)
            cause = getattr(error, CAUSE, None)
            if isinstance(cause, BaseException):
                with self._lock:
                    self._reported[_origin(cause)] += 1
        return __init__

    def facts(self) -> Iterator[Fact]:
        """Counts of how often each was raised, and reported."""
        with self._lock:
            raised, reported = Counter(self._raised), Counter(self._reported)
        for origin, count in raised.items():
            yield Fact('failure', 0, origin.filename, origin.line, {
                'type': origin.type, 'raised': count, 'told': reported[origin]})


def _origin(error: BaseException) -> _Origin:
    entry = error.__traceback__
    while entry is not None and entry.tb_next is not None:
        entry = entry.tb_next
    if entry is None:
        return _Origin(type(error).__name__, '', 0)
    here = place(entry.tb_frame, entry.tb_lineno)
    return _Origin(type(error).__name__, here.filename, here.line)
