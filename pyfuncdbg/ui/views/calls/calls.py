"""The call table: one line a call."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from rich.console import ConsoleOptions
from rich.table import Table
from rich.text import Text

from pyfuncdbg.hooks.traits import RECOMPUTED
from pyfuncdbg.observers.debug.reports.site_labels import SiteLabel
from pyfuncdbg.observers.record.records import CallRecord, TensorRecord
from pyfuncdbg.ui.views.calls.call import state
from pyfuncdbg.ui.views.escape import label, one_line
from pyfuncdbg.ui.views.labels import site_label_text
from pyfuncdbg.ui.views.lists import Column, fitted_table, heading
from pyfuncdbg.ui.views.page import Page
from pyfuncdbg.ui.views.sources.source import place
from pyfuncdbg.ui.views.units import count, milliseconds, seconds

MADE = 20
"""Width below which the column of labels does not shrink."""
_NOUNS = {'op': 'graph node', 'gradient': 'backward step', 'run': 'run'}


@dataclass(frozen=True, slots=True)
class CallListing:
    """A page of the calls that passed the filters.

    Attributes:
        calls: Those to show, in order.
        total: How many pass the filters.
        filters: What was asked for, by name.
        sort: What they are sorted by.
        dropped: Calls that the trace does not hold.
        alike: By number of a call, which its site is of those that look like it.
        others: How many records of other kinds there are, by kind, where no call of a Python function is.
    """

    calls: Sequence[CallRecord]
    total: int
    filters: Mapping[str, object] = field(default_factory=dict)
    sort: str = 'time'
    dropped: int = 0
    alike: Mapping[str, SiteLabel] = field(default_factory=dict)
    others: Mapping[str, int] = field(default_factory=dict)


def call_table(calls: CallListing) -> Page:
    """Calls, one a line, under a line with their number and the active filters."""
    first = heading(calls.total, 'call', shown=len(calls.calls), filters=calls.filters, sort=calls.sort,
                    dropped=calls.dropped)
    if calls.calls:
        return Page(first, lambda options: _table(calls, options))
    return Page(first, *(Text(f"{count(total, noun)}: 'calls --kind {kind}' lists {'them' if total > 1 else 'it'}")
                         for kind, noun in _NOUNS.items() if (total := calls.others.get(kind, 0))))


def _table(found: CallListing, options: ConsoleOptions) -> Table:
    calls = found.calls
    durations = [Text('' if call.duration is None else seconds(call.duration)) for call in calls]
    made = [site_label_text(found.alike.get(call.number)) for call in calls]
    columns = [
        Column('number', [_number(call) for call in calls], 1, right=True),
        Column('time ms', [Text(milliseconds(call.started)) for call in calls], 5, right=True),
        Column('site', [label(call.label) for call in calls], 0,
               least=24 if options.max_width >= 60 else 12),
        Column('run', [Text(str(call.run)) for call in calls], 7, right=True),
        Column('function', [function(call) for call in calls], 6, least=20),
        Column('made', made, 3, least=min(max([text.cell_len for text in made], default=0), MADE)),
        Column('inputs', [shapes(call.inputs) for call in calls], 8, least=14),
        Column('outputs', [shapes(call.outputs) for call in calls], 4, least=14),
        Column('duration', durations, 3, right=True),
        Column('result', [result(call) for call in calls], 2, least=16, folds=True)]
    return fitted_table(columns, options, sort=found.sort)


def _number(call: CallRecord) -> Text:
    return Text(f'run {call.run}' if call.site.kind == 'run' else f'#{one_line(call.number, 20)}')


def shapes(tensors: Sequence[TensorRecord], most: int = 3) -> Text:
    """'float32[3,4] int64[]'."""
    words = [f'{one_line(t.dtype, 16)}{_brackets(t.shape)}' for t in tensors[:most]]
    if len(tensors) > most:
        words.append(f'+{len(tensors) - most}')
    return Text(' '.join(words), overflow='fold')


def _brackets(sizes: tuple[int, ...]) -> str:
    return one_line('[' + ','.join(map(str, sizes)) + ']', 30)


def function(call: CallRecord) -> Text:
    """The function with its place; of a call without one its op type."""
    if not call.site.function:
        return label(call.site.op_type, 'dim', 40)
    return Text.assemble(label(call.site.function, limit=40), '  ', place(call.site.filename, call.site.line))


def result(call: CallRecord) -> Text:
    """'ok', 'NaN 4', 'raised ValueError: ...', and what it said: '2 prints'."""
    text = Text.assemble(state(call))
    if call.error is not None and call.error.message:
        text.append(f': {one_line(call.error.message, 60)}')
    words = [count(sum(record.kind in kinds for record in call.output), noun)
             for noun, kinds in (('print', ('out', 'err')), ('warning', ('warning',)), ('log', ('log',)))
             if any(record.kind in kinds for record in call.output)]
    if call.site.attrs.get(RECOMPUTED) is True:
        words.append('recomputed')
    if words:
        text.append(f'  {", ".join(words)}', 'dim')
    return text


if __name__ == '__main__':
    from pyfuncdbg.ui.views.sample_trace import demo, sample
    calls = sample().calls()
    demo(call_table(CallListing(calls, len(calls))))
