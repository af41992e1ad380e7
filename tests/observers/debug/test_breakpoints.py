"""Breakpoints at real calls: what they match, when they are tested, how hits count, on any thread and in graphs."""
from __future__ import annotations

import gc
import weakref
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from native_threads import run_native
from stopping import debugging, wrapped

import pyfuncdbg
from pyfuncdbg import tf
from pyfuncdbg.errors import CommandError
from pyfuncdbg.hooks import chain, rank_variables
from pyfuncdbg.hooks.call import CallSite, Run
from pyfuncdbg.hosts.numpy.runtime.execution.host import host
from pyfuncdbg.observers.debug.breakpoints.breakpoint import Breakpoint, HitCount
from pyfuncdbg.observers.debug.breakpoints.listing import states
from pyfuncdbg.observers.debug.breakpoints.never_hit import unhit_warnings
from pyfuncdbg.observers.debug.breakpoints.spec import function_names, spec
from pyfuncdbg.observers.debug.breakpoints.table import Breakpoints
from pyfuncdbg.observers.debug.debugger import debugger as the_debugger
from pyfuncdbg.observers.record.recorder import Recorder
from pyfuncdbg.observers.record.trace import Trace


class Model:
    def step(self, x):
        return x

    def __call__(self, x):
        return x


# --- SPEC -----------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize(('text', 'facts'), [
    ('norm', ('name', 'norm', 0, None)), ('norm[3]', ('name', 'norm', 0, 3)), ('#17', ('call', '', 17, None)),
    ('norm:0', ('name', 'norm', 0, None)), ('layer/norm_1:12', ('name', 'layer/norm_1', 0, None)),
    ('a/model.py:41', ('line', 'a/model.py', 41, None)), ('<ipython-input-3>:2', ('line', '<ipython-input-3>', 2, None)),
    ('layer[0-9]*', ('name', 'layer[0-9]*', 0, None)), (r'C:\x\model.py:3', ('line', r'C:\x\model.py', 3, None)),
])
def test_spec(text, facts):
    found = spec(text)
    assert (found.kind, found.name, found.number, found.ordinal) == facts
    assert str(found) == text


@pytest.mark.parametrize(('label', 'text', 'process', 'name', 'here'), [
    ('worker:3', 'worker:3/norm', 'worker:3', 'norm', True), ('worker:3', ':3/norm', ':3', 'norm', True),
    ('worker:13', ':3/norm', ':3', 'norm', False), ('', ':3/norm', ':3', 'norm', False),
    ('dask:gpu-1', 'dask:gpu-1/layer/norm', 'dask:gpu-1', 'layer/norm', True),
    ('dask:gpu-1', 'dask:gpu-10/norm', 'dask:gpu-10', 'norm', False),
    ('dask:tcp://10.0.0.7:33', 'dask:tcp://10.0.0.7:33/train.py', 'dask:tcp://10.0.0.7:33', 'train.py', True),
    ('dask:tcp://10.0.0.7:33', ':33/norm', ':33', 'norm', False)])
def test_spec_of_one_process(label, text, process, name, here, monkeypatch):
    monkeypatch.setattr(rank_variables, 'label', label)
    found = spec(text)
    assert (found.process, found.name, found.is_here, str(found)) == (process, name, here, text)


@pytest.mark.parametrize(('text', 'name', 'ordinal'), [
    ('function:norm', 'norm', None), ('function:Model.step[3]', 'Model.step', 3), ('function:st*', 'st*', None)])
def test_spec_of_a_function(text, name, ordinal):
    found = spec(text)
    assert (found.kind, found.name, found.ordinal, found.function, str(found)) == ('name', name, ordinal, True, text)
    assert not spec('function:0').function and spec('function:0').name == 'function'     # a tensor of a node of that name


@pytest.mark.parametrize('text', ['', '  ', '#', '#0', '#x', 'model.py:0', 'function:', 'function:a.py:3', 'function:#7'])
def test_no_spec(text):
    with pytest.raises(CommandError):
        spec(text)


@pytest.mark.parametrize(('function', 'names'), [
    (Model().step, {'step', 'Model.step'}), (Model(), {'Model'}), (partial(partial(Model().step)), {'step', 'Model.step'}),
    (np.sinh, {'sinh'}), (len, {'len'}),
])
def test_names_of_functions(function, names):
    site = CallSite('node', 'PyFunc', 'python', host, function=function)
    assert set(function_names(function)) == names
    for name in (*names, 'node', 'PyFunc', 'no*', 'Py?unc'):
        assert spec(name).means(site)
    for name in ('nod', 'nodes', 'py*', '*x*z', 'Model.stop'):
        assert not spec(name).means(site)


# --- when -----------------------------------------------------------------------------------------------------------

def test_the_rest_of_the_arguments_is_a_tuple():
    def function(x, *rest):
        return x

    with debugging() as (debugger, front_end):
        debugger.breakpoints.set('norm', 'rest == (2, 3) and x == 1')
        wrapped(function)(np.float32(1), np.float32(2), np.float32(3))
        assert [reason for _, _, reason in front_end.stops] == ['breakpoint 1']


def test_out_of_several_outputs_is_a_tuple():
    site = CallSite('split', 'PyFunc', 'python', host, function=lambda x: (x, -x))
    with debugging() as (debugger, front_end):
        debugger.breakpoints.set('split', 'len(out) == 2 and out[1] == -x')
        invoke = partial(chain.invoke, site, site.function)
        run = Run('eager', host, 0)
        invoke(run, [np.float32(3)])
        assert [phase for phase, _, _ in front_end.stops] == ['after']
        assert front_end.stops[0][2] == 'breakpoint 1'


def test_default_timing():
    table = Breakpoints(lambda: None, None)  # type: ignore[arg-type]
    timings = {when: table.set('norm', when).timing for when in (
        None, 'x > 1', 'out > 1', 'has_nan', 'has_nan(x)', 'error is not None', 'history.ema(out) > 1', 'slow > 1',
        'x > p95')}
    assert list(timings.values()) == ['before', 'before', 'after-call', 'after-call', 'before', 'error', *['after-call'] * 3]


@pytest.mark.parametrize(('when', 'options', 'why'), [
    ('out > 1', {'timing': 'before'}, "uses 'out', and there is no output before the call"),
    ('out > 1', {'timing': 'error'}, 'no output where it raised'),
    ('slow > 3 * p95', {'timing': 'before'}, "uses 'slow' and 'p95', and a call has no time before it: remove --before"),
    ('error is None', {'timing': 'before'}, "uses 'error', which exists only with --error"),
    ('out is error', {}, "both 'out' and 'error'"), (None, {'timing': 'later'}, "no timing 'later'"),
    (None, {'every': 0}, '--every must be at least 1'), (None, {'after': -1}, 'cannot be negative'),
    (None, {'do': 'stp'}, "no action 'stp'; there are stop, log, snap. Did you mean 'stop'"),
    (3, {}, 'a condition is text'),
])
def test_refused_breakpoints_change_nothing(when, options, why):
    table = Breakpoints(lambda: None, None)  # type: ignore[arg-type]
    with pytest.raises(CommandError, match=why):
        table.set('norm', when, **options)
    assert not table.entries
    assert table.set('norm').number == 1


def test_stops_before_after_and_where_it_raised():
    def function(x):
        return 1 / x

    with debugging() as (debugger, front_end):
        for timing in ('before', 'after-call', 'error'):
            debugger.breakpoints.set('norm', timing=timing)
        debugger.breakpoints.set('norm', 'isinstance(error, ZeroDivisionError) and x == 0')
        call = wrapped(function)
        call(2)
        with pytest.raises(ZeroDivisionError):
            call(0)
        assert front_end.stops == [
            ('before', 'norm[0]', 'breakpoint 1'), ('after', 'norm[0]', 'breakpoint 2'),
            ('before', 'norm[1]', 'breakpoint 1'),
            ('error', 'norm[1]', 'breakpoint 3, breakpoint 4')]


def test_at_a_call_number_and_an_ordinal():
    with debugging() as (debugger, front_end):
        call, other = wrapped(lambda x: x), wrapped(lambda x: x, 'other')
        ids = []
        front_end.look = lambda stop: ids.append(stop.call.id)
        debugger.breakpoints.set('norm[0]')
        debugger.breakpoints.set('norm[2]')
        call(0)
        debugger.breakpoints.set(f'#{ids[0] + 1}')
        for _ in range(3):
            other(0)
            call(0)
        assert front_end.stops == [('before', 'norm[0]', 'breakpoint 1'), ('before', 'other[0]', 'breakpoint 3'),
                                   ('before', 'norm[2]', 'breakpoint 2')]
        assert ids[1] == ids[0] + 1


# --- counting: the oracle -------------------------------------------------------------------------------------------

EVENTS = st.lists(st.one_of(st.tuples(st.just('call'), st.integers(0, 9)), st.tuples(st.just('call'), st.integers(0, 9)),
                            st.tuples(st.sampled_from(['disable', 'enable']), st.just(0)),
                            st.tuples(st.just('ignore'), st.integers(0, 3))), max_size=30)


def expected(events, threshold, once, every, after):
    """The calls that stop, counted one by one."""
    stops, hits, enabled, calls = [], 0, True, 0
    for event, number in events:
        if event == 'call':
            if enabled and number >= threshold:
                hits += 1
                passed = hits - after
                if passed > 0 and passed % every == 0:
                    stops.append(f'norm[{calls}]')
                    enabled = not once
            calls += 1
        elif event == 'ignore':
            after = hits + number
        else:
            enabled = event == 'enable'
    return stops, hits, enabled


@settings(deadline=None, max_examples=60)
@given(EVENTS, st.integers(0, 9), st.booleans(), st.integers(1, 4), st.integers(0, 4))
def test_hits_count_as_one_by_one(events, threshold, once, every, after):
    with debugging() as (debugger, front_end):
        table = debugger.breakpoints
        # No other function has that name: one in whose functions it stops too is compiled again each time.
        table.set('counted_call', f'x >= {threshold}', once=once, every=every, after=after)
        call = wrapped(lambda x: x, 'counted_call')
        for event, number in events:
            if event == 'call':
                call(number)
            elif event == 'ignore':
                table.ignore(1, number)
            else:
                table.enable(1, event == 'enable')
        stops, hits, enabled = expected(events, threshold, once, every, after)
        assert [label.replace('counted_call', 'norm') for label in front_end.labels] == stops
        assert (table.entry(1).hits, table.entry(1).breakpoint.enabled) == (hits, enabled)


@pytest.mark.parametrize(('options', 'stops'), [({}, 800), ({'every': 7}, 114), ({'after': 790}, 10), ({'once': True}, 1)])
def test_sixteen_native_threads_count_together(options, stops):
    with debugging() as (debugger, front_end):
        debugger.breakpoints.set('norm', 'x < 5', **options)
        call = wrapped(lambda x: x)
        run_native([lambda: [call(i % 10) for i in range(100)] for _ in range(16)])
        assert len(front_end.stops) == stops
        if 'once' not in options:
            assert debugger.breakpoints.entry(1).hits == 800


# --- changed while it runs --------------------------------------------------------------------------------------------

def test_a_changed_condition_forgets_a_kept_one_does_not():
    with debugging() as (debugger, front_end):
        table = debugger.breakpoints
        table.set('norm', 'len(history) == 3')
        call = wrapped(lambda x: x)
        call(0), call(0)
        table.set('other')                      # does not disturb what the first one remembers
        table.enable(1, False), table.enable(1)
        call(0), call(0)
        assert front_end.labels == ['norm[3]']
        table.change(1, 'len(history) == 1')
        call(0), call(0)
        assert front_end.labels == ['norm[3]', 'norm[5]']
        with pytest.raises(CommandError, match='no breakpoint 7; there are 1, 2'):
            table.change(7, 'x')
        with pytest.raises(CommandError, match="unknown name 'y'"):
            table.change(1, 'y > 1')
        assert table.entry(1).breakpoint.when.text == 'len(history) == 1'


def test_a_condition_on_the_output_moves_the_test_behind_the_call():
    table = Breakpoints(lambda: None, None)  # type: ignore[arg-type]
    table.set('norm')
    assert table.change(1, 'out > 1').timing == 'after-call'
    assert table.change(1, None).when is None


def test_a_swapped_function_has_other_parameters():
    with debugging() as (debugger, front_end):
        site = CallSite('norm', 'PyFunc', 'python', host, function=lambda a, b: a)
        from pyfuncdbg.hooks import chain
        from pyfuncdbg.hooks.call import Run
        invoke = partial(chain.invoke, site, lambda a, b: (a,))
        debugger.breakpoints.set('norm', 'b == 2')
        invoke(Run('eager', host, 0), [1, 2])
        site.function = lambda b, a: a
        debugger.breakpoints.forget_sites()
        invoke(Run('eager', host, 0), [1, 2])
        invoke(Run('eager', host, 0), [2, 2])
        assert front_end.labels == ['norm[0]', 'norm[2]']


def test_no_function_is_kept_alive():
    def closure():
        big = np.zeros(1000)
        return lambda x: big.sum() + x

    function = closure()
    gone = weakref.ref(function)
    with debugging() as (debugger, _):
        debugger.breakpoints.set('norm', 'x > 100')
        wrapped(function)(1)
        debugger.breakpoints.clear(1)
        del function
        gc.collect()
        assert gone() is None


# --- graphs ---------------------------------------------------------------------------------------------------------

def double(x, k=2):
    return x * np.float32(k)


@pytest.fixture
def graph():
    made = tf.Graph()
    with made.as_default():
        x = tf.compat.v1.placeholder(tf.float32, [2], name='x')
        y = tf.py_function(lambda x: x * x, [x], tf.float32, name='square')
        z = tf.numpy_function(double, [y], tf.float32, name='twice')
        tf.identity(tf.nn.relu(y, name='hid'), name='out')
        tf.add(z, 1., name='plus')
    return made


def run(graph, fetch, count=1):
    with tf.compat.v1.Session(graph=graph) as session:
        return [session.run(fetch, {'x:0': np.full(2, i + 1, np.float32)}) for i in range(count)]


def test_a_node_of_a_python_function_stops_once_and_at_full_speed(graph):
    with debugging() as (debugger, front_end):
        debugger.breakpoints.set('twice', 'x.sum() > 2 and k == 2 and type(x) is np.ndarray')
        debugger.breakpoints.set('hid')
        run(graph, 'plus:0', 2)
        assert front_end.labels == ['twice[1]']
        assert 'op' not in debugger.kinds
        run(graph, 'out:0', 1)
        assert front_end.labels == ['twice[1]', 'hid[0]']
        run(graph, ['out:0', 'plus:0'], 2)      # ops are watched: still once for `twice`
        assert sorted(front_end.labels) == ['hid[0]', 'hid[1]', 'hid[2]', 'twice[1]', 'twice[3]']
        assert 'op' not in debugger.kinds


def test_runs_that_need_no_ops_are_not_watched(graph):
    kinds = []
    with debugging() as (debugger, front_end):
        debugger.breakpoints.set('hid', 'out.any()')
        debugger.breakpoints.set('twice')
        front_end.look = lambda stop: kinds.append('op' in debugger.kinds)
        run(graph, 'plus:0')
        run(graph, 'hid:0')
        assert (front_end.labels, kinds) == (['twice[0]', 'hid[0]'], [False, True])
        debugger.breakpoints.clear(1)
        run(graph, 'plus:0')
        assert debugger.kinds == {'python'}     # the name is a Python function's: nothing else need be looked at


def test_op_types_stop_in_eager_code_too(graph):
    with debugging() as (debugger, front_end):
        debugger.breakpoints.set('Relu', 'inputs[0].max() > 1')
        run(graph, 'out:0', 2)
        tf.nn.relu(tf.constant([1., 2.]))
        assert front_end.labels == ['hid[1]', 'Relu[0]']


@pytest.mark.parametrize(('place', 'stops'), [
    ('double', ['double[0]', 'norm[0]']), ('function:double', ['norm[0]']), ('function:do*', ['norm[0]']),
    ('function:double[1]', []), ('function:norm', []), ('function:Relu', [])])
def test_a_function_is_told_apart_from_a_node_of_its_name(place, stops):
    def double(x):
        return x + x

    def other(x):
        return x + x + x                        # NumPy 1 makes float64 of a scalar times 3

    @tf.function
    def f(x):
        return tf.nn.relu(tf.numpy_function(other, [x], tf.float32, name='double') +
                          tf.numpy_function(double, [x], tf.float32, name='norm'))
    with debugging() as (debugger, front_end):
        debugger.breakpoints.set(place)
        f(tf.constant(2.0))
        assert sorted(front_end.labels) == stops
        if place.startswith('function'):
            assert debugger.kinds == {'python'}
        f(tf.constant(3.0))                     # now its nodes are known
        assert sorted(front_end.labels[len(stops):]) == (
            ['norm[1]'] if '[1]' in place else [label.replace('[0]', '[1]') for label in stops])


@pytest.mark.parametrize('name', ['function:<lambda>', 'square', '<lambda>', 'EagerPyFunc', 'sq*', 'square_grad'])
def test_gradient_calls(graph, name):
    phases = []
    with debugging() as (debugger, front_end):
        debugger.breakpoints.set(name, timing='gradient')
        debugger.breakpoints.set(name, 'out.sum() == 4 and inputs[0].sum() == 2', timing='gradient')
        front_end.look = lambda stop: phases.append((stop.phase, stop.call.site.kind, stop.call.forward > 0))
        run(graph, gradient_of(graph))
        assert front_end.labels == ['square_grad[0]'] * 2
        assert phases == [('before', 'gradient', True), ('after', 'gradient', True)]


def gradient_of(graph):
    with graph.as_default():
        return tf.gradients(graph.get_tensor_by_name('square:0'), graph.get_tensor_by_name('x:0'))[0]


def test_nested_arguments():
    def nested(parts, *, scale=2):
        return parts['u'] + parts['v'] * scale

    with debugging() as (debugger, front_end), tf.Graph().as_default():
        out = tf.numpy_function(nested, [{'u': tf.constant([1., 2.]), 'v': tf.constant([3., 4.])}], tf.float32, name='n')
        debugger.breakpoints.set('nested', "parts['v'].sum() == 7 and scale == 2 and parts['u'].dtype == 'float32'")
        debugger.breakpoints.set('nested', "history and history[-1].parts['u'].sum() == 3 and history[-1].out.sum() == 17")
        with tf.compat.v1.Session() as session:
            session.run(out)
            session.run(out)
        assert [stop[2] for stop in front_end.stops] == ['breakpoint 1', 'breakpoint 1, breakpoint 2']


# --- what it does ----------------------------------------------------------------------------------------------------

def test_a_log_line_names_the_call_and_the_values(capfd, monkeypatch, tmp_path):
    import sys
    monkeypatch.setattr(sys, '__stderr__', sys.stderr)
    with debugging() as (debugger, front_end), Recorder(tmp_path / 'a.pfd') as recorder:
        debugger.breakpoints.set('norm', 'x.max() > k', do='log')
        debugger.breakpoints.set('norm', 'out.any()', do='log', once=True)
        call = wrapped(lambda x, k=1: x * 2, 'norm')
        call(np.array([1.0, np.nan, 3.0]))
        call(np.arange(100.0))
        assert not front_end.stops
    first, *rest = capfd.readouterr().err.splitlines()
    assert first.endswith('norm[0] breakpoint 2: x=float64[3] [1, nan, 3] k=1 out=float64[3] [2, nan, 6]')
    assert [line.split(' ', 2)[2] for line in rest] == ['norm[1] breakpoint 1: x=float64[100] 0..99 mean 49.5 k=1']
    with Trace.open(recorder.path) as trace:
        notes = [(note.data['breakpoint'], note.data['where']) for note in trace.notes('log')]
    assert notes == [(2, 'norm[0]'), (1, 'norm[1]')]


@pytest.mark.parametrize('level', ['none', 'stats'])
def test_a_snap_keeps_the_call_whole_with_what_it_got(tmp_path, level):
    def function(x):
        y = x * 2
        x[0] = -1                               # writes to its input
        print('said')
        if y[1] > 6:
            raise ValueError('too much')
        return y

    with debugging() as (debugger, front_end), Recorder(tmp_path / 'a.pfd', level=level, full_limit=8) as recorder:
        debugger.breakpoints.set('norm[1]', do='snap')
        debugger.breakpoints.set('norm', 'out[1] == 6', do='snap')
        debugger.breakpoints.set('norm', timing='error', do='snap')
        call = wrapped(function)
        for i in range(5):
            try:
                call(np.full(1000, float(i)))
            except ValueError:
                assert i == 4
        assert not front_end.stops
    with Trace.open(recorder.path) as trace:
        assert trace.info().calls == 5
        levels = [[tensor.level for tensor in (*call.inputs, *call.outputs)] for call in trace.calls()]
        assert levels == [[level] * 2, ['full'] * 2, [level] * 2, ['full'] * 2, ['full']]
        assert [record.text for record in trace.call('norm[1]').output] == ['said\n']
        for i in (1, 3):
            call = trace.call(f'norm[{i}]')
            assert call.inputs[0].to_numpy().tolist() == [i] * 1000
            assert call.inputs[0].changed
            assert call.outputs[0].to_numpy().tolist() == [2 * i] * 1000
        failed = trace.call('norm[4]')
        assert (failed.error.type, failed.inputs[0].to_numpy()[0]) == ('ValueError', 4)


def test_watching_changes_nothing():
    values = [np.float32(v) for v in (1, np.nan, 3)]
    untouched = [double(v) for v in values]
    with debugging() as (debugger, _):
        debugger.breakpoints.set('norm', 'changed(x) | has_nan | (history.ema(absmax(out)) > 1)', do='log', after=1000)
        call = wrapped(double)
        assert [call(v).tobytes() for v in values] == [v.tobytes() for v in untouched]


# --- lines ------------------------------------------------------------------------------------------------------------

def hot(x):
    total = 0
    for i in range(3):
        total += x * i
    return total


LINE = hot.__code__.co_firstlineno + 3


def test_a_line_counts_like_a_call():
    with debugging() as (debugger, front_end):
        table = debugger.breakpoints
        table.set(f'{__file__}:{LINE}', 'i > 0', every=2)
        table.set(f'{__file__}:{LINE + 1}', do='log')
        call = wrapped(hot)
        seen = []
        front_end.look = lambda stop: seen.append((stop.frame.f_locals['i'], stop.frame.f_lineno))
        assert [call(2), call(2)] == [6, 6]
        assert seen == [(2, LINE), (2, LINE)]
        assert (table.entry(1).hits, table.entry(2).hits) == (4, 2)
        table.enable(1, False)
        assert call(2) == 6
        table.enable(1)
        table.change(1, None)
        assert call(2) == 6
        assert len(seen) == 3                   # hits 5, 6, 7: the sixth
        assert hot(1) == 3


def test_a_condition_of_a_line_that_raises_stops_and_is_no_hit():
    with debugging() as (debugger, front_end):
        debugger.breakpoints.set(f'{__file__}:{LINE}', '1 / (i - 1) > 5', once=True, every=3, after=7, do='log')
        assert wrapped(hot)(2) == 6
        assert [reason for _, _, reason in front_end.stops] == [
            'breakpoint 1: ZeroDivisionError: division by zero, in its condition 1 / (i - 1) > 5']
        assert debugger.breakpoints.entry(1).hits == 0


@pytest.mark.parametrize(('place', 'condition', 'other', 'total'), [
    ('hot', 'x.foo > 1', 'x == 3', 4), (f'{__file__}:{LINE}', '1 / 0 > i', 'i == 0', 12)])
def test_a_condition_that_raises_stops_once_and_is_counted(place, condition, other, total):
    with debugging() as (debugger, front_end):
        call, table = wrapped(hot, name='hot'), debugger.breakpoints
        table.set(place, condition)
        for n in (2, 3, 4, 5):
            call(n)
        assert len(front_end.stops) == 1 and 'Error: ' in front_end.stops[0][2]
        (state,) = states(table)
        assert (state.hits, state.failures) == (0, total) and state.failure in front_end.stops[0][2]
        (told,) = unhit_warnings(table, {1})
        assert told == (f'breakpoint 1 ({place}): its condition {condition} raised {total} times, the first time '
                        f'{state.failure}.')
        table.change(1, other)                  # begins anew
        call(3)
        assert len(front_end.stops) == 2 and front_end.stops[1][2] == 'breakpoint 1'
        assert states(table)[0].failures == 0 and not unhit_warnings(table, {1})
        table.change(1, condition)
        call(2)
        table.enable(1, False)
        table.enable(1)
        call(2)
        assert len(front_end.stops) == 4


@pytest.mark.parametrize('place', ['norm', f'{__file__}:{LINE + 1}'])
def test_once_acts_again_after_it_was_enabled_again(place):
    with debugging() as (debugger, front_end):
        table = debugger.breakpoints
        table.set(place, once=True)
        call = wrapped(hot)
        for enabled, stops in ((False, 1), (True, 2), (False, 2)):
            if enabled:
                table.enable(1)
            call(1), call(1)
            assert (len(front_end.stops), table.entry(1).hits) == (stops, stops)
            assert not table.entry(1).breakpoint.enabled


def test_once_acts_once_on_threads_that_come_before_it_is_disabled():
    count, once = HitCount(), Breakpoint(1, spec('norm'), once=True)
    assert [count.count_hit(once) for _ in range(3)] == [True, False, False]
    assert count.hits == 1
    count.arm()
    assert [count.count_hit(once) for _ in range(2)] == [True, False]


def test_a_line_is_refused_what_it_cannot_do():
    with debugging() as (debugger, _):
        for when, options, why in ((None, {'timing': 'error'}, 'a thread stops before it'),
                                   ('nowhere > 1', {}, "nothing is called 'nowhere'"), ('i >', {}, r'\n  i >\n   +\^'),
                                   ('has_nan', {}, r'needs a value, as in has_nan\(x\)'),
                                   ('history[-1].out > 2', {}, "'history' is known in conditions of calls"),
                                   (lambda call: True, {}, "'call' is known in conditions of calls"),
                                   (lambda *names: True, {}, r'takes \*names, and at a line the parameters name variables'),
                                   (dict, {}, 'dict has unknown parameters')):
            with pytest.raises(CommandError, match=why):
                debugger.breakpoints.set(f'{__file__}:{LINE}', when, **options)
        assert not debugger.breakpoints.entries


# --- the front door -----------------------------------------------------------------------------------------------------

def test_break_at():
    def function(x):
        return x

    try:
        made = pyfuncdbg.break_at('norm', pyfuncdbg.has_nan & ~pyfuncdbg.has_inf, once=True, do='log', every=2)
        assert (made.timing, made.once, made.every, made.do) == ('after-call', True, 2, 'log')
        assert the_debugger.on
        call = wrapped(function)
        for value in (np.nan, 1.0, np.inf, np.nan, np.nan):
            call(value)
        assert the_debugger.breakpoints.entry(made.number).hits == 2
    finally:
        for number in list(the_debugger.breakpoints.entries):
            the_debugger.breakpoints.clear(number)
        the_debugger.leave()
