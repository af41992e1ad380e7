"""The call table: one line a call."""
from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich import box
from rich.console import ConsoleOptions
from rich.table import Table
from rich.text import Text

from pyfuncdbg.record.records import CallRecord, TensorRecord
from pyfuncdbg.views.call import state
from pyfuncdbg.views.escape import label, one_line
from pyfuncdbg.views.heading import heading
from pyfuncdbg.views.page import Page
from pyfuncdbg.views.source import place
from pyfuncdbg.views.units import count, milliseconds, seconds

WIDE = 110
"""From this width on, the rarer columns are shown."""


def call_table(calls: Sequence[CallRecord], total: int | None = None, *, filters: Mapping[str, object] | None = None,
               sort: str = 'time', dropped: int = 0) -> Page:
    """Calls, one a line, under a line with their number and the active filters.

    Args:
        calls: Those to show, in order.
        total: How many pass the filters; None: those.
        filters: What was asked for, by name.
        sort: What they are sorted by.
        dropped: Calls that the trace does not hold.
    """
    def draw(options: ConsoleOptions) -> Table:
        return _table(calls, wide=options.max_width >= WIDE)
    first = heading(len(calls) if total is None else total, 'call', shown=len(calls), filters=filters, sort=sort,
                    dropped=dropped)
    return Page(first, draw) if calls else Page(first)


def _table(calls: Sequence[CallRecord], *, wide: bool) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style='dim')
    table.add_column('call', justify='right', no_wrap=True)
    table.add_column('t ms', justify='right', no_wrap=True)
    table.add_column('site', overflow='fold')
    if wide:
        table.add_column('function', overflow='fold')
        table.add_column('inputs', overflow='fold')
    table.add_column('outputs', overflow='fold')
    table.add_column('took', justify='right', no_wrap=True)
    table.add_column('result', overflow='fold')
    for call in calls:
        middle = [_function(call), shapes(call.inputs)] if wide else []
        table.add_row(Text('#' + one_line(call.number, 20)), milliseconds(call.started), label(call.label, limit=40),
                      *middle, shapes(call.outputs), '' if call.duration is None else seconds(call.duration), _result(call))
    return table


def shapes(tensors: Sequence[TensorRecord], most: int = 3) -> Text:
    """'float32[3,4] int64[]'."""
    words = [f'{one_line(t.dtype, 16)}{_brackets(t.shape)}' for t in tensors[:most]]
    if len(tensors) > most:
        words.append(f'+{len(tensors) - most}')
    return Text(' '.join(words), overflow='fold')


def _brackets(sizes: tuple[int, ...]) -> str:
    return one_line('[' + ','.join(map(str, sizes)) + ']', 30)


def _function(call: CallRecord) -> Text:
    if not call.site.function:
        return label(call.site.op_type, 'dim', 40)
    return Text.assemble(label(call.site.function, limit=40), '  ', place(call.site.filename, call.site.line))


def _result(call: CallRecord) -> Text:
    text = state(call)
    if call.error is not None and call.error.message:
        text.append(f': {one_line(call.error.message, 60)}', 'none')
    said = [count(sum(record.kind in kinds for record in call.output), noun)
            for noun, kinds in (('print', ('out', 'err')), ('warning', ('warning',)), ('log', ('log',)))
            if any(record.kind in kinds for record in call.output)]
    if said:
        text.append(f'  {", ".join(said)}', 'dim not bold')
    return text


if __name__ == '__main__':
    from pyfuncdbg.views.page import demo
    from pyfuncdbg.views.sample import sample
    demo(call_table(sample().calls()))
