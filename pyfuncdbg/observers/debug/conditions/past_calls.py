"""Past calls of one site for conditions: `history`, its series, and the state of `changed`.

One per breakpoint and site, and only if the condition asks for it; any thread. A call is in the history once it has
returned; one that raised is not, and of one that is executed again only the last execution. Values are copies, for the
program may still write to what it has.
"""
from __future__ import annotations

import contextlib
from bisect import bisect_left, insort
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from math import isfinite
from typing import Any

import numpy as np

from pyfuncdbg.hooks.call import Call
from pyfuncdbg.hooks.locks import new_lock
from pyfuncdbg.observers.debug.conditions.function_parameters import Get
from pyfuncdbg.observers.record.array_bytes import digest

CALLS = 100
"""Calls that are kept."""

BYTES = 64 << 20
"""Most bytes of values kept for one breakpoint at one site: the oldest calls lose theirs first, then the newest."""

_DURATIONS, _LEAST_DURATIONS = 1_000, 20

NOT_KEPT: Any = object()
"""Placeholder for an output that no condition reads."""

_NOTHING: Any = object()
_NUMBERS = frozenset((float, int, np.float16, np.float32, np.float64, np.int32, np.int64))


class PastCall:
    """An earlier call.

    Attributes:
        number: As in '#17'.
        first: Number of its first execution.
        site: Of the call.
        inputs: Its inputs as arrays, if the condition asks for them; the function's parameters are attributes too.
        out: Its output, if the condition reads it.
        nbytes: What its values take.
    """

    __slots__ = ('_gone', '_parameters', 'first', 'inputs', 'nbytes', 'number', 'out', 'site')

    def __init__(self, call: Call, parameters: Mapping[str, Get], inputs: Sequence[Any] | None, out: Any) -> None:
        """Keep copies; `inputs` None and `out` `NOT_KEPT` where no condition reads them."""
        self.number = call.id
        self.first = first_execution(call)
        self.site = call.site
        self._parameters = parameters
        self._gone = False
        self.nbytes = 0
        if inputs is not None:
            self.inputs = tuple(inputs)
            self.nbytes += _size(self.inputs)
        if out is not NOT_KEPT:
            self.out = out
            self.nbytes += _size(out)

    def __getattr__(self, name: str) -> Any:
        if name.startswith('__'):
            raise AttributeError(name)
        if name in self._parameters and not self._gone:
            return self._parameters[name](self)  # type: ignore[arg-type]  # reads inputs and site only
        if self._gone:
            raise AttributeError(f'{name!r} of call #{self.number} was dropped: the history holds {BYTES >> 20} MB')
        names = ', '.join(('out', 'inputs', 'number', *self._parameters))
        raise AttributeError(f'an earlier call has {names}, and not {name!r}')

    def free_values(self) -> None:
        """Free the values; the call still counts."""
        self._gone = True
        self.nbytes = 0
        for name in ('inputs', 'out'):
            with contextlib.suppress(AttributeError):
                delattr(self, name)

    def __repr__(self) -> str:
        return f'<PastCall #{self.number}>'


class TooEarlyError(IndexError):
    """A condition asks for an earlier call that there was not yet: it is not fulfilled at this call."""


class History:
    """The last calls of a site, oldest first: what conditions know as `history`."""

    __slots__ = ('_calls', '_lock', 'nbytes')

    def __init__(self) -> None:
        self._lock = new_lock()
        self._calls: deque[PastCall] = deque()
        self.nbytes = 0

    def add(self, past: PastCall) -> None:
        """Add a call that has returned."""
        with self._lock:
            self._calls.append(past)
            self.nbytes += past.nbytes
            if len(self._calls) > CALLS:
                self.nbytes -= self._calls.popleft().nbytes
            if self.nbytes > BYTES:
                self._free_oldest()

    def take_back(self, first: int) -> None:
        """Remove what the last execution of a call added: the call is executed again."""
        with self._lock:
            for past in [past for past in self._calls if past.first == first]:
                self._calls.remove(past)
                self.nbytes -= past.nbytes

    def _free_oldest(self) -> None:
        for old in self._calls:
            if self.nbytes <= BYTES:
                break
            self.nbytes -= old.nbytes
            old.free_values()

    def __len__(self) -> int:
        return len(self._calls)

    def __getitem__(self, index: Any) -> Any:
        with self._lock:
            calls = list(self._calls)
        try:
            return calls[index]
        except IndexError:
            if -CALLS <= index < CALLS:
                raise TooEarlyError(f'history[{index}]: there were {len(calls)} earlier calls') from None
            raise IndexError(f'history[{index}]: the last {CALLS} calls are kept') from None

    def __iter__(self) -> Iterator[PastCall]:
        with self._lock:
            return iter(list(self._calls))

    def __repr__(self) -> str:
        return f'<History of {len(self)} calls>'


class Series:
    """Statistic of a number over the earlier calls; values that are not finite are left out.

    `ema` is the exponential moving average over all earlier calls, beginning with the value of the first one; `mean`, `min`
    and `max` are of the last 100. NaN before there is a value.
    """

    __slots__ = ('_alpha', '_base', '_failed', '_lock', '_method', '_value', '_values')

    def __init__(self, method: str, alpha: float) -> None:
        self._method = method
        self._alpha = alpha
        self._lock = new_lock()
        self._value = self._base = np.nan
        self._values: deque[tuple[int, float]] = deque()
        self._failed: Exception | None = None

    def add(self, value: Any, first: int = 0) -> None:
        """The value at the end of the call whose first execution has this number.

        Raises:
            TypeError: It is no single real number.
        """
        number = float(value) if type(value) in _NUMBERS else self._number(value)
        if not isfinite(number):
            return
        with self._lock:
            self._values.append((first, number))
            self._value = self._with(self._value, number)
            if len(self._values) > CALLS:
                self._base = self._with(self._base, self._values.popleft()[1])

    def take_back(self, first: int) -> None:
        """Remove the value of the last execution of a call: the call is executed again."""
        with self._lock:
            if any(one == first for one, _ in self._values):
                self._values = deque(pair for pair in self._values if pair[0] != first)
                self._value = reduce(self._with, (number for _, number in self._values), self._base)

    def _with(self, average: float, number: float) -> float:
        """The moving average with one more number; NaN before there is one."""
        return number if average != average else self._alpha * number + (1 - self._alpha) * average

    def _number(self, value: Any) -> float:
        array = np.asarray(value)
        if array.size != 1 or array.dtype.kind == 'c':
            what = f'{array.dtype}{list(array.shape)}'
            raise TypeError(f'history.{self._method}() follows one real number, and its expression is {what}')
        return float(array.reshape(()))

    def fail(self, error: Exception) -> None:
        """Its expression raised: reading the value raises that error."""
        self._failed = error

    def value(self) -> np.float64:
        """The value over the earlier calls.

        Raises:
            Exception: What its expression raised at an earlier call, once.
        """
        failed, self._failed = self._failed, None
        if failed is not None:
            raise failed
        if self._method == 'ema':
            return np.float64(self._value)
        with self._lock:
            values = [number for _, number in self._values]
        if not values:
            return np.float64(np.nan)
        if self._method == 'mean':
            return np.float64(np.mean(values))
        return np.float64(max(values) if self._method == 'max' else min(values))


class Durations:
    """Times that the last 1,000 calls of a site took. Any thread."""

    __slots__ = ('_lock', '_newest', '_sorted')

    def __init__(self) -> None:
        self._lock = new_lock()
        self._newest: deque[int] = deque()
        self._sorted: list[int] = []

    def add(self, nanoseconds: int) -> None:
        """A call has returned."""
        with self._lock:
            self._newest.append(nanoseconds)
            insort(self._sorted, nanoseconds)
            if len(self._newest) > _DURATIONS:
                del self._sorted[bisect_left(self._sorted, self._newest.popleft())]

    def p95(self) -> float:
        """The time in seconds that 95 % of them took at most; NaN, with which nothing compares, while there are fewer than
        20."""
        with self._lock:
            count = len(self._sorted)
            return self._sorted[count * 95 // 100] / 1e9 if count >= _LEAST_DURATIONS else float('nan')


class ChangeTest:
    """Test whether a value differs from the one before: in type, shape or any bit. The first one does not."""

    __slots__ = ('_before', '_first', '_lock', '_now')

    def __init__(self) -> None:
        self._lock = new_lock()
        self._first = 0
        self._before: Any = _NOTHING
        self._now: Any = _NOTHING

    def differs(self, value: Any, first: int = 0) -> np.bool_:
        """Whether it differs from the value of the last time, which it replaces; but for that of an earlier execution of the
        call whose first one has this number."""
        now = _fingerprint(value)
        with self._lock:
            if not first or first != self._first:
                self._before = self._now
            self._first, self._now = first, now
            before = self._before
        return np.bool_(before is not _NOTHING and before != now)


def first_execution(call: Call) -> int:
    """Number of the first execution of a call."""
    return call.retry_of or call.id


def _fingerprint(value: Any) -> Any:
    """A key that is equal for equal values: bytes for a small array, a hash for a large one."""
    if isinstance(value, tuple | list):
        return [_fingerprint(item) for item in value]
    if isinstance(value, dict):
        return {key: _fingerprint(item) for key, item in value.items()}
    array = np.asarray(value)
    if array.dtype.hasobject:
        return array.shape, [_fingerprint(item) if isinstance(item, tuple | list | dict | np.ndarray) else item
                             for item in array.ravel().tolist()]
    data = array.tobytes()
    return array.dtype, array.shape, data if len(data) <= 64 else digest(data)


def copied_value(value: Any) -> Any:
    """A copy of a value that the program can write to."""
    if isinstance(value, np.ndarray):
        return value.copy() if value.ndim or value.dtype.hasobject else value[()]
    if isinstance(value, tuple | list):
        copies = [copied_value(item) for item in value]
        return type(value)(*copies) if hasattr(value, '_fields') else type(value)(copies)
    if isinstance(value, dict):
        return {key: copied_value(item) for key, item in value.items()}
    return value


def _size(value: Any) -> int:
    if isinstance(value, tuple | list):
        return sum(_size(item) for item in value)
    if isinstance(value, dict):
        return sum(_size(item) for item in value.values())
    return int(getattr(value, 'nbytes', 64))


def output_value(outputs: Sequence[Any]) -> Any:
    """`out`: the output, a tuple of several, None for none."""
    return outputs[0] if len(outputs) == 1 else tuple(outputs) if outputs else None
