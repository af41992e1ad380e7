"""The timeline pane: what is drawn of a window of time, closer and farther, from call to call by key and mouse."""
from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from inspecting import drive, inspector, opened, press, screen, settled, until
from plain_sites import record_calls, wrapped_site

from pyfuncdbg.hooks import chain, watched_call
from pyfuncdbg.observers.record.recorder import Recorder
from pyfuncdbg.observers.record.trace import Trace
from pyfuncdbg.ui.inspector.panes.time_window import MOST, draw_window
from pyfuncdbg.ui.inspector.panes.timeline import TimelinePane

WIDE = (160, 64)


class Clock:
    """The time that calls are recorded with: each thread sets its own, in ms, so that a busy machine changes nothing."""

    def __init__(self) -> None:
        self._begun = time.perf_counter_ns()
        self._thread = threading.local()

    def at(self, ms: int) -> None:
        """It is so late on this thread now."""
        self._thread.ms = ms

    def __call__(self) -> int:
        return self._begun + self._thread.ms * 1_000_000


@pytest.fixture(scope='module')
def threads(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two threads: `outer` calls `inner`, twice; beside it `other` gives NaN, then raises."""
    path = tmp_path_factory.mktemp('threads') / 't.pfd'
    clock, both = Clock(), threading.Barrier(2)

    def work(ends: int, value: float = 0.0) -> tuple[np.float32]:
        clock.at(ends)
        if value < 0:
            raise ValueError('no')
        return (np.float32(value),)
    inner = wrapped_site(work, 'inner')

    def nest(begins: int) -> tuple[np.float32]:
        clock.at(begins + 20)
        inner(begins + 40)
        clock.at(begins + 60)
        return (np.float32(1),)
    outer, other = wrapped_site(nest, 'outer'), wrapped_site(work, 'other')

    def one() -> None:
        for begins in (0, 110):
            clock.at(begins)
            outer(begins)
        both.wait()                             # a thread that has ended may have given its number to the other

    def two() -> None:
        both.wait()
        clock.at(2)
        other(62, float('nan'))
        with pytest.raises(ValueError, match='no'):
            other(122, -1.0)
    with Recorder(path), pytest.MonkeyPatch.context() as patch:
        patch.setattr(chain, 'perf_counter_ns', clock)
        patch.setattr(watched_call, '_clock', clock)
        first, second = threading.Thread(target=one), threading.Thread(target=two)
        first.start()
        second.start()
        first.join()
        second.join()
    return path


@pytest.fixture
def trace_of_threads(threads: Path) -> Iterator[Trace]:
    with Trace.open(threads) as trace:
        yield trace


def pane(pilot) -> TimelinePane:
    return inspector(pilot).query_one(TimelinePane)


def lines(pilot) -> list[str]:
    """What the pane shows."""
    shown = pane(pilot)
    return [shown.render_line(y).text.rstrip() for y in range(shown.size.height)]


async def still(pilot) -> None:
    """Wait until the window is drawn."""
    shown = pane(pilot)
    while shown.seen is None or shown._busy:
        await pilot.pause(0.01)
    await settled(pilot)


def test_a_window_has_a_row_for_each_thread_and_for_calls_inside_of_calls(trace_of_threads: Trace) -> None:
    spans = trace_of_threads.spans()
    extent = spans.extent()
    calls = trace_of_threads.calls()
    assert extent.calls == len(calls) == 6
    assert extent.start == calls[0].started
    assert extent.end == pytest.approx(max(call.started + (call.duration or 0) for call in calls))
    assert extent.reach == max(call.duration or 0 for call in calls)
    seen = draw_window(spans, extent, extent.start, extent.end, 100, [])
    outer, inner, other = seen.rows
    assert [span.label for span in outer.spans] == ['outer[0]', 'outer[1]']
    assert [span.label for span in inner.spans] == ['inner[0]', 'inner[1]'] and inner.name == ''
    assert [(span.label, span.bad, span.failed) for span in other.spans] == [('other[0]', True, False),
                                                                            ('other[1]', False, True)]
    assert '[outer[0]' in outer.text.plain and '!!' in other.text.plain and 'xx' in other.text.plain
    assert len(seen.lanes) == 2 and seen.calls == 6 and not seen.crowded
    found = seen.call_at(0, outer.text.plain.index('[outer[0]') + 3)
    assert found is not None and found.number == calls[0].number
    assert seen.call_at(9, 0) is None
    middle = extent.start + 0.03                    # outer[0] and inner[0] began before the window, and are in it
    narrow = draw_window(spans, extent, middle, middle + 1e-4, 100, seen.lanes)
    assert [span.label for row in narrow.rows for span in row.spans] == ['outer[0]', 'inner[0]', 'other[0]']
    late = draw_window(spans, extent, extent.end - 1e-5, extent.end, 100, seen.lanes)
    assert late.lanes == seen.lanes                 # a thread where nothing runs keeps its place
    spans.close()


def test_crowds_say_how_busy_a_thread_was(tmp_path: Path) -> None:
    with record_calls(tmp_path / 't.pfd') as make:
        make(MOST + 500)
    with Trace.open(tmp_path / 't.pfd') as trace:
        spans = trace.spans()
        extent = spans.extent()
        seen = draw_window(spans, extent, extent.start, extent.end, 50, [])
        assert seen.crowded and seen.calls == MOST + 500 and len(seen.rows) == 1
        assert not seen.rows[0].spans and seen.call_at(0, 3) is None
        assert sum(bucket.calls for bucket in spans.buckets(extent.start, extent.end, 50)) == MOST + 500
        assert all(0 <= bucket.part <= 50 and 0 < bucket.busy <= 1 for bucket in spans.buckets(extent.start, extent.end, 50))
        first, last = trace.calls(limit=1)[0], trace.calls(limit=1, newest_first=True)[0]
        lane = (first.process, first.thread)
        second = spans.beside(*lane, first.started, later=True, number=first.number)
        assert second is not None and second.label == 'step[1]'
        back = spans.beside(*lane, second.started, later=False, number=second.number)
        assert back is not None and back.number == first.number
        assert spans.beside(*lane, last.started, later=True, number=last.number) is None
        spans.close()


def test_from_call_to_call_by_key_and_mouse_and_every_pane_follows(threads) -> None:
    async def test() -> None:
        async with opened(threads, WIDE) as pilot:
            await press(pilot, '7')
            await still(pilot)
            assert lines(pilot)[0].startswith('6 calls  2 threads')
            await press(pilot, 'up')
            await until(pilot, 'outer[0] in run')
            await press(pilot, 'right')
            await until(pilot, 'inner[0] in run', 'tensors  #')
            await press(pilot, 'right')
            await until(pilot, 'outer[1] in run')
            await press(pilot, 'left')
            await until(pilot, 'inner[0] in run')
            await press(pilot, 'down')
            await until(pilot, 'other[0] in run')
            assert [line[0] for line in lines(pilot)[2:5]] == [' ', ' ', '>']
            await pilot.click(TimelinePane, offset=(1 + lines(pilot)[2].index('[outer[1]') + 4, 1 + 2))
            await until(pilot, 'outer[1] in run')
            await press(pilot, 'enter')
            assert inspector(pilot).result.here and 'outer[1]' in screen(pilot)
    drive(test)


def test_closer_farther_and_along(threads) -> None:
    async def test() -> None:
        async with opened(threads, WIDE) as pilot:
            await press(pilot, '7')
            await still(pilot)
            shown = pane(pilot)
            whole = (shown.start, shown.end)
            await press(pilot, 'plus')
            await still(pilot)
            assert shown.end - shown.start == pytest.approx((whole[1] - whole[0]) / 2)
            await press(pilot, 'end')
            await still(pilot)
            assert shown.end == pytest.approx(whole[1])
            await press(pilot, 'pageup')
            await still(pilot)
            assert shown.start == pytest.approx(whole[1] - (whole[1] - whole[0]) * 0.9)
            await press(pilot, 'home')
            await still(pilot)
            assert shown.start == pytest.approx(whole[0])
            await press(pilot, 'minus', 'minus', 'minus')
            await still(pilot)
            assert (shown.start, shown.end) == pytest.approx(whole)         # there is no more to see
            for _ in range(40):
                shown.action_zoom(0.5)
            await still(pilot)
            assert shown.end - shown.start == pytest.approx(1e-6)
            await press(pilot, '0')
            await still(pilot)
            assert (shown.start, shown.end) == pytest.approx(whole)
    drive(test)


def test_a_growing_trace_is_seen_whole(tmp_path: Path) -> None:
    async def test() -> None:
        with record_calls(tmp_path / 'live.pfd') as make:
            make(10)
            async with opened(tmp_path / 'live.pfd', WIDE) as pilot:
                await still(pilot)
                assert lines(pilot)[0].startswith('10 calls')
                make(30)
                while not lines(pilot)[0].startswith('40 calls'):
                    await pilot.pause(0.05)
    drive(test)


def test_a_trace_that_was_empty_is_seen_from_its_first_call(tmp_path: Path) -> None:
    async def test() -> None:
        with record_calls(tmp_path / 'live.pfd') as make:
            async with opened(tmp_path / 'live.pfd', WIDE) as pilot:
                await still(pilot)
                assert [line.strip() for line in lines(pilot)[:2]] == ['no call was recorded so far', '']
                time.sleep(0.5)
                make(30)
                while not lines(pilot)[0].startswith('30 calls'):
                    await pilot.pause(0.05)
                seen = pane(pilot).seen
                assert seen is not None and seen.start == seen.extent.start >= 0.5
    drive(test)
