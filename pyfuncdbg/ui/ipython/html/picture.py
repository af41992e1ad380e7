"""The picture of an array: a curve for one axis, a heat map for two, slices for more.

Pure; called by `page` where a view has a `Picture`.
"""
from __future__ import annotations

import numpy as np

from pyfuncdbg.ui.ipython.html.curve import curve_html
from pyfuncdbg.ui.ipython.html.element import Html, element, joined
from pyfuncdbg.ui.ipython.html.heatmap import heatmap_html
from pyfuncdbg.ui.ipython.html.pages import paged
from pyfuncdbg.ui.views.pictures.picture import choose_axes, index_text, is_part

SLICES = 8
"""Slices that can be chosen."""
_ROWS, _COLUMNS = 24, 32
"""Cells of one of several heat maps: all of them are in the notebook's file."""


def picture_html(array: np.ndarray, near: tuple[int, ...] | None = None) -> Html:
    """The picture that the terminal has, and where it is of a slice, those beside it.

    Args:
        array: For which `pictures.picture.has_picture` is true.
        near: Index that must be in the slice that is shown first.
    """
    index = choose_axes(array.shape, near)
    if not is_part(index, array.shape):
        return _drawn(array[index])
    axis = max(i for i, one in enumerate(index) if isinstance(one, int) and array.shape[i] > 1)
    at = index[axis]
    assert isinstance(at, int), 'that axis is not drawn'
    first = max(0, min(at - SLICES // 2, array.shape[axis] - SLICES))
    indices = [(*index[:axis], i, *index[axis + 1:]) for i in range(first, min(first + SLICES, array.shape[axis]))]
    return paged([_drawn(array[one], _ROWS, _COLUMNS) for one in indices], [index_text(one) for one in indices],
                 f'slices of {array.shape[axis]:,}:', at - first)


def small_picture_html(array: np.ndarray, near: tuple[int, ...] | None = None) -> Html:
    """The picture for a card on which there are several: of more than two axes one slice."""
    index = choose_axes(array.shape, near)
    part = _drawn(array[index], _ROWS, _COLUMNS)
    return joined(element('div', f'of {index_text(index)}', class_='pf-d'), part) if is_part(index, array.shape) else part


def _drawn(part: np.ndarray, *cells: int) -> Html:
    return curve_html(part) if part.ndim == 1 else heatmap_html(part, *cells)
