"""Local variables of a frame in a traceback, one line each. Of too many, those with NaN or infinity are kept first.

Drawn under the frame's source by the traceback panel.
"""
from __future__ import annotations

from dataclasses import replace

from rich.console import ConsoleOptions
from rich.text import Text

from pyfuncdbg.observers.record.records import FrameRecord, LocalRecord, TensorRecord
from pyfuncdbg.ui.views.escape import one_line
from pyfuncdbg.ui.views.pictures.histogram import bar
from pyfuncdbg.ui.views.sources.listing import cut_line
from pyfuncdbg.ui.views.tensors.tensor import tensor_line
from pyfuncdbg.ui.views.tensors.variable import elements
from pyfuncdbg.ui.views.units import value as number

INDENT = 9
ALL = 20
"""Variables shown of a frame that matters most."""
_WIDE = 100
"""Columns from which on a tensor's range stands on its line too."""
_LONGEST_NAME = 24
_NAMES = 10
"""Columns of the names: longer ones push their values aside."""
_NOT_FINITE = ('nan', 'inf', '-inf')


def local_lines(frame: FrameRecord, width: int, options: ConsoleOptions, most: int) -> list[Text]:
    """A line for each variable.

    Args:
        frame: The frame's variables.
        width: Columns; what is longer is cut.
        options: Of the console.
        most: At most so many, those with NaN or infinity before others.
    """
    variables = _choose(frame.variables, most)
    names = min(max((len(one_line(one.name, _LONGEST_NAME)) for one in variables), default=0), _NAMES)
    lines = []
    for one in variables:
        line = Text(' ' * INDENT)
        line.append(one_line(one.name, _LONGEST_NAME).ljust(names), 'bold red' if is_bad(one) else 'cyan').append('  ')
        lines.append(cut_line(line.append_text(_value(one, width, options)), width))
    hidden = frame.hidden + len(frame.variables) - len(variables)
    if hidden > 0:
        lines.append(cut_line(Text(f'{" " * INDENT}... {hidden:,} more', 'dim'), width))
    return lines


def is_bad(variable: LocalRecord) -> bool:
    """Whether a variable is, or holds, NaN or infinity."""
    if variable.tensor is None:
        return variable.text in _NOT_FINITE
    return variable.tensor.stats is not None and variable.tensor.stats.bad > 0


def _choose(variables: tuple[LocalRecord, ...], most: int) -> list[LocalRecord]:
    """In the frame's order."""
    order = sorted(range(len(variables)), key=lambda i: (not is_bad(variables[i]), i))
    return [variables[i] for i in sorted(order[:most])]


def _value(variable: LocalRecord, width: int, options: ConsoleOptions) -> Text:
    tensor = variable.tensor
    if tensor is None:
        return Text(one_line(variable.text, 400), 'red' if is_bad(variable) else '')
    line = tensor_line(replace(tensor, name=''))
    if written := _elements(tensor):
        line.append(f'  {written}')
    elif width >= _WIDE and tensor.stats is not None and tensor.stats.min is not None:
        stats = tensor.stats
        line.append(f'  {number(stats.min)} .. {number(stats.max)}')
        if stats.min != stats.max:
            marks = bar(stats.histogram, 10, ascii_only=options.ascii_only)
            line.append(f'  mean {number(stats.mean)}  std {number(stats.std)}  |{marks}|')
    return line


def _elements(tensor: TensorRecord) -> str:
    found = tensor.elements
    return one_line(elements(found.values), 100) if found is not None and found.values is not None else ''


if __name__ == '__main__':
    from pyfuncdbg.observers.record.record_contents import load_locals
    from pyfuncdbg.ui.views.page import Page
    from pyfuncdbg.ui.views.sample_trace import demo, sample
    call = sample().call(3)
    found = FrameRecord(0, (LocalRecord('x', 'ndarray', '', call.inputs[0]), LocalRecord('eps', 'float', '1e-06'),
                            LocalRecord('y', 'ndarray', '', call.outputs[0])), 3)
    demo(Page(lambda options: Text('\n').join(local_lines(load_locals(found), 110, options, 20))))
