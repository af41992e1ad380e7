"""Which part of an array is drawn."""
from __future__ import annotations

import numpy as np
import pytest

from pyfuncdbg.ui.views.pictures.picture import Picture, choose_axes, has_picture

ALL = slice(None)


@pytest.mark.parametrize(('shape', 'near', 'expected'), [
    ((50,), None, (ALL,)), ((4, 50), None, (ALL, ALL)), ((50, 1), None, (ALL, 0)), ((1, 1, 50), None, (0, 0, ALL)),
    ((3, 4, 5), None, (0, ALL, ALL)), ((3, 4, 5), (2, 1, 1), (2, ALL, ALL)),
    ((32, 28, 28, 1), (5, 1, 1, 0), (5, ALL, ALL, 0)),
    ((32, 28, 28, 3), (5, 1, 1, 2), (5, ALL, ALL, 2)),      # height and width of an image, at its bad channel
    ((9, 28, 3), None, (ALL, ALL, 0)), ((2, 3, 3), None, (0, ALL, ALL)),
])
def test_the_axes_that_are_drawn(shape, near, expected):
    assert choose_axes(shape, near) == expected


@pytest.mark.parametrize(('array', 'expected'), [
    (np.zeros(40), True), (np.zeros((8, 8), bool), True), (np.zeros(4), False), (np.zeros((0, 9)), False),
    (np.array([b'x'] * 40, object), False), (np.array(['x'] * 40), False), (np.zeros(40, 'M8[s]'), False),
    (np.zeros((40,), complex), True), (np.array(1.0), False),
])
def test_what_has_a_picture(array, expected):
    assert has_picture(array) is expected


def test_the_slice_is_named(draw):
    array = np.zeros((3, 6, 6))
    array[2, 5, 0] = np.nan
    text = draw(Picture(array, (2, 5, 0)))
    assert text.splitlines()[0] == 'of [2, :, :]'
    assert 'N NaN' in text
    assert 'of [' not in draw(Picture(array[0]))
