"""Alignment of calls: random edits are found where they are made, in short lists and in long ones."""
from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from pyfuncdbg.observers.debug.comparison import call_alignment
from pyfuncdbg.observers.debug.comparison.call_alignment import CallKeys, align

edits = st.dictionaries(st.integers(0, 39), st.sampled_from(['changed', 'dropped', 'added']), max_size=8)
Pairs = list[tuple[int | None, int | None]]


def pairs_of(one: list[int], two: list[int], inputs: tuple[list[int], list[int]] | None = None, *,
             ordered: bool = True) -> Pairs:
    """The pairs of two lists of digests."""
    inputs = inputs or (one, two)
    left, right = align(*(CallKeys(np.array(side, np.uint64), np.array(own, np.uint64)) for side, own in zip(
        (one, two), inputs, strict=True)), ordered=ordered)
    return [(None if first < 0 else first, None if second < 0 else second)
            for first, second in zip(left.tolist(), right.tolist(), strict=True)]


@pytest.mark.parametrize('most', [2000, 4])
@given(edits)
def test_random_edits_are_found_exactly(most: int, changes: dict[int, str]) -> None:
    one = list(range(40))
    two: list[int] = []
    expected: Pairs = []
    for place in one:
        edit = changes.get(place)
        if edit == 'added':
            expected.append((None, len(two)))
            two.append(1000 + place)
        if edit == 'dropped':
            expected.append((place, None))
            continue
        expected.append((place, len(two)))
        two.append(500 + place if edit == 'changed' else place)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(call_alignment, 'MOST', most)
        pairs = pairs_of(one, two)
    if _edits_touch(changes):                   # next to each other a drop and an addition are a change
        assert [pair for pair in pairs if _equal(pair, one, two)] == [pair for pair in expected if _equal(pair, one, two)]
    else:
        assert pairs == expected


def _equal(pair: tuple[int | None, int | None], one: list[int], two: list[int]) -> bool:
    return pair[0] is not None and pair[1] is not None and one[pair[0]] == two[pair[1]]


def _edits_touch(changes: dict[int, str]) -> bool:
    return any(place + 1 in changes for place in changes)


@given(st.lists(st.integers(0, 2), max_size=30), st.lists(st.integers(0, 2), max_size=30), st.booleans(),
       st.sampled_from([2000, 4]))
def test_every_call_is_in_one_pair(one: list[int], two: list[int], ordered: bool, most: int) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(call_alignment, 'MOST', most)
        pairs = pairs_of(one, two, ordered=ordered)
    assert sorted(left for left, _ in pairs if left is not None) == list(range(len(one)))
    assert sorted(right for _, right in pairs if right is not None) == list(range(len(two)))
    assert all(pair != (None, None) for pair in pairs)


def test_an_added_call_before_ten_thousand_is_one_edit() -> None:
    one = list(range(10_000))
    pairs = pairs_of(one, [77_777, *one[:5_000], 88_888, *one[5_001:]])
    assert [pair for pair in pairs if not _equal(pair, one, [77_777, *one[:5_000], 88_888, *one[5_001:]])] == [
        (None, 0), (5_000, 5_001)]


def test_calls_whose_results_all_differ_are_aligned_by_their_inputs() -> None:
    inputs = list(range(10))
    one, two = [100 + number for number in inputs], [255, *(200 + number for number in inputs)]
    pairs = pairs_of(one, two, (inputs, [55, *inputs]))
    assert pairs == [(None, 0), *((number, number + 1) for number in inputs)]


def test_equal_calls_of_several_threads_belong_together() -> None:
    one, two = [1, 2, 3, 3, 4, 9], [3, 2, 1, 7, 3, 9]
    assert sorted(pairs_of(one, two, ordered=False), key=str) == [(0, 2), (1, 1), (2, 0), (3, 4), (4, 3), (5, 5)]
    assert pairs_of([1, 2, 3], [3, 1], ordered=False) == [(0, 1), (2, 0), (1, None)]
