"""The content of a tensor in a few words: 'float32[3,4] 0 .. 1.43  NaN 4', 'int32[] = 7'."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.text import Text

from pyfuncdbg.observers.debug.inspecting.recorded_graph import Constant
from pyfuncdbg.observers.record.records import TensorRecord
from pyfuncdbg.ui.views.escape import one_line
from pyfuncdbg.ui.views.flags import flag_line, flags, of_magnitudes
from pyfuncdbg.ui.views.pictures.element_table import element
from pyfuncdbg.ui.views.units import value

_KEPT = ('stats only', 'nothing kept', 'no array')
_SMALL = 4
"""Elements up to which they are shown themselves."""


def glimpse(tensor: TensorRecord | None, *, typed: bool = True) -> Text:
    """Type, range and remarks of a tensor; empty for None.

    Args:
        tensor: As recorded.
        typed: Whether to begin with dtype and shape.
    """
    if tensor is None:
        return Text()
    if tensor.unknown:
        return Text(one_line(tensor.note, 200), 'yellow', overflow='fold')
    if not holds_values(tensor):
        return Text('handle, no tensor', 'dim')
    text = Text(overflow='fold')
    if typed:
        text.append(type_text(tensor.dtype, tensor.shape), 'dim')
    found = [flag for flag in flags(tensor) if not flag.text.startswith(_KEPT)]
    bad, others = tuple(flag for flag in found if flag.bad), tuple(flag for flag in found if not flag.bad)
    for words in (flag_line(bad), Text(_elements(tensor) or _range(tensor)), flag_line(others)):
        if words:                               # NaN first: the end of a line may be cut off
            text.append(' ' if text else '').append_text(words)
    return text


def holds_values(tensor: TensorRecord) -> bool:
    """Whether it is a tensor of values, not the handle of a variable or the record of a tape."""
    return not tensor.absent and not (tensor.dtype == 'object' and tensor.level == 'none')


def glimpse_of_constant(constant: Constant) -> Text:
    """'int32[2] = 0 1'."""
    text = Text(overflow='fold')
    text.append(type_text(constant.dtype, constant.shape) if constant.dtype else '', 'dim')
    if constant.first:
        size = 1
        for length in constant.shape:
            size *= length
        shown = ' '.join(_shown(each) for each in constant.first)
        text.append(f' = {shown}{" ..." if size > len(constant.first) else ""}')
    return text


def type_text(dtype: str, shape: Sequence[int]) -> str:
    """'float32[3,4]'."""
    return one_line(dtype, 20) + one_line('[' + ','.join(map(str, shape)) + ']', 30)


def _shown(each: Any) -> str:
    return element(each, 4) if isinstance(each, bool | int | float | bytes) else one_line(str(each), 20)


def _elements(tensor: TensorRecord) -> str:
    elements = tensor.elements
    if elements is None or elements.values is None or not 0 < elements.values.size <= _SMALL:
        return ''
    return one_line('= ' + ' '.join(map(_shown, elements.values.ravel().tolist())), 60)


def _range(tensor: TensorRecord) -> str:
    stats = tensor.stats
    if stats is None or stats.min is None or stats.max is None:
        return ''
    if stats.min == stats.max:
        return f'{"magnitude " if of_magnitudes(tensor) else ""}= {value(stats.min, 3)}'
    return f'{value(stats.min, 3)} .. {value(stats.max, 3)}'


if __name__ == '__main__':
    from pyfuncdbg.observers.record.record_contents import load_few
    from pyfuncdbg.ui.views.sample_trace import demo, sample
    demo(*(glimpse(load_few(tensor)) for tensor in sample().call(3).outputs),
         glimpse_of_constant(Constant('int32', (9,), (0, 1, 2))))
