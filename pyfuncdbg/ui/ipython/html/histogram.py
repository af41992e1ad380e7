"""A histogram in SVG, small enough for a line: the range and the count of a bin on hover.

Pure; called by `tensors`.
"""
from __future__ import annotations

from pyfuncdbg.observers.record.records import Stats
from pyfuncdbg.ui.ipython.html.element import Html, element
from pyfuncdbg.ui.views.units import value

_WIDE, _TALL = 80, 16


def histogram_html(stats: Stats) -> Html:
    """Bars from the least to the greatest finite element; empty if there are none."""
    counts = [max(0, count) for count in stats.histogram]
    top = max(counts, default=0)
    if not top or stats.min is None or stats.max is None:
        return Html()
    wide = _WIDE / len(counts)
    bars = []
    for i, count in enumerate(counts):
        if not count:
            continue
        tall = max(1.0, count / top * _TALL)
        low, high = (stats.min + (stats.max - stats.min) * (at / len(counts)) for at in (i, i + 1))
        title = element('title', f'{value(low)} .. {value(high)}: {count:,}')
        bars.append(element('rect', title, x=f'{i * wide:.2f}', y=f'{_TALL - tall:.1f}', width=f'{wide:.2f}',
                            height=f'{tall:.1f}', class_='pf-bar'))
    return element('svg', *bars, class_='pf-hist', role='img', width=_WIDE, height=_TALL, viewBox=f'0 0 {_WIDE} {_TALL}',
                   aria_label=f'histogram of {sum(counts)} elements from {value(stats.min)} to {value(stats.max)}')
