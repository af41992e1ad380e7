"""The picture of an array: a curve for one axis, a heat map for two, slices for more.

Pure; called by `page` where a view has a `Picture`.

Of a call each input and output that has a picture has it behind a line to click on, below the card of the call.
"""
from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pyfuncdbg.errors import DroppedError
from pyfuncdbg.observers.record.records import CallRecord, TensorRecord
from pyfuncdbg.ui.html.curve import curve_html
from pyfuncdbg.ui.html.element import Html, element, joined
from pyfuncdbg.ui.html.heatmap import heatmap_html
from pyfuncdbg.ui.html.pages import paged
from pyfuncdbg.ui.views.calls.call import input_titles
from pyfuncdbg.ui.views.escape import one_line
from pyfuncdbg.ui.views.pictures.picture import choose_axes, has_picture, index_text, is_part

SLICES = 8
"""Slices that can be chosen."""
_ROWS, _COLUMNS = 24, 32
"""Cells of one of several heat maps: all of them are in the notebook's file."""
MOST = 8
"""Pictures of one call."""


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


@dataclass(frozen=True, slots=True)
class TensorPicture:
    """A tensor of a call, and its values."""

    title: str
    tensor: TensorRecord
    values: np.ndarray


def load_pictures(call: CallRecord) -> tuple[TensorPicture, ...]:
    """The tensors of a call that can be drawn, as many as are shown."""
    titles = [*input_titles(call), *(f'out {i}' for i in range(len(call.outputs)))]
    tensors = zip(titles, (*call.inputs, *call.outputs), strict=True)
    return tuple(itertools.islice((TensorPicture(title, tensor, values) for title, tensor in tensors
                                   if (values := _values(tensor)) is not None), MOST))


_LARGEST = 16 << 20
"""Bytes of a tensor that are read for one."""


def _values(tensor: TensorRecord) -> np.ndarray | None:
    if tensor.level != 'full' or tensor.nbytes > _LARGEST:
        return None
    try:
        values = tensor.to_numpy()
    except DroppedError:
        return None
    return values if has_picture(values) else None


def call_pictures(pictures: Sequence[TensorPicture]) -> Html:
    """The pictures, those of tensors with NaN or infinities open; empty if there are none."""
    return joined(*map(_drawn_input, pictures))


def _drawn_input(picture: TensorPicture) -> Html:
    tensor, stats = picture.tensor, picture.tensor.stats
    near, bad = (stats.first_bad, stats.bad > 0) if stats is not None else (None, False)
    name = f'picture of {one_line(picture.title, 60)} {one_line(tensor.name, 60)}'
    return element('details', element('summary', name), small_picture_html(picture.values, near), open=bad)
