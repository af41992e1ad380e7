"""Counts of retracing for all `tf.function`s of one text, with two warnings at most."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyfuncdbg.hooks.code_table import ByCode
from pyfuncdbg.hooks.locks import new_lock
from pyfuncdbg.hosts.numpy.runtime.execution.logger import warn

_HISTORY, _MANY, _WARNINGS = 10, 5, 2
_lock = new_lock()


class Retracing:
    """Counts of a function's last traces and calls.

    Attributes:
        calls: How many there were since the last that traced it, that one included; counted by the caller.
    """

    __slots__ = ('_counts', '_said', 'calls')

    def __init__(self) -> None:
        self.calls = 0
        self._counts: list[int] = []                # per trace, the calls until the next
        self._said = 0

    def traced(self, function: Callable[..., Any], reduced: bool) -> None:
        """A call has traced it; nothing is said where shapes are widened already."""
        with _lock:
            if self._counts:
                self._counts[-1] += max(self.calls - 1, 0)
            self.calls = 1
            self._counts.append(0)
            whole = sum(self._counts) + len(self._counts)
            while self._counts and whole - self._counts[0] - 1 > _HISTORY:
                whole -= self._counts.pop(0) + 1
            many = len(self._counts)
            if reduced or many < _MANY or self._said >= _WARNINGS:
                return
            self._said += 1
        warn(f'{many} out of the last {whole} calls to {function} triggered tf.function retracing. Tracing is expensive and '
             'the excessive number of tracings could be due to (1) creating @tf.function repeatedly in a loop, (2) passing '
             'tensors with different shapes, (3) passing Python objects instead of tensors. For (1), please define your '
             '@tf.function outside of the loop. For (2), @tf.function has reduce_retracing=True option that can avoid '
             'unnecessary retracing. For (3), please refer to '
             'https://www.tensorflow.org/guide/function#controlling_retracing and '
             'https://www.tensorflow.org/api_docs/python/tf/function for  more details.')


_known = ByCode[Retracing]()


def retracing_of(function: Any) -> Retracing:
    """The counts of a function: one object for all functions that were made from the same text."""
    code = getattr(getattr(function, '__func__', function), '__code__', None)
    if code is None:
        return Retracing()
    with _lock:
        return _known.get(code) or _known.put(code, Retracing())
