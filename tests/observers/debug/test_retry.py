"""`retry`: on which inputs a call is executed again, and what the trace says of its executions."""
from __future__ import annotations

import re
import threading
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scripted_user import ScriptedUser

from pyfuncdbg import tf
from pyfuncdbg.hooks.chain import hooks
from pyfuncdbg.observers.debug.conditions.past_calls import Series
from pyfuncdbg.observers.debug.debugger import debugger
from pyfuncdbg.observers.debug.reports.summary import summarize
from pyfuncdbg.observers.record.recorder import Recorder
from pyfuncdbg.observers.record.trace import Trace
from pyfuncdbg.ui.commands.engine.command import Context
from pyfuncdbg.ui.commands.execute import execute

v1 = tf.compat.v1
GIVEN = [3.0, -0.0, np.nan, 1.0]


class Writer:
    """Writes to what it gets, each time in its own way; remembers what it was given, and the very object."""

    def __init__(self, *ways: Callable[[np.ndarray], object]) -> None:
        self.ways = ways
        self.seen: list[bytes] = []
        self.objects: list[np.ndarray] = []

    def __call__(self, x: np.ndarray, k: np.int32) -> np.float64:
        self.seen.append(x.tobytes())
        self.objects.append(x)
        self.ways[min(len(self.seen), len(self.ways)) - 1](x)
        return np.float64(len(self.seen))


def _raise(x: np.ndarray) -> None:
    x[:] = 7
    raise ValueError('first')


def _resize(x: np.ndarray) -> None:
    x[0] = 9
    with warnings.catch_warnings(action='ignore'):
        x.shape = (2, 2)                        # deprecated in NumPy 2.5


def _close(x: np.ndarray) -> None:
    x[:] = 5
    x.setflags(write=False)


def _negate_zero(x: np.ndarray) -> None:
    x[1] = 0.0                                  # equal, and other bits


@pytest.fixture
def user() -> Iterator[Callable[..., ScriptedUser]]:
    before = list(debugger.breakpoints.entries)
    yield lambda *lines: ScriptedUser(lines)
    for number in set(debugger.breakpoints.entries) - set(before):
        debugger.breakpoints.clear(number)
    debugger.catching = False


def called(function: Callable[..., Any], size: int = 4) -> float:
    given = np.resize(np.array(GIVEN), size)
    return float(tf.numpy_function(function, [tf.constant(given), tf.constant(3)], tf.float64, name='f'))


@pytest.mark.parametrize('size', [4, 40_000], ids=['small', 'pooled'])
@pytest.mark.parametrize('way', [np.ndarray.sort, _close, _negate_zero])
def test_a_call_is_retried_on_the_very_arrays_that_it_got_as_they_were(way, size, user):
    writer = Writer(way)
    with user('retry', 'cont') as typed:
        debugger.breakpoints.set('f', 'out > 0')
        debugger.start()
        assert called(writer, size) == 2
    assert writer.seen == [np.resize(np.array(GIVEN), size).tobytes()] * 2
    assert writer.objects[0] is writer.objects[1]
    answer = typed.answers[0]
    assert answer.inputs == 'restored' and [one.tensor for one in answer.changed] == ['in0']


def test_an_array_of_another_shape_is_given_anew(user):
    writer = Writer(_resize, np.ndarray.sort)
    with user('retry', 'cont') as typed:
        debugger.breakpoints.set('f', 'out > 0')
        debugger.start()
        called(writer)
    assert writer.seen == [np.array(GIVEN).tobytes()] * 2 and writer.objects[1].shape == (4,)
    assert [one.elements for one in typed.answers[0].changed] == [-1]


def test_inputs_are_restored_from_an_error_and_from_inside_of_the_function(user):
    for way, setting, lines in (
            (_raise, lambda: setattr(debugger, 'catching', True), ['retry', 'cont']),
            (np.ndarray.sort, lambda: debugger.breakpoints.set('f'), ['step', 'next', 'next', 'next', 'retry', 'cont'])):
        writer = Writer(way, np.ndarray.sort)
        with user(*lines) as typed:
            setting()
            debugger.start()
            assert called(writer) == 2, (typed.stops, typed.answers)
        assert writer.seen == [np.array(GIVEN).tobytes()] * 2
        assert typed.answers[-2].inputs == 'restored'
        debugger.catching = False


class Looker:
    """Between the debugger and the function: whether inputs were saved for each call."""

    kinds = frozenset(('python',))
    passive = True

    def __init__(self) -> None:
        self.saved_inputs: list[bool] = []

    def around(self, call: Any, proceed: Callable[[], Any]) -> Any:
        self.saved_inputs.append(call.saved_inputs is not None)
        return proceed()


@pytest.mark.parametrize(('condition', 'timing', 'saved'), [('k > 5', None, False), ('k > 5 or k == 3', None, True),
                                                             ('out > 9', None, True), (None, 'error', True)])
def test_inputs_are_saved_only_where_the_call_may_stop(condition, timing, saved, user):
    with user('cont') as typed:
        debugger.breakpoints.set('f', condition, timing=timing)
        debugger.start()
        hooks.add(looker := Looker())
        called(Writer(np.ndarray.sort))
        hooks.remove(looker)
    assert looker.saved_inputs == [saved] and len(typed.stops) == (condition == 'k > 5 or k == 3')


def test_a_call_that_nothing_was_to_stop_at_says_that_its_inputs_are_as_they_were_left(user):
    def f(x, k):
        x.sort()
        debugger.catching = True                # the user, at a stop of another thread
        if not again:
            again.append(1)
            raise ValueError('now')
        return x[0]
    again: list[int] = []
    with user('retry', 'cont') as typed:
        debugger.breakpoints.set('f', 'k > 5')
        debugger.start()
        hooks.add(looker := Looker())           # it wants the call, which the breakpoint does not
        called(f)
        hooks.remove(looker)
    answer = typed.answers[0]
    assert (answer.inputs, answer.changed) == ('as left', ())


def executions(path: Path) -> list[tuple[str, str, str, bool]]:
    with Trace.open(path) as trace:
        return [(call.number, call.label, call.retry_of, call.broken_off) for call in trace.calls(kind='python')]


def test_every_execution_is_in_the_trace_the_later_ones_as_retries_of_the_first(tmp_path, user):
    writer = Writer(np.ndarray.sort)
    recorder = Recorder(tmp_path / 't.pfd').start()
    with user('retry', 'retry --into', 'retry', 'cont') as typed:
        debugger.breakpoints.set('f[1]', 'out > 0')
        debugger.start()
        results = []
        site = tf.function(lambda x: tf.numpy_function(writer, [x, 3], tf.float64, name='f'))
        for _ in range(3):
            results.append(float(site(tf.constant(np.array(GIVEN)))))
        recorder.stop()
    assert results == [1, 4, 5] and typed.phases == ['after', 'after', 'line', 'after']
    found = executions(tmp_path / 't.pfd')
    first, one, two, three, four, last = (int(number) for number, *_ in found)
    assert [(label, of, off) for _, label, of, off in found] == [
        ('f[0]', '', False), ('f[1]', '', False), ('f[1]', str(one), False), ('f[1]', str(one), True),
        ('f[1]', str(one), False), ('f[2]', '', False)]
    assert first < one < two < three < four < last
    with Trace.open(tmp_path / 't.pfd') as trace:
        calls = trace.calls(kind='python')
        assert [call.inputs[0].to_numpy().tobytes() for call in calls] == [np.array(GIVEN).tobytes()] * 6
        assert [call.inputs[0].changed for call in calls] == [True, True, True, False, True, True]
        assert [[float(out.to_numpy()) for out in call.outputs] for call in calls] == [[1], [2], [3], [], [4], [5]]
        assert trace.call('f[1]').number == str(four) == trace.newest_calls(calls[1].site, limit=2)[1].number
        assert trace.info().retries == (3, 0) and not trace.count(kind='python', failed=True)
        summary = summarize(trace)
        assert not summary.failed and summary.retries == 3 and summary.sites[0].retries == 3 and summary.sites[0].calls == 6
        context = Context(trace, None, 100)     # type: ignore[call-arg]
        shown = {line: execute(line, context) for line in ('calls', f'call {three}', 'report', 'info')}
        assert f'ok, retry of #{one}' in shown['calls'].text(120)
        assert f'broken off, retry of #{one}' in shown[f'call {three}'].text(100)
        assert '6 calls (3 retries) of 1 Python function' in shown['report'].text(100)
        assert '6 calls (3 retries)' in shown['info'].text(100)
        assert shown[f'call {three}'].result.retry_of == str(one)


def test_the_time_of_an_execution_is_its_own(tmp_path, user):
    recorder = Recorder(tmp_path / 't.pfd').start()
    with user('retry --into', lambda stop: threading.Event().wait(0.3), 'cont', 'cont'):
        debugger.breakpoints.set('f', 'out > 0')
        debugger.start()
        called(Writer(np.ndarray.sort))
        recorder.stop()
    with Trace.open(tmp_path / 't.pfd') as trace:
        assert [call.duration < 0.25 for call in trace.calls(kind='python')] == [True, True]


def test_what_each_execution_said_is_its_own(tmp_path, user):
    said = iter(['one', 'two'])
    recorder = Recorder(tmp_path / 't.pfd', capture='only').start()
    with user('retry', 'cont'):
        debugger.breakpoints.set('f', 'out > 0')
        debugger.start()
        called(lambda x, k: (print(next(said)), np.float64(1))[1])
        recorder.stop()
    with Trace.open(tmp_path / 't.pfd') as trace:
        assert [[entry.text for entry in call.output] for call in trace.calls(kind='python')] == [['one\n'], ['two\n']]


def test_history_has_what_the_retried_call_got(user):
    writer = Writer(lambda x: x.__setitem__(0, 8))
    with user('retry', 'cont', 'cont') as typed:
        debugger.breakpoints.set('f', 'call.ordinal == 0 and out > 0')
        second = debugger.breakpoints.set('f', 'out == 3 and history[-1].inputs[0][0] == 3')
        debugger.start()
        run = tf.function(lambda x: tf.numpy_function(writer, [x, 3], tf.float64, name='f'))
        for _ in range(2):
            run(tf.constant(GIVEN))
    assert [reason for _, reason in typed.stops][2:] == [f'breakpoint {second.number}']


def test_a_node_that_is_retried_is_marked(tmp_path, user):
    writer = Writer(np.ndarray.sort)
    with tf.Graph().as_default():
        x = v1.placeholder(tf.float64, [4], name='x')
        total = tf.identity(tf.numpy_function(writer, [x * 1.0, 3], tf.float64, name='f'), name='total')
        recorder = Recorder(tmp_path / 't.pfd', ops=True).start()
        with v1.Session() as session, user('to total', 'retry', 'retry', 'cont'):
            debugger.breakpoints.set('mul')
            debugger.start()
            assert session.run(total, {x: GIVEN}) == 3
            assert session.run(total, {x: GIVEN}) == 4
            recorder.stop()
    assert writer.seen == [np.array(GIVEN).tobytes()] * 4
    with Trace.open(tmp_path / 't.pfd') as trace:
        for kind in ('python', 'op'):
            calls = [call for call in trace.calls(kind=kind) if call.site.name == 'f']
            assert [call.retry_of for call in calls] == ['', calls[0].number, calls[0].number, '']


def test_a_run_that_is_retried_has_a_record_of_its_own(tmp_path, user):
    import pyfuncdbg
    with tf.Graph().as_default():
        x = v1.placeholder(tf.float64, [4], name='x')
        y = tf.numpy_function(Writer(np.ndarray.sort), [x, 3], tf.float64, name='f')
        recorder = Recorder(tmp_path / 't.pfd').start()
        with pyfuncdbg.DebugSession(v1.Session()) as session, user('run', 'retry', 'cont'):
            assert session.run(y, {x: GIVEN}) == 2
            assert not debugger.runs.count
            recorder.stop()
    with Trace.open(tmp_path / 't.pfd') as trace:
        first, second = trace.runs()
        assert (first.retry_of, second.retry_of) == ('', str(first.id))
        assert [float(run.fetches[0].to_numpy()) for run in (first, second)] == [1, 2]
        assert second.started > first.started + first.duration
        assert [call.run for call in trace.calls(kind='python')] == [first.id, second.id]
        assert trace.info().retries == (0, 1)


def test_a_condition_remembers_the_last_execution_of_a_retried_call_alone(user, capfd):
    given = iter((1.0, 2.0, 5.0, 4.0))

    def f(x):
        return np.float64(next(given))

    def call(x):
        return float(tf.numpy_function(f, [tf.constant(x)], tf.float64, name='f'))
    with user('retry', 'cont', 'retry', 'cont') as typed:
        debugger.breakpoints.set('f', 'out == 1.0')
        debugger.breakpoints.set('f', 'out == 5.0')
        counts = [debugger.breakpoints.set('f', f'out > 0 and {condition}', do='log').number for condition in (
            'len(history) == 1 and history[-1].out == 2.0 and history[0].x == 7', 'history.mean(out) == 2.0',
            'history.ema(out) == 2.0', 'history.max(out) == 2.0', 'changed(x)')]
        debugger.start()
        assert [call(7), call(8)] == [2.0, 4.0]
    # Both executions of the second call: they see the first call, as it ended, and nothing else.
    logged = capfd.readouterr().err
    assert [logged.count(f'breakpoint {number}:') for number in counts] == [2] * 5
    assert [debugger.breakpoints.entry(number).hits for number in counts] == [1] * 5
    assert len(typed.answers) == 4


def test_a_series_takes_a_value_back_whichever_came_after_it():
    values = [float(value) for value in np.random.default_rng(1).normal(size=250)]
    kept = values[-99:]                         # of the last hundred, the one that is taken back was one
    average = Series('ema', 0.3)
    for value in values:
        average.add(value)
    for method, expected in (('ema', average.value()), ('mean', np.mean(kept)), ('min', min(kept)), ('max', max(kept))):
        series = Series(method, 0.3)
        for number, value in enumerate(values, 1):
            series.add(value, number)
            if number == 249:
                series.add(100.0, 900)
        series.take_back(900)
        series.take_back(1)                     # too long ago: nothing is changed
        assert series.value() == expected


def test_what_the_function_takes_from_is_named_and_goes_on(user):
    numbers, random = iter(range(10)), np.random.default_rng(3)

    def take(x: np.ndarray) -> np.float64:
        return np.float64(next(numbers) + 0 * random.random())

    def plain(x: np.ndarray) -> np.float64:
        return np.float64(2)
    said = []

    def look(stop: Any) -> None:
        said.append(' '.join(execute('retry', Context(debugger.live.trace(), stop, 200, debugger)).text(200).split()))
    for name, function, value in (('f', take, 1.0), ('g', plain, 2.0)):
        execute(f'break {name} --after-call', Context(debugger.live.trace(), None, 80, debugger))
        with user(look, 'cont'):
            assert float(tf.numpy_function(function, [tf.constant(1.0)], tf.float64, name=name)) == value
    assert ('its function consumes numbers, an iterator (range_iterator); random, a random generator, which cannot be '
            'restored: this execution continues where the last one ended') in said[0]
    assert 'consumes' not in said[1]


@pytest.mark.parametrize('place', ['f --after-call', 'line'])
def test_a_retried_call_is_hit_once_whatever_it_counts(place, user):
    """Two hits, every third of which stops: the retries of a call in between are the hits that it was."""
    def f(x: np.ndarray) -> np.float64:
        return np.float64(x)
    spec = f'{__file__}:{f.__code__.co_firstlineno + 1}' if place == 'line' else place
    execute(f'break {spec} --every 3', Context(debugger.live.trace(), None, 80, debugger))
    execute('break f --after-call if x == 1', Context(debugger.live.trace(), None, 80, debugger))
    first = max(debugger.breakpoints.entries) - 1
    stopped = []

    def look(stop: Any) -> None:
        every, other = (debugger.breakpoints.entry(number).hits for number in (first, first + 1))
        stopped.append((float(stop.call.inputs[0]), every, other))
        execute(f'{"retry" if len(stopped) < 3 else "cont"}', Context(debugger.live.trace(), stop, 80, debugger))
    with user(*[look] * 10):
        for value in range(4):
            tf.numpy_function(f, [tf.constant(float(value))], tf.float64, name='f')
    assert stopped == [(1, 2, 1), (1, 2, 1), (1, 2, 1), (2, 3, 1)]


def test_at_a_stop_the_name_of_a_node_is_the_call_of_the_stop(user):
    """Another thread has called it since."""
    def call(x: float) -> None:
        tf.numpy_function(lambda x: np.float64(x * 10), [tf.constant(x)], tf.float64, name='parse')
    execute('break parse --after-call if x == 1', Context(debugger.live.trace(), None, 80, debugger))
    said: dict[str, str] = {}

    def look(stop: Any) -> None:
        other = threading.Thread(target=call, args=(2.0,))
        other.start()
        other.join()
        for line in ('call parse', 'pt parse:in0', 'pt parse:0', 'ni parse', 'calls'):
            said[line] = ' '.join(execute(line, Context(debugger.live.trace(), stop, 200, debugger)).text(200).split())
    with user(look, 'cont'):
        call(1.0)
    assert said['calls'].startswith('2 calls')
    assert ' parse[0] PyFunc' in said['call parse'][:40]
    assert re.search(r'input 0 of call #\d+ parse\[0\]', said['pt parse:in0'])
    assert re.search(r'output 0 of call #\d+ parse\[0\]', said['pt parse:0'])
    assert 'float64[] = 10' in said['ni parse'] and '= 20' not in said['ni parse']
