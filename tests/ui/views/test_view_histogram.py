"""Bars say which bins are empty, which is highest, and where the range ends."""
from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from pyfuncdbg.ui.views.pictures.histogram import ASCII, BLOCKS, bar, bar_with_range


def test_height_follows_the_count():
    assert bar((0, 1, 50, 100)) == ' ▁▄█'
    assert bar((0, 1, 50, 100), ascii_only=True) == ' _-#'


@given(st.lists(st.integers(0, 10**9), min_size=1, max_size=40))
def test_only_empty_bins_are_blank_and_the_highest_is_full(counts):
    for marks, ascii_only in ((BLOCKS, False), (ASCII, True)):
        line = bar(counts, ascii_only=ascii_only)
        assert len(line) == len(counts)
        for count, mark in zip(counts, line, strict=True):
            assert (mark == ' ') == (count == 0)
            if count == max(counts) > 0:
                assert mark == marks[-1]


def test_neighbours_are_added_up_when_there_is_no_room():
    assert bar((1, 1, 0, 0, 4, 4), 3) == '▂ █'
    assert len(bar((1,) * 20, 12)) <= 12


@pytest.mark.parametrize(('low', 'high', 'line'), [(0.0, 1.43, '0 |█ ▄| 1.43'), (None, None, '')])
def test_range_is_written_on_both_sides(low, high, line):
    assert bar_with_range((4, 0, 2), low, high) == line
