"""The timeline as a picture in SVG: a lane for each thread, a bar for each call.

Nested calls are below the calls around them. Pure; called by `commands.timeline`.
"""
from __future__ import annotations

import math
from collections.abc import Iterator

from pyfuncdbg.observers.debug.reports.timeline import Lane, Span, Timeline
from pyfuncdbg.ui.html.element import Html, element
from pyfuncdbg.ui.html.svg_document import SvgDrawing
from pyfuncdbg.ui.views.escape import one_line
from pyfuncdbg.ui.views.units import seconds

_WIDE, _LEFT, _TOP = 1000, 110, 22
_ROW, _BAR, _GAP = 18, 15, 10
"""Pixels of a row, of the bar in it, and between lanes."""
_LETTER = 6.7
_TICKS = 6
_CLASSES = {'python': 'pf-python', 'op': 'pf-op', 'gradient': 'pf-gradient', 'run': 'pf-op'}


def timeline_drawing(timeline: Timeline) -> SvgDrawing:
    """The lanes under the scale of time.

    Args:
        timeline: A window of a trace.
    """
    parts = list(_scale(timeline))
    y = _TOP
    several = len({lane.process for lane in timeline.lanes}) > 1
    for lane in timeline.lanes:
        name = f'process {lane.process}, {lane.thread}' if several else f'thread {lane.thread}'
        parts.append(element('text', name, x=_LEFT - 8, y=y + _BAR / 2, class_='pf-row'))
        parts += _lane(lane, timeline, y)
        y += _ROW * len(lane.rows) + _GAP
    width, height = _LEFT + _WIDE, max(y - _GAP, _TOP + _ROW) + 4
    picture = element('svg', *parts, class_='pf-timeline', role='img', width=width, height=height,
                      viewBox=f'0 0 {width} {height}', aria_label=f'timeline of {timeline.shown} calls')
    return SvgDrawing(picture, width, height)


def _scale(timeline: Timeline) -> Iterator[Html]:
    span = timeline.end - timeline.start
    for tick in range(_TICKS + 1):
        x, at = _LEFT + _WIDE * tick / _TICKS, timeline.start + span * tick / _TICKS
        anchor = 'end' if tick == _TICKS else 'middle' if tick else 'start'
        yield element('text', f'{at * 1e3:.6g} ms', x=x, y=8, class_='pf-column', style=f'text-anchor:{anchor}')
        yield element('path', d=f'M{x:.1f} 14v6', class_='pf-tick')


def _lane(lane: Lane, timeline: Timeline, top: float) -> Iterator[Html]:
    scale = _WIDE / (timeline.end - timeline.start) if timeline.end > timeline.start else 0.0
    for row, spans in enumerate(lane.rows):
        for span in spans:
            if not (math.isfinite(span.start) and math.isfinite(span.end)):
                continue                        # out of a damaged trace
            left, right = (min(max((at - timeline.start) * scale, 0.0), _WIDE) for at in (span.start, span.end))
            yield _bar(span, _LEFT + left, max(right - left, 0.75), top + row * _ROW)


def _bar(span: Span, x: float, width: float, y: float) -> Html:
    state = 'raised' if span.failed else 'NaN or Inf' if span.bad else 'did not finish' if span.running else ''
    title = f'#{span.number} {one_line(span.label, 80)}, {seconds(span.end - span.start)}{", " * bool(state)}{state}'
    kind = 'pf-failed' if span.failed or span.bad else 'pf-running' if span.running else _CLASSES.get(span.kind, 'pf-op')
    tall = _BAR + 3 * (kind == 'pf-failed')     # also where colours cannot be told apart
    parts = [element('title', title), element('rect', x=f'{x:.2f}', y=y, width=f'{width:.2f}', height=tall, class_=kind)]
    letters = int((width - 6) / _LETTER)
    if letters >= 4:
        parts.append(element('text', one_line(span.label, letters), x=f'{x + 4:.2f}', y=y + _BAR / 2, class_='pf-label'))
    return element('g', *parts)
