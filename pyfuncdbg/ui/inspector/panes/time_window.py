"""A window of time over the threads of a trace: drawn rows, and the call at a position in them.

Made on worker threads from the index alone. Calls that can be told apart are bars; where they are too many, a column shows
how busy its thread was.
"""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.text import Text

from pyfuncdbg.observers.debug.reports.timeline import timeline
from pyfuncdbg.observers.record.index.time_spans import Extent, SpanBucket, SpanRecord, Spans
from pyfuncdbg.ui.views.calls.timeline import MARGIN, lane_row

MOST = 1_500
"""Calls of a window that are drawn as bars."""
_LEVELS = 3
_MANY = 20
"""One in so many that raised or met NaN is shown before how busy the thread was; fewer underline it."""
_BUSY = '.:-=+*#%@'


@dataclass(frozen=True, slots=True)
class LaneRow:
    """One row: a thread, or calls inside of the calls above.

    Attributes:
        name: Text of the margin.
        text: The row.
        spans: Its calls; none where they are a bucket.
    """

    process: int
    thread: int
    name: str
    text: Text
    spans: tuple[SpanRecord, ...]


@dataclass(frozen=True, slots=True)
class TimeWindow:
    """The content of a window of time.

    Attributes:
        calls: Calls that are in it.
        crowded: Whether they are too many for bars.
    """

    start: float
    end: float
    width: int
    extent: Extent
    rows: tuple[LaneRow, ...]
    calls: int
    crowded: bool

    @property
    def lanes(self) -> list[tuple[int, int]]:
        """(process, thread) of the rows, each once."""
        return list(dict.fromkeys((row.process, row.thread) for row in self.rows))

    def moment(self, column: int) -> float:
        """The time in the middle of a column."""
        return self.start + (self.end - self.start) * (column + 0.5) / max(1, self.width)

    def call_at(self, row: int, column: int) -> SpanRecord | None:
        """The call whose bar is at a place, or next to it."""
        if not 0 <= row < len(self.rows) or not self.rows[row].spans:
            return None
        at, cell = self.moment(column), (self.end - self.start) / max(1, self.width)

        def distance(span: SpanRecord) -> float:
            end = self.end if span.duration is None else span.started + span.duration
            return max(span.started - at, at - end, 0.0)
        nearest = min(self.rows[row].spans, key=distance)
        return nearest if distance(nearest) <= cell else None


def draw_window(spans: Spans, extent: Extent, start: float, end: float, width: int,
                known: Sequence[tuple[int, int]]) -> TimeWindow:
    """Draw a window.

    Args:
        spans: The calls.
        extent: Of the whole trace.
        start, end: The window, in seconds.
        width: Columns, without the margin.
        known: (process, thread) of lanes that were seen before; they stay, even where nothing ran.
    """
    span_records = spans.window(start, end, reach=extent.reach, limit=MOST)
    if len(span_records) <= MOST:
        rows, calls = _bars(span_records, start, end, width), len(span_records)
    else:
        buckets = spans.buckets(start, end, width)
        rows, calls = _buckets(buckets, width), sum(bucket.calls for bucket in buckets)
    missing = [lane for lane in known if lane not in {(row.process, row.thread) for row in rows}]
    rows += [LaneRow(*lane, '', Text(' ' * width), ()) for lane in missing]
    order = {lane: place for place, lane in enumerate(known)}
    rows.sort(key=lambda row: order.get((row.process, row.thread), len(order)))
    return TimeWindow(start, end, width, extent, _name_threads(rows), calls, len(span_records) > MOST)


def _bars(span_records: Sequence[SpanRecord], start: float, end: float, width: int) -> list[LaneRow]:
    by_number = {span.number: span for span in span_records}
    laid = timeline(span_records, start, end, depth=_LEVELS, most=1 << 16)
    return [LaneRow(lane.process, lane.thread, '', lane_row(spans, start, end, width),
                    tuple(by_number[span.number] for span in spans))
            for lane in laid.lanes for spans in lane.rows]


def _buckets(buckets: Sequence[SpanBucket], width: int) -> list[LaneRow]:
    cells: dict[tuple[int, int], dict[int, SpanBucket]] = {}
    for bucket in buckets:
        cells.setdefault((bucket.process, bucket.thread), {})[bucket.part] = bucket
    return [LaneRow(*lane, '', _crowd_row(parts, width), ()) for lane, parts in cells.items()]


def _crowd_row(parts: dict[int, SpanBucket], width: int) -> Text:
    row = Text(no_wrap=True)
    for column in range(width):
        bucket = parts.get(column)
        if bucket is None:
            row.append(' ')
        elif (bucket.failed + bucket.bad) * _MANY >= bucket.calls:
            row.append('x' if bucket.failed >= bucket.bad else '!', 'bold red')
        else:
            busy = _BUSY[min(len(_BUSY) - 1, int(bucket.busy * len(_BUSY)))]
            row.append(busy, 'red underline' if bucket.failed or bucket.bad else 'cyan')
    return row


def _name_threads(rows: Sequence[LaneRow]) -> tuple[LaneRow, ...]:
    """The rows with the name of their thread in front of its first."""
    several = len({row.process for row in rows}) > 1
    seen: set[tuple[int, int]] = set()
    named_rows = []
    for row in rows:
        lane = (row.process, row.thread)
        name = '' if lane in seen else f'{row.process}/{row.thread}' if several else str(row.thread)
        seen.add(lane)
        named_rows.append(LaneRow(*lane, name[:MARGIN - 1], row.text, row.spans))
    return tuple(named_rows)
