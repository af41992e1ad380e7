"""Calls in an order, by position: sorted and filtered as `calls` does, found by text, broken off."""
from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, strategies as st
from plain_host import new_run, wrapped

from pyfuncdbg.errors import CommandError
from pyfuncdbg.observers.record.index import time_spans
from pyfuncdbg.observers.record.index.query import SORTS, CallFilter, QueryCancelledError
from pyfuncdbg.observers.record.index.sorted_calls import SortedCalls
from pyfuncdbg.observers.record.index.tables import call_table
from pyfuncdbg.observers.record.recorder import Recorder
from pyfuncdbg.observers.record.trace import Trace


@pytest.fixture
def trace(tmp_path: Path) -> Iterator[Trace]:
    """60 calls of norm and scale in 6 runs: call 11 raises, call 20 prints, every seventh gives a NaN."""
    def norm(number: int) -> tuple[np.ndarray]:
        if number == 10:
            raise ValueError('Singular MATRIX, größer')
        if number == 19:
            print('nineteen is odd')
        return (np.full(number % 5, np.nan if number % 7 == 0 else 1.0),)

    sites = [wrapped(norm, 'model/norm'), wrapped(lambda number: (number,), 'scale')]
    with Recorder(tmp_path / 't.pfd') as recorder:
        for number in range(60):
            if number % 10 == 0:
                run = new_run()
            with contextlib.suppress(ValueError):
                sites[number % 3 == 2](number, run=run)
    with Trace.open(recorder.path) as opened:
        yield opened


def built(trace: Trace, **options: object) -> SortedCalls:
    ordering = trace.sorted_calls(**options)         # type: ignore[arg-type]
    ordering.build()
    return ordering


@pytest.mark.parametrize('sort', SORTS)
@pytest.mark.parametrize('newest_first', [False, True])
def test_every_order_is_that_of_the_calls(trace: Trace, sort: str, newest_first: bool) -> None:
    for filters in ({}, {'kind': 'python'}, {'site': '*norm'}, {'bad': True}, {'failed': False, 'run': 2}):
        wanted = trace.calls(sort=sort, newest_first=newest_first, **filters)   # type: ignore[arg-type]
        ordering = built(trace, sort=sort, newest_first=newest_first, **filters)
        assert ordering.count == len(wanted) == trace.count(**filters)
        assert [call.number for call in ordering.page(0, 100)] == [call.number for call in wanted]
        assert [ordering.position(call.number) for call in wanted] == list(range(len(wanted)))
        assert [call.number for call in ordering.page(3, 2)] == [call.number for call in wanted[3:5]]
        ordering.close()


def test_new_sort_keys_sort_by_what_they_are_named_after(trace: Trace) -> None:
    sizes = [sum(tensor.nbytes for tensor in call.outputs) for call in built(trace, sort='size').page(0, 60)]
    assert sizes == sorted(sizes) and set(sizes) == {0, 8, 16, 24, 32}
    worst = built(trace, sort='result', newest_first=True).page(0, 60)
    kinds = ['raised' if call.error is not None else 'bad' if any(t.stats and t.stats.bad for t in call.outputs) else 'ok'
             for call in worst]
    assert kinds == ['raised'] + ['bad'] * 5 + ['ok'] * 54
    functions = [call.site.function for call in built(trace, sort='function').page(0, 60)]
    assert functions == sorted(functions) and len(set(functions)) == 2


def test_what_is_not_there(trace: Trace) -> None:
    ordering = built(trace)
    with pytest.raises(CommandError, match='sorted by'):
        trace.sorted_calls(sort='colour')
    with pytest.raises(CommandError, match='No kind of call'):
        trace.sorted_calls(kind='pyhton')
    assert ordering.position('99999999') is None and ordering.position('2.1') is None and ordering.page(60, 5) == []


def test_text_is_found_in_names_errors_and_output(trace: Trace) -> None:
    ordering = built(trace)
    assert ordering.find('SCALE', 0) == 2
    assert ordering.find('scale', 3) == 5
    assert ordering.find('scale', 4, backwards=True) == 2
    assert ordering.find('singular matrix', 0) == 10
    assert ordering.find('GRÖSSER', 0) is None and ordering.find('Größer', 0) == 10
    assert ordering.find('valueerror', 11) == 10                # round the end
    assert ordering.find('nineteen', 5, backwards=True) == 19   # round the beginning
    assert ordering.find('norm[0]', 1) == 0 and ordering.find('norm[3]', 0) == 4
    assert ordering.find('nowhere', 0) is None
    assert built(trace, newest_first=True).find('nineteen', 0) == 40


def test_text_that_names_of_every_call_hold_is_found_beyond_a_page_of_candidates(tmp_path: Path) -> None:
    def say(number: int) -> tuple[int]:
        print('said', number)
        return (number,)

    call = wrapped(say)
    with Recorder(tmp_path / 't.pfd') as recorder:
        for number in range(1_000):
            call(number)
    with Trace.open(recorder.path) as trace:
        ordering = built(trace)
        assert ordering.find('said 999', 0) == 999
        assert ordering.find('said 3\n', 999, backwards=True) == 3
        assert ordering.find('said 700', 701) == 700


def test_cancelled_from_another_thread(trace: Trace) -> None:
    ordering = trace.sorted_calls()
    thread = threading.Thread(target=ordering.cancel)
    thread.start()
    thread.join()
    with pytest.raises(QueryCancelledError):
        ordering.build()
    ordering.close()
    ordering.close()
    with pytest.raises(QueryCancelledError):
        built(trace).find('nowhere', 0, go_on=lambda looked: False)
    with pytest.raises(QueryCancelledError):
        ordering.page(0, 1)


def test_survives_logs_that_are_read_anew(trace: Trace) -> None:
    ordering = built(trace, sort='duration')
    expected = [call.number for call in ordering.page(0, 60)]
    trace._renew()
    trace.refresh()
    assert [call.number for call in ordering.page(0, 60)] == expected and len(expected) == 60


@given(st.lists(st.tuples(st.integers(1, 3), st.integers(-9, 9), st.integers(-4, 4)), max_size=40),
       st.integers(-5, 5) | st.sampled_from([1 << 63, -(1 << 63) - 1, 10 ** 40]))
def test_the_calls_of_a_run_are_all_of_it_and_in_their_order(given_rows: list[tuple[int, int, int]], run: int) -> None:
    table = call_table()
    for process, number, of_run in given_rows:
        zeros = dict.fromkeys(('site', 'ordinal', 'thread', 'started', 'duration', 'flags', 'forward', 'parent', 'position',
                               'head', 'size'), 0)
        table.append(1, {**zeros, 'process': process, 'id': number, 'run': of_run})
    calls = table.view()
    wanted = [row for row in calls.rows.tolist() if calls['run'][row] == run]
    assert calls.rows_of_run(run).tolist() == wanted == calls.rows_of_run(run).tolist()
    for process in (None, 1, 2):
        found = CallFilter(run=run, process=process).rows(calls, {})
        assert found.tolist() == [row for row in wanted if calls['id'][row] > 0 and process in (None, calls['process'][row])]


@pytest.mark.parametrize(('backwards', 'start'), [(False, 0), (False, 700), (True, 999), (True, 300)])
def test_a_search_says_how_many_it_has_looked_at(tmp_path: Path, backwards: bool, start: int) -> None:
    call = wrapped(lambda number: print('said', number))
    with Recorder(tmp_path / 't.pfd') as recorder:
        for number in range(1_000):
            call(number)
    looked: list[int] = []
    with Trace.open(recorder.path) as trace:
        assert built(trace).find('nowhere', start, backwards=backwards, go_on=lambda n: not looked.append(n)) is None
    assert looked == sorted(looked) and (looked[0], looked[-1]) == (0, 1_000) and len(looked) > 4


@given(st.lists(st.tuples(st.integers(1, 2), st.sampled_from([7, 139_000_000_000_000]), st.integers(0, 10**6),
                          st.integers(-1, 10**6), st.integers(0, 3)), min_size=1, max_size=40), st.integers(1, 9),
       st.sampled_from([1, 5, 1 << 20]))
def test_parts_of_a_timeline_add_up_the_calls_that_begin_in_them(
        given_rows: list[tuple[int, int, int, int, int]], parts: int, together: int) -> None:
    table = call_table()
    zeros = dict.fromkeys(('run', 'site', 'ordinal', 'forward', 'parent', 'position', 'head', 'size'), 0)
    sums: dict[tuple[int, int, int], list[float]] = {}
    first, last = 200_000, 900_000
    width = -(-(last - first) // parts)
    for number, (process, thread, started, duration, flags) in enumerate(given_rows, 1):
        table.append(1, {**zeros, 'process': process, 'id': number, 'thread': thread, 'started': started,
                         'duration': duration, 'flags': flags})
        if first <= started <= last:
            cell = sums.setdefault((process, thread, (started - first) // width), [0, 0, 0, 0])
            for place, more in enumerate((1, flags & 1, flags >> 1, max(duration, 0))):
                cell[place] += more
    with patch.object(time_spans, '_TOGETHER', together):
        found = time_spans.Spans(table.view(), {}).buckets(first / 1e9, last / 1e9, parts)
    assert [(each.process, each.thread, each.part, each.calls, each.failed, each.bad, each.busy) for each in found] == [
        (*key, calls, failed, bad, min(1.0, busy / width)) for key, (calls, failed, bad, busy) in sorted(sums.items())]
