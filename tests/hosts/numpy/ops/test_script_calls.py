"""How wrapped functions are called: protected inputs, error state, tapes, threads, hooks, statefulness."""
from __future__ import annotations

import contextlib
import threading
import traceback
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from native_threads import run_native

import pyfuncdbg.tf as tf
from pyfuncdbg.errors import InvalidArgumentError, UnknownError
from pyfuncdbg.hooks.call import Call
from pyfuncdbg.hooks.chain import hooks
from pyfuncdbg.hosts.numpy.graph import context
from pyfuncdbg.hosts.numpy.graph.graph import Graph
from pyfuncdbg.hosts.numpy.ops.script.calls import numpy_function, py_func, py_function
from pyfuncdbg.hosts.numpy.ops.variables.handles import placeholder
from pyfuncdbg.hosts.numpy.ops.variables.variable import Variable
from pyfuncdbg.hosts.numpy.runtime.differentiation.tape import GradientTape
from pyfuncdbg.hosts.numpy.runtime.execution.host import host
from pyfuncdbg.hosts.numpy.runtime.functions.function import function
from pyfuncdbg.hosts.numpy.runtime.sessions.session import Session


class Watcher:
    """Keeps every Python call; `change` may stand between."""

    kinds = frozenset(('python',))

    def __init__(self, change: Callable[[Call, Callable[[], Sequence[Any]]], Sequence[Any]] | None = None) -> None:
        self.calls: list[Call] = []
        self.change = change

    def around(self, call: Call, proceed: Callable[[], Sequence[Any]]) -> Sequence[Any]:
        self.calls.append(call)
        return proceed() if self.change is None else self.change(call, proceed)

    def __enter__(self) -> Watcher:
        hooks.add(self)
        return self

    def __exit__(self, *exception: object) -> None:
        hooks.remove(self)


# ---------------------------------------------------------------- protected inputs
def spoil(array: Any) -> Any:
    array[...] = 99.
    return array.sum()


def test_writing_to_an_argument_changes_nothing_for_anybody_else() -> None:
    mine = np.ones(4096, np.float32)
    tensor = tf.constant([1., 2.])
    numpy_function(spoil, [tensor], tf.float32)
    numpy_function(spoil, [mine], tf.float32)
    py_function(lambda t: spoil(t.numpy()), [tensor], tf.float32)
    assert mine[0] == 1. and tensor.numpy().tolist() == [1., 2.]
    with Graph().as_default(), Session() as session:
        p, c = placeholder(tf.float32), tf.constant([1., 2.])
        twice = p * 2.
        first, second = py_func(spoil, [twice], tf.float32), py_func(lambda a: a.copy(), [twice], tf.float32)
        const, fed = py_func(spoil, [c], tf.float32), py_func(spoil, [p], tf.float32)
        found = session.run([first, second, twice, const, c, fed], {p: mine})
        assert found[1][0] == 2. and found[2][0] == 2. and found[4].tolist() == [1., 2.] and mine[0] == 1.
        assert session.run(c).tolist() == [1., 2.]


def test_a_value_that_only_the_call_uses_is_handed_over_without_a_copy() -> None:
    seen: list[int] = []
    with Graph().as_default(), Session() as session:
        p = placeholder(tf.float32, [None])
        made = py_func(lambda a: seen.append(id(a)) or (a * 2.), [p], tf.float32)
        del seen[:]
        y = py_func(lambda a: seen.append(a.flags.writeable) or a.sum(), [tf.exp(p)], tf.float32)
        assert session.run([y, made], {p: [0., 0.]})[0] == 2.
    assert True in seen


# ---------------------------------------------------------------- surroundings
def test_the_body_runs_in_eager_mode_with_the_callers_error_state() -> None:
    seen: list[Any] = []

    def look(a: Any) -> Any:
        seen.append((context.executing_eagerly(), np.geterr()['divide']))
        np.seterr(divide='ignore')
        return a

    before = np.seterr(divide='raise')
    try:
        for op in (py_function, numpy_function):
            np.seterr(divide='raise')
            op(look, [1.], tf.float32)
            assert np.geterr()['divide'] == 'ignore'
            np.seterr(divide='raise')
            with Graph().as_default(), Session() as session:
                session.run(op(look, [1.], tf.float32))
            assert np.geterr()['divide'] == 'ignore'
        assert seen == [(True, 'raise')] * 4
    finally:
        np.seterr(**before)


def test_floating_point_errors_of_the_body_are_the_users() -> None:
    with np.errstate(divide='raise'), pytest.raises(UnknownError, match='FloatingPointError'):
        py_function(lambda a: a.numpy() / np.float32(0), [1.], tf.float32)


def test_graphs_and_tapes_that_a_body_leaves_open_are_closed() -> None:
    x = tf.constant(3.)

    def careless(a: Any) -> Any:
        Graph().as_default().__enter__()
        with context.under(None):
            tape = GradientTape()
            tape.__enter__()
            tape.watch(a)
            return tape.gradient(a * a, a)

    assert float(py_function(careless, [x], tf.float32)) == 6.
    assert context.executing_eagerly() and not context.state.graphs
    with GradientTape() as tape:
        tape.watch(x)
        y = x * 2.
    assert float(tape.gradient(y, x)) == 2.


@pytest.mark.parametrize('recorded', [False, True])
def test_an_argument_is_another_tensor_than_the_callers(recorded: bool) -> None:
    x = tf.constant(3.)

    def partial_slope(a: Any) -> Any:
        with GradientTape() as tape:
            tape.watch(a)
            y = a * x
        return tape.gradient(y, a)

    with GradientTape() if recorded else contextlib.nullcontext():
        assert float(py_function(partial_slope, [x], tf.float32)) == 3.


def test_functions_may_run_sessions_and_other_functions() -> None:
    def inner() -> Any:
        with Graph().as_default(), Session() as session:
            return session.run(py_func(lambda: np.float32(2), [], tf.float32))

    with Graph().as_default(), Session() as session:
        y = py_function(lambda: py_function(lambda a: a + inner(), [1.], tf.float32), [], tf.float32)
        assert session.run(y) == 3.


def test_it_works_on_threads_that_python_did_not_make() -> None:
    with Graph().as_default():
        p = placeholder(tf.float32, [])
        y = py_function(lambda a: a * a, [p], tf.float32)
        session = Session()
    results: dict[int, tuple[float, float]] = {}

    def work(number: int) -> Callable[[], None]:
        def run() -> None:
            for _ in range(20):
                x = tf.constant(float(number))
                with GradientTape() as tape:
                    tape.watch(x)
                    z = py_function(lambda a: a * a * a, [x], tf.float32)
                results[number] = float(session.run(y, {p: number})), float(tape.gradient(z, x))
        return run

    run_native([work(number) for number in range(1, 5)])
    assert results == {number: (number**2, 3. * number**2) for number in range(1, 5)}


def test_the_function_is_called_on_the_callers_thread() -> None:
    seen: list[int] = []

    def here() -> float:
        seen.append(threading.get_ident())
        return 1.

    with Graph().as_default(), Session() as session:
        session.run([py_function(here, [], tf.float32), py_func(here, [], tf.float64)])
    py_function(here, [], tf.float32)
    numpy_function(here, [], tf.float32)
    assert set(seen) == {threading.get_ident()} and len(seen) == 4


# ---------------------------------------------------------------- hooks
def test_a_hook_sees_inputs_outputs_and_errors() -> None:
    def double(a: Any) -> Any:
        return a * 2.

    with Watcher() as watcher:
        py_function(double, [3.], tf.float32, name='mine')
        numpy_function(double, [tf.constant(3.)], tf.float32)
        with Graph().as_default(), Session() as session:
            session.run(py_func(double, [np.float64(3.)], tf.float64, name='node'))
        with pytest.raises(InvalidArgumentError):
            py_function(lambda: 'text', [], tf.float32)
    eager, plain, node, failed = watcher.calls
    assert (eager.site.name, eager.site.op_type, eager.site.function) == ('mine', 'EagerPyFunc', double)
    assert float(eager.inputs[0]) == 3. and float(eager.outputs[0]) == 6.  # type: ignore[index]
    assert (plain.site.op_type, plain.inputs[0].shape, float(plain.outputs[0])) == ('PyFunc', (), 6.)  # type: ignore[index]
    assert (node.site.name, node.inputs, node.outputs) == ('node', [3.], [6.])
    assert node.site.inputs == ['node/input_0:0'] and node.site.outputs == ['node:0']
    assert isinstance(failed.error, TypeError) and eager.error is None


def test_one_line_is_one_place_for_all_its_calls_and_closures() -> None:
    with Watcher() as watcher:
        for i in range(3):
            py_function(lambda a, i=i: a * i, [1.], tf.float32)
        py_function(lambda a: a, [1.], tf.float32)
    sites = [call.site for call in watcher.calls]
    assert sites[0].id == sites[1].id == sites[2].id != sites[3].id
    assert [call.ordinal for call in watcher.calls] == [0, 1, 2, 0]
    assert len({id(site.function) for site in sites[:3]}) == 3
    assert sites[0].stack[-1].function == 'test_one_line_is_one_place_for_all_its_calls_and_closures'


@pytest.mark.parametrize('op', [py_function, numpy_function])
@pytest.mark.parametrize('in_graph', [False, True])
def test_a_hook_may_change_inputs_outputs_and_skip_the_call(op: Any, in_graph: bool) -> None:
    def run() -> Any:
        if not in_graph:
            return float(op(lambda a: a + np.float32(1), [tf.constant(1.)], tf.float32))
        with Graph().as_default(), Session() as session:
            return float(session.run(op(lambda a: a + np.float32(1), [tf.constant(1.)], tf.float32)))

    def changed_input(call: Call, proceed: Callable[[], Sequence[Any]]) -> Sequence[Any]:
        call.inputs[0] = host.from_numpy(np.asarray(5., np.float32), call.inputs[0])
        return proceed()

    def changed_output(call: Call, proceed: Callable[[], Sequence[Any]]) -> Sequence[Any]:
        (output,) = proceed()
        return [host.from_numpy(np.asarray(8., np.float32), output)]

    with Watcher(changed_input):
        assert run() == 6.
    with Watcher(changed_output):
        assert run() == 8.
    with Watcher(lambda call, proceed: [np.float32(7)]):
        assert run() == 7.
    assert run() == 2.


def test_a_retried_call_records_its_last_try_and_a_skipped_one_gives_zero() -> None:
    x = tf.constant(3.)

    def slope() -> float:
        with GradientTape() as tape:
            tape.watch(x)
            y = py_function(lambda a: a * a, [x], tf.float32)
        return float(tape.gradient(y, x))

    def twice(call: Call, proceed: Callable[[], Sequence[Any]]) -> Sequence[Any]:
        proceed()
        return proceed()

    with Watcher(twice):
        assert slope() == 6.
    with Watcher(lambda call, proceed: [tf.constant(1.)]):
        assert slope() == 0.


def test_calling_again_gives_what_the_call_gave() -> None:
    with Watcher() as watcher:
        py_function(lambda a: a * 2., [3.], tf.float32)
        with Graph().as_default(), Session() as session:
            session.run(py_func(lambda a: a * 2., [np.float64(3.)], tf.float64))
    for call in tuple(watcher.calls):
        assert float(host.call_again(call.site, [host.from_numpy(np.asarray(5., host.to_numpy(v).dtype), v)
                                                 for v in call.inputs])[0]) == 10.
    with pytest.raises(ValueError, match='mine'), Watcher() as failing:
        def fail() -> None:
            raise ValueError('mine')
        with pytest.raises(InvalidArgumentError):
            py_function(fail, [], tf.float32)
        host.call_again(failing.calls[0].site, [])


def test_calling_again_reads_the_variables_of_the_session() -> None:
    with Watcher() as watcher, Graph().as_default(), Session() as session:
        v = Variable(3.)
        y = py_function(lambda a: a * v, [2.], tf.float32)
        session.run(v.initializer)
        assert session.run(y) == 6.
        (call,) = tuple(watcher.calls)
        assert float(host.call_again(call.site, [host.from_numpy(np.asarray(5., np.float32), call.inputs[0])])[0]) == 15.


def test_a_watched_failure_has_the_users_frames_only() -> None:
    def fail() -> None:
        raise ValueError('mine')

    with Watcher(), pytest.raises(InvalidArgumentError) as caught:
        py_function(fail, [], tf.float32)
    assert [entry.name for entry in traceback.extract_tb(caught.value.__cause__.__traceback__)] == ['fail']  # type: ignore[union-attr]


def test_gradient_calls_name_the_forward_call() -> None:
    class Gradients(Watcher):
        kinds = frozenset(('gradient', 'python'))

    x = tf.constant(3.)
    with Gradients() as watcher, GradientTape() as tape:
        tape.watch(x)
        y = py_function(lambda a: a * a, [x], tf.float32, name='square')
        tape.gradient(y, x)
    forward, *backward = watcher.calls
    assert forward.site.kind == 'python' and {call.site.kind for call in backward} == {'gradient'}
    assert {call.forward for call in backward} == {forward.id}


# ---------------------------------------------------------------- statefulness
def test_which_ops_are_stateful() -> None:
    with Graph().as_default():
        ops = [f(lambda: np.float32(1), [], tf.float32).op for f in (py_function, numpy_function, py_func)]
        ops.append(py_func(lambda: np.float32(1), [], tf.float32, stateful=False).op)
    assert [(op.type, op.definition.stateful) for op in ops] == [
        ('EagerPyFunc', True), ('PyFunc', True), ('PyFunc', True), ('PyFuncStateless', False)]


def test_a_function_without_effect_is_called_once_per_session_on_constants() -> None:
    calls: list[float] = []

    def counted(*arguments: Any) -> Any:
        calls.append(1)
        return np.float32([len(calls), *arguments])

    with Graph().as_default():
        p = placeholder(tf.float32)
        bare, on_constant = (py_func(counted, inp, tf.float32, stateful=False) for inp in ([], [tf.constant(7.)]))
        behind = py_func(lambda a: counted(*a), [on_constant], tf.float32, stateful=False)
        fed = py_func(counted, [p], tf.float32, stateful=False)
        with Session() as session:
            assert [session.run([bare, on_constant])[1].tolist() for _ in range(3)] == [[2., 7.]] * 3 and len(calls) == 2
            session.run(bare)[:] = 99.
            assert session.run(bare).tolist() == [1.]
            assert session.run(py_func(spoil, [bare], tf.float32)) == 99. and session.run(bare).tolist() == [1.]
            assert [session.run(behind).tolist() for _ in range(2)] == [[3., 2., 7.]] * 2
            assert [session.run(fed, {p: 5.}).tolist() for _ in range(2)] == [[4., 5.], [5., 5.]]
        with Session() as session:
            assert session.run(bare).tolist() == [6.]
    traced = function(lambda: py_func(counted, [], tf.float32, stateful=False))
    assert [traced().numpy().tolist() for _ in range(3)] == [[7.]] * 3


@pytest.mark.parametrize('traced', [False, True])
@pytest.mark.parametrize(('selector', 'times'), [('constant', 1), ('computed', 1), ('fed', 4), ('loop', 4)])
def test_constants_that_a_branch_captures_are_constants_where_it_is_known_which_runs(selector: str, times: int,
                                                                                      traced: bool) -> None:
    calls: list[float] = []

    def counted(x: Any) -> Any:
        calls.append(float(x))
        return x * np.float32(2)

    def build(p: Any) -> Any:
        c = tf.constant(2.0) * 3.0

        def called() -> Any:
            return tf.ensure_shape(py_func(counted, [c], tf.float32, stateful=False), [])
        if selector == 'loop':
            return tf.while_loop(lambda i, y: i < 1, lambda i, y: (i + 1, called()), [0, 0.0])[1]
        chosen = {'constant': tf.constant(True), 'computed': tf.constant(1.0) < c, 'fed': p}[selector]
        return tf.cond(chosen, lambda: tf.cond(tf.constant(True), called, lambda: 0.0), lambda: 1.0)
    if traced:
        one = function(build)
        found = [float(one(tf.constant(True))) for _ in range(4)]
    else:
        with Graph().as_default(), Session() as session:
            p = placeholder(tf.bool, [])
            y = build(p)
            found = [float(session.run(y, {p: True})) for _ in range(4)]
    assert found == [12.0] * 4 and calls == [6.0] * times


def test_what_is_fed_for_a_constant_is_what_a_function_gets() -> None:
    calls: list[float] = []

    def counted(x: Any) -> Any:
        calls.append(float(x))
        return x * np.float32(2)

    with Graph().as_default(), Session() as session:
        c = tf.constant(1.0)
        y = py_func(counted, [c], tf.float32, stateful=False)
        found = [float(session.run(y, {c: value} if value else {})) for value in (5, 0, 0, 3, 0)]
        assert found == [10.0, 2.0, 2.0, 6.0, 2.0]
        assert calls[:3] == [5.0, 1.0, 3.0]


def test_a_stateful_function_is_called_in_every_run_and_once_for_two_uses() -> None:
    calls: list[int] = []

    def counted() -> Any:
        calls.append(1)
        return np.float32(len(calls))

    with Graph().as_default(), Session() as session:
        y = py_func(counted, [], tf.float32)
        assert [session.run([y + 1., y + 1.])[0] for _ in range(3)] == [2., 3., 4.] and len(calls) == 3
        idle = py_func(counted, [], tf.float32)
        assert idle is not y and session.run(tf.constant(1.)) == 1. and len(calls) == 3
