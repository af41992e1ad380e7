"""Values of ops that wait in kernels of TensorFlow's: what is delivered together, when, and on which threads."""
from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyfuncdbg
from pyfuncdbg.errors import RunAborted
from pyfuncdbg.hooks.chain import hooks
from pyfuncdbg.hooks.op_batch import OpBatch
from pyfuncdbg.hosts.tensorflow.graph_ops import op_calls, waiting_ops
from pyfuncdbg.observers.record.recorder import Recorder
from pyfuncdbg.observers.record.records import CallRecord
from pyfuncdbg.observers.record.trace import Trace

pytestmark = pytest.mark.tensorflow
compiled = pytest.mark.skipif(waiting_ops.kernel is None, reason='without a C compiler every op is a call')


@pytest.fixture(params=['kernels', pytest.param('functions', id='without kernels')])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """How nodes are observed: the same is recorded either way."""
    if request.param == 'functions':
        monkeypatch.setattr(op_calls, 'install_kernel', lambda package: False)
    elif waiting_ops.kernel is None:
        pytest.skip('not compiled')
    yield request.param


Ops = Callable[..., list[CallRecord]]


@pytest.fixture
def ops(tmp_path: Path) -> Iterator[Ops]:
    """A function that gives the calls of some work, recorded."""
    with ExitStack() as stack:
        def calls_of(work: Callable[[], Any], **options: Any) -> list[CallRecord]:
            with pyfuncdbg.attach('tensorflow'), pyfuncdbg.record(tmp_path / 'ops.pfd', ops=True, **options):
                work()
            return stack.enter_context(Trace.open(tmp_path / 'ops.pfd')).calls()
        yield calls_of


def outputs(calls: Sequence[CallRecord], name: str) -> list[Any]:
    return [call.outputs[0].to_numpy().tolist() for call in calls if call.site.name.split('/')[-1] == name]


def batch_sizes(recorder: Recorder) -> list[int]:
    """The number of ops of each batch that a recorder gets from now on."""
    sizes: list[int] = []
    on_ops = recorder.on_ops

    def counted(batch: OpBatch) -> None:
        sizes.append(len(batch))
        on_ops(batch)
    recorder.on_ops = counted
    return sizes


def chain(tf: Any, length: int) -> Any:
    def chain(x: Any) -> Any:
        for _ in range(length):
            x = tf.tanh(x)
        return x
    return tf.function(chain, autograph=False)


@compiled
def test_an_execution_is_delivered_together(tf: Any, tmp_path: Path) -> None:
    function, given = chain(tf, 100), tf.constant([0.5, -0.25])
    recorder = Recorder(tmp_path / 'ops.pfd', ops=True)
    with pyfuncdbg.attach('tensorflow'), recorder:
        function(given)
        sizes = batch_sizes(recorder)
        last = function(given)
    assert sum(sizes) == 100 and len(sizes) < 50        # an execution may change its thread
    with Trace.open(tmp_path / 'ops.pfd') as trace:
        calls = [call for call in trace.calls(kind='op') if call.ordinal == 1]
    assert [call.number for call in calls] == sorted(call.number for call in calls) and len(calls) == 100
    expected = np.float32([0.5, -0.25])
    for call in calls:
        assert call.inputs[0].to_numpy().tolist() == expected.tolist()
        expected = call.outputs[0].to_numpy()
    assert expected.tolist() == last.numpy().tolist()
    assert all(earlier.started <= call.started for earlier, call in itertools.pairwise(calls))


@compiled
def test_what_is_much_is_delivered_before_the_end(tf: Any, tmp_path: Path) -> None:
    many, large, given = chain(tf, 700), chain(tf, 12), tf.ones([256, 256])
    recorder = Recorder(tmp_path / 'ops.pfd', ops=True, full_limit=0)
    with pyfuncdbg.attach('tensorflow'), recorder:
        sizes = batch_sizes(recorder)
        many(tf.constant(0.5))
        assert sum(sizes) == 700 and max(sizes) <= 512
        sizes.clear()
        large(given)                        # 256 KB each
        assert sum(sizes) == 12 and max(sizes) <= 5
    with Trace.open(tmp_path / 'ops.pfd') as trace:
        calls = trace.calls(kind='op')
    assert len(calls) == 712
    assert all(call.outputs[0].stats.pos == 65536 and call.outputs[0].stats.std < 1e-6  # type: ignore[union-attr]
               for call in calls[700:])


def test_what_ran_before_an_error_is_recorded(way: str, tf: Any, ops: Ops) -> None:
    @tf.function
    def failing(x: Any) -> Any:
        near = tf.negative(tf.tanh(x, name='bent'), name='turned')
        checked = tf.debugging.check_numerics(tf.math.log(near, name='log'), 'no number')
        return tf.exp(checked, name='after')

    def work() -> None:
        for _ in range(3):
            with pytest.raises(tf.errors.InvalidArgumentError, match='no number'):
                failing(tf.constant([0.0, 1.0]))

    calls = ops(work)
    bent = np.tanh(np.float32([0, 1]))
    assert np.allclose(outputs(calls, 'bent'), [bent] * 3) and np.allclose(outputs(calls, 'turned'), [-bent] * 3)
    assert np.isnan(np.array(outputs(calls, 'log'))[:, 1]).tolist() == [True] * 3
    assert outputs(calls, 'after') == []


@pytest.mark.parametrize('length', [4, 128 * 128])
def test_a_value_is_that_of_its_moment(way: str, length: int, tf: Any, ops: Ops) -> None:
    kept = tf.Variable(tf.zeros([length]))

    @tf.function
    def step() -> Any:
        before = tf.identity(kept.read_value(), name='before')
        doubled = tf.multiply(before, 2.0, name='doubled')
        kept.assign_add(tf.ones([length]))
        kept.assign_add(doubled)
        return tf.add(kept, 0.5, name='after')

    calls = ops(lambda: [step() for _ in range(3)], full_limit=1 << 20)
    assert [values[:1] + values[-1:] for values in outputs(calls, 'doubled')] == [[0, 0], [2, 2], [8, 8]]
    assert [values[-1] for values in outputs(calls, 'after')] == [1.5, 4.5, 13.5]
    assert [call.inputs[0].to_numpy().tolist()[-1] for call in calls if call.site.name == 'doubled'] == [0, 1, 4]


def test_an_array_that_its_function_writes_to_again(way: str, tf: Any, ops: Ops) -> None:
    buffer = np.zeros(1 << 14, np.float32)

    def fill(number: Any) -> Any:
        buffer[:] = number
        return buffer

    @tf.function
    def f(x: Any) -> Any:
        first = tf.numpy_function(fill, [x], tf.float32, name='first')
        first.set_shape([1 << 14])
        total = tf.reduce_sum(first, name='total')
        with tf.control_dependencies([total]):
            second = tf.numpy_function(fill, [x + 1.0], tf.float32, name='second')
        second.set_shape([1 << 14])
        return tf.reduce_max(second, name='largest')

    calls = ops(lambda: [f(tf.constant(float(n))) for n in (1, 5)], full_limit=1 << 20)
    assert [values[0] for call in calls if call.site.name in ('total', 'largest')
            for values in [call.inputs[0].to_numpy()]] == [1, 2, 5, 6]


def test_ops_are_numbered_before_the_python_function_that_takes_what_they_made(way: str, tf: Any, ops: Ops) -> None:
    @tf.function
    def mixed(x: Any, text: Any) -> Any:
        louder = tf.strings.upper(text, name='upper')
        value = tf.cast(tf.strings.length(louder, name='length'), tf.float32, name='cast') + x
        made = tf.numpy_function(lambda a: a * 2, [tf.sin(value, name='bent')], tf.float32, name='python')
        return tf.exp(made, name='after')

    calls = ops(lambda: [mixed(tf.constant(1.0), tf.constant(['abc', 'é'])) for _ in range(5)])
    names = [call.site.name for call in calls if call.site.name in ('upper', 'length', 'bent', 'python', 'after')]
    assert names == ['upper', 'length', 'bent', 'python', 'after'] * 5
    upper = next(call for call in calls if call.site.name == 'upper')
    assert upper.outputs[0].to_numpy().tolist() == [b'ABC', 'é'.encode()]


def test_ops_of_a_dataset_are_in_the_trace_though_no_function_ended(way: str, tf: Any, ops: Ops) -> None:
    data = tf.data.Dataset.range(3)
    calls = ops(lambda: list(data.map(lambda i: tf.multiply(i, 10, name='tenfold'))))
    assert outputs(calls, 'tenfold') == [0, 10, 20]


def test_types_and_shapes(way: str, tf: Any, ops: Ops) -> None:
    @tf.function
    def f(x: Any) -> Any:
        return [tf.cast(x, kind, name=f'to_{kind.name}') for kind in (
            tf.int8, tf.uint64, tf.bool, tf.float16, tf.bfloat16, tf.float64, tf.complex64)] + [
            tf.reshape(x, [2, 1, 2], name='reshaped'), tf.reduce_max(x, name='largest'),
            tf.slice(x, [0, 0], [0, 2], name='empty')]

    calls = ops(lambda: f(tf.constant([[0.0, 1.5], [2.0, 3.0]])))
    taken = {call.site.name: call.outputs[0] for call in calls}
    for name, dtype, values in (
            ('to_int8', 'int8', [0, 1, 2, 3]), ('to_uint64', 'uint64', [0, 1, 2, 3]), ('to_bool', 'bool', [0, 1, 1, 1]),
            ('to_float16', 'float16', [0, 1.5, 2, 3]), ('to_bfloat16', 'bfloat16', [0, 1.5, 2, 3]),
            ('to_float64', 'float64', [0, 1.5, 2, 3]), ('to_complex64', 'complex64', [0, 1.5, 2, 3])):
        tensor = taken[name]
        assert (tensor.dtype, tensor.shape, tensor.to_numpy().ravel().tolist()) == (dtype, (2, 2), values)
    assert (taken['reshaped'].shape, taken['empty'].shape, taken['largest'].shape) == ((2, 1, 2), (0, 2), ())
    assert taken['reshaped'].to_numpy().tolist() == [[[0, 1.5]], [[2, 3]]] and taken['largest'].to_numpy() == 3


def test_statistics_are_those_of_the_elements(way: str, tf: Any, ops: Ops) -> None:
    @tf.function
    def f(x: Any) -> Any:
        return tf.divide(x, tf.constant([0.0, 1.0, 0.0, -2.0]), name='quotient')

    calls = ops(lambda: f(tf.constant([0.0, 3.0, 1.0, 5.0])), full_limit=0, level='stats')
    (quotient,) = (call for call in calls if call.site.name == 'quotient')
    stats = quotient.outputs[0].stats
    assert stats is not None and quotient.outputs[0].key is None
    assert (stats.min, stats.max, stats.mean, stats.nan, stats.pos_inf, stats.first_bad) == (-2.5, 3, 0.25, 1, 1, (0,))


class Watched:
    """A hook that gets each op as a call, as a debugger does.

    Attributes:
        seen: Names and inputs of the ops.
        error: Raised at the op of that name.
    """

    kinds = ('op',)

    def __init__(self, name: str = '', error: BaseException | None = None) -> None:
        self.seen: list[tuple[str, Any]] = []
        self._name, self._error = name, error

    def around(self, call: Any, proceed: Callable[[], Any]) -> Any:
        self.seen.append((call.site.name, np.asarray(call.inputs[0]).tolist()))
        if self._error is not None and call.site.name == self._name:
            raise self._error
        return proceed()


def test_a_hook_that_stops_gets_each_op_when_it_has_run(way: str, tf: Any) -> None:
    order: list[str] = []

    @tf.function
    def f(x: Any) -> Any:
        bent = tf.tanh(x, name='bent')
        made = tf.numpy_function(lambda a: order.append('python') or a, [bent], tf.float32)
        return tf.exp(made, name='after')

    class Ordered(Watched):
        def around(self, call: Any, proceed: Callable[[], Any]) -> Any:
            order.append(call.site.name)
            return super().around(call, proceed)

    hook = Ordered()
    with pyfuncdbg.attach('tensorflow'):
        hooks.add(hook)
        try:
            f(tf.constant(0.0))
        finally:
            hooks.remove(hook)
    assert order == ['bent', 'python', 'after'] and hook.seen == [('bent', 0), ('after', 0)]


def test_an_abort_at_an_op_reaches_the_caller(way: str, tf: Any) -> None:
    aborts = RunAborted('enough')

    @tf.function
    def f(x: Any) -> Any:
        return tf.exp(tf.tanh(x, name='bent'), name='after')

    hook = Watched('bent', aborts)
    with pyfuncdbg.attach('tensorflow'):
        hooks.add(hook)
        try:
            with pytest.raises(RunAborted) as raised:
                f(tf.constant(0.0))
        finally:
            hooks.remove(hook)
        assert raised.value is aborts and [name for name, _ in hook.seen] == ['bent']
        assert float(f(tf.constant(0.0))) == 1


def test_a_hook_that_comes_in_the_middle_sees_the_rest(way: str, tf: Any, ops: Ops) -> None:
    hook = Watched()

    @tf.function
    def f(x: Any) -> Any:
        bent = tf.tanh(x, name='bent')
        made = tf.numpy_function(lambda a: hooks.add(hook) or a, [bent], tf.float32)
        return tf.exp(made, name='after')

    def work() -> None:
        try:
            f(tf.constant(0.0))
        finally:
            hooks.remove(hook)

    calls = ops(work)
    assert [name for name, _ in hook.seen] == ['after']
    assert [call.site.name for call in calls if call.site.kind == 'op' and call.site.name in ('bent', 'after')] == [
        'bent', 'after']


@compiled
def test_ops_that_run_on_many_threads(tf: Any, ops: Ops) -> None:
    @tf.function
    def wide(x: Any) -> Any:
        return tf.add_n([tf.exp(tf.sin(x * float(n), name=f'sine_{n}'), name=f'power_{n}') for n in range(40)], name='sum')

    def work() -> None:
        threads = [threading.Thread(target=lambda n=n: wide(tf.fill([64, 64], float(n)))) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    wide(tf.zeros([64, 64]))
    calls = [call for call in ops(work, full_limit=1 << 20, budget=1 << 30) if call.site.kind == 'op']
    named = {name: [call for call in calls if call.site.name == name] for name in {call.site.name for call in calls}}
    for number in range(40):
        sines, powers = named[f'sine_{number}'], named[f'power_{number}']
        assert len(sines) == len(powers) == 4
        values = sorted(float(call.outputs[0].to_numpy()[5, 5]) for call in powers)
        expected = np.exp(np.sin(np.float32(number) * np.arange(4, dtype=np.float32)))
        np.testing.assert_allclose(values, sorted(expected), rtol=1e-5)
    assert len({call.number for call in calls}) == len(calls)


@compiled
def test_what_ran_before_an_op_that_hangs_is_delivered_meanwhile(tf: Any, tmp_path: Path) -> None:
    queue = tf.queue.FIFOQueue(1, [tf.float32], shapes=[[]])
    delivered, names = threading.Event(), list[str]()

    @tf.function
    def hanging(x: Any) -> Any:
        return tf.add(queue.dequeue(), tf.tanh(x, name='bent'), name='after')

    recorder = Recorder(tmp_path / 'ops.pfd', ops=True)
    on_ops = recorder.on_ops

    def noted(batch: OpBatch) -> None:
        names.extend(site.name for site in batch.sequence.sites)
        on_ops(batch)
        if 'bent' in names:
            delivered.set()
    recorder.on_ops = noted
    with pyfuncdbg.attach('tensorflow'), recorder:
        thread = threading.Thread(target=hanging, args=(tf.constant(0.5),))
        thread.start()
        try:
            assert delivered.wait(60) and 'after' not in names
        finally:
            queue.enqueue(1.0)
            thread.join()
        assert 'after' in names


@compiled
def test_a_program_that_forgets_its_functions_keeps_nothing(tf: Any) -> None:
    watching = waiting_ops.WaitingOps(lambda root: None, lambda observer, values: None)  # type: ignore[arg-type,return-value]
    observer = waiting_ops.Observer(None, 0, lambda observer, values: None)  # type: ignore[arg-type]
    number = watching.number(observer)
    assert watching.observer(number) is observer
    del observer
    assert watching.observer(number) is None
