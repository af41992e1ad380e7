"""The pictures of a call: one for each input and output that has one, behind a line to click on.

Pure; called by `displays`, below the call's card.
"""
from __future__ import annotations

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


def call_pictures(call: CallRecord) -> Html:
    """The pictures, those of tensors with NaN or infinities open; empty if there are none."""
    titles = [*input_titles(call), *(f'out {i}' for i in range(len(call.outputs)))]
    found = [drawn for title, tensor in zip(titles, (*call.inputs, *call.outputs), strict=True)
             if (drawn := _picture(title, tensor))]
    return joined(*found[:MOST])


def _picture(title: str, tensor: TensorRecord) -> Html:
    stats = tensor.stats
    if tensor.level != 'full' or tensor.nbytes > _LARGEST:
        return Html()
    try:
        values = tensor.to_numpy()
    except DroppedError:
        return Html()
    if not has_picture(values):
        return Html()
    near, bad = (stats.first_bad, stats.bad > 0) if stats is not None else (None, False)
    name = f'picture of {one_line(title, 60)} {one_line(tensor.name, 60)}'
    return element('details', element('summary', name), small_picture_html(values, near), open=bad)
