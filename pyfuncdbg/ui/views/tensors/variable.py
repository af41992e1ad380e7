"""Values of the program: one line each on a card, a tensor in full for `p`. No array is given to its own repr."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from rich.console import ConsoleOptions
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from pyfuncdbg.observers.debug.value import Value
from pyfuncdbg.observers.record.dtypes import as_numbers
from pyfuncdbg.observers.record.elements import LIMIT
from pyfuncdbg.observers.record.records import TensorRecord
from pyfuncdbg.ui.views.escape import label, one_line, visible
from pyfuncdbg.ui.views.flags import flag_line, flags
from pyfuncdbg.ui.views.page import Page, Part
from pyfuncdbg.ui.views.pictures.element_table import element, preview
from pyfuncdbg.ui.views.pictures.histogram import histogram_bar
from pyfuncdbg.ui.views.tensors.tensor import summary, tensor_line
from pyfuncdbg.ui.views.units import value as number

_INLINE = 6
"""Elements of the largest array that is shown on one line."""


@dataclass(frozen=True, slots=True)
class NamedValue:
    """A named value.

    Attributes:
        name: As in the program.
        value: The value.
        note: What else there is to say of it: the tensor it came from, 'changed'.
    """

    name: str
    value: Value
    note: str = ''


def value_page(value: Value, *, limit: int = LIMIT) -> Page:
    """Everything about one value: a tensor with its summary and elements, a container of tensors line by line."""
    tensor, array = value.tensor, value.array
    if tensor is not None and array is not None:
        if not array.ndim and array.dtype.kind in 'biufcSU':
            return Page(label(value.text))
        parts: list[Part] = [_titled(value, tensor), lambda options: Padding(summary(tensor, options), (0, 0, 0, 2))]
        if limit:
            near = tensor.stats.first_bad if tensor.stats is not None else None
            parts.append(Padding(preview(array, limit, near=near), (0, 0, 0, 2)))
        return Page(*parts)
    if value.items:
        head = label(f'{value.type} of {len(value.items)}' if not value.text else value.text, limit=300)
        return Page(head, variables_table([NamedValue(name, item) for name, item in value.items], indent=2))
    return Page(Text(visible(value.text), overflow='fold'))


def _titled(value: Value, tensor: TensorRecord) -> Text:
    text = tensor_line(tensor)
    if value.type == 'ndarray':
        return text
    return Text.assemble((f'{one_line(value.type, 60)}  ', 'dim'), text, overflow='fold')


def variables_table(variables: Sequence[NamedValue], *, indent: int = 0, rows: int = 1) -> Page:
    """One row for each: name, value on one line, note. A row that is too long is cut.

    Args:
        variables: What to show.
        indent: Columns before the names.
        rows: Lines at most for a value.
    """
    def draw(options: ConsoleOptions) -> Table:
        grid = Table.grid(padding=(0, 2), pad_edge=False)
        names = max((min(len(one_line(v.name, 30)), 30) for v in variables), default=0)
        grid.add_column(no_wrap=True, min_width=min(names, options.max_width // 3) + indent)
        grid.add_column(no_wrap=rows == 1, overflow='ellipsis' if rows == 1 else 'fold')
        ascii_only = options.ascii_only
        for variable in variables:
            text = inline(variable.value, ascii_only=ascii_only)
            if variable.note:
                text = Text.assemble(text, (f'  {one_line(variable.note, 60)}', 'dim'))
            if ascii_only and rows == 1:
                text.truncate(max(4, options.max_width - names - indent - 2), overflow='crop')
            grid.add_row(Text(' ' * indent + one_line(variable.name, 30), 'bold'), text)
        return grid
    return Page(draw)


def inline(value: Value, *, ascii_only: bool = False) -> Text:
    """A value on one line: 'float32[3, 4]  0 .. 1.43  mean 0.62  |#_#|  NaN 4'."""
    tensor, array = value.tensor, value.array
    if tensor is None or (array is None and not tensor.note):
        return Text(one_line(value.text, 200))
    if array is not None and not array.ndim and array.dtype.kind in 'biufcSU':
        return Text(one_line(value.text, 200))
    text = Text(f'{one_line(tensor.dtype, 40)}{list(tensor.shape)}')
    found = flags(tensor)
    if found:
        text.append('  ').append_text(flag_line(found))
    if tensor.stats is not None and tensor.stats.first_bad:
        text.append(f' at {list(tensor.stats.first_bad)}', 'red')
    if array is not None and 0 < array.size <= _INLINE:
        text.append(f'  {elements(array)}')
    elif tensor.stats is not None and tensor.stats.min is not None:
        stats = tensor.stats
        text.append(f'  {number(stats.min)} .. {number(stats.max)}')
        if stats.min != stats.max:
            text.append(f'  mean {number(stats.mean)}  |{histogram_bar(stats, 10, ascii_only=ascii_only)}|')
    return text


def elements(array: np.ndarray) -> str:
    """'[[1, 2], [nan, 4]]'; for arrays of a few elements."""
    numbers = as_numbers(array)
    listed = (numbers if numbers is not None else array.astype(object)).tolist()

    def shown(part: object) -> str:
        return '[' + ', '.join(map(shown, part)) + ']' if isinstance(part, list) else element(part, 4)
    return shown(listed)


if __name__ == '__main__':
    from pyfuncdbg.observers.debug.value import describe_value
    from pyfuncdbg.ui.views.sample_trace import demo
    x = np.array([[0.5, np.nan, 1e-9], [np.inf, 0, -3]])
    demo(variables_table([NamedValue('x', describe_value(x), 'mm:0'), NamedValue('eps', describe_value(1e-6)),
                          NamedValue('y', describe_value(np.arange(12.0).reshape(3, 4)))]),
         value_page(describe_value(x)), value_page(describe_value([x, x + 1])))
