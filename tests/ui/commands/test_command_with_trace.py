"""The commands on a real trace: recorded through the hook chain, saved, opened again."""
from __future__ import annotations

import contextlib
import itertools
import json
import threading
from functools import partial
from time import perf_counter_ns

import numpy as np
import pytest
from scripted_user import ScriptedUser

from pyfuncdbg import tf
from pyfuncdbg.errors import CommandError
from pyfuncdbg.hooks import call as hooks_call, chain
from pyfuncdbg.hooks.call import CallSite, Run
from pyfuncdbg.observers.debug.debugger import debugger
from pyfuncdbg.observers.record.recorder import Recorder
from pyfuncdbg.observers.record.trace import Trace
from pyfuncdbg.ui.commands.engine.command import Context
from pyfuncdbg.ui.commands.execute import execute
from pyfuncdbg.ui.ipython.displays import answer_bundle


class NumPyHost:
    """Values are arrays."""

    name = 'numpy'
    version = ''
    variables = ()

    def to_numpy(self, value):
        return np.asarray(value)


HOST = NumPyHost()


def normalize(x, eps=0.0):
    mu = x.mean(-1, keepdims=True)
    sd = x.std(-1, keepdims=True)
    if sd.min() == 0:
        print(f'row {sd.argmin()} [bold]constant\x1b[0m')
    return (x - mu) / (sd + eps)


def double(y):
    if len(y) != 4:
        raise ValueError(f'{len(y)} rows, expected 4')
    return 2 * y


DIVISION = normalize.__code__.co_firstlineno + 5


@pytest.fixture(scope='module')
def context(tmp_path_factory):
    path = tmp_path_factory.mktemp('recorded') / 'my run.pfd'
    norm = CallSite('layer/norm', 'EagerPyFunc', 'python', HOST, function=normalize, inputs=('x:0',),
                    outputs=('layer/norm:0',))
    scale = CallSite('scale', 'PyFunc', 'python', HOST, function=double, inputs=('layer/norm:0',), outputs=('scale:0',))
    steps = partial(chain.invoke, norm, lambda x: [normalize(x)]), partial(chain.invoke, scale, lambda y: [double(y)])
    batches = [np.arange(24.0).reshape(4, 6) ** 2 for _ in range(4)]
    batches[1][2] = 7
    batches[3] = batches[3][:3]
    with pytest.MonkeyPatch.context() as patch, np.errstate(invalid='warn'), \
            pytest.warns(RuntimeWarning, match='invalid value'), Recorder(path):
        for counter in ('_run_ids', '_call_ids'):           # numbers as in a process of its own
            patch.setattr(hooks_call, counter, itertools.count(1))
        for x in batches:
            run = Run('Session.run', HOST, perf_counter_ns(), sites=lambda: (norm, scale), feeds=('x:0',),
                      fetches=('loss:0',))

            def body(x, run=run):
                return [steps[1](run, [steps[0](run, [x])[0]])[0].sum()]
            with contextlib.suppress(ValueError):
                chain.invoke(CallSite('Session.run', 'Run', 'run', HOST), body, run, [x])
    with Trace.open(path) as trace:
        yield Context(trace)


def lines(line, context, width=100):
    return execute(line, context).text(width).splitlines()


def test_the_trace_answers_the_queries(context):
    trace: Trace = context.trace
    assert [use.site.name for use in sorted(trace.usage(), key=lambda use: use.site.name)] == ['layer/norm', 'scale']
    assert {use.site.name: (use.calls, use.failed, use.finished) for use in trace.usage()} == {
        'layer/norm': (4, 0, 4), 'scale': (4, 1, 4)}
    for use in trace.usage():
        assert use.total == pytest.approx(sum(call.duration for call in trace.calls(site=use.site.name)))


@pytest.mark.parametrize('width', [80, 160])
def test_report_names_call_line_prints_inputs_and_consequences(context, width):
    shown = lines('report', context, width)
    assert f'NaN born in call #3 layer/norm[1], normalize at test_command_with_trace.py:{DIVISION}' in shown
    assert f'  > {DIVISION} | return (x - mu) / (sd + eps)' in shown
    assert shown.index('  row 2  every element is 7') > shown.index('  NumPy: invalid value encountered in divide')
    assert any(line.endswith('out  row 2 [bold]constant\\x1b[0m') for line in shown)
    assert '1 later call inherited it' in shown
    assert "NaN reached fetch 'loss:0' in run #2" in shown
    assert any('ValueError in call #8 scale[3]' in line for line in shown)
    assert any("pt '#3:in0[2]'  the input" in line for line in shown)


def test_report_gives_whole_commands_where_they_fit(context, monkeypatch):
    monkeypatch.chdir(context.trace.path.parent)
    assert "pyfuncdbg show 'my run.pfd' pt '#3:in0[2]'  the input" in lines('report', context, 80)


def test_every_command_works_on_it(context):
    for line in ('info', 'calls --newest --bad', 'call 3', 'out layer/norm[1]', 'lt --bad', 'pt layer/norm:0', 'report'):
        assert lines(line, context)
        assert json.loads(execute(line + ' --json', context).json, parse_constant=pytest.fail)


def test_filters_and_sorting(context):
    def numbers(line):
        return [call.number for call in execute(line, context).result.calls]
    assert numbers('calls') == ['1', '2', '3', '4', '5', '6', '7', '8']
    assert numbers('calls --failed') == ['8']
    assert numbers('calls --bad --newest') == ['4', '3']
    assert numbers('calls --site layer/* --run 3') == ['5']
    assert numbers('calls --site normalize -n 1 --newest') == ['7']
    durations = [call.duration for call in execute('calls --sort duration', context).result.calls]
    assert durations == sorted(durations, reverse=True)
    assert numbers('calls --sort number --newest -n 2') == ['8', '7']


def test_tensors_of_calls_and_runs(context):
    result = execute('lt --run 2', context).result
    assert [tensor.name for _, tensor in result.rows] == ['x:0', 'layer/norm:0', 'scale:0', 'loss:0']
    assert result.bad == 3
    text = lines('lt --run 2', context, 160)
    assert f'<- BORN test_command_with_trace.py:{DIVISION}' in text[4]
    assert text[5].endswith('NaN 6 from #3')
    assert text[6].split()[1:5] == ['loss:0', 'run', '2', 'fetch']


def test_values_come_back(context):
    np.testing.assert_array_equal(execute('pt #3:in0[2, :3]', context).result.values, [7, 7, 7])
    assert execute('pt loss:0', context).result.title == 'fetch of run #3'
    assert execute('pt x:0', context).result.values.shape == (3, 6)
    assert execute('pt scale:0', context).result.title == 'output 0 of call #6 scale[2]'


def test_names_that_do_not_exist(context):
    for line, message in (('call 99', 'near it: 8'), ('call scal[0]', "Did you mean 'scale'"), ('calls --run 99', None),
                          ('pt scal:0', "Did you mean 'scale:0'"), ('call layer/norm[9]', 'the last is layer/norm[3]')):
        if message is None:
            assert lines(line, context) == ['0 calls   sort: time   filter: run 99']
            continue
        with pytest.raises(CommandError) as caught:
            execute(line, context)
        assert message in str(caught.value)


def test_calls_that_had_no_room_are_counted_where_they_are_missed(tmp_path):
    path = tmp_path / 'small.pfd'
    with Recorder(path, budget=64 << 10):
        for number in range(4000):
            tf.numpy_function(lambda x: x + 1, [np.full(20, number, np.float64)], tf.float64, name='plus')
    with Trace.open(path) as trace:
        lost, kept = trace.info().dropped['calls'], trace.count()
        assert lost + kept == 4000 and lost > 0
        context = Context(trace)
        assert f'0 findings   filter: none   calls not kept: {lost:,}' in lines('health', context)[0]
        site, last = trace.calls()[0].site.name, trace.calls()[-1].ordinal
        for reference in ('99999', f'{site}[99999]', 'nowhere[3]'):
            with pytest.raises(CommandError, match=f'There is no call .* Not kept: {lost:,} calls'):
                execute(f'call {reference}', context)
        with pytest.raises(CommandError, match=f"'{site}' has {kept} in the trace, the last is {site}.{last}"):
            execute(f'call {site}[99999]', context)


def test_a_tensor_that_no_call_has_made_yet(tmp_path):
    told = []

    def first(x):
        recorder.flush()
        with Trace.open(tmp_path / 'first.pfd') as trace:
            for name in ('first', 'first:0', 'frist'):
                with pytest.raises(CommandError) as caught:
                    execute(f'pt {name}', Context(trace))
                told.append(str(caught.value))
        return x
    with Recorder(tmp_path / 'first.pfd', ops=True) as recorder:
        graph = tf.Graph()
        with graph.as_default():
            out = tf.numpy_function(first, [tf.constant([1.0])], tf.float32, name='first')
        with tf.compat.v1.Session(graph=graph) as session:
            session.run(out)
    assert told[0] == told[1] == "no value of 'first:0' is recorded: no call that makes it has returned"
    assert told[2] == "no tensor 'frist:0' in this trace; 'lt' lists them. Did you mean 'first:0'?"


def test_a_name_of_a_tensor_that_p_cannot_read_is_said_to_be_one_for_pt():
    def double(x):
        return x * 2
    lines = ['p first:0', 'step', 'next', 'p first:0[1]', 'pt first:0', 'p frist:0', 'p x[0:', 'quit']
    with ScriptedUser(lines) as user:
        debugger.live.recorder()
        tf.numpy_function(double, [np.ones(2)], tf.float64, name='first')
        debugger.start()
        debugger.stop_at_next_call(threading.get_native_id())
        tf.numpy_function(double, [np.ones(2)], tf.float64, name='second')
    at_node, in_frame, value, misspelt, bad = [user.answers[i] for i in (0, 3, 4, 5, 6)]
    assert at_node == "'first:0' is the name of a tensor, not Python: 'pt first:0' prints it"
    assert in_frame == "'first:0[1]' is the name of a tensor, not Python: 'pt first:0[1]' prints it"
    assert value.values.tolist() == [2.0, 2.0]
    assert misspelt.startswith('SyntaxError') and bad.startswith('SyntaxError')


ASKED = ('report', 'info', 'calls', 'calls --kind all', 'out 3', 'lt', 'pt layer/norm:0', 'pt layer/norm:0[1]',
         'pt --diff layer/norm:0', 'ni norm', 'ni -a -d -t scale', 'li scale', 'lo norm', 'lo --as mermaid norm', 'graph',
         'ls --all', 'ps test_command_with_trace.py', 'health', 'list_profile', 'timeline', 'eval `layer/norm:0` * 2')


@pytest.mark.parametrize('line', [*ASKED, 'call 3', 'call 8'])
def test_an_answer_is_drawn_without_the_trace(context, shut_trace, line):
    expected, answer = execute(line, context).text(), execute(line, context)
    shut_trace()
    assert answer.text() == expected and len(expected) > 40


@pytest.mark.parametrize('line', ASKED)     # pictures of a call are loaded when it is displayed
def test_an_answer_is_displayed_without_the_trace(context, shut_trace, line):
    expected, answer = answer_bundle(execute(line, context)), execute(line, context)
    shut_trace()
    assert answer_bundle(answer) == expected and len(expected['text/html']) > 40
