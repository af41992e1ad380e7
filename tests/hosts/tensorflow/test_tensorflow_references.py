"""What nodes find in v1 variables, whose memory is written to in the same run: what the session had is shown, or nothing."""
from __future__ import annotations

import random
import re
import threading
from collections.abc import Callable, Iterator
from itertools import repeat
from typing import Any

import numpy as np
import pytest
from scripted_user import ScriptedUser, context_of

import pyfuncdbg
from pyfuncdbg.observers.debug.cards.node_card import node_card
from pyfuncdbg.observers.debug.debugger import debugger
from pyfuncdbg.observers.debug.inspecting.node_search import find_node
from pyfuncdbg.observers.debug.inspecting.scope import node_inputs
from pyfuncdbg.observers.debug.inspecting.stack import NodeEntry, stack_of
from pyfuncdbg.observers.debug.inspecting.tensor_values import view_of
from pyfuncdbg.observers.debug.numerics.fused_values import has_fused_remark
from pyfuncdbg.observers.debug.stops.stop import Stop
from pyfuncdbg.observers.record.records import CallRecord
from pyfuncdbg.observers.record.trace import Trace
from pyfuncdbg.ui.commands.engine.command import Context
from pyfuncdbg.ui.commands.execute import execute

pytestmark = [pytest.mark.tensorflow, pytest.mark.timeout(100)]

_STEPS = 7


@pytest.fixture(autouse=True)
def attached(tf: Any) -> Iterator[None]:
    with pyfuncdbg.attach('tensorflow'):
        yield


class Program:
    """Steps over three variables: a step reads some and gives a new value, or writes to one; in order, if `ordered`.

    Attributes:
        reads: Names of tensors that are no variable's memory, each computed of what a step has read.
        writes: Nodes that write.
    """

    def __init__(self, tf: Any, seed: int, resource: bool, ordered: bool) -> None:
        self._tf, self._random = tf, random.Random(seed)
        self.graph = tf.Graph()
        v1 = tf.compat.v1
        with self.graph.as_default():
            self.x = v1.placeholder(tf.float32, [], name='x')
            self._variables = [v1.get_variable(f'v{i}', [3, 2], initializer=v1.random_uniform_initializer(1, 2, seed=i + 1),
                                               use_resource=resource) for i in range(3)]
            self.reads: list[Any] = []
            self.writes: list[Any] = []
            last: list[Any] = []
            for _ in range(_STEPS):
                with tf.control_dependencies(last if ordered else []):
                    step = self._read() if self._random.random() < 0.5 else self._write()
                last = [step]
            with tf.control_dependencies(last if ordered else []):
                self._read()
            self.init = v1.global_variables_initializer()

    def _read(self) -> Any:
        tf, variable = self._tf, self._random.choice(self._variables)
        ways: list[Callable[[], Any]] = [
            lambda: variable * self.x, lambda: tf.identity(variable) + self.x, lambda: variable.read_value() * 2.0,
            lambda: tf.reshape(variable, [-1]) * self.x, lambda: tf.gather(variable, [2, 0]),
            lambda: tf.matmul(variable, self._random.choice(self._variables), transpose_b=True),
            lambda: tf.reduce_sum(variable) + self.x, lambda: variable[1:] * self.x]
        self.reads.append(self._random.choice(ways)())
        return self.reads[-1]

    def _write(self) -> Any:
        v1, tf, variable = self._tf.compat.v1, self._tf, self._random.choice(self._variables)
        value = self._random.choice(self.reads) if self.reads else self.x
        rows = tf.ones([2, 2]) * (self.x + tf.reduce_sum(value))
        train = v1.train
        makers = [lambda rate: train.GradientDescentOptimizer(rate), lambda rate: train.AdamOptimizer(rate),
                  lambda rate: train.MomentumOptimizer(rate, 0.5), lambda rate: train.AdagradOptimizer(rate),
                  lambda rate: train.RMSPropOptimizer(rate)]
        ways: list[Callable[[], Any]] = [
            lambda: v1.assign(variable, tf.ones([3, 2]) * tf.reduce_sum(value)),
            lambda: v1.assign_add(variable, variable * 0.5),
            lambda: v1.assign_sub(variable, tf.ones([3, 2]) * self.x), lambda: v1.scatter_update(variable, [2, 0], rows),
            lambda: v1.scatter_add(variable, [1, 1], rows), self._minimized(makers, variable),
            self._minimized(makers, variable)]
        made = self._random.choice(ways)()
        self.writes.append(made if isinstance(made, tf.Operation) else made.op)
        return self.writes[-1]

    def _minimized(self, makers: list[Any], variable: Any) -> Callable[[], Any]:
        def minimized() -> Any:
            tf = self._tf
            self.reads.append(tf.reduce_mean(tf.square(tf.reduce_sum(variable) - self.x)) + 1.0)
            return self._random.choice(makers)(0.1).minimize(self.reads[-1], var_list=[variable])
        return minimized

    def run(self, fetches: Any) -> Any:
        """The second of two runs: an optimizer has its state then."""
        with self._tf.compat.v1.Session(graph=self.graph) as session:
            session.run(self.init)
            session.run(self.writes[-1:] or self.x, {self.x: 0.5})
            return session.run(fetches, {self.x: 1.5})


def edges(graph: Any) -> list[tuple[str, list[str], list[str]]]:
    return [(op.name, [tensor.name for tensor in op.inputs], [other.name for other in op.control_inputs])
            for op in graph.get_operations()]


def of(trace: Trace, run: int) -> dict[str, CallRecord]:
    return {call.site.name: call for call in trace.calls(kind='op', run=run, limit=100_000)}


@pytest.mark.parametrize('seed', range(6))
@pytest.mark.parametrize('resource', [False, True])
def test_what_control_dependencies_put_in_order_is_shown_as_the_session_had_it(
        tf: Any, tmp_path: Any, seed: int, resource: bool) -> None:
    program = Program(tf, seed, resource, ordered=True)
    expected, before = program.run([program.reads, program.writes])[0], edges(program.graph)
    with pyfuncdbg.record(tmp_path / 'seen.pfd', ops=True, level='full'):
        program.run([[tensor.op for tensor in program.reads], program.writes])      # nothing is fetched
    assert edges(program.graph) == before
    with Trace.open(tmp_path / 'seen.pfd') as trace:
        shown = of(trace, max(run.id for run in trace.runs()))
        for tensor, value in zip(program.reads, expected, strict=True):
            call = shown[tensor.op.name]
            assert call.outputs[0].level == 'full', f'{tensor.name}: {call.outputs[0].note}'
            np.testing.assert_allclose(call.outputs[0].to_numpy(), value, rtol=1e-5, err_msg=tensor.name)


@pytest.mark.parametrize('seed', range(6))
@pytest.mark.parametrize('resource', [False, True])
def test_what_a_stop_before_a_node_shows_is_what_the_session_had(tf: Any, seed: int, resource: bool) -> None:
    """`pt`, `ni` and the card of every stop, node by node, through a step whose order is fixed."""
    program = Program(tf, seed, resource, ordered=True)
    fetches = [program.reads, program.writes]
    expected = {tensor.name: value for tensor, value in zip(program.reads, program.run(fetches)[0], strict=True)}
    shown, wrong = dict.fromkeys(expected, 0), []

    def compare(where: str, name: str, value: Any) -> None:
        shown[name] += 1
        if value is None or not np.allclose(value, expected[name], rtol=1e-5):
            wrong.append((where, name, value, expected[name]))

    def look(stop: Stop) -> None:
        context, view = context_of(stop), view_of(stop)
        if view is not None and stop.phase == 'node':
            for name in filter(view.holds, expected):
                compare('pt', name, execute(f'pt {name}', context).result.values)
                made = node_card(context.trace, find_node(context.trace, name, stop.run.id), stop).outputs[0].value
                compare('ni', name, made and made.to_numpy())
            for entry in stack_of(stop):
                inputs = node_inputs(stop, entry) if isinstance(entry, NodeEntry) else ()
                for _, name, read in inputs:
                    if name in expected and view.holds(name):
                        compare('input', name, read())
        execute('cont' if stop.phase == 'end' else 'node', context)
    with ScriptedUser(repeat(look)), tf.compat.v1.Session(graph=program.graph) as session:
        session.run(program.init)
        session.run(program.writes[-1:] or program.x, {program.x: 0.5})
        debugged = pyfuncdbg.DebugSession(session)
        results = debugged.run(fetches, {program.x: 1.5})[0]
    for tensor, value in zip(program.reads, results, strict=True):
        np.testing.assert_allclose(value, expected[tensor.name], rtol=1e-5)
    assert wrong == [] and min(shown.values()) > 1


def test_where_the_order_is_open_what_a_node_used_is_shown_or_nothing(tf: Any, tmp_path: Any) -> None:
    """What was fetched is what a node made of what it used: of each whose inputs are shown it comes out again."""
    missing = compared = 0
    for seed in range(12):
        program = Program(tf, seed, False, ordered=False)
        with pyfuncdbg.record(tmp_path / f'{seed}.pfd', ops=True, level='full'):
            fetched = program.run([program.reads, program.writes])[0]
        with Trace.open(tmp_path / f'{seed}.pfd') as trace:
            shown = of(trace, max(run.id for run in trace.runs()))
            assert not [call.label for call in shown.values() if has_fused_remark(call)]
            for tensor, value in zip(program.reads, fetched, strict=True):
                call = shown[tensor.op.name]
                np.testing.assert_array_equal(call.outputs[0].to_numpy(), value)
                compared += all(one.level == 'full' for one in call.inputs)
                missing += any(one.unknown for one in call.inputs)
    assert compared > 5 and missing > 5


class Stepwise:
    """A v1 variable that is used, assigned twice and used after each: `first`, `second` and `third` take `w/read`."""

    def __init__(self, tf: Any) -> None:
        v1 = tf.compat.v1
        self.graph = tf.Graph()
        with self.graph.as_default():
            self.w = v1.get_variable('w', [2], initializer=v1.constant_initializer(2.0), use_resource=False)
            self.used = [tf.multiply(self.w, 1.0, name='first')]
            for name, amount in (('second', 3.0), ('third', 4.0)):
                with tf.control_dependencies([self.used[-1]]):
                    added = v1.assign_add(self.w, [amount, amount], name=f'before_{name}')
                with tf.control_dependencies([added]):
                    self.used.append(tf.multiply(self.w, 1.0, name=name))
            self.init = v1.global_variables_initializer()


@pytest.mark.parametrize('line', ['run', 'node'])
def test_each_node_is_shown_what_it_found_in_the_variable(tf: Any, line: str) -> None:
    program = Stepwise(tf)
    with ScriptedUser(repeat(line, 60)), tf.compat.v1.Session(graph=program.graph) as session:
        debugged = pyfuncdbg.DebugSession(session)
        session.run(program.init)
        results = debugged.run([program.used, program.w])
        trace = debugger.live.trace()
        shown = of(trace, max(run.id for run in trace.runs()))
        assert [value.tolist() for value in results[0]] == [[2, 2], [5, 5], [9, 9]]
        for name, value in (('first', 2), ('second', 5), ('third', 9)):
            for tensor in (shown[name].inputs[0], shown[name].outputs[0]):
                assert tensor.to_numpy().tolist() == [value] * 2
            card = execute(f'ni {name}', Context(trace)).text(160)
            assert re.search(rf'w/read:0 +Identity +float32\[2\] = {value}\b', card), card


@pytest.mark.parametrize('eager', [False, True])
def test_what_a_python_function_found_in_a_variable_is_shown_though_nothing_orders_it(
        tf: Any, tmp_path: Any, eager: bool) -> None:
    v1 = tf.compat.v1
    got: list[np.ndarray] = []
    looked = threading.Event()

    def noted(value: Any) -> Any:
        got.append(np.array(value))
        looked.set()
        return value

    def amount() -> Any:                        # not before the other has looked, of which the graph knows nothing
        looked.wait(10)
        return np.ones(2, np.float32)
    graph = tf.Graph()
    with graph.as_default():
        w = v1.get_variable('w', [2], initializer=v1.constant_initializer(2.0), use_resource=False)
        peek = (tf.py_function if eager else v1.py_func)(noted, [w], tf.float32, name='peek')
        added, init = v1.assign_add(w, v1.py_func(amount, [], tf.float32)), v1.global_variables_initializer()
    with v1.Session(graph=graph) as session:
        session.run(init)
        with pyfuncdbg.record(tmp_path / 'peek.pfd', ops=True, level='full'):
            session.run([peek.op, added])
    with Trace.open(tmp_path / 'peek.pfd') as trace:
        shown = of(trace, max(run.id for run in trace.runs()))['peek']
        assert shown.inputs[0].to_numpy().tolist() == got[0].tolist() == [2, 2]


def test_what_another_run_has_written_to_meanwhile_is_not_known(tf: Any, tmp_path: Any) -> None:
    v1 = tf.compat.v1
    graph = tf.Graph()
    with graph.as_default():
        w = v1.get_variable('w', [2], initializer=v1.constant_initializer(2.0), use_resource=False)
        other = v1.assign(w, [7.0, 7.0])
        nested = v1.py_func(lambda: session.run(other).sum(), [], tf.float32, name='nested')
        before = tf.reduce_sum(tf.multiply(w, 1.0, name='before'), name='total')
        init = v1.global_variables_initializer()
    with v1.Session(graph=graph) as session:
        session.run(init)
        with pyfuncdbg.record(tmp_path / 'nested.pfd', ops=True, level='full'):
            total = session.run([nested, before])[1]
    with Trace.open(tmp_path / 'nested.pfd') as trace:
        shown = of(trace, next(run.id for run in trace.runs() if run.fetches and run.fetches[-1].name == 'total:0'))
        assert shown['before'].inputs[0].note == "not known: another run wrote to variables while this one used 'w'"
        assert shown['before'].outputs[0].unknown and shown['total'].outputs[0].to_numpy() == total
        card = execute('ni before', Context(trace)).text(200)
        assert "before:0  not known: another run wrote to variables while this one used 'w'" in card
