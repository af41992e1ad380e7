"""Copies of arrays: those that share bytes with the newest of their size, and inputs that a call changes."""
from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, strategies as st

from pyfuncdbg.hosts.numpy.runtime.execution.host import host
from pyfuncdbg.observers.record.snapshots.snapshot import SCALARS, Snapshots
from pyfuncdbg.observers.record.snapshots.snapshot_memory import Allowance, BufferPool

DTYPES = ['<f4', '>f4', '<i4', 'u1', '?', '<c8', '<f2', '<M8[s]', '<m8[ns]', 'V4', ml_dtypes.bfloat16, ml_dtypes.float8_e5m2]
LAYOUTS = ['C', 'F', 'reversed', 'every second', 'read-only', 'transposed']


def snapshots() -> Snapshots:
    return Snapshots('full', 0, Allowance(1 << 30), BufferPool(), lambda condition: False, lambda content: None)


def array_of(dtype: Any, layout: str, first: int) -> np.ndarray:
    """Of 96 bytes and few contents, so that some are equal to the newest, and some in their bytes alone."""
    size = 96 // np.dtype(dtype).itemsize
    data = np.zeros(2 * 96, np.uint8)
    data[::5] = first
    flat = data.view(dtype)
    match layout:
        case 'F':
            return np.asfortranarray(flat[:size].reshape(2, -1))
        case 'reversed':
            return flat[:size][::-1]
        case 'every second':
            return flat[::2]
        case 'transposed':
            return flat[:size].reshape(2, -1).T
        case 'read-only':
            flat.flags.writeable = False
    return flat[:size]


@given(st.lists(st.tuples(st.sampled_from(DTYPES), st.sampled_from(LAYOUTS), st.integers(0, 2)), max_size=12))
def test_copies_are_the_bytes_of_their_arrays(arrays: list[tuple[Any, str, int]]) -> None:
    take = snapshots()
    for dtype, layout, first in arrays:
        array = array_of(dtype, layout, first)
        [taken] = take.take_all([array], host, frozenset(SCALARS))
        assert tuple(taken) == (array.dtype, array.shape, array.tobytes(), False)


@pytest.mark.parametrize('layout', LAYOUTS)
@pytest.mark.parametrize('dtype', DTYPES)
def test_a_change_of_one_element_is_noted(dtype: Any, layout: str) -> None:
    array = array_of(dtype, layout, 0).copy('A')
    view = array[::-1]                          # another layout of the same memory
    take = snapshots()
    taken = list(take.take_all([array, view], host, frozenset(SCALARS)))
    before = array.tobytes()
    take.note_changes(taken, [array, view], host)
    assert [one[3] for one in taken] == [False, False]
    array[(-1,) * array.ndim] = np.frombuffer(b'\7' * array.itemsize, dtype)[0]
    take.note_changes(taken, [array, view], host)
    assert [one[3] for one in taken] == [True, True]
    assert taken[0][2] == before != array.tobytes()


def test_equal_arrays_share_one_copy() -> None:
    take = snapshots()
    array = np.arange(100.)

    def taken(value: np.ndarray) -> Any:
        return take.take_all([value], host, frozenset(SCALARS))[0]
    first = taken(array)
    assert taken(array.copy()) is first
    whole, square = taken(array.view('<i8')), taken(array.reshape(10, 10))
    assert (whole[:3], square[:3]) == ((np.dtype('<i8'), (100,), first[2]), (np.dtype('<f8'), (10, 10), first[2]))
    assert taken(array.reshape(10, 10)) is square


def test_the_allowance_is_charged_once_for_each_copy_that_is_queued() -> None:
    take = snapshots()
    array = np.arange(100.)
    take.take_all([array, array], host, frozenset(SCALARS))
    assert take.allowance.used == 2 * array.nbytes
    take.allowance.give(array.nbytes)
    take.allowance.limit = 3 * array.nbytes
    assert take.allowance.take(2 * array.nbytes)
    assert not take.allowance.take(1)
    assert take.allowance.used == take.allowance.limit


def test_threads_charge_the_allowance_exactly() -> None:
    allowance, interval = Allowance(5), sys.getswitchinterval()

    def charge() -> int:
        most = 0
        for _ in range(30_000):
            if allowance.take(3):
                most = max(most, allowance.used)
                allowance.give(1)
                allowance.give(2)
        return most
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as pool:
            most = [thread.result() for thread in [pool.submit(charge) for _ in range(4)]]
    finally:
        sys.setswitchinterval(interval)
    assert allowance.used == 0
    assert 3 <= max(most) <= 5
