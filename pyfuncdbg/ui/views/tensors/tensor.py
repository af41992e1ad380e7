"""The tensor card: dtype, shape, bytes, flags; category counts, then finite-only statistics; elements on demand."""
from __future__ import annotations

from rich.console import ConsoleOptions
from rich.padding import Padding
from rich.text import Text

from pyfuncdbg.observers.record.elements import Elements
from pyfuncdbg.observers.record.records import Stats, TensorRecord
from pyfuncdbg.ui.views.escape import one_line
from pyfuncdbg.ui.views.flags import flag_line, flags, of_magnitudes
from pyfuncdbg.ui.views.page import Page, Part
from pyfuncdbg.ui.views.pictures.element_table import element_table
from pyfuncdbg.ui.views.pictures.histogram import histogram_bar
from pyfuncdbg.ui.views.units import size, value

_BINS, _FEWEST = 32, 4
"""Bins of a histogram."""


def tensor_card(tensor: TensorRecord, title: str = '', *, elements: bool = True) -> Page:
    """Everything about one tensor.

    Args:
        tensor: As recorded.
        title: Stands before the tensor's name, such as the parameter it was passed as.
        elements: Draw those that were loaded.
    """
    if tensor.absent:
        return Page(tensor_line(tensor, title))
    parts: list[Part] = [tensor_line(tensor, title), lambda options: Padding(summary(tensor, options), (0, 0, 0, 2))]
    if elements and tensor.level != 'none':
        note = f' ({tensor.note})' if tensor.note else ''
        found = tensor.elements or Elements(missing='elements not loaded' if tensor.level == 'full' else
                                            f'elements not kept{note}')
        parts.append(Padding(element_table(found), (0, 0, 0, 2)))
    return Page(*parts)


def tensor_line(tensor: TensorRecord, title: str = '') -> Text:
    """'x  mm:0  float32 [3, 4]  48 B  NaN 4, 50% zero  first bad [1, 0]'."""
    line = Text(overflow='fold')
    is_said = bool(tensor.name) and title.endswith(f' {tensor.name}')
    for name, style in ((title, 'bold'), ('' if is_said else tensor.name, 'cyan' if title else 'bold')):
        if name:
            line.append(f'{one_line(name, 200)}  ', style)
    if tensor.absent:
        return line.append('None', 'dim')
    line.append(f'{one_line(tensor.dtype, 40)} {list(tensor.shape)}  {size(tensor.nbytes)}')
    found = flags(tensor)
    if found:
        line.append('  ').append_text(flag_line(found))
    if tensor.stats is not None and tensor.stats.first_bad:
        line.append(f'  first bad {list(tensor.stats.first_bad)}', 'red')
    return line


def summary(tensor: TensorRecord, options: ConsoleOptions) -> Text:
    """Two rows: the non-zero counts by category, then statistics of the finite elements."""
    stats = tensor.stats
    if stats is None:
        return Text('no statistics kept', 'dim')
    magnitudes = of_magnitudes(tensor)
    rows = [counts_row(stats, magnitudes=magnitudes)]
    if stats.min is not None:
        rows.append(finite_row(stats, options.max_width - 2, ascii_only=options.ascii_only, magnitudes=magnitudes))
    return Text('\n').join(rows)


def counts_row(stats: Stats, *, magnitudes: bool = False) -> Text:
    """'NaN 4  zero 4  + 4  of 12'; of complex numbers, whose magnitudes are counted, 'non-zero 4'."""
    row = Text().append('count   ', 'dim')
    for name, number, bad in (('NaN', stats.nan, True), ('-Inf', stats.neg_inf, True), ('-', stats.neg, False),
                              ('zero', stats.zero, False), ('non-zero' if magnitudes else '+', stats.pos, False),
                              ('Inf' if magnitudes else '+Inf', stats.pos_inf, True)):
        if number:
            row.append(f'{name} {number:,}', 'bold red' if bad else '').append('  ')
    return row.append(f'of {stats.size:,}')


def finite_row(stats: Stats, width: int, *, ascii_only: bool = False, magnitudes: bool = False) -> Text:
    """'min 0  max 1.43  mean 0.62  std 0.59  |_#__|'; the histogram has fewer bins, or is not there, where it must be."""
    row = Text().append('finite magnitudes  ' if magnitudes else 'finite  ', 'dim')
    row.append('  '.join(f'{name} {value(number)}' for name, number in
                         (('min', stats.min), ('max', stats.max), ('mean', stats.mean), ('std', stats.std))
                         if number is not None))
    room = min(_BINS, width - row.cell_len - 4)
    if stats.histogram and stats.min != stats.max and room >= _FEWEST:
        row.append(f'  |{histogram_bar(stats, room, ascii_only=ascii_only)}|')
    return row


if __name__ == '__main__':
    from pyfuncdbg.observers.record.record_contents import load_call
    from pyfuncdbg.ui.views.sample_trace import demo, sample
    call = load_call(sample().call(3))
    demo(*(tensor_card(tensor) for tensor in (*call.inputs, *call.outputs)))
