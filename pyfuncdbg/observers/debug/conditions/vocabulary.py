"""Predicates and measures of conditions: `has_nan`, `has_inf`, `has_inf_or_nan`, `norm`, `absmax`, `zeros`.

Functions of one value: an array, or a structure of arrays of any shapes and types (several outputs are a tuple). Evaluated
on the thread of a call or a line. Each gives a NumPy scalar, so that `~` and `&` mean what they say.
"""
from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from math import isfinite, isinf
from types import NoneType
from typing import Any

import numpy as np

from pyfuncdbg.observers.record.dtypes import as_numbers

_ndarray = np.ndarray
_READ = (np.ndarray, np.generic)
_SCALARS = frozenset((float, np.float16, np.float32, np.float64))        # which go without an array
_PLAIN = frozenset((bool, int, float, complex, str, bytes))
_SMALL = 1_000
_FEW = 8_192
_NO, _YES = np.bool_(False), np.bool_(True)
BARE = ('has_nan', 'has_inf', 'has_inf_or_nan')
"""Words that may be used without a value: true if they hold for any tensor of the call."""


def has_nan(x: Any) -> np.bool_:
    """Whether any element is NaN; False for what holds no floats."""
    if type(x) in _SCALARS:
        return _YES if x != x else _NO
    if not isinstance(x, _READ) or x.dtype.kind == 'O':
        return _any(has_nan, x)
    array = x if type(x) is _ndarray and x.dtype.char in 'efd' else _floats(x)
    if array is None:
        return _NO
    if 0 < array.size <= _FEW:
        largest = array.item(array.argmax())            # a NaN counts as the largest: 0.2 µs, where isnan takes 0.5 and more
        return _YES if largest != largest else _NO
    return _NO if _all_finite(array) else np.bool_(np.isnan(array).any())


def has_inf(x: Any) -> np.bool_:
    """Whether any element is infinite; False for what holds no floats."""
    if type(x) in _SCALARS:
        return _YES if isinf(x) else _NO
    if not isinstance(x, _READ) or x.dtype.kind == 'O':
        return _any(has_inf, x)
    array = _floats(x)
    return _NO if array is None or _all_finite(array) else np.bool_(np.isinf(array).any())


def has_inf_or_nan(x: Any) -> np.bool_:
    """Whether any element is NaN or infinite; False for what holds no floats."""
    if type(x) in _SCALARS:
        return _NO if isfinite(x) else _YES
    if not isinstance(x, _READ) or x.dtype.kind == 'O':
        return _any(has_inf_or_nan, x)
    array = _floats(x)
    return _NO if array is None or _all_finite(array) else _YES


def norm(x: Any) -> np.float64:
    """Euclidean length of all elements together, in double precision; 0 for none."""
    squares = np.float64(0)
    for array in _numbers(x, 'norm'):
        flat = array.astype(np.complex128 if array.dtype.kind == 'c' else np.float64).ravel()
        parts = flat.view(np.float64)           # the product of complex infinities would be NaN
        squares = squares + np.float64(np.vdot(parts, parts))         # unlike squaring, does not warn of overflow
    return np.float64(np.sqrt(squares))


def absmax(x: Any) -> np.float64:
    """Largest magnitude of any element: NaN if one is NaN, 0 for no elements."""
    most = np.float64(0)
    for array in _numbers(x, 'absmax'):
        if array.dtype.kind == 'c' and array.size:
            most = np.maximum(most, np.float64(np.abs(array).max()))
        elif array.size:
            # The magnitude of the least integer overflows its type: compute as floats.
            most = np.maximum(most, np.maximum(np.abs(np.float64(array.min())), np.abs(np.float64(array.max()))))
    return np.float64(most)


def zeros(x: Any) -> np.float64:
    """The part of the elements that are zero, from 0 to 1; 0 for no elements. `zeros(x) * x.size` is their number."""
    arrays = _numbers(x, 'zeros')
    size = sum(array.size for array in arrays)
    return np.float64((size - sum(np.count_nonzero(array) for array in arrays)) / size) if size else np.float64(0)


VOCABULARY: Mapping[str, Callable[[Any], Any]] = {
    word.__name__: word for word in (has_nan, has_inf, has_inf_or_nan, norm, absmax, zeros)}
"""By name. `changed` and `history` look back at earlier calls: only conditions of calls know them, see `expression`."""


def _any(test: Callable[[Any], np.bool_], x: Any) -> np.bool_:
    """The result of a predicate for a value that is no array: whether it is true of any array in it."""
    return np.bool_(any(test(array) for array in _arrays(x)))


def _arrays(x: Any) -> Iterator[Any]:
    """The arrays in a value: in tuples, lists, mappings, dataclasses, object arrays and composite tensors."""
    if isinstance(x, np.ndarray) and x.dtype.kind == 'O':
        for element in x.ravel().tolist():
            yield from _arrays(element)
    elif isinstance(x, _READ):
        yield x
    elif isinstance(x, str | bytes | NoneType):
        return
    elif isinstance(x, Mapping):
        for item in x.values():
            yield from _arrays(item)
    elif isinstance(x, tuple | list):
        if all(type(item) in _PLAIN for item in x):
            yield np.asarray(x)
            return
        for item in x:
            yield from _arrays(item)
    elif is_dataclass(x) and not isinstance(x, type):
        for field in fields(x):
            yield from _arrays(getattr(x, field.name))
    else:
        # Ragged and sparse tensors keep their numbers under these names, in every framework.
        inner = [held for name in ('flat_values', 'values')
                 if (held := getattr(x, name, None)) is not None and not callable(held)]
        if inner:
            yield from _arrays(inner[0])
        elif (array := np.asarray(x)).dtype.kind != 'O':        # a handle of a resource holds no numbers
            yield array


def _floats(array: Any) -> np.ndarray | None:
    """The array if its elements can be NaN or infinite, else None."""
    kind = array.dtype.kind
    if kind in 'fc':
        return array  # type: ignore[no-any-return]  # a scalar has what is asked of it
    if kind == 'O':
        return None
    numbers = as_numbers(np.asarray(array)) if kind == 'V' else None        # bfloat16 and its relatives
    return numbers if numbers is not None and numbers.dtype.kind in 'fc' else None


def _all_finite(array: np.ndarray) -> bool:
    """`isfinite(x).all()`, but quicker: of few elements by looking at the bytes (0.6 µs, not 2), of many by the dot product
    with itself, which is finite mostly."""
    if array.size <= _SMALL:
        return 0 not in np.isfinite(array).tobytes()
    if array.dtype.kind == 'f' and isfinite(np.vdot(array, array)):        # `dot` would warn of an overflow
        return True
    return bool(np.isfinite(array).all())


def _numbers(x: Any, word: str) -> list[np.ndarray]:
    """The arrays of numbers in a value; what else a structure holds does not count.

    Raises:
        TypeError: There is none.
    """
    arrays: list[np.ndarray] = []
    for array in [x] if type(x) is np.ndarray and x.dtype.kind != 'O' else [np.asarray(array) for array in _arrays(x)]:
        numbers = array if array.dtype.kind in 'biufc' else as_numbers(array)
        if numbers is not None:
            arrays.append(numbers)
    if not arrays:
        raise TypeError(f'{word}() needs numbers, not {getattr(x, "dtype", type(x).__name__)}')
    return arrays
