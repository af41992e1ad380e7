"""One tensor or a slice of it (`pt`): name, origin of NaN, summary, picture, elements."""
from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from rich.text import Text

from pyfuncdbg.observers.debug.numerics.nan_origin import Provenance
from pyfuncdbg.observers.record.dtypes import as_numbers
from pyfuncdbg.observers.record.elements import LIMIT
from pyfuncdbg.observers.record.records import TensorRecord
from pyfuncdbg.ui.views.escape import label, one_line, visible
from pyfuncdbg.ui.views.labels import call_number_text
from pyfuncdbg.ui.views.page import Page, Part
from pyfuncdbg.ui.views.pictures.element_table import Ranges, element, preview
from pyfuncdbg.ui.views.pictures.picture import Picture, has_picture
from pyfuncdbg.ui.views.sources.source import place
from pyfuncdbg.ui.views.tensors.tensor import summary, tensor_line

ELEMENTS = 1_000
"""Elements listed where there is no picture."""
_MATCHES = 8
"""Elements of a range that are listed with their index."""


def value_view(tensor: TensorRecord, title: str, values: np.ndarray | None, *, index: str = '', limit: int | None = None,
               ranges: Ranges = (), written: str = '', origin: Provenance | None = None, drawn: bool = True) -> Page:
    """Everything about one tensor.

    Args:
        tensor: The record; of the slice, if there is one.
        title: Where the tensor was, such as 'output 0 of call #17 norm[3]'.
        values: What to show; None for the summary only.
        index: The slice as typed.
        limit: Elements to list; None: few beside a picture of the whole, more otherwise.
        ranges: Elements in them are marked with '*', counted and listed.
        written: File to which the values went.
        origin: Where what is not finite began.
        drawn: With a picture, if there is one.
    """
    line = tensor_line(tensor)
    if index:
        line = Text.assemble((one_line(index, 60), 'bold'), ' of ', line, overflow='fold')
    parts: list[Part] = [line, label(title, 'dim')]
    summary_line = Text('; ').join(part for part in (where_bad(values) if values is not None else Text(),
                                                     origin_line(origin) if origin is not None else Text()) if part)
    if summary_line:
        parts.append(Text.assemble(('not finite: ', 'red'), summary_line, overflow='fold'))
    parts.append(lambda options: summary(tensor, options))
    if values is not None:
        parts += _shown(tensor, values, limit, ranges, drawn=drawn, whole=not index)
    elif tensor.level != 'full':
        parts.append(Text('elements not kept' + (f' ({visible(tensor.note)})' if tensor.note else ''), 'dim'))
    if written:
        parts.append(label(f'written to {written}', 'green'))
    return Page(*parts)


def _shown(tensor: TensorRecord, values: np.ndarray, limit: int | None, ranges: Ranges, *, drawn: bool,
           whole: bool) -> list[Part]:
    """The elements in a range, the picture, the elements."""
    parts: list[Part] = []
    near = tensor.stats.first_bad if tensor.stats is not None else None
    inside = _in_ranges(values, ranges)
    if inside is not None:
        found = np.argwhere(inside)[:_MATCHES].tolist()
        parts.append(_matches(values, ranges, int(np.count_nonzero(inside)), found))
        near = tuple(found[0]) if found else near
    pictured = drawn and has_picture(values)
    if pictured:
        parts.append(Picture(values, near))
    elements = limit if limit is not None else LIMIT if pictured and whole else ELEMENTS
    parts.append(preview(values, elements, ranges=ranges, near=near))
    return parts


def origin_line(origin: Provenance) -> Text:
    """'inherited, born in call #313 normalize[26] at train.py:48', as far as that is known."""
    likely = '' if origin.certain else 'likely '
    words = {'born': 'born', 'suspected': 'likely born', 'fed': 'fed', 'entered': 'came in from nodes not recorded,'}
    how = words.get(origin.verdict) or one_line(origin.verdict, 40)
    where = 'this call' if origin.own_output else f'call #{one_line(origin.number, 20)} {one_line(origin.label, 80)}'
    if origin.number.rpartition('.')[2].startswith('-'):        # of a run: no line, and its name says nothing
        return Text(f'inherited, {likely}{how} into {call_number_text(origin.number)}', 'red', overflow='fold')
    at = 'at' if origin.line_known else 'of the function at'
    return Text.assemble((f'{"" if origin.own_output else "inherited, "}{likely}{how}', 'red'), f' in {where} {at} ',
                         place(origin.filename, origin.line), overflow='fold')


def where_bad(values: np.ndarray) -> Text:
    """'all in row 10 of 32': the fewest indices on one axis that hold all that is not finite; '' if that says nothing."""
    numbers = as_numbers(values)
    if numbers is None or values.ndim < 2 or numbers.dtype.kind not in 'fc':
        return Text()
    bad = ~np.isfinite(numbers)
    if not bad.any() or bad.all():
        return Text()
    axis_hits: list[tuple[float, int, list[int]]] = []
    for axis in range(values.ndim):
        hit = np.flatnonzero(bad.any(axis=tuple(other for other in range(values.ndim) if other != axis))).tolist()
        axis_hits.append((len(hit) / values.shape[axis], axis, hit))
    part, axis, hit = min(axis_hits)
    if part > 0.5:
        return Text()
    names = ('row', 'column') if values.ndim == 2 else tuple(f'axis {i} at' for i in range(values.ndim))
    return Text(f'all in {noun_with_numbers(names[axis], hit)} of {values.shape[axis]:,}', 'red')


def noun_with_numbers(noun: str, numbers: Sequence[int]) -> str:
    """'row 10', 'rows 1, 4, ... (12)'."""
    plural = 's' * (len(numbers) > 1 and not noun.endswith(' at'))
    more = f', ... ({len(numbers):,})' if len(numbers) > 6 else ''
    return f'{noun}{plural} {", ".join(map(str, numbers[:6]))}{more}'


def _in_ranges(values: np.ndarray, ranges: Ranges) -> np.ndarray | None:
    """The elements in a range; None if there is no range, or the elements are no real numbers."""
    numbers = values if values.dtype.kind == 'b' else as_numbers(values)
    if not ranges or numbers is None or numbers.dtype.kind == 'c':
        return None
    inside = np.zeros(values.shape, bool)
    with np.errstate(over='ignore'):            # of a bound that is no number of a small dtype
        for low, high in ranges:
            inside |= (numbers >= low) & (numbers <= high)
    return inside


def _matches(values: np.ndarray, ranges: Ranges, count: int, indices: Sequence[Sequence[int]]) -> Text:
    words = ', '.join(f'[{low:g}, {high:g}]' for low, high in ranges)
    text = Text.assemble((f'{count:,} of {values.size:,} elements in {words}, marked *', 'bold'), overflow='fold')
    numbers = as_numbers(values)
    shown = values if numbers is None else numbers
    if indices:
        listed = ', '.join(f'{index}: {element(shown[tuple(index)].item(), 4)}' for index in indices)
        text.append(f'; at {listed}{", ..." * (count > len(indices))}')
    return text


if __name__ == '__main__':
    from pyfuncdbg.observers.debug.numerics.nan_origin import provenance
    from pyfuncdbg.ui.views.sample_trace import demo, sample
    call = sample().call(3)
    norm = call.outputs[0]
    demo(value_view(norm, 'output 0 of call #3 norm[1]', norm.to_numpy(), ranges=((-2.0, 0.0),),
                    origin=provenance(sample(), sample().call(4), sample().call(4).outputs[0])))
