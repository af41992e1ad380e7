"""Alignment of calls: random edits of a sequence are found as they were made."""
from __future__ import annotations

from hypothesis import given, strategies as st

from pyfuncdbg.observers.debug.comparison import call_alignment
from pyfuncdbg.observers.debug.comparison.call_alignment import align

edits = st.dictionaries(st.integers(0, 29), st.sampled_from(['change', 'remove', 'insert before']), max_size=6)


@given(edits)
def test_random_edits_are_found_exactly(changes: dict[int, str]) -> None:
    one = list(range(30))
    two, expected = [], []
    for place in one:
        change = changes.get(place)
        # A change beside another one cannot be told from a removal and an insertion.
        if change is not None and (place - 1 in changes or place + 1 in changes):
            change = None
        if change == 'insert before':
            expected.append((None, len(two)))
            two.append(-place - 1000)
        if change == 'remove':
            expected.append((place, None))
        else:
            expected.append((place, len(two)))
            two.append(-place - 1 if change == 'change' else place)
    assert align(one, two) == expected


@given(st.lists(st.integers(0, 3), max_size=12), st.lists(st.integers(0, 3), max_size=12))
def test_every_call_of_both_sides_is_in_one_pair_in_order(one: list[int], two: list[int]) -> None:
    pairs = align(one, two)
    assert [first for first, _ in pairs if first is not None] == list(range(len(one)))
    assert [second for _, second in pairs if second is not None] == list(range(len(two)))
    unequal = sum(first is None or second is None or one[first] != two[second] for first, second in pairs)
    by_position = sum(first != second for first, second in zip(one, two, strict=False)) + abs(len(one) - len(two))
    assert unequal <= by_position


def test_calls_that_all_differ_are_paired_by_position() -> None:
    assert align('abcd', 'wxy') == [(0, 0), (1, 1), (2, 2), (3, None)]


def test_more_calls_than_can_be_aligned_by_content_are_aligned_by_position(monkeypatch) -> None:
    assert align('xabcdey', 'zbcdeqw') == [(0, 0), (1, None), (2, 1), (3, 2), (4, 3), (5, 4),
                                             (6, 5), (None, 6)]
    monkeypatch.setattr(call_alignment, 'MOST', 5)
    assert align('xabcdey', 'zbcdeqw') == [(place, place) for place in range(7)]
