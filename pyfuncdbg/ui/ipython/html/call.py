"""The pictures of a call: one for each input and output that has one, behind a line to click on.

`displays` loads the values and has the pictures drawn, below the call's card.
"""
from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pyfuncdbg.errors import DroppedError
from pyfuncdbg.observers.record.records import CallRecord, TensorRecord
from pyfuncdbg.ui.ipython.html.element import Html, element, joined
from pyfuncdbg.ui.ipython.html.picture import small_picture_html
from pyfuncdbg.ui.views.calls.call import input_titles
from pyfuncdbg.ui.views.escape import one_line
from pyfuncdbg.ui.views.pictures.picture import has_picture

MOST = 8
"""Pictures of one call."""
_LARGEST = 16 << 20
"""Bytes of a tensor that are read for one."""


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
    return joined(*map(_drawn, pictures))


def _drawn(picture: TensorPicture) -> Html:
    tensor, stats = picture.tensor, picture.tensor.stats
    near, bad = (stats.first_bad, stats.bad > 0) if stats is not None else (None, False)
    name = f'picture of {one_line(picture.title, 60)} {one_line(tensor.name, 60)}'
    return element('details', element('summary', name), small_picture_html(picture.values, near), open=bad)
