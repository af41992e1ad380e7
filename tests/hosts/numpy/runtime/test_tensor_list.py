"""Lists as values: a write gives a new list, and every version stays what it was."""
from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from pyfuncdbg.errors import InvalidArgumentError
from pyfuncdbg.hosts.numpy.runtime.control_flow.tensor_list import TensorList, zero_of

WRITES = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 4), st.integers(0, 99), st.booleans()), max_size=30)


@given(WRITES)
def test_every_version_stays_what_it_was(writes: list[tuple[int, int, int, bool]]) -> None:
    versions, expected = [TensorList([None] * 5)], [[None] * 5]
    for which, cell, value, push in writes:
        which %= len(versions)
        model = list(expected[which])
        if push:
            versions.append(versions[which].pushed([value]))
            model.append(value)
        else:
            versions.append(versions[which].replaced(cell, value))
            model[cell] = value
        expected.append(model)
    assert [version.items() for version in versions] == expected
    assert [[version.get(i) for i in range(version.size)] for version in versions] == expected


def test_a_chain_of_writes_has_one_list_of_cells() -> None:
    newest = first = TensorList([0] * 100)
    for i in range(100):
        newest = newest.replaced(i, 1)
    assert newest.items() == [1] * 100 and first.items() == [0] * 100
    assert first._cells == [] and len(newest._cells) == 100


def test_lists_are_added_cell_by_cell_and_nothing_counts_as_zero() -> None:
    a, b = TensorList([1, None, None, 4]), TensorList([10, 20, None, None])
    assert (a + b).items() == [11, 20, None, 4]
    with pytest.raises(InvalidArgumentError, match='different lengths, one is 4 and the other is 1'):
        a + TensorList([1])


def test_zeros_have_the_shapes_of_the_values() -> None:
    assert zero_of(np.float32(3)) == 0 and zero_of(np.float32(3)).dtype == np.float32
    zeros = zero_of(TensorList([np.ones((2, 3)), None, np.array([b'a'], object)])).items()
    assert zeros[0].shape == (2, 3) and not zeros[0].any() and zeros[1] is None and zeros[2].tolist() == [b'']
