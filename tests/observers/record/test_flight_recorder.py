"""The flight recorder: what is in its traces is what was there around each trip, and nothing is where nothing tripped."""
from __future__ import annotations

import itertools
import os
import re
import signal
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from plain_host import new_run, new_site, wrapped
from recorded_script import run_script

from pyfuncdbg.errors import TraceError
from pyfuncdbg.hooks import chain, random_states
from pyfuncdbg.hooks.call import Call
from pyfuncdbg.observers.record.flight.flight_recorder import FlightRecorder
from pyfuncdbg.observers.record.records import UNCAUGHT
from pyfuncdbg.observers.record.trace import Trace


class On:
    """A trigger: trips where a function of the first input says so."""

    text = 'a test'
    remembers = False

    def __init__(self, holds: Callable[[Any], bool]) -> None:
        self._holds = holds

    def begin(self, call: Call) -> None:
        raise AssertionError('it does not remember')

    def trips(self, call: Call, outputs: Sequence[Any] | None, error: BaseException | None) -> str:
        return self.text if self._holds(call.inputs[0]) else ''

    def complaint(self) -> str:
        return ''


class OnError(On):
    """Trips where a call raises."""

    def trips(self, call: Call, outputs: Sequence[Any] | None, error: BaseException | None) -> str:
        return '' if error is None else self.text


def square(x: Any) -> list[Any]:
    return [x * x]


def numbers(path: Path) -> list[float]:
    """Inputs of the finished calls in a trace; another thread may have been in the middle of one."""
    with Trace.open(path) as trace:
        calls = [call for call in trace.calls(limit=100_000) if call.duration is not None]
        for call in calls:
            assert call.outputs[0].to_numpy().flat[0] == call.inputs[0].to_numpy().flat[0] ** 2
        return [call.inputs[0].to_numpy().flat[0].item() for call in calls]


def flown(folder: Path, count: int, trips: Sequence[int], **options: Any) -> FlightRecorder:
    """`count` calls with 0, 1, 2, ... of which some trip."""
    call = wrapped(square)
    with FlightRecorder(folder / 't.pfd', On(lambda x: x in trips), **options) as recorder:
        for number in range(count):
            call(np.float64(number))
    return recorder


def expected_windows(count: int, trips: Sequence[int], before: int, after: int, most: int) -> list[list[int]]:
    """The calls of each trace, by the rule: those before the trip that are in no trace, and those after the last."""
    windows: list[list[int]] = []
    end = free = 0
    for trip in trips:
        if windows and trip < end:
            end = trip + after + 1
            windows[-1] = list(range(windows[-1][0], min(end, count)))
        elif len(windows) < most:
            end = trip + after + 1
            windows.append(list(range(max(trip - before, free), min(end, count))))
        free = max(free, windows[-1][-1] + 1)
    return windows


@settings(max_examples=40)
@given(count=st.integers(1, 300), before=st.integers(0, 40), after=st.integers(0, 20), most=st.integers(1, 4),
       data=st.data())
def test_each_trace_has_the_calls_around_its_trips_and_no_call_is_in_two(
        count: int, before: int, after: int, most: int, data: st.DataObject,
        tmp_path_factory: pytest.TempPathFactory) -> None:
    trips = sorted(data.draw(st.sets(st.integers(0, count - 1), max_size=8)))
    folder = tmp_path_factory.mktemp('flight')
    recorder = flown(folder, count, trips, before=before, after=after, keep_most=most)
    windows = expected_windows(count, trips, before, after, most)
    assert [numbers(path) for path in recorder.traces] == windows
    assert sorted(path.name for path in folder.iterdir()) == sorted(
        't.pfd' if number == 1 else f't-{number}.pfd' for number in range(1, len(windows) + 1))


def test_nothing_is_left_where_nothing_tripped(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    flown(tmp_path, 1000, [], before=10)
    assert list(tmp_path.iterdir()) == []
    assert capfd.readouterr().err == 'pyfuncdbg: a test: no trace; 1,000 calls not written\n'


def test_the_reports_count_what_was_kept_and_what_was_not(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    recorder = flown(tmp_path, 1000, [3, 5, 500, 700], before=10, after=5, keep_most=2)
    first = r'kept a test at call #\d+ \(norm\[3\]\) and 1 more: 3 calls before, 5 calls after the last, in .*/t.pfd'
    second = r'kept a test at call #\d+ \(norm\[500\]\): 10 calls before, 5 calls after, in .*/t-2.pfd'
    lines = [line.removeprefix('pyfuncdbg: ') for line in capfd.readouterr().err.splitlines()]
    assert re.fullmatch(first, lines[0]) and re.fullmatch(second, lines[1])
    assert lines[2:] == ['a test: 2 traces; 973 calls not written; it held at 1 more, not kept: at most 2 traces']
    assert recorder.missed == 1


def test_a_trace_says_why_it_is_one_and_what_it_lacks(tmp_path: Path) -> None:
    recorder = flown(tmp_path, 1000, [300, 301], before=7, after=2)
    with Trace.open(recorder.traces[0]) as trace:
        info = trace.info()
        tripped = trace.calls(limit=100)[7]
        assert [(trip.condition, trip.call, trip.site, trip.ordinal, trip.before) for trip in info.trips] == [
            ('a test', int(tripped.number), 'norm', 300, 7), ('a test', int(tripped.number) + 1, 'norm', 301, 7)]
        assert info.dropped == {'calls': 293} and info.complete
        assert all(call.started >= 0 for call in trace.calls(limit=100))      # it begins with its first call


def test_calls_that_enclose_a_trip_are_in_the_trace_with_their_values(tmp_path: Path) -> None:
    inner = wrapped(square, 'inner')

    def outer(x: Any) -> list[Any]:
        for number in range(50):
            inner(np.float64(number))
        return [x * x]
    with FlightRecorder(tmp_path / 't.pfd', On(lambda x: x == 40), before=3, after=100) as recorder:
        wrapped(outer, 'outer')(np.float64(-2))
    with Trace.open(recorder.traces[0]) as trace:
        calls = trace.calls(limit=100)
        (around,) = [call for call in calls if call.site.name == 'outer']
        inside = [call for call in calls if call.site.name == 'inner']
        assert around.outputs[0].to_numpy() == 4.0 and around.inputs[0].to_numpy() == -2.0
        assert [call.inputs[0].to_numpy() for call in inside] == list(range(37, 50))
        assert {call.parent for call in inside} == {around.number}


def test_a_call_that_ends_after_its_trace_is_in_the_next_one(tmp_path: Path) -> None:
    inner = wrapped(square, 'inner')

    def outer(x: Any) -> list[Any]:
        inner(np.float64(1))
        inner(np.float64(2))
        return [x * x]
    with FlightRecorder(tmp_path / 't.pfd', On(lambda x: x in (1, 7)), before=3, after=0) as recorder:
        wrapped(outer, 'outer')(np.float64(7))
    with Trace.open(recorder.traces[0]) as trace:
        (unfinished,) = trace.calls(site='outer')
        assert unfinished.outputs == () and unfinished.inputs[0].to_numpy() == 7
    with Trace.open(recorder.traces[1]) as trace:
        calls = [(call.site.name, call.outputs[0].to_numpy().item()) for call in trace.calls()]
        assert calls == [('outer', 49), ('inner', 4)]


def test_memory_is_bounded_and_the_newest_calls_stay(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    call = wrapped(square)
    with FlightRecorder(tmp_path / 't.pfd', On(lambda x: x[0] == 99), before=50, after=0, memory=4 << 20,
                        level='full') as recorder:
        for number in range(100):
            call(np.full(32_000, float(number)))
            allowance = recorder.calls.snapshots.allowance
            assert allowance.used <= allowance.limit == 2 << 20
    (path,) = recorder.traces
    kept = numbers(path)
    assert kept == [96.0, 97.0, 98.0, 99.0]
    assert ': 3 calls before, 0 calls after, in ' in capfd.readouterr().err
    with Trace.open(path) as trace:
        assert trace.info().dropped == {'calls': 96}


def test_runs_are_forgotten_with_their_calls_and_no_call_lacks_its_run(tmp_path: Path) -> None:
    call = wrapped(square)
    with FlightRecorder(tmp_path / 't.pfd', On(lambda x: x == 9_999), before=20) as recorder:
        for number in range(10_000):
            call(np.float64(number), run=new_run(f'run {number}'))
        assert len(recorder.calls.known_runs) < 6_000
    (path,) = recorder.traces
    with Trace.open(path) as trace:
        assert [trace.run(call.run).label for call in trace.calls(limit=100)] == [
            f'run {number}' for number in range(9_979, 10_000)]
        assert [run.label for run in trace.runs()] == [f'run {number}' for number in range(9_979, 10_000)]


def test_an_old_run_that_was_forgotten_is_announced_again(tmp_path: Path) -> None:
    call, old = wrapped(square), new_run('old')
    with FlightRecorder(tmp_path / 't.pfd', On(lambda x: x == -2), before=2) as recorder:
        call(np.float64(-1), run=old)
        for number in range(10_000):
            call(np.float64(number), run=new_run())
        assert old.id not in recorder.calls.known_runs
        call(np.float64(-2), run=old)
    with Trace.open(recorder.traces[0]) as trace:
        assert trace.run(trace.calls()[-1].run).label == 'old'


def test_sites_without_end_take_no_memory_without_end(tmp_path: Path) -> None:
    run = new_run()
    with FlightRecorder(tmp_path / 't.pfd', On(lambda x: x == 14_999), before=5) as recorder:
        for number in range(15_000):
            chain.invoke(new_site(square, f'site{number}'), square, run, [np.float64(number)])
        assert len(recorder.calls.backlog.sites) < 8_000
    with Trace.open(recorder.traces[0]) as trace:
        assert [call.site.name for call in trace.calls()] == [f'site{number}' for number in range(14_994, 15_000)]


def test_a_condition_that_always_holds_fills_one_trace(tmp_path: Path) -> None:
    call = wrapped(square)
    with FlightRecorder(tmp_path / 't.pfd', On(lambda x: True), after=3, budget=128 << 10, level='full') as recorder:
        for number in range(900):
            call(np.full(500, float(number)))
    assert [path.name for path in recorder.traces] == ['t.pfd']
    assert recorder.missed > 100
    assert sum(file.stat().st_size for file in recorder.traces[0].iterdir()) <= 128 << 10


def test_threads_lose_and_double_nothing(tmp_path: Path) -> None:
    made = itertools.count()
    calls = [wrapped(square, f'thread{n}') for n in range(4)]

    def work(n: int) -> None:
        for _ in range(500):
            calls[n](np.float64(next(made)))
    with FlightRecorder(tmp_path / 't.pfd', On(lambda x: x % 97 == 50), before=10, after=10, keep_most=1000) as recorder:
        threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    kept = [numbers(path) for path in recorder.traces]
    assert {50 + 97 * n for n in range(20)} <= set(itertools.chain(*kept))
    assert sum(map(len, kept)) == len(set(itertools.chain(*kept)))


def test_the_states_that_its_calls_began_in_are_kept_and_others_forgotten(tmp_path: Path) -> None:
    numbers_drawn: list[float] = []

    def draws(x: Any) -> list[Any]:
        numbers_drawn.append(np.random.rand())
        return [x]
    call = wrapped(draws, name='draws')
    recorder = FlightRecorder(tmp_path / 'f.pfd', On(lambda x: x in (500, 900)), before=3, after=2)
    with recorder:
        for number in range(1000):
            call(np.float32(number))
            assert len(recorder.calls.backlog.states) < 60
    for path, trip in zip(recorder.traces, (500, 900), strict=True):
        with Trace.open(path) as trace:
            kept = trace.calls(kind='python')
            assert [call.ordinal for call in kept] == list(range(trip - 3, trip + 3))
            for one in kept:
                state = trace.call_state(one.number)
                assert state.generators is not None and state.function[2] == draws.__qualname__
                random_states.restore(np.random.mtrand._rand, state.generators['numpy.random'])
                assert np.random.rand() == numbers_drawn[one.ordinal]


def test_what_is_printed_is_kept_with_its_call(tmp_path: Path) -> None:
    def speak(x: Any) -> list[Any]:
        print('call', x)
        return [x * x]
    call = wrapped(speak)
    with FlightRecorder(tmp_path / 't.pfd', On(lambda x: x == 6), before=1, after=1, capture='only') as recorder:
        for number in range(10):
            call(np.float64(number))
    with Trace.open(recorder.traces[0]) as trace:
        assert [call.output[0].text for call in trace.calls()] == ['call 5.0\n', 'call 6.0\n', 'call 7.0\n']


CRASHING = '''
    from pyfuncdbg.observers.record.flight.flight_recorder import FlightRecorder
    import atexit

    class OnSeven:
        text, remembers = 'seven', False
        def trips(self, call, outputs, error): return 'seven' if call.inputs[0] == 7 else ''
        def complaint(self): return ''

    recorder = FlightRecorder(sys.argv[1], OnSeven(), before=3, after=5).start()
    call = wrapped(lambda x: [x * x])
    for number in range(10):
        call(np.float64(number))
'''


@pytest.mark.parametrize(('end', 'kept'), [
    ("raise ValueError('bad')", range(4, 10)), ('sys.exit(3)', range(4, 10)), ('os._exit(0)', range(4, 8)),
    ('os.kill(os.getpid(), 9)', range(4, 8))])
def test_what_tripped_outlives_the_program(tmp_path: Path, end: str, kept: range) -> None:
    """A program that ends by itself keeps the calls after, too; one that is killed at least what there was at the trip."""
    run_script(tmp_path, 'import numpy as np\n' + CRASHING.replace('\n    ', '\n') + end, tmp_path / 't.pfd')
    found = numbers(tmp_path / 't.pfd')
    assert found[:len(kept)] == list(kept)


def test_forked_children_have_rings_and_traces_of_their_own(tmp_path: Path) -> None:
    call = wrapped(square)
    with FlightRecorder(tmp_path / 't.pfd', On(lambda x: x in (6, 106)), before=2, after=3) as recorder:
        for number in range(8):
            call(np.float64(number))
        child = os.fork()
        if child == 0:
            try:
                for number in range(100, 120):
                    call(np.float64(number))
                recorder.stop()
            finally:
                os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        for number in range(8, 20):
            call(np.float64(number))
    assert numbers(tmp_path / 't.pfd') == [4, 5, 6, 7, 8, 9]
    assert numbers(tmp_path / 't-2.pfd') == [104, 105, 106, 107, 108, 109]
    assert recorder.traces == [tmp_path / 't.pfd']


def test_a_signal_handler_that_makes_calls_while_a_trace_is_opened(tmp_path: Path) -> None:
    call, before = wrapped(square), signal.getsignal(signal.SIGALRM)

    def handler(number: int, frame: Any) -> None:
        call(np.float64(5))
    signal.signal(signal.SIGALRM, handler)
    try:
        with FlightRecorder(tmp_path / 't.pfd', On(lambda x: x == 5), before=2, after=2) as recorder:
            for number in range(1, 400):
                signal.setitimer(signal.ITIMER_REAL, 0.0005)
                call(np.float64(number % 9))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    for path in recorder.traces:
        assert 5 in numbers(path)


def test_a_folder_that_cannot_be_written_is_told_once_and_the_program_goes_on(
        tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    place = tmp_path / 'gone'
    place.mkdir()
    call = wrapped(square)
    with FlightRecorder(place / 't.pfd', On(lambda x: x % 3 == 0), before=2, after=0) as recorder:
        place.rmdir()
        results = [call(np.float64(number))[0] for number in range(10)]
    assert results == [number ** 2 for number in range(10)]
    said = capfd.readouterr().err
    assert said.count('could not be kept; the program continues') == 1
    assert recorder.missed == 4 and recorder.traces == []


def test_an_error_that_ends_the_program_is_noted_in_the_open_trace(tmp_path: Path) -> None:
    def fail(x: Any) -> list[Any]:
        raise ValueError('no')
    call = wrapped(fail)
    with FlightRecorder(tmp_path / 't.pfd', OnError(bool)) as recorder:
        with pytest.raises(ValueError, match='no'):
            call(np.float64(1))
        recorder.note(UNCAUGHT, {'error': 'ValueError'})
    with Trace.open(tmp_path / 't.pfd') as trace:
        assert [note.data for note in trace.notes(UNCAUGHT)] == [{'error': 'ValueError'}]
        assert trace.calls()[0].error.message == 'no'  # type: ignore[union-attr]


@pytest.mark.parametrize(('options', 'message'), [
    ({'before': -1}, 'before is -1; expected an integer from 0 on'),
    ({'keep_most': 0}, 'keep_most is 0; expected an integer from 1 on'),
    ({'before': 1_000_000}, 'more than 67,108,864: keep less calls, or give more memory'),
    ({'budget': 10}, 'a budget of 10 bytes is too small'),
    ({'level': 'some'}, "no such level: 'some'")])
def test_options_that_make_no_sense_are_refused(tmp_path: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises(TraceError, match=message):
        FlightRecorder(tmp_path / 't.pfd', On(bool), **options)


def test_a_folder_that_is_not_there_is_told_at_the_start(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match='there is no folder'):
        FlightRecorder(tmp_path / 'none' / 't.pfd', On(bool)).start()
