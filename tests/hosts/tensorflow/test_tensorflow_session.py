"""A `DebugSession` around a real TensorFlow session: what it runs is seen node by node, and comes out the same."""
from __future__ import annotations

import gc
import re
import weakref
from collections.abc import Callable, Iterator
from functools import partial
from itertools import repeat
from typing import Any

import numpy as np
import pytest
from scripted_user import ScriptedUser, context_of

import pyfuncdbg
from pyfuncdbg.hooks.chain import hooks
from pyfuncdbg.hosts.tensorflow.sessions.runs import Runs
from pyfuncdbg.observers.debug.debugger import debugger
from pyfuncdbg.observers.record.recorder import Recorder
from pyfuncdbg.observers.record.trace import Trace
from pyfuncdbg.ui.commands.execute import execute

pytestmark = [pytest.mark.tensorflow, pytest.mark.timeout(100)]


@pytest.fixture(autouse=True)
def attached(tf: Any) -> Iterator[None]:
    with pyfuncdbg.attach('tensorflow'):
        yield
    assert debugger not in hooks


class Training:
    """A small network with Adam, dropout, a Python function and a counter, made anew with the same seeds."""

    def __init__(self, tf: Any, references: bool = False) -> None:
        v1 = tf.compat.v1
        self.calls: list[float] = []
        self.graph = tf.Graph()
        with self.graph.as_default():
            v1.set_random_seed(3)
            self.x = v1.placeholder(tf.float32, [None, 6], name='x')
            self.y = v1.placeholder(tf.int32, [None], name='y')
            first = v1.get_variable('first', [6, 5], initializer=v1.random_normal_initializer(0, .5, seed=1),
                                    use_resource=not references)
            second = v1.get_variable('second', [5, 3], initializer=v1.random_normal_initializer(0, .5, seed=2),
                                     use_resource=not references)
            bias = v1.get_variable('bias', [3], initializer=v1.zeros_initializer(), use_resource=not references)
            hidden = v1.nn.dropout(tf.nn.relu(tf.matmul(self.x, first, name='mm')), rate=0.25, seed=5)
            logits = tf.nn.bias_add(tf.matmul(hidden, second), bias, name='logits')
            self.noted = v1.py_func(self.note, [logits], tf.float32, name='noted')
            self.noted.set_shape([None, 3])
            self.loss = tf.reduce_mean(v1.nn.sparse_softmax_cross_entropy_with_logits(
                labels=self.y, logits=logits + 0.0 * tf.stop_gradient(self.noted)), name='loss')
            self.steps = v1.train.get_or_create_global_step()
            self.train = v1.train.AdamOptimizer(0.05).minimize(self.loss, global_step=self.steps)
            self.variables = [first, second, bias, self.steps]
            self.init = v1.global_variables_initializer()

    def note(self, logits: Any) -> Any:
        self.calls.append(float(logits.sum()))
        return logits

    def feed(self, step: int) -> dict[Any, Any]:
        random = np.random.RandomState(step)
        return {self.x: random.rand(4, 6).astype('f'), self.y: random.randint(0, 3, 4)}

    def trained(self, session: Any, steps: int) -> list[Any]:
        """Losses, and the variables at the end, as bytes."""
        session.run(self.init)
        losses = [session.run([self.loss, self.train], self.feed(step))[0] for step in range(steps)]
        return [type(losses[0]), *(one.tobytes() for one in losses),
                *(value.tobytes() for value in session.run(self.variables))]


def plainly(tf: Any, steps: int, references: bool = False) -> tuple[list[Any], list[float]]:
    program = Training(tf, references)
    with tf.compat.v1.Session(graph=program.graph) as session:
        return program.trained(session, steps), program.calls


@pytest.mark.parametrize('references', [False, True])
@pytest.mark.parametrize('line', ['run', 'node', 'run -f has_nan', 'run -n', 'into'])
def test_a_watched_run_gives_what_an_unwatched_one_gives(tf: Any, line: str, references: bool) -> None:
    expected, calls = plainly(tf, 3, references)
    program = Training(tf, references)

    class Typist(ScriptedUser):
        def next_line(self, stop: Any) -> str:
            return line if stop.phase in ('run', 'node') or line == 'run -n' else 'cont'

    with Typist() as user, tf.compat.v1.Session(graph=program.graph) as session:
        assert program.trained(pyfuncdbg.DebugSession(session), 3) == expected
    assert program.calls == calls
    assert 'run' in user.phases and not [answer for answer in user.answers if isinstance(answer, str) and answer]
    if line == 'node':
        assert user.phases.count('node') > 300


class Effects:
    """Nodes that must run exactly once: each counts in Python how often it ran."""

    def __init__(self, tf: Any, references: bool = False) -> None:
        v1 = tf.compat.v1
        self.ran: list[str] = []
        self.graph = tf.Graph()
        with self.graph.as_default():
            self.x = v1.placeholder(tf.float32, [2], name='x')
            self.count = v1.get_variable('count', [], initializer=v1.zeros_initializer(), use_resource=not references)
            first = v1.py_func(self.named('first'), [self.x], tf.float32, name='first')
            self.more = v1.assign_add(self.count, 1.0, name='more')
            with tf.control_dependencies([self.more, first]):
                self.after = tf.identity(self.count.read_value(), name='after')
                self.current = tf.identity(self.count, name='current') if references else self.after
                self.double = self.count * 2.0 if references else self.after * 2.0
            self.again = v1.py_func(self.named('again'), [tf.add(first, self.after, name='both')], tf.float32, name='again')
            self.queue = v1.FIFOQueue(10, [tf.float32], name='queue')
            self.put = self.queue.enqueue([self.x[0]], name='put')
            with tf.control_dependencies([self.put]):
                self.got = tf.add(self.queue.dequeue(name='take'), self.after, name='got')
            self.element = v1.data.make_one_shot_iterator(tf.data.Dataset.range(100)).get_next()
            self.noise = tf.random.normal([2], seed=4, name='noise')
            self.init = v1.global_variables_initializer()
            self.fetches = [self.again, self.got, self.element, self.noise, self.current, self.double]

    def named(self, name: str) -> Callable[[Any], Any]:
        def function(value: Any) -> Any:
            self.ran.append(name)
            return value * np.float32(2)
        return function

    def run(self, session: Any) -> list[Any]:
        session.run(self.init)
        return [[np.asarray(value).tolist() for value in session.run(self.fetches, {self.x: [n, n + 1]})] for n in range(3)]


@pytest.mark.parametrize('references', [False, True])
@pytest.mark.parametrize('line', ['run', 'node'])
def test_what_has_effects_runs_exactly_once(tf: Any, line: str, references: bool) -> None:
    plain = Effects(tf, references)
    with tf.compat.v1.Session(graph=plain.graph) as session:
        expected = plain.run(session)
    assert [values[2] for values in expected] == [0, 1, 2] and expected[2][1] == 5
    assert [values[4:] for values in expected] == [[1, 2], [2, 4], [3, 6]]
    program = Effects(tf, references)
    with ScriptedUser(repeat(line, 400)) as user, tf.compat.v1.Session(graph=program.graph) as session:
        assert program.run(pyfuncdbg.DebugSession(session)) == expected
    assert program.ran == ['first', 'again'] * 3 and 'run' in user.phases


def flowing(tf: Any) -> tuple[Any, Any, Any]:
    """A condition and a loop that are nodes of the graph itself, as v1 makes them, around nodes that are not."""
    v1 = tf.compat.v1
    graph = tf.Graph()
    with graph.as_default():
        v1.disable_control_flow_v2()
        try:
            x = v1.placeholder(tf.float32, [3], name='x')
            chosen = v1.cond(tf.reduce_sum(x) > 0, lambda: x * 2, lambda: x / 3, name='chosen')
            shifted = tf.add(chosen, 1.0, name='shifted')
            _, doubled = v1.while_loop(lambda i, a: i < 4, lambda i, a: (i + 1, a * 2 + shifted), [0, shifted])
            loss = tf.reduce_sum(doubled, name='loss')
            slope, = v1.gradients(loss, [x])
        finally:
            v1.enable_control_flow_v2()
    assert {'Switch', 'Merge', 'Enter', 'NextIteration', 'Exit'} <= {op.type for op in graph.get_operations()}
    return graph, x, [loss, slope, chosen]


@pytest.mark.parametrize('line', ['run', 'node', 'to shifted'])
def test_conditions_and_loops_run_as_one(tf: Any, line: str) -> None:
    graph, x, fetches = flowing(tf)

    def both_ways(session: Any) -> list[bytes]:
        return [value.tobytes() for sign in (1, -1) for value in session.run(fetches, {x: [1, 2, sign * 9]})]

    with tf.compat.v1.Session(graph=graph) as session:
        expected = both_ways(session)
        with ScriptedUser(repeat(line, 400)) as user:
            assert both_ways(pyfuncdbg.DebugSession(session)) == expected
    assert user.phases[0] == 'run' and ('node' in user.phases) == (line != 'run')


def test_stepping_rewinding_and_other_values(tf: Any) -> None:
    program = Effects(tf)
    seen: list[Any] = []

    def look(stop: Any) -> Any:
        control = stop.control
        seen.append({name: np.asarray(stop.run.host.to_numpy(control.value(name))).tolist()
                     for name in ('first:0', 'after:0', 'again:0') if control.holds(name)})

    lines: list[Any] = ['to both', look, 'inject first:0 [10, 20]', 'to got', look, 'rewind first', look, 'to got', look,
                        'rewind again', 'node', 'retry', 'cont', 'cont', 'cont']
    with tf.compat.v1.Session(graph=program.graph) as session:
        session.run(program.init)
        with ScriptedUser(lines) as user:
            found = pyfuncdbg.DebugSession(session).run([program.again, program.got, program.count], {program.x: [1, 2]})
        assert session.run(program.count) == 1          # written once, put back, written again
    given = {'first:0': [2, 4], 'after:0': 1}
    changed = {'first:0': [10, 20], 'after:0': 1, 'again:0': [22, 42]}
    assert seen == [given, changed, {}, given | {'again:0': [6, 10]}]
    assert found[0].tolist() == [6, 10] and found[1] == 2
    assert program.ran == ['first', 'again', 'again', 'again'] and 'node' in user.phases


def test_a_stop_before_a_node_and_at_an_op_type(tf: Any) -> None:
    program = Training(tf)
    with tf.compat.v1.Session(graph=program.graph) as session, ScriptedUser(
            ['break MatMul', 'break logits', 'cont', *['cont'] * 20]) as user:
        wrapped = pyfuncdbg.DebugSession(session)
        wrapped.run(program.init)
        wrapped.run(program.loss, program.feed(0))
    first, second = (f'breakpoint {number}' for number in sorted(debugger.breakpoints.entries))
    for number in list(debugger.breakpoints.entries):
        debugger.breakpoints.clear(number)
    assert [reason for phase, reason in user.stops if phase == 'before'] == [first, first, second]


def test_a_function_whose_result_stands_is_not_entered_but_said_why(tf: Any) -> None:
    program = Effects(tf)
    def clear(stop: Any) -> None:
        for number in list(debugger.breakpoints.entries):
            debugger.breakpoints.clear(number)
    lines = ['to both', 'rewind first', 'into', 'break first', 'node', 'retry', 'step', clear, 'cont', 'cont', 'cont']
    with tf.compat.v1.Session(graph=program.graph) as session:
        session.run(program.init)
        with ScriptedUser(lines) as user:
            found = pyfuncdbg.DebugSession(session).run(program.again, {program.x: [1, 2]})
    after = user.stops[2:6]
    assert [phase for phase, _ in after] == ['node', 'node', 'node', 'before'] and after[0][1] == 'node'
    assert "'first' was called already and its result is kept" in after[1][1]
    assert after[3][1].startswith('breakpoint') and user.stops[6][0] == 'line'
    assert found.tolist() == [6, 10] and program.ran == ['first', 'first', 'again']


def outcome(run: Callable[[], Any]) -> tuple[str, str]:
    """What a program gets: class and text of an error, without where it was raised."""
    try:
        return 'value', repr(run())
    except Exception as error:
        text = re.sub(r'(?m)^  ?File .*$|0x[0-9a-f]+|line \d+|^Traceback.*$|pyfunc_\d+', '', str(error))
        return type(error).__name__, re.sub(r'\s+', ' ', text)


class Mistakes:
    """Runs that go wrong, each in its own way."""

    def __init__(self, tf: Any) -> None:
        v1 = tf.compat.v1
        self.graph = tf.Graph()
        with self.graph.as_default():
            self.x = x = v1.placeholder(tf.float32, None, name='x')
            self.shape = tf.matmul(x, tf.ones([2, 2]), name='product')
            self.numerics = tf.debugging.check_numerics(tf.math.log(x), 'not finite', name='checked')
            variable = v1.get_variable('never', [2])
            self.unset = tf.add(variable, x, name='unset')
            self.python = v1.py_func(self.raises, [x], tf.float32, name='python')
            self.element = v1.data.make_one_shot_iterator(tf.data.Dataset.range(1)).get_next(name='element')
            self.asserted = tf.identity(x, name='asserted')
            with tf.control_dependencies([v1.assert_positive(x)]):
                self.asserted = tf.identity(x * 2, name='asserted')
            self.closed = x * 3
            self.constant = tf.constant(3.0)
            self.graph.prevent_feeding(self.constant)

    def raises(self, value: Any) -> Any:
        raise KeyError(f'no {float(value)}')

    def outcomes(self, session: Any) -> list[tuple[str, str]]:
        run, x = session.run, self.x
        found = [outcome(partial(run, fetch, {x: value})) for fetch, value in (
            (self.shape, np.ones((3, 3), 'f')), (self.numerics, -1.0), (self.unset, 1.0), (self.python, 4.0),
            (self.asserted, -2.0), (self.asserted, 2.0))]
        found += [outcome(lambda: run(self.element)) for _ in range(2)]
        found += [outcome(lambda: run(self.closed)), outcome(lambda: run(self.closed, {x: 'text'})),
                  outcome(lambda: run(self.closed, {'nothing:0': 1})), outcome(lambda: run(self.closed, {self.constant: 1})),
                  outcome(lambda: run('missing:0')), outcome(lambda: run(None))]
        session.close()
        return [*found, outcome(lambda: run(self.closed, {x: 1}))]


@pytest.mark.parametrize('line', ['run', 'node', 'run -f has_nan'])
def test_errors_are_those_of_the_session(tf: Any, line: str) -> None:
    first = Mistakes(tf)
    expected = first.outcomes(tf.compat.v1.Session(graph=first.graph))
    assert [name for name, _ in expected] == [
        'InvalidArgumentError', 'InvalidArgumentError', 'FailedPreconditionError', 'UnknownError', 'InvalidArgumentError',
        'value', 'value', 'OutOfRangeError', 'InvalidArgumentError', 'ValueError', 'TypeError', 'ValueError', 'ValueError',
        'TypeError', 'RuntimeError']
    program = Mistakes(tf)
    session = tf.compat.v1.Session(graph=program.graph)
    with ScriptedUser(repeat(line, 400)) as user:
        found = program.outcomes(pyfuncdbg.DebugSession(session))
    assert found == expected and 'run' in user.phases


def test_other_ways_to_run(tf: Any) -> None:
    """Steps of a partial run, callables, runs with metadata: cards for each, and what the session gives."""
    v1 = tf.compat.v1
    graph = tf.Graph()
    with graph.as_default():
        a, b = (v1.placeholder(tf.float32, [], name=name) for name in 'ab')
        first, count = tf.add(a, 1.0, name='first'), v1.get_variable('count', [], initializer=v1.zeros_initializer())
        second, more = tf.multiply(first, b, name='second'), v1.assign_add(count, 1.0)

    def results(session: Any) -> list[Any]:
        session.run(count.initializer)
        handle = session.partial_run_setup([first, second], [a, b])
        steps = [session.partial_run(handle, first, {a: 2}), session.partial_run(handle, second, {b: 5})]
        call, fed = session.make_callable(more), session.make_callable([second, first], [a, b])
        metadata = v1.RunMetadata()
        traced = session.run(second, {a: 1, b: 1}, v1.RunOptions(trace_level=v1.RunOptions.FULL_TRACE), metadata)
        return [*steps, call(), call(), *fed(1, 2), traced, bool(metadata.step_stats.dev_stats)]

    with v1.Session(graph=graph) as session:
        expected = results(session)
        with ScriptedUser(repeat('run', 50)) as user:
            assert results(pyfuncdbg.DebugSession(session)) == expected == [3, 15, 1, 2, 4, 2, 2, True]
    assert user.phases == ['run', 'end'] * 7


def test_a_session_of_a_server(tf: Any) -> None:
    v1 = tf.compat.v1
    server = v1.train.Server.create_local_server()
    with tf.Graph().as_default() as graph:
        product = tf.multiply(tf.constant(3.0), 2.0, name='product')
    with v1.Session(server.target, graph=graph) as session, ScriptedUser(repeat('node', 50)) as user:
        assert pyfuncdbg.DebugSession(session).run(product) == 6
    assert user.phases[0] == 'run' and 'node' not in user.phases       # another process may run its nodes


def test_the_trace_has_the_graph_and_every_node(tf: Any, tmp_path: Any) -> None:
    program = Training(tf)
    with tf.compat.v1.Session(graph=program.graph) as session, pyfuncdbg.record(tmp_path / 'nodes.pfd', ops=True):
        session.run(program.init)
        loss = session.run([program.loss, program.train], program.feed(1))[0]
    with Trace.open(tmp_path / 'nodes.pfd') as trace:
        run = trace.runs()[-1]
        sites = {site.name: site for site in trace.sites()}
        assert [tensor.name for tensor in run.feeds] == ['x:0', 'y:0'] and [t.name for t in run.fetches] == ['loss:0']
        assert {'mm', 'noted', 'Adam/update_first/ResourceApplyAdam'} <= sites.keys() and len(run.sites) == 101
        multiplied, = trace.calls(site='mm', run=run.id)
        mean, = trace.calls(site='loss', run=run.id)
        assert mean.outputs[0].to_numpy() == loss and multiplied.inputs[0].name == 'x:0'
        product = program.feed(1)[program.x] @ multiplied.inputs[1].to_numpy()
        np.testing.assert_allclose(multiplied.outputs[0].to_numpy(), product, rtol=1e-5, atol=1e-6)
        assert sites['mm'].op_type == 'MatMul' and sites['mm'].stack[-1].filename == __file__
        assert sites['logits'].attrs['data_format'] == 'NHWC'
        assert [site.function.rpartition('.')[2] for site in trace.sites() if site.kind == 'python'] == ['note']
        assert 'Adam/update_first/ResourceApplyAdam' in sites['Adam/ReadVariableOp'].attrs['_control']
        assert ['Adam/beta1:0', 'float32', [], [pytest.approx(0.9)]] in sites['Adam/mul'].attrs['_constants']


@pytest.mark.parametrize('references', [False, True])
def test_what_only_a_session_can_hold_is_no_node_that_has_not_run(tf: Any, references: bool) -> None:
    program = Effects(tf, references)
    lists: list[Any] = []
    cards: list[str] = []

    def look(stop: Any) -> None:
        context = context_of(stop)
        lists.append((stop.phase, execute('graph', context).result))
        cards.append(execute('graph', context).text(200))
    with tf.compat.v1.Session(graph=program.graph) as session, ScriptedUser(['run', look, *repeat('run', 9)]):
        session.run(program.init)
        pyfuncdbg.DebugSession(session).run(program.fetches, {program.x: [1, 2]})
    (phase, found), = lists
    held = [row.site.op_type for row in found.rows if row.handle]
    assert phase == 'end' and found.executed == found.total > len(held) > 0
    assert all(row.time is None for row in found.rows if row.handle)
    assert cards[0].count('held by tensorflow') == len(held) and 'did not run' not in cards[0] and 'not yet' not in cards[0]


def test_nothing_of_ours_stays_on_a_graph(tf: Any) -> None:
    graph, x, fetches = flowing(tf)
    ours = ('_pyfuncdbg_plans', '_pyfuncdbg_sites')     # its class lists no attributes
    with tf.compat.v1.Session(graph=graph) as session, ScriptedUser(repeat('run', 9)):
        pyfuncdbg.DebugSession(session).run(fetches, {x: [1, 2, 3]})
        assert all(hasattr(graph, name) for name in ours)
        pyfuncdbg.detach('tensorflow')
    assert not any(hasattr(graph, name) for name in ours)


def test_nothing_of_a_graph_that_is_gone_stays_with_us(tf: Any, tmp_path: Any) -> None:
    def of_one_graph() -> weakref.ref[Any]:
        graph, x, fetches = flowing(tf)
        with tf.compat.v1.Session(graph=graph) as session:
            session.run(fetches, {x: [1, 2, 3]})
        return weakref.ref(graph)

    def kept() -> int:
        gc.collect()
        return sum(len(one._active_runs) for one in gc.get_objects() if type(one) is Runs)
    with pyfuncdbg.record(tmp_path / 't.pfd'):
        before = kept()
        graphs = [of_one_graph() for _ in range(3)]
        assert kept() == before and [graph() for graph in graphs] == [None] * 3


FUSED = {
    'relu': lambda tf, x: tf.nn.relu(tf.nn.bias_add(tf.matmul(x, x), x[0])),
    'folded': lambda tf, x: 3.3 * (x * 1.7) + (0.1 + (0.2 + (0.3 + x))) + x / 3.0 / 7.0,
    'normalized': lambda tf, x: (x - tf.reduce_mean(x, -1, keepdims=True)) / tf.sqrt(tf.math.reduce_variance(x) + 1e-5),
    'swish': lambda tf, x: tf.sigmoid(x) * x + tf.pow(x, 3.0),
    'convolved': lambda tf, x: tf.nn.relu(tf.nn.conv2d(tf.reshape(x, [4, 8, 8, 1]), tf.reshape(x[0, :9], [3, 3, 1, 1]), 1,
                                                       'SAME') * 0.3),
}


@pytest.mark.parametrize('name', FUSED)
def test_what_tensorflow_fuses_comes_out_the_same_unless_one_steps(tf: Any, name: str) -> None:
    graph = tf.Graph()
    with graph.as_default():
        x = tf.compat.v1.placeholder(tf.float32, [16, 16], name='x')
        made = FUSED[name](tf, x)
    value = np.random.RandomState(1).rand(16, 16).astype('f')
    with tf.compat.v1.Session(graph=graph) as session:
        expected = session.run(made, {x: value})
        for line in ('run', 'run -f has_nan', 'node'):
            with ScriptedUser(repeat(line, 99)):
                found = pyfuncdbg.DebugSession(session).run(made, {x: value})
            assert line == 'node' or found.tobytes() == expected.tobytes()
            np.testing.assert_allclose(found, expected, rtol=2e-5, atol=1e-5)


@pytest.mark.parametrize('eager', [False, True])
def test_a_call_is_retried_on_what_it_got(tf: Any, tmp_path: Any, eager: bool) -> None:
    seen: list[list[float]] = []

    def sort(x: Any) -> Any:
        seen.append(np.array(x).tolist())
        if isinstance(x, np.ndarray):
            x.sort()
        return np.float32(len(seen))

    op = tf.py_function if eager else tf.numpy_function
    recorder = Recorder(tmp_path / 't.pfd').start()
    with ScriptedUser(['retry', 'retry', 'cont']) as user:
        number = debugger.breakpoints.set('sort', 'out > 0').number
        debugger.start()
        run = tf.function(lambda x: op(sort, [x], tf.float32, name='sort'))
        assert float(run(tf.constant([3.0, 1.0, 2.0]))) == 3
        debugger.breakpoints.clear(number)
        recorder.stop()
    assert seen == [[3.0, 1.0, 2.0]] * 3
    assert [len(answer.changed) for answer in user.answers[:2]] == [not eager] * 2
    with Trace.open(tmp_path / 't.pfd') as trace:
        calls = trace.calls(kind='python')
        assert [call.retry_of for call in calls] == ['', calls[0].number, calls[0].number]
        assert {call.label for call in calls} == {'sort[0]'} and trace.info().retries == (2, 0)


def test_a_block_inside_of_a_monitored_sessions_own_block_ends_nothing(tf: Any) -> None:
    v1 = tf.compat.v1
    ends: list[bool] = []

    class End(v1.train.SessionRunHook):         # type: ignore[misc, name-defined, unused-ignore]
        def end(self, session: Any) -> None:
            ends.append(True)
    training = Training(tf)
    with ScriptedUser(), training.graph.as_default():
        hooks = [v1.train.StopAtStepHook(num_steps=3), End()]
        with v1.train.MonitoredTrainingSession(hooks=hooks) as monitored:
            with pyfuncdbg.DebugSession(monitored, ui='none') as session:
                while not session.should_stop():
                    session.run(training.train, training.feed(0))
            assert not ends and monitored.should_stop()
        assert ends == [True] and len(training.calls) == 3
