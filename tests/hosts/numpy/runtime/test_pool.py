"""Sessions with `inter_op_parallelism_threads`: Python functions really overlap, and nothing else about a run changes."""
from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import pyfuncdbg.tf.compat.v1 as tf
from pyfuncdbg import tf as tf2
from pyfuncdbg.hooks.call import Call
from pyfuncdbg.hooks.capture import Capture
from pyfuncdbg.hooks.chain import hooks
from pyfuncdbg.hosts.numpy.graph.context import under

MINE = 'pyfuncdbg session'


@pytest.fixture(autouse=True)
def graph() -> Iterator[Any]:
    with tf.Graph().as_default() as made:
        yield made


def pooled(threads: int, **settings: Any) -> tf.Session:
    return tf.Session(config=tf.ConfigProto(inter_op_parallelism_threads=threads, **settings))


def helpers() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name.startswith(MINE)]


def meeting(count: int) -> Any:
    barrier = threading.Barrier(count, timeout=20)

    def meet(x: Any) -> Any:
        barrier.wait()
        return x * np.float32(2)
    return meet


@pytest.mark.parametrize('threads', [2, 4])
def test_as_many_functions_as_threads_overlap_and_the_caller_takes_part(threads: int) -> None:
    seen = set()
    meet = meeting(threads)

    def noted(x: Any) -> Any:
        seen.add(threading.get_ident())
        return meet(x)
    calls = [tf.py_func(noted, [tf.constant(float(i))], tf.float32) for i in range(threads)]
    with pooled(threads) as session:
        assert session.run(calls) == [2.0 * i for i in range(threads)]
        assert len(seen) == threads and threading.get_ident() in seen
        assert len(helpers()) == threads - 1
    assert helpers() == []


def test_without_the_setting_all_runs_on_the_callers_thread() -> None:
    seen = []
    calls = [tf.py_func(lambda x: seen.append(threading.get_ident()) or x, [tf.constant(1.0)], tf.float32) for _ in range(3)]
    for session in (tf.Session(), pooled(1), pooled(-1)):
        session.run(calls)
    assert set(seen) == {threading.get_ident()} and len(seen) == 9


@pytest.mark.parametrize('seed', range(8))
def test_a_random_graph_gives_what_it_gives_serially(seed: int) -> None:
    choose = np.random.default_rng(seed)
    tensors = [tf.constant(choose.normal(size=4).astype(np.float32)) for _ in range(3)]
    for i in range(40):
        a, b = (tensors[k] for k in choose.integers(0, len(tensors), 2))
        kind = choose.integers(0, 4)
        tensors.append(tf.py_func(lambda x, y, i=i: np.sin(x + i) * y, [a, b], tf.float32, stateful=bool(kind)) if kind < 2
                       else a + b if kind == 2 else a * b)
        tensors[-1].set_shape([4])
    serial = tf.Session().run(tensors)
    with pooled(4) as session:
        for _ in range(3):
            for expected, found in zip(serial, session.run(tensors), strict=True):
                np.testing.assert_array_equal(found, expected)


def test_writes_to_a_variable_keep_their_place() -> None:
    v = tf.get_variable('v', initializer=1.0)
    order = []

    def slow(x: Any) -> Any:
        time.sleep(0.02)
        order.append('slow')
        return x
    first = tf.py_func(slow, [tf.constant(5.0)], tf.float32)
    before = tf.identity(v.read_value())
    with tf.control_dependencies([before]):
        write = v.assign(first)
    with tf.control_dependencies([write.op if hasattr(write, 'op') else write]):
        after = tf.identity(v.read_value())
    other = tf.py_func(lambda x: order.append('other') or x, [tf.constant(1.0)], tf.float32)
    with pooled(3) as session:
        session.run(tf.global_variables_initializer())
        assert session.run([before, after, other]) == [1.0, 5.0, 1.0]
        assert sorted(order) == ['other', 'slow']


def test_the_first_error_is_the_runs_and_what_runs_is_waited_for() -> None:
    started, ended = threading.Event(), []

    def slow(x: Any) -> Any:
        started.set()
        time.sleep(0.1)
        ended.append('slow')
        return x

    def fail(x: Any) -> Any:
        started.wait(20)
        raise ValueError('mine')
    a = tf.py_func(slow, [tf.constant(1.0)], tf.float32, name='slow')
    after = tf.py_func(lambda x: ended.append('after') or x, [a], tf.float32)
    b = tf.py_func(fail, [tf.constant(1.0)], tf.float32, name='fail')
    with pooled(2) as session:
        with pytest.raises(tf.errors.InvalidArgumentError, match='mine') as caught:
            session.run([after, b])
        assert caught.value.op is b.op and isinstance(caught.value.__cause__, ValueError)
        assert ended == ['slow']
        assert session.run(a) == 1.0
    assert helpers() == []


def test_a_run_inside_of_a_call_needs_no_free_thread() -> None:
    inner = [tf.py_func(lambda x: x + np.float32(1), [tf.constant(float(i))], tf.float32) for i in range(2)]
    with pooled(2) as session:
        meet = meeting(2)
        outer = [tf.py_func(lambda x: meet(x) + np.float32(sum(session.run(inner))), [tf.constant(1.0)], tf.float32)
                 for _ in range(2)]
        assert session.run(outer) == [5.0, 5.0]


def test_each_call_is_one_with_its_own_prints() -> None:
    kept: list[Call] = []

    class Keep:
        kinds = frozenset({'python', 'run'})

        def around(self, call: Call, proceed: Any) -> Any:
            outputs = proceed()
            kept.append(call)
            return outputs
    barrier = threading.Barrier(3, timeout=20)

    def speak(x: Any) -> Any:
        for _ in range(20):
            print(f'from {int(x)}')
            time.sleep(0)
        barrier.wait()
        return x
    calls = [tf.py_func(speak, [tf.constant(float(i))], tf.float32, name=f'c{i}') for i in range(3)]
    capture, keep = Capture(), Keep()
    capture.start()
    hooks.add(keep)
    try:
        with pooled(3) as session:
            for _ in range(5):
                session.run(calls)
    finally:
        hooks.remove(keep)
        capture.stop()
    python = [call for call in kept if call.site.kind == 'python']
    assert len(python) == 15 and len({call.id for call in python}) == 15
    for call in python:
        said = ''.join(entry.text for entry in call.output.entries)
        assert said == f'from {call.site.name[1:]}\n' * 20
    assert sorted(call.ordinal for call in python if call.site.name == 'c1') == [0, 1, 2, 3, 4]


def test_op_calls_come_from_the_threads_too() -> None:
    class Ops:
        kinds = frozenset({'op'})
        passive = True

        def __init__(self) -> None:
            self.seen: list[tuple[str, int]] = []

        def around(self, call: Call, proceed: Any) -> Any:
            self.seen.append((call.site.name, threading.get_ident()))
            return proceed()
    meet = meeting(2)
    calls = [tf.py_func(meet, [tf.constant(1.0)], tf.float32, name=f'c{i}') for i in range(2)]
    hook = Ops()
    hooks.add(hook)
    try:
        with pooled(2) as session:
            assert session.run(calls[0] + calls[1]) == 4.0
    finally:
        hooks.remove(hook)
    assert sorted(name for name, _ in hook.seen) == ['add', 'c0', 'c1']
    assert len({thread for name, thread in hook.seen if name != 'add'}) == 2


def test_pausing_in_a_call_goes_on_step_by_step_with_what_is_done() -> None:
    positions: list[tuple[str, bool, float]] = []

    class Stop:
        kinds = frozenset({'python'})

        def around(self, call: Call, proceed: Any) -> Any:
            control = call.run.control
            if call.site.name == 'b' and not positions:
                view = control.look()
                assert view.sites[view.position].name == 'b' and not view.holds('b:0')

                def pause() -> None:
                    now = call.run.control
                    positions.append((now.sites[now.position].name, now.holds('b:0'), float(now.value('b:0'))))
                    if len(positions) < 3:
                        now.go_to(now.position + 1)
                    else:
                        now.resume()
                control.pause(pause)
            return proceed()
    meet = meeting(2)
    a = tf.py_func(meet, [tf.constant(1.0)], tf.float32, name='a')
    b = tf.py_func(meet, [tf.constant(2.0)], tf.float32, name='b')
    c = tf.add(a, b, name='c')
    d = tf.multiply(c, c, name='d')
    e = tf.subtract(d, a, name='e')
    hook = Stop()
    hooks.add(hook)
    try:
        with pooled(2) as session:
            assert session.run([e, c]) == [34.0, 6.0]
    finally:
        hooks.remove(hook)
    assert positions == [('c', True, 4.0), ('d', True, 4.0), ('e', True, 4.0)]


def test_rewinding_after_a_pause_calls_nothing_again_that_stands() -> None:
    called: list[str] = []
    state = {'rewound': False}

    def noted(name: str) -> Any:
        return lambda x: called.append(name) or x + np.float32(1)

    class Stop:
        kinds = frozenset({'python'})

        def around(self, call: Call, proceed: Any) -> Any:
            if call.site.name == 'b' and not state['rewound']:
                call.run.control.mark()

                def pause() -> None:
                    now = call.run.control
                    if not state['rewound']:
                        state['rewound'] = True
                        now.rewind(now.position - 1)
                    else:
                        now.resume()
                call.run.control.pause(pause)
            return proceed()
    a = tf.py_func(noted('a'), [tf.constant(1.0)], tf.float32, name='a')
    b = tf.py_func(noted('b'), [a], tf.float32, name='b')
    c = tf.py_func(noted('c'), [b], tf.float32, name='c')
    hook = Stop()
    hooks.add(hook)
    try:
        with pooled(2) as session:
            assert session.run(c) == 4.0
    finally:
        hooks.remove(hook)
    assert state['rewound'] and called == ['a', 'b', 'c']


def test_the_same_thread_state_as_in_the_callers_thread() -> None:
    seen = []
    meet = meeting(2)
    calls = [tf.py_func(lambda x: seen.append(np.geterr()['divide']) or meet(x), [tf.constant(1.0)], tf.float32)
             for _ in range(2)]
    with pooled(2) as session, np.errstate(divide='raise'):
        session.run(calls)
        assert np.geterr()['divide'] == 'raise'
    assert seen == ['raise', 'raise']


def test_a_deadline_ends_a_run_between_nodes() -> None:
    called = []
    x: Any = tf.constant(1.0)
    for i in range(5):
        x = tf.py_func(lambda v, i=i: time.sleep(0.05) or called.append(i) or v, [x], tf.float32)
    session = tf.Session()
    with pytest.raises(tf.errors.DeadlineExceededError, match='Timed out waiting for notification') as caught:
        session.run(x, options=tf.RunOptions(timeout_in_ms=70))
    assert called == [0, 1] and caught.value.op is None
    assert session.run(x) == 1.0
    with pooled(2, operation_timeout_in_ms=70) as limited, pytest.raises(tf.errors.DeadlineExceededError):
        limited.run(x)


def test_step_stats_say_when_each_node_ran() -> None:
    slow = tf.py_func(lambda v: time.sleep(0.02) or v, [tf.constant(1.0)], tf.float32, name='slow')
    with tf.device('/job:localhost/replica:0/task:0/device:CPU:0'):
        after = tf.identity(slow, name='after')
    metadata, now = tf.RunMetadata(), time.time()
    tf.Session().run(after, options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), run_metadata=metadata)
    (device,) = metadata.step_stats.dev_stats
    first, second = device.node_stats
    assert device.device.endswith('CPU:0') and (first.node_name, second.node_name) == ('slow', 'after')
    assert first.timeline_label == 'slow = PyFunc(Const)' and first.thread_id == threading.get_native_id()
    assert first.all_end_rel_micros >= 20_000 and abs(first.all_start_micros / 1e6 - now) < 20
    assert second.all_start_nanos >= first.all_start_nanos + first.all_end_rel_nanos


def test_equal_calls_without_effect_are_one_and_their_values_are_two() -> None:
    calls: list[float] = []
    p = tf.placeholder(tf.float32, [2], name='p')
    tf.py_func(lambda x: calls.append(1.0) or x * np.float32(2), [p * 3.0], tf.float32, stateful=False, name='f')
    definition = tf.get_default_graph().as_graph_def()
    with tf.Graph().as_default():
        q = tf.placeholder(tf.float32, [2])
        (a,), (b,) = (tf.import_graph_def(definition, {'p:0': q}, ['f:0']) for _ in range(2))
        first, second = tf.Session().run([a, b], {q: [1.0, 2.0]})
        first[0] = 99.0
        np.testing.assert_array_equal(second, [6.0, 12.0])
        assert len(calls) == 1


@pytest.fixture
def function_threads() -> Iterator[None]:
    tf2.config.threading.set_inter_op_parallelism_threads(2)
    assert tf2.config.threading.get_inter_op_parallelism_threads() == 2
    yield
    tf2.config.threading.set_inter_op_parallelism_threads(0)
    assert helpers() == []


def test_in_a_function_calls_without_effect_overlap(function_threads: None) -> None:
    meet = meeting(2)

    @tf2.function
    def f(x: Any) -> Any:
        return [tf2.numpy_function(meet, [x + i], tf2.float32, stateful=False) for i in (0.0, 1.0)]
    with under(None):
        assert [float(t) for t in f(tf2.constant(1.0))] == [2.0, 4.0]


def test_in_a_function_calls_with_effects_keep_their_order(function_threads: None) -> None:
    order: list[int] = []

    def slow(x: Any, i: Any) -> Any:
        time.sleep(0.02 if not i % 2 else 0)
        order.append(int(i))
        return x

    @tf2.function
    def f(x: Any) -> Any:
        return [tf2.numpy_function(slow, [x, i], tf2.float32) for i in range(6)]
    with under(None):
        for _ in range(3):
            f(tf2.constant(1.0))
    assert order == list(range(6)) * 3


def test_an_error_in_a_function_with_threads_is_the_functions(function_threads: None) -> None:

    def fail(x: Any) -> Any:
        raise ValueError('mine')

    @tf2.function
    def f(x: Any) -> Any:
        kept = tf2.numpy_function(lambda v: v, [x], tf2.float32, stateful=False)
        return kept, tf2.numpy_function(fail, [x], tf2.float32, stateful=False)
    with under(None), pytest.raises(tf2.errors.InvalidArgumentError, match='mine') as caught:
        f(tf2.constant(1.0))
    assert isinstance(caught.value.__cause__, ValueError) and 'Detected at node' in str(caught.value)


def test_ctrl_c_while_the_caller_waits_ends_the_run_when_the_others_are_done() -> None:
    caller, started, ended = threading.get_ident(), threading.Event(), []

    def work(x: Any) -> Any:
        if threading.get_ident() == caller:
            started.wait(20)                    # leave the other call to the other thread
            return x
        started.set()
        threading.Timer(0.1, signal.raise_signal, [signal.SIGINT]).start()
        time.sleep(0.3)
        ended.append(1)
        return x
    calls = [tf.py_func(work, [tf.constant(1.0)], tf.float32) for _ in range(2)]
    with pooled(2) as session:
        with pytest.raises(KeyboardInterrupt):
            session.run(calls)
        assert ended == [1]
        assert session.run(tf.constant(2.0)) == 2.0
    assert helpers() == []
