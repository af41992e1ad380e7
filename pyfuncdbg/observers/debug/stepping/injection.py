"""Conversion of a typed value into a replacement for a tensor. Python numbers and lists take the tensor's dtype where that
is exact.

On the stopped thread.
"""
from __future__ import annotations

from typing import Any

import numpy as np

from pyfuncdbg.errors import CommandError
from pyfuncdbg.hooks.host import Host
from pyfuncdbg.observers.debug.value import array_of


def replacement_value(value: Any, old: Any, host: Host, name: str) -> Any:
    """The host's value that replaces `old`.

    Raises:
        CommandError: Its shape or dtype differs, or it is no number, text or list of them.
    """
    like = host.to_numpy(old)
    array = array_of(value, host)
    if array is None:
        array = _from_python(value, like, name)
    if array.shape != like.shape or array.dtype != like.dtype:
        raise CommandError(f'{name} is {_type(like)}, and this is {_type(array)}: a value that replaces it must have the '
                           'same shape and dtype. Nothing was changed.')
    try:
        return host.from_numpy(array, old)
    except ValueError as error:
        raise CommandError(f'{name} cannot be replaced: {error}. Nothing was changed.') from None


def _from_python(value: Any, like: np.ndarray, name: str) -> np.ndarray:
    try:
        # NumPy's own type for bytes strips NULs at the end.
        array = np.asarray(value, object if isinstance(value, bytes) and like.dtype == object else None)
    except ValueError:
        raise CommandError(f'{name} is {_type(like)}, and this list has rows of different lengths') from None
    if isinstance(value, bytes) and array.dtype == object:
        return array
    if like.dtype == object and array.dtype.kind in 'US':
        boxed = np.empty(array.shape, object)
        boxed[...] = np.vectorize(lambda item: item.encode() if isinstance(item, str) else item, otypes=[object])(array)
        return boxed
    if array.dtype.kind not in 'biufc':
        raise CommandError(f'{name} is {_type(like)}, and this is a {type(value).__name__}: expected numbers or an array')
    with np.errstate(all='ignore'):
        cast = array.astype(like.dtype)
    if cast.dtype != object and _is_exact(array, cast):
        return cast
    raise CommandError(f'{name} is {_type(like)}, which does not hold {value!r:.80}. Nothing was changed.')


def _is_exact(array: np.ndarray, cast: np.ndarray) -> bool:
    """Whether numbers mean the same in another dtype; floats may be rounded, as in the program's own text."""
    if array.dtype.kind == 'f' and cast.dtype.kind in 'fc':
        return bool(np.all(np.isfinite(cast) == np.isfinite(array)))
    if cast.dtype.kind == 'b':
        return array.dtype.kind == 'b'
    return bool(np.all(array == cast))


def _type(array: np.ndarray) -> str:
    dtype = 'string' if array.dtype == object else str(array.dtype)
    return f'{dtype}[{",".join(map(str, array.shape))}]'
