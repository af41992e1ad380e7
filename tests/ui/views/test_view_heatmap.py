"""Heat maps: every element has its cell, what is not finite a letter, on consoles with and without colour."""
from __future__ import annotations

import re

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as hnp

from pyfuncdbg.ui.views.pictures.heatmap import SHADES, HeatMap, blocks, plain_numbers, starts

STYLES = re.compile(r'\x1b\[[\d;]*m')


def test_shades_go_from_the_least_to_the_greatest(draw):
    lines = draw(HeatMap(np.arange(30.0).reshape(1, 30)), 40).splitlines()
    assert lines[0].split() == ['0', '10', '20']
    assert lines[1] == '0 ' + ''.join(SHADES[round(i / 29 * 9)] for i in range(30))
    assert lines[2] == f'  0 |{SHADES}| 29'


def test_few_rows_have_room_for_two_characters_an_element(draw):
    lines = draw(HeatMap(np.array([[0.0, 9], [9, 0]])), 40).splitlines()
    assert lines[1:3] == ['0   @@', '1 @@  ']


def test_nan_and_infinity_are_letters_at_their_place(draw):
    array = np.zeros((3, 30))
    array[1, 4], array[2, 29], array[0, 0] = np.nan, -np.inf, 5
    lines = draw(HeatMap(array), 80).splitlines()
    assert lines[1][2] == lines[1][3] == '@'
    assert (lines[2].index('NN'), lines[3].index('II')) == (2 + 2 * 4, 2 + 2 * 29)
    assert 'N NaN' in lines[4] and 'I infinity' in lines[4]


def test_one_bad_element_of_a_thousand_is_not_averaged_away(draw):
    array = np.zeros((1000, 1000))
    array[777, 333] = np.nan
    text = draw(HeatMap(array), 80)
    assert text.count('N') == 1 + 3                     # the cell, and 'N NaN' below
    hit, = (line for line in text.splitlines()[1:17] if 'N' in line)
    assert int(hit.split()[0]) <= 777 < int(hit.split()[0]) + 63
    assert 'each cell the mean of 63 x 14 elements' in text


def test_colour_pairs_two_rows_in_half_blocks(draw):
    array = np.arange(20.0 * 30).reshape(20, 30)
    array[4, 2], array[7, 3], array[8:10, 5] = np.nan, np.inf, np.nan
    plain = STYLES.sub('', draw(HeatMap(array), 80, color=True))
    lines = plain.splitlines()
    assert lines[3] == ' 4 ' + '▀' * 2 + 'ⁿ' + '▀' * 27
    assert lines[4] == ' 6 ' + '▀' * 3 + 'ᵢ' + '▀' * 26
    assert lines[5] == ' 8 ' + '▀' * 5 + 'N' + '▀' * 24
    assert 'ⁿ upper, ₙ lower row' in ' '.join(lines[11:])


def test_zero_is_white_where_there_are_both_signs(draw):
    text = draw(HeatMap(np.array([[-1.0, 0, 4]])), 40, color=True)
    assert '48;2;247;247;247' in text
    assert '48;2;178;24;43' in text                     # the most extreme value has the full colour, the other does not
    assert '48;2;33;102;172' not in text


@pytest.mark.parametrize('array', [
    np.full((3, 3), np.nan), np.zeros((0, 4)), np.full((2, 2), 7.0), np.full((20, 20), np.inf), np.array([[1e308, -1e308]]),
    np.array([[True, False]]), np.array([[1 + 2j, np.nan]]), np.array([[2**64 - 1, 0]], np.uint64),
    np.array([[1, 2]], ml_dtypes.bfloat16), np.array([[1, 2]], ml_dtypes.float8_e4m3fn), np.array([[5e-324, 0]]),
])
@pytest.mark.parametrize('width', [5, 20, 80, 400])
@pytest.mark.parametrize('color', [False, True])
def test_any_matrix_at_any_width(draw, array, width, color):
    text = STYLES.sub('', draw(HeatMap(array), width, color=color))
    assert text.strip()
    assert all(len(line) <= width for line in text.splitlines())


def test_a_finite_number_never_becomes_an_infinite_one():
    wide = np.array([[np.finfo(np.longdouble).max, -1]], np.longdouble)
    assert np.isfinite(plain_numbers(wide)).all()


@given(hnp.arrays(np.float32, hnp.array_shapes(min_dims=2, max_dims=2, max_side=40)), st.integers(1, 10), st.integers(1, 10))
def test_blocks_cover_every_element_once(array, rows, columns):
    numbers = plain_numbers(array)
    grid = blocks(numbers, rows, columns)
    assert grid.cells.shape == (len(grid.rows), len(grid.columns))
    assert len(grid.rows) <= rows and len(grid.columns) <= columns
    for i, top in enumerate(grid.rows):
        for j, left in enumerate(grid.columns):
            part = numbers[top:[*grid.rows, None][i + 1], left:[*grid.columns, None][j + 1]]
            assert grid.bad[i, j] == (1 if np.isnan(part).any() else 2 if np.isinf(part).any() else 0)
            finite = part[np.isfinite(part)]
            if finite.size:
                np.testing.assert_allclose(grid.cells[i, j], finite.mean(), rtol=1e-9, atol=1e-9 * np.abs(finite).max())
            else:
                assert np.isnan(grid.cells[i, j])


@given(st.integers(1, 10_000), st.integers(1, 300))
def test_blocks_are_few_and_begin_at_zero(size, most):
    found = starts(size, most)
    assert found[0] == 0
    assert len(found) <= most
    assert found == list(range(0, size, found[1] if len(found) > 1 else size))
