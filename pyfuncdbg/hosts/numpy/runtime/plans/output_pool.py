"""Warm arrays for the outputs of recorded ops: the recorder's writer gives back what it has written.

A recorded plan keeps each output until the recorder has it, so that it cannot write into memory that it has just read; new
memory for each would cost more than the ops. Taken on the thread of a run, given on the writer's.
"""
from __future__ import annotations

import sys
from collections import deque
from functools import partial
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from pyfuncdbg.hooks.chain import hooks

_IDLE = 8 << 20
"""Bytes of unused arrays of one type and shape; between `_FEWEST` and `_MOST` arrays, however large or small."""
_FEWEST, _MOST = 2, 1024


def _references(values: list[Any]) -> int:
    value = values.pop()
    return sys.getrefcount(value)


_SOLE = _references([np.empty(1)])
"""What `sys.getrefcount` gives for an object that only a local refers to; versions of Python count differently."""


_unused: WeakValueDictionary[tuple[np.dtype[Any], tuple[int, ...]], deque[np.ndarray]] = WeakValueDictionary()
"""By type and shape; they go with the last plan that takes some."""


def unused_arrays(dtype: np.dtype[Any], shape: tuple[int, ...]) -> tuple[deque[np.ndarray], partial[np.ndarray]]:
    """The unused arrays of a type and shape, and what makes another one.

    Args:
        dtype, shape: Of the output of a step.
    """
    arrays = _unused.get((dtype, shape))
    if arrays is None:
        arrays = _unused[dtype, shape] = deque()
    return arrays, partial(np.empty, shape, dtype)


def recycle(values: list[Any]) -> None:
    """Take back values of a recorded run; arrays that nothing else refers to are used again.

    Args:
        values: Emptied.
    """
    if hooks.op_recorder is None:
        for arrays in list(_unused.values()):
            arrays.clear()
        return
    dtype: np.dtype[Any] | None = None
    shape: tuple[int, ...] = ()
    same: deque[np.ndarray] | None = None
    most = 0
    while values:
        value = values.pop()
        if type(value) is np.ndarray and value.base is None and sys.getrefcount(value) <= _SOLE:
            if value.dtype is not dtype or value.shape != shape:        # most are as the one before
                dtype, shape = value.dtype, value.shape
                same = _unused.get((dtype, shape))
                most = min(max(_FEWEST, _IDLE // max(value.nbytes, 1)), _MOST)
            if same is not None and len(same) < most:
                same.append(value)
