"""Curves: the finite elements between their least and greatest value, letters where an element is not finite."""
from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as hnp

from pyfuncdbg.ui.views.pictures.curve import HEIGHT, Curve


def test_a_line_that_rises(draw):
    lines = draw(Curve(np.arange(40.0), height=2), 30, ascii_only=True).splitlines()
    plot = [line[4:] for line in lines[:8]]
    assert (lines[0].split()[0], lines[7].split()[0]) == ('39', '0') if len(lines) > 8 else True
    columns = [{row for row, line in enumerate(plot) if line[x:x + 1] == '*'} for x in range(25)]
    assert max(columns[0], default=0) >= max(columns[-1], default=0)


def test_labels_are_the_range_and_the_indices(draw):
    lines = draw(Curve(np.linspace(-1, 3, 60)), 80).splitlines()
    assert len(lines) == HEIGHT + 1
    assert lines[0].split()[0] == '3'
    assert lines[HEIGHT - 1].split()[0] == '-1'
    assert lines[-1].split() == ['0', '10', '20', '30', '40', '50']


def test_bad_elements_are_letters_below_their_place(draw):
    array = np.zeros(60)
    array[[7, 8]], array[59], array[30] = np.nan, np.inf, 1.0
    lines = draw(Curve(array), 80).splitlines()
    marks = lines[HEIGHT]
    assert marks.split()[0] == 'bad'
    start = marks.index('bad') + 4
    assert [i - start for i, c in enumerate(marks) if c in 'NI' and i >= start] == [7, 8, 59]
    assert lines[-1].split() == ['N', 'NaN', 'I', 'infinity']


def test_one_bad_element_of_many_is_not_lost(draw):
    array = np.zeros(100_000)
    array[77_777] = np.nan
    line = next(line for line in draw(Curve(array), 80).splitlines() if 'bad' in line)
    assert line.count('N') == 1
    assert abs((line.index('N') - 4) / 75 - 0.77777) < 0.03


def test_one_spike_of_many_is_not_lost(draw):
    array = np.zeros(100_000)
    array[50_000] = 1
    top = draw(Curve(array), 80).splitlines()[0]
    assert top.split()[0] == '1'
    assert any(c > '\u2800' for c in top)


def test_the_curve_is_broken_where_an_element_is_bad(draw):
    array = np.ones(40)
    array[1::2] = 0
    array[10:30] = np.nan
    lines = draw(Curve(array), 80, ascii_only=True).splitlines()
    assert all(line[4 + 12:4 + 28].strip() == '' for line in lines if '*' in line)


@pytest.mark.parametrize('array', [np.full(5, np.nan), np.zeros(0), np.full(9, 3.0), np.array([1e308, -1e308]), np.ones(1),
                                   np.array([True, False] * 9), np.array([1 + 1j, 2, np.inf]), np.array([-np.inf, np.inf])])
@pytest.mark.parametrize('width', [5, 20, 80, 400])
@pytest.mark.parametrize('ascii_only', [False, True])
def test_any_vector_at_any_width(draw, array, width, ascii_only):
    text = draw(Curve(array), width, ascii_only=ascii_only)
    assert text.strip()
    assert all(len(line) <= width for line in text.splitlines())
    assert not ascii_only or text.isascii()


@given(hnp.arrays(np.float64, st.integers(1, 300)), st.sampled_from([20, 80]))
def test_every_bad_element_has_a_mark(draw, array, width):
    text = draw(Curve(array), width)
    assert ('N NaN' in text) == bool(np.isnan(array).any()) or np.isinf(array).any()
    assert ('bad ' in text) == (not np.isfinite(array).all())
