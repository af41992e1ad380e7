"""The tensor table (`lt`) with a histogram in every line.

Pure; called by `displays`.
"""
from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.text import Text

from pyfuncdbg.observers.debug.numerics.nan_verdicts import NanVerdict
from pyfuncdbg.observers.record.records import CallRecord, Stats, TensorRecord
from pyfuncdbg.ui.html.element import Html, element, joined
from pyfuncdbg.ui.html.page import text_html
from pyfuncdbg.ui.html.pages import paged_table
from pyfuncdbg.ui.views.escape import one_line
from pyfuncdbg.ui.views.tensors.tensors import Row, available_at, kind_of, maker_text, remarks, tensor_name
from pyfuncdbg.ui.views.units import milliseconds, shape, size, value

_TITLES = ('time ms', 'name', 'call', 'kind', 'dtype', 'shape', 'bytes', 'min', 'hist', 'max', 'mean', 'std', 'flags')
_RIGHT = frozenset(('time ms', 'bytes', 'min', 'mean', 'std'))
_DISPENSABLE = frozenset(('kind', 'dtype', 'bytes', 'std'))
"""Columns that are left out where there is little room."""
_NAME = 80
"""Characters of a name; its whole is there on hover."""


def tensors_html(heading: Text, rows: Sequence[Row], verdicts: Mapping[str, NanVerdict], sort: str,
                 time_origin: float) -> Html:
    """The table under its heading.

    Args:
        heading: How many there are.
        rows: Each with the call that made it, in order.
        verdicts: By call number: where non-finite values come from.
        sort: What they are sorted by.
        time_origin: What the times count from, in seconds from the start of the trace.
    """
    first = element('div', text_html(heading), class_='pf-line')
    key, turned, _ = sort.partition(',')
    mark = '^' if turned else 'v'
    titles = [element('th', f'{title} {mark}' if title.split()[0] == key else title, scope='col', class_=_classes(title))
              for title in _TITLES]
    lines = [_line(call, tensor, verdicts.get(call.number), time_origin) for call, tensor in rows]
    return joined(first, paged_table(element('thead', element('tr', *titles)), lines)) if lines else first


def _line(call: CallRecord, tensor: TensorRecord, finding: NanVerdict | None, time_origin: float) -> Html:
    stats = tensor.stats
    full = tensor_name(call, tensor)
    name = element('span', one_line(full, _NAME), title=one_line(full, 1_000))
    cells = [milliseconds(available_at(call, tensor) - time_origin), name,
             text_html(maker_text(call)), one_line(kind_of(call, tensor), 40), one_line(tensor.dtype, 40),
             shape(tensor.shape),
             size(tensor.nbytes), *_range(stats), value(stats.mean if stats is not None else None),
             value(stats.std if stats is not None else None), text_html(remarks(call, tensor, finding))]
    return element('tr', *(element('td', cell, class_=_classes(title)) for title, cell in zip(_TITLES, cells, strict=True)))


def _classes(title: str) -> str | None:
    words = [*(['pf-r'] if title in _RIGHT else []), *(['pf-f'] if title == 'flags' else []),
             *(['pf-low'] if title in _DISPENSABLE else [])]
    return ' '.join(words) or None


def _range(stats: Stats | None) -> tuple[str, str, str]:
    if stats is None or stats.min is None:
        nothing = stats is not None and stats.bad > 0 and stats.size > 1
        return '', element('span', 'nothing finite', class_='pf-red') if nothing else '', ''
    return value(stats.min), histogram_html(stats), value(stats.max)


_WIDE, _TALL = 80, 16


def histogram_html(stats: Stats) -> Html:
    """Bars from the least to the greatest finite element, one for each power of two; empty if there are none."""
    found = stats.bars()
    top = max([bar.elements for bar in found], default=0)
    if top <= 0:
        return Html()
    wide = _WIDE / len(found)
    bars = []
    for i, (low, high, count) in enumerate(found):
        if count <= 0:
            continue
        tall = max(1.0, count / top * _TALL)
        where = value(low) if low == high else f'{value(low)} .. {value(high)}'
        title = element('title', f'{where}: {count:,}')
        bars.append(element('rect', title, x=f'{i * wide:.2f}', y=f'{_TALL - tall:.1f}', width=f'{wide:.2f}',
                            height=f'{tall:.1f}', class_='pf-bar'))
    return element('svg', *bars, class_='pf-hist', role='img', width=_WIDE, height=_TALL, viewBox=f'0 0 {_WIDE} {_TALL}',
                   aria_label=f'histogram of {sum(bar.elements for bar in found)} elements from {value(found[0].low)} to '
                              f'{value(found[-1].high)}')
