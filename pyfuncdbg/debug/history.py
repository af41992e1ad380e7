"""What a condition remembers of the earlier calls of one site: `history`, its series, and what `changed` compares with.

One per breakpoint and site, and only if the condition asks for it; any thread. A call is in the history once it has
returned; one that raised is not. Values are copies, for the program may still write to what it has.
"""
from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from typing import Any

import numpy as np

from pyfuncdbg.debug.parameters import Get
from pyfuncdbg.hooks.call import Call
from pyfuncdbg.hooks.locks import new_lock
from pyfuncdbg.record.snapshot import digest

CALLS = 100
"""Calls that are kept."""

BYTES = 64 << 20
"""Of values kept for one breakpoint at one site: beyond it the values of the oldest calls go first, then of the newest."""

NOT_KEPT: Any = object()
"""Stands for an output that nobody asks for."""

_NOTHING: Any = object()
_NUMBERS = frozenset((float, int, np.float16, np.float32, np.float64, np.int32, np.int64))


class PastCall:
    """An earlier call.

    Attributes:
        number: As in '#17'.
        site: Of the call.
        inputs: Its inputs as arrays, if the condition asks for them; the function's parameters are attributes too.
        out: What it gave, if the condition asks for it.
        nbytes: What its values take.
    """

    __slots__ = ('_gone', '_parameters', 'inputs', 'nbytes', 'number', 'out', 'site')

    def __init__(self, call: Call, parameters: Mapping[str, Get], inputs: Sequence[Any] | None, out: Any) -> None:
        """Keep copies; `inputs` None and `out` `NOT_KEPT` where nobody asks for them."""
        self.number = call.id
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
            raise AttributeError(f'{name!r} of call #{self.number} was let go: the history holds {BYTES >> 20} MB')
        names = ', '.join(('out', 'inputs', 'number', *self._parameters))
        raise AttributeError(f'an earlier call has {names}, and not {name!r}')

    def let_go(self) -> None:
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
        """A call has returned."""
        with self._lock:
            self._calls.append(past)
            self.nbytes += past.nbytes
            if len(self._calls) > CALLS:
                self.nbytes -= self._calls.popleft().nbytes
            if self.nbytes > BYTES:
                self._let_go()

    def _let_go(self) -> None:
        for old in self._calls:
            if self.nbytes <= BYTES:
                break
            self.nbytes -= old.nbytes
            old.let_go()

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
    """A number followed over the earlier calls; values that are not finite are left out.

    `ema` is the exponential moving average over all earlier calls, the first of which it begins with; `mean`, `min` and
    `max` are of the last 100. NaN before there is a value.
    """

    __slots__ = ('_alpha', '_failed', '_lock', '_method', '_value', '_values')

    def __init__(self, method: str, alpha: float) -> None:
        self._method = method
        self._alpha = alpha
        self._lock = new_lock()
        self._value = np.nan
        self._values: deque[float] = deque(maxlen=CALLS)
        self._failed: Exception | None = None

    def add(self, value: Any) -> None:
        """The value at the end of a call.

        Raises:
            TypeError: It is no single real number.
        """
        number = float(value) if type(value) in _NUMBERS else self._number(value)
        if not isfinite(number):
            return
        with self._lock:
            if self._method != 'ema':
                self._values.append(number)
            elif self._value != self._value:    # NaN: the first one
                self._value = number
            else:
                self._value = self._alpha * number + (1 - self._alpha) * self._value

    def _number(self, value: Any) -> float:
        array = np.asarray(value)
        if array.size != 1 or array.dtype.kind == 'c':
            what = f'{array.dtype}{list(array.shape)}'
            raise TypeError(f'history.{self._method}() follows one real number, and its expression gave {what}')
        return float(array.reshape(()))

    def fail(self, error: Exception) -> None:
        """Its expression raised: whoever asks for the value is told."""
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
            values = list(self._values)
        if not values:
            return np.float64(np.nan)
        if self._method == 'mean':
            return np.float64(np.mean(values))
        return np.float64(max(values) if self._method == 'max' else min(values))


class Change:
    """Tells whether a value differs from the one before: in type, shape or any bit. The first one does not."""

    __slots__ = ('_before', '_lock')

    def __init__(self) -> None:
        self._lock = new_lock()
        self._before: Any = _NOTHING

    def differs(self, value: Any) -> np.bool_:
        """Whether it differs from the value of the last time, which it replaces."""
        now = _fingerprint(value)
        with self._lock:
            before, self._before = self._before, now
        return np.bool_(before is not _NOTHING and before != now)


def _fingerprint(value: Any) -> Any:
    """What is equal for equal values: bytes for a small array, a hash for a large one."""
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


def kept(value: Any) -> Any:
    """A copy of a value that the program can write to."""
    if isinstance(value, np.ndarray):
        return value.copy() if value.ndim or value.dtype.hasobject else value[()]
    if isinstance(value, tuple | list):
        copies = [kept(item) for item in value]
        return type(value)(*copies) if hasattr(value, '_fields') else type(value)(copies)
    if isinstance(value, dict):
        return {key: kept(item) for key, item in value.items()}
    return value


def _size(value: Any) -> int:
    if isinstance(value, tuple | list):
        return sum(_size(item) for item in value)
    if isinstance(value, dict):
        return sum(_size(item) for item in value.values())
    return int(getattr(value, 'nbytes', 64))


def stands_for(outputs: Sequence[Any]) -> Any:
    """`out`: the output, a tuple of several, None for none."""
    return outputs[0] if len(outputs) == 1 else tuple(outputs) if outputs else None
