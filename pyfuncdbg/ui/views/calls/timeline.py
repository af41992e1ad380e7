"""A timeline of calls by thread: a bar for each call, nested calls in the rows below.

`[norm[3]==]` is a call, `>` instead of `]` one that did not finish; `!` fills one that gave NaN or Inf, `x` one that
raised; `:` marks several calls in one column. `lane_row` and `axis_row` draw one row, for lists that scroll.
"""
from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rich.console import ConsoleOptions
from rich.text import Text

from pyfuncdbg.observers.debug.reports.timeline import Lane, Span, Timeline
from pyfuncdbg.ui.views.escape import one_line
from pyfuncdbg.ui.views.lists import heading
from pyfuncdbg.ui.views.page import Page
from pyfuncdbg.ui.views.units import seconds

MARGIN = 14
"""Columns for the names of threads."""
_STYLES = {'python': 'cyan', 'op': '', 'gradient': 'magenta', 'run': 'dim'}
_TICK = 16
_NARROW = 2
"""Columns from the first to the last one of a bar; a call that is narrower is a mark in each."""


@dataclass(frozen=True, slots=True)
class Window:
    """A window of the trace, and the filters of its calls by name."""

    timeline: Timeline
    filters: Mapping[str, object]


def timeline_view(window: Window) -> Page:
    """All threads of a window under the scale of time."""
    timeline = window.timeline
    first = heading(timeline.total, 'call', shown=timeline.shown, filters=window.filters)
    if timeline.shown < timeline.total:
        first.append('   the longest', 'dim')
    first.append(f'   {timeline.threads} thread{"s" * (timeline.threads != 1)}, {seconds(timeline.end - timeline.start)}')
    if timeline.threads > len(timeline.lanes):
        first.append(f', {len(timeline.lanes)} threads shown', 'yellow')
    if not timeline.lanes:
        return Page(first)

    def draw(options: ConsoleOptions) -> Text:
        width = max(8, options.max_width - MARGIN)
        rows = [Text(' ' * MARGIN).append_text(axis_row(timeline.start, timeline.end, width))]
        several = len({lane.process for lane in timeline.lanes}) > 1
        for lane in timeline.lanes:
            for level, spans in enumerate(lane.rows):
                margin = _margin(lane, several) if level == 0 else ' ' * MARGIN
                rows.append(Text.assemble((margin, 'bold'), lane_row(spans, timeline.start, timeline.end, width)))
        return Text('\n').join(rows)
    return Page(first, draw)


def axis_row(start: float, end: float, width: int) -> Text:
    """The scale: times since the trace began, each behind its tick."""
    row = ''
    for column in range(0, max(1, width - 8), _TICK):
        at = start + (end - start) * column / width
        row = row.ljust(column) + f'|{at * 1e3:.6g} ms'[:_TICK - 1]
    return Text(row.ljust(width)[:width], 'dim')


def lane_row(spans: Sequence[Span], start: float, end: float, width: int, *, selected: str = '') -> Text:
    """The calls of one level of one thread, `width` characters.

    Args:
        spans: In order of their start; they do not overlap.
        start, end: Times at the left and the right edge, in seconds.
        width: Characters.
        selected: Number of a call that is highlighted.
    """
    cells = [' '] * width
    styles = [''] * width
    scale = width / (end - start) if end > start else 0.0

    def column(at: float) -> int:
        place = (at - start) * scale
        return 0 if not place > 0 else width - 1 if place >= width else int(place)     # a damaged trace has any times
    for span in spans:
        if not (math.isfinite(span.start) and math.isfinite(span.end)):
            continue                            # out of a damaged trace
        left = column(span.start)
        right = max(left, column(span.end))
        if span.end < start or span.start > end:
            continue
        style = _style(span, selected)
        if cells[left] != ' ' and right > left:
            _point(cells, styles, left, span, style)            # another one ends in this column
            left += 1
        if right - left < _NARROW:
            for place in range(left, right + 1):
                _point(cells, styles, place, span, style)
        else:
            for place, char in enumerate(_bar(span, right - left + 1, whole=span.end <= end), left):
                cells[place], styles[place] = char, style
    return _join(cells, styles)


def _style(span: Span, selected: str) -> str:
    style = 'bold red' if span.failed or span.bad else 'yellow' if span.running else _STYLES.get(span.kind, '')
    return f'{style} reverse' if selected and span.number == selected else style


def _point(cells: list[str], styles: list[str], place: int, span: Span, style: str) -> None:
    """A call that is narrower than a column."""
    serious = 'x' if span.failed else '!' if span.bad else ''
    if cells[place] == ' ':
        cells[place], styles[place] = serious or '|', style
    elif cells[place] not in 'x!' and cells[place] in '|:]>[':
        cells[place] = serious or ':'
        if serious:
            styles[place] = style


def _bar(span: Span, room: int, *, whole: bool) -> str:
    fill = 'x' if span.failed else '!' if span.bad else '='
    last = ']' if whole and not span.running else '>'
    inner = room - 2
    name = one_line(span.label, inner) if inner >= 4 else ''
    return '[' + name + fill * (inner - len(name)) + last


def _join(cells: Sequence[str], styles: Sequence[str]) -> Text:
    row = Text(no_wrap=True)
    begin = 0
    for place in range(1, len(cells) + 1):
        if place == len(cells) or styles[place] != styles[begin]:
            row.append(''.join(cells[begin:place]), styles[begin])
            begin = place
    return row


def _margin(lane: Lane, several: bool) -> str:
    name = f'{lane.process}/{lane.thread}' if several else str(lane.thread)
    return name[:MARGIN - 1].ljust(MARGIN)


if __name__ == '__main__':
    from pyfuncdbg.observers.debug.reports.timeline import timeline
    from pyfuncdbg.ui.views.sample_trace import demo, sample
    first, last = sample().extent()
    demo(timeline_view(Window(timeline(sample().spans_during(first, last)[1], first, last), {})))
