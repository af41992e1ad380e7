"""One tensor in full, or a slice of it (`pt`)."""
from __future__ import annotations

import numpy as np
from rich.text import Text

from pyfuncdbg.record.records import TensorRecord
from pyfuncdbg.views.escape import label, one_line, visible
from pyfuncdbg.views.page import Page, Part
from pyfuncdbg.views.preview import Ranges, preview
from pyfuncdbg.views.tensor import summary, tensor_line


def value_view(tensor: TensorRecord, title: str, values: np.ndarray | None, *, index: str = '', limit: int = 1000,
               ranges: Ranges = (), written: str = '') -> Page:
    """A tensor's line, its two summary rows and its elements.

    Args:
        tensor: The record; of the slice, if there is one.
        title: Where the tensor was, such as 'output 0 of call #17 norm[3]'.
        values: What to list; None for the summary only.
        index: The slice as typed.
        limit: Elements to show.
        ranges: Elements in them are marked with '*', and counted.
        written: File to which the values went.
    """
    line = tensor_line(tensor)
    if index:
        line = Text.assemble((one_line(index, 60), 'bold'), ' of ', line, overflow='fold')
    parts: list[Part] = [line, label(title, 'dim'), lambda options: summary(tensor, options)]
    if values is not None:
        if ranges and values.dtype.kind in 'biuf':
            parts.append(_matches(values, ranges))
        parts.append(preview(values, limit, ranges=ranges))
    elif tensor.level != 'full':
        parts.append(Text('elements not kept' + (f' ({visible(tensor.note)})' if tensor.note else ''), 'dim'))
    if written:
        parts.append(label(f'written to {written}', 'green'))
    return Page(*parts)


def _matches(values: np.ndarray, ranges: Ranges) -> Text:
    inside = np.zeros(values.shape, bool)
    for low, high in ranges:
        inside |= (values >= low) & (values <= high)
    named = ', '.join(f'[{low:g}, {high:g}]' for low, high in ranges)
    return Text(f'{int(inside.sum()):,} of {values.size:,} elements in {named}, marked *', 'bold')


if __name__ == '__main__':
    from pyfuncdbg.views.page import demo
    from pyfuncdbg.views.sample import sample
    norm = sample().call(3).outputs[0]
    demo(value_view(norm, 'output 0 of call #3 norm[1]', norm.to_numpy(), ranges=((-2.0, 0.0),)))
