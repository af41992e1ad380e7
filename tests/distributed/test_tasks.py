"""Sessions on tasks that are the workers of a real Dask cluster of processes: what runs where, and that nothing differs."""
from __future__ import annotations

import gc
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import pyfuncdbg
import pyfuncdbg.tf as tf
from pyfuncdbg.distributed import task_server

# The folder of these tests would do as `distributed` itself.
pytest.importorskip('distributed.client', reason="needs distributed: pip install '.[test]'")
v1 = tf.compat.v1
PS, FIRST, SECOND = '/job:ps/task:0', '/job:worker/task:0', '/job:worker/task:1'
TASKS = (None, PS, FIRST, SECOND)


@pytest.fixture(scope='module')
def target(client: Any) -> str:
    """A server of three tasks, two of them on one worker."""
    return serve()


def serve() -> str:
    """Make them the tasks of the Dask cluster, which has one `ClusterSpec` at a time; a target."""
    spec = tf.train.ClusterSpec({'worker': ['0', '1'], 'ps': ['0']})
    return str(tf.distribute.Server(spec, 'worker', 0, protocol='dask').target)


@pytest.fixture
def session(target: str) -> Iterator[Any]:
    """A session on a new graph; variables end with it."""
    with v1.Graph().as_default(), v1.Session(target) as session:
        yield session
    v1.Session.reset(target)


def pids(client: Any) -> dict[str, int]:
    """The process of each worker, by name."""
    return {str(info['name']): client.run(os.getpid, workers=[address])[address]
            for address, info in client.scheduler_info()['workers'].items()}


def test_nodes_run_on_their_tasks(client: Any, session: Any) -> None:
    where = []
    for task in (FIRST, SECOND, PS):
        with tf.device(task):
            where.append(tf.numpy_function(os.getpid, [], tf.int64, serialize=True))
    where.append(tf.numpy_function(os.getpid, [], tf.int64, serialize=True))      # on the task of the session
    known = pids(client)
    assert session.run(where) == [known['0'], known['1'], known['0'], known['0']]
    assert [device.name for device in session.list_devices()] == [
        f'{name}/device:CPU:0' for name in ('/job:ps/replica:0/task:0', '/job:worker/replica:0/task:0',
                                            '/job:worker/replica:0/task:1')]


def test_variables_live_on_their_task_and_sessions_share_them(target: str, session: Any) -> None:
    with tf.device(SECOND):
        v = v1.get_variable('v', initializer=1., use_resource=True)
    with tf.device(PS), session.graph.container('box'):
        w = v1.get_variable('w', initializer=[1., 2.], use_resource=True)
    with tf.device(FIRST):                      # an update runs where its variable is
        add, both = v.assign_add(tf.reduce_sum(w)), v * w
    session.run(v1.global_variables_initializer())
    session.run(add)
    assert session.run(both).tolist() == [4., 8.]
    with v1.Session(target.replace('worker/0', 'ps/0'), graph=session.graph) as other:
        assert other.run(add) == 7. and other.run(v) == 7.
    v1.Session.reset(target, ['box'])
    assert session.run(v) == 7.
    with pytest.raises(tf.errors.FailedPreconditionError):
        session.run(w)


def test_values_of_each_kind_cross(session: Any) -> None:
    feeds: dict[str, Any] = {
        'float32': np.float32(1.5), 'int64': np.arange(6).reshape(2, 3), 'bool': np.array([True, False]),
        'complex64': np.array([1 + 2j], np.complex64), 'string': np.array([[b'a', b'\xff\0'], [b'', b'd']], object),
        'bfloat16': np.array([1, 2, 3], tf.bfloat16.as_numpy_dtype), 'float64': np.zeros((0, 3))}
    fetches, values = [], {}
    for kind, value in feeds.items():
        fed = v1.placeholder(kind)
        values[fed] = value
        with tf.device(FIRST):
            one = tf.stack([fed, fed])
        with tf.device(SECOND):
            fetches.append(tf.stack([one, one])[0, 1])
    for value, got in zip(feeds.values(), session.run(fetches, values), strict=True):
        assert (got.dtype, got.shape, got.tolist()) == (value.dtype, value.shape, value.tolist())
        assert not getattr(got, 'ndim', 0) or got.flags.writeable
    session.run(fetches[1], {list(values)[1]: np.ones(1 << 20, np.int64).reshape(4, -1)})


# ---------------------------------------------------------------- the same as in one process
def _strings(x: Any) -> Any:
    return tf.strings.to_number(tf.strings.as_string(x, precision=4))


def _parts(x: Any) -> Any:
    first, _, last = tf.split(x, 3)
    return tf.concat([last, first, last], 0)


def _loop(x: Any) -> Any:
    return tf.while_loop(lambda i, _: i < 3, lambda i, y: (i + 1, tf.tanh(y) + 1.), [tf.constant(0), x])[1]


def _script(x: Any) -> Any:
    def cubed(a: Any) -> Any:
        return a * a * a
    return tf.ensure_shape(tf.py_function(cubed, [x], tf.float32, serialize=True), [3])


def _gradient(y: Any, x: Any) -> Any:
    try:
        grad = tf.gradients(y * y, x)[0]
    except LookupError:                         # of an op without a gradient
        grad = None
    return y if grad is None else tf.convert_to_tensor(grad)


def _waits(x: Any, y: Any, v: Any) -> Any:
    with tf.control_dependencies([v.assign_sub(y)]):
        return tf.identity(x)


OPS: list[Callable[[Any, Any, Any], Any]] = [
    lambda x, y, v: x + y, lambda x, y, v: x * y - 1., lambda x, y, v: tf.sin(x), lambda x, y, v: v.assign_add(x),
    lambda x, y, v: v.read_value() + y, lambda x, y, v: v1.random_uniform([3], seed=5) * x, lambda x, y, v: _strings(x),
    lambda x, y, v: _parts(x), lambda x, y, v: tf.cond(tf.reduce_sum(x) > 0, lambda: y + 1., lambda: x * 2.),
    lambda x, y, v: _loop(x), _waits, lambda x, y, v: tf.cast(tf.cast(x, tf.bfloat16), tf.float32),
    lambda x, y, v: tf.reduce_sum(tf.unique(x)[0]) + x, lambda x, y, v: tf.constant([1., 2., 3.]),
    lambda x, y, v: tf.linalg.matvec(tf.tensordot(x, y, 0), x), lambda x, y, v: v1.random_normal([3]) + x,
    lambda x, y, v: tf.function(lambda a: tf.tanh(a) * y)(x), lambda x, y, v: _script(x), lambda x, y, v: _gradient(y, x),
    lambda x, y, v: _gradient(y, v), lambda x, y, v: tf.map_fn(lambda a: tf.sin(a) * y[0], x),
    lambda x, y, v: tf.cond(x[0] > .2, lambda: _loop(x) * y, lambda: tf.cond(x[1] > 0., lambda: y * y, lambda: _script(y))),
    lambda x, y, v: tf.case([(x[0] > .5, lambda: tf.sin(y)), (x[0] < -.5, lambda: tf.gather(y, [0, 2, 0]) * x)], lambda: x)]


def program(steps: list[tuple[int, int, int, int]], placed: bool) -> tuple[Any, list[Any], Any]:
    """A graph of these nodes: number of the op, of its inputs, and of its task."""
    def on(task: int) -> Any:
        return tf.device(TASKS[task]) if placed else nullcontext()
    v1.set_random_seed(3)
    fed = v1.placeholder(tf.float32, [3], name='fed')
    with on(1):
        one = v1.get_variable('one', initializer=[1., 2., 3.], use_resource=True)
    with on(3):
        two = v1.get_variable('two', initializer=[-1., .5, 0.], use_resource=True)
    tensors = [fed]
    for op, first, second, task in steps:
        with on(task):
            tensors.append(OPS[op](tensors[first % len(tensors)], tensors[second % len(tensors)], (one, two)[second % 2]))
    return fed, [*tensors, one, two], v1.global_variables_initializer()


def results(target: str, steps: list[tuple[int, int, int, int]]) -> list[Any]:
    """Bit for bit what some runs give."""
    with v1.Graph().as_default():
        fed, tensors, start = program(steps, bool(target))
        found = []
        with v1.Session(target) as session:
            session.run(start)
            for number, fetches in enumerate([tensors, tensors, tensors[-3:], tensors[1]]):
                values = session.run(fetches, {fed: np.float32([.1, -.2, .3]) * (number + 1)})
                found += [(type(value), value.dtype, value.shape, value.tobytes())
                          for value in (values if isinstance(values, list) else [values])]
    if target:
        v1.Session.reset(target)
    return found


@settings(max_examples=25)
@given(st.lists(st.tuples(st.integers(0, len(OPS) - 1), st.integers(0, 30), st.integers(0, 30), st.integers(0, 3)),
                min_size=2, max_size=12))
def test_each_graph_gives_what_it_gives_in_one_process(target: str, steps: list[tuple[int, int, int, int]]) -> None:
    assert results(target, steps) == results('', steps)


def looped(x: Any) -> Any:
    def body(i: Any, y: Any) -> Any:
        return i + 1, tf.cond(i > 1, lambda: tf.sin(y) * x, lambda: tf.map_fn(tf.exp, y * .1))
    return tf.while_loop(lambda i, _: i < 4, body, [tf.constant(0), x], maximum_iterations=9)[1]


def recorded_in_a_function(x: Any) -> Any:
    def inside(a: Any) -> Any:
        return a * a + a

    @tf.function
    def function(a: Any) -> Any:
        scripted = tf.ensure_shape(tf.py_function(inside, [a], tf.float32, serialize=True), [3])
        y = tf.cond(a[0] > 0., lambda: scripted * a, lambda: a)
        with tf.GradientTape() as tape:
            tape.watch(a)
            z = looped(a)
        return tape.gradient(z, a) * y
    return function(x)


def looked_up(x: Any) -> Any:
    v = v1.get_variable('rows', initializer=np.arange(12, dtype=np.float32).reshape(4, 3), use_resource=True)
    y = tf.while_loop(lambda i, _: i < 3, lambda i, s: (i + 1, s * x + tf.nn.embedding_lookup(v, i)), [tf.constant(0), x])[1]
    return tf.convert_to_tensor(tf.gradients(y, v)[0])[:3] @ y[:, None] + x[0]


def scripted(x: Any) -> Any:
    def function(a: Any) -> Any:
        import pyfuncdbg.tf as tf

        @tf.custom_gradient
        def inner(b: Any) -> Any:
            return b * b, lambda dy: dy * 7. * b
        return inner(a) * tf.sin(a)
    return tf.ensure_shape(tf.py_function(function, [x], tf.float32, serialize=True), [3])


@pytest.mark.parametrize('name', ['looped', 'recorded_in_a_function', 'looked_up', 'scripted'])
def test_gradients_of_each_order_on_other_tasks(target: str, name: str) -> None:
    def found(target: str) -> list[bytes]:
        def on(task: str) -> Any:
            return tf.device(task) if target else nullcontext()
        with v1.Graph().as_default():
            x = v1.placeholder(tf.float32, [3])
            with on(SECOND):
                y = globals()[name](x)
            with on(FIRST):
                first, = tf.gradients(y * y, x)
            with on(PS):
                second, = tf.gradients(first * first, x)
                matrix, = tf.hessians(tf.reduce_sum(y * y), x)      # a loop over lists of two tasks
            with v1.Session(target) as session:
                session.run(v1.global_variables_initializer())
                values = [session.run([y, first, second, matrix], {x: np.float32([.3, -.2, .7]) * k}) for k in (1, 2, -1)]
        if target:
            v1.Session.reset(target)
        assert all(value.any() for run in values for value in run)
        return [value.tobytes() for run in values for value in run]
    assert found(target) == found('')


def test_the_gradient_of_a_py_function_is_computed_in_its_process(client: Any, session: Any) -> None:
    def function(a: Any) -> Any:
        import os

        import pyfuncdbg.tf as tf

        @tf.custom_gradient
        def inner(b: Any) -> Any:
            return b, lambda dy: dy * 0. + float(os.getpid())
        return inner(a)
    x = v1.placeholder(tf.float64, [])
    with tf.device(SECOND):
        y = tf.py_function(function, [x], tf.float64, serialize=True)
    with tf.device(FIRST):
        gradients = tf.gradients(y, x)
    assert session.run(gradients, {x: 1.}) == [pids(client)['1']] != [pids(client)['0']]


def test_a_gradient_in_a_later_step_of_a_partial_run(session: Any) -> None:
    x, seed = v1.placeholder(tf.float32, [3]), v1.placeholder(tf.float32, [3])
    with tf.device(SECOND):
        y = _loop(_script(x))
    with tf.device(FIRST):
        gradient, = tf.gradients(y, x, grad_ys=seed)
    value = np.float32([.3, -.2, .7])
    expected = session.run([y, gradient], {x: value, seed: value})
    handle = session.partial_run_setup([y, gradient], [x, seed])
    assert session.partial_run(handle, y, {x: value}).tobytes() == expected[0].tobytes()
    assert session.partial_run(handle, gradient, {seed: value}).tobytes() == expected[1].tobytes()


def test_nodes_with_effects_keep_their_order_and_their_states(session: Any) -> None:
    with tf.device(FIRST):
        far = tf.tanh(v1.placeholder_with_default(0., []))
    with tf.device(SECOND):
        v = v1.get_variable('v', initializer=1., use_resource=True)
        waits, last = v.assign_add(far + 5.), v.assign(100.)
        drawn = [v1.random_uniform([2], seed=5) for _ in range(2)]
    session.run(v.initializer)
    assert session.run([waits, last]) == [6., 100.] and session.run(v) == 100.
    first, second = session.run(drawn)
    assert first.tolist() == second.tolist()    # each node has a generator of its own
    assert session.run(drawn[0]).tolist() == session.run(drawn[1]).tolist() != first.tolist()


@pytest.mark.parametrize('optimizer', ['GradientDescentOptimizer', 'AdamOptimizer'])
def test_training_with_variables_on_another_task(target: str, optimizer: str) -> None:
    def trained(target: str) -> list[bytes]:
        def on(task: str) -> Any:
            return tf.device(task) if target else nullcontext()
        with v1.Graph().as_default():
            v1.set_random_seed(1)
            x = v1.placeholder(tf.float32, [8, 3])
            with on(PS):
                start = np.linspace(-1, 1, 6, dtype=np.float32).reshape(3, 2)
                w = v1.get_variable('w', initializer=start, use_resource=True)
            with on(SECOND):
                b = v1.get_variable('b', initializer=np.zeros(2, np.float32), use_resource=True)
            with on(FIRST):
                loss = tf.reduce_mean(tf.nn.sigmoid(x @ w + b) ** 2)
                made = getattr(v1.train, optimizer)(.1)
                train = made.minimize(loss)
            for name in made.get_slot_names():
                assert made.get_slot(b, name).device == b.device
            assert {variable.device for variable in made.variables()} <= {w.device, b.device}
            with v1.Session(target) as session:
                session.run(v1.global_variables_initializer())
                found = [np.asarray(session.run([loss, train], {x: np.random.RandomState(i).rand(8, 3)})[0]).tobytes()
                         for i in range(5)]
                found += [value.tobytes() for value in session.run([w, b])]
        if target:
            v1.Session.reset(target)
        return found
    assert trained(target) == trained('')


def test_a_partial_run(session: Any) -> None:
    with tf.device(SECOND):
        v = v1.get_variable('v', initializer=1., use_resource=True)
        a, b = v1.placeholder(tf.float32), v1.placeholder(tf.float32)
        first = v.assign_add(a)
    with tf.device(FIRST):
        second = first * b
    with tf.control_dependencies([second]), tf.device(SECOND):
        third = v.assign_add(10.)
    session.run(v.initializer)
    handle = session.partial_run_setup([first, second, third], [a, b])
    assert session.partial_run(handle, first, {a: 2.}) == 3.
    assert session.run(v) == 3.
    assert session.partial_run(handle, second, {b: 5.}) == 15.
    assert session.partial_run(handle, third) == 13.
    with pytest.raises(tf.errors.InvalidArgumentError):
        session.partial_run(handle, third)
    assert session.run(v) == 13.


def failing(name: str, placed: bool) -> tuple[Any, Any, dict[Any, Any]]:
    """A graph that fails in its way: what to run first, the fetch, and the feeds."""
    with tf.device(SECOND) if placed else nullcontext():
        x = v1.placeholder(tf.float32, name='x')
        v = v1.get_variable('v', initializer=1., use_resource=True)
        if name == 'shapes':
            return v.initializer, tf.add(x, tf.zeros([tf.size(x) + 1]), name='sum'), {x: [1., 2.]}
        if name == 'assertion':
            with tf.control_dependencies([v1.Assert(x[0] > 5., [x, 'is small'], name='check')]):
                return v.initializer, tf.identity(x), {x: [1., 2.]}
        if name == 'variable':
            return (), v + x, {x: 1.}
        if name == 'feed':
            return v.initializer, v + x, {}
        return v.initializer, tf.gather(x, [7], name='taken'), {x: [1., 2.]}


@pytest.mark.parametrize('name', ['shapes', 'assertion', 'variable', 'feed', 'index'])
def test_a_failing_node_raises_what_it_raises_in_one_process(target: str, name: str) -> None:
    def failure(target: str) -> tuple[Any, ...]:
        with v1.Graph().as_default():
            first, fetch, feeds = failing(name, bool(target))
            with v1.Session(target) as session:
                session.run(first)
                with pytest.raises(tf.errors.OpError) as caught:
                    session.run(fetch, feeds)
                error = caught.value
        if target:
            v1.Session.reset(target)
        text = str(error).replace('From /job:worker/replica:0/task:1:\n', '', 1)
        assert bool(target) == (text != str(error))
        return type(error), text, error.op.name, error.node_def.op, error.error_code
    assert failure(target) == failure('')


def test_step_stats_of_each_task(client: Any, session: Any) -> None:
    with tf.device(PS):
        v = v1.get_variable('v', initializer=1., use_resource=True)
    with tf.device(SECOND):
        slow = tf.numpy_function(slowly, [v], tf.float32, serialize=True, name='slow')
        bad = tf.gather([slow], [7], name='bad')
    read = slow.op.inputs[0].op.name
    after = tf.negative(slow, name='after')
    session.run(v.initializer)
    metadata, now = v1.RunMetadata(), time.time()
    traced = {'options': v1.RunOptions(trace_level=v1.RunOptions.FULL_TRACE), 'run_metadata': metadata}
    assert session.run(after, **traced) == -1.
    found = {device.device: list(device.node_stats) for device in metadata.step_stats.dev_stats}
    ps, first, second = (f'/job:{task}/device:CPU:0' for task in (
        'ps/replica:0/task:0', 'worker/replica:0/task:0', 'worker/replica:0/task:1'))
    assert {device: [node.node_name for node in nodes] for device, nodes in found.items()} == {
        ps: ['v', read], second: ['slow'], first: ['after']}
    (one,), (last,) = found[second], found[first]
    assert one.timeline_label == f'slow = PyFunc({read})' and one.all_end_rel_nanos >= 20_000_000
    assert abs(one.all_start_nanos / 1e9 - now) < 60 and last.all_start_nanos >= one.all_start_nanos + one.all_end_rel_nanos
    threads = client.run(lambda: os.listdir('/proc/self/task')) if os.path.exists('/proc/self/task') else {}
    assert any(str(one.thread_id) in names for names in threads.values()) == bool(threads)
    with pytest.raises(tf.errors.InvalidArgumentError):         # what has run is there after an error too
        session.run(bad, **traced)
    assert [node.node_name for device in metadata.step_stats.dev_stats for node in device.node_stats][-1] == 'bad/params'
    session.run(after, run_metadata=metadata)
    assert not metadata.step_stats.dev_stats


def slowly(x: Any) -> Any:
    """What it gets, after 20 ms."""
    time.sleep(.02)
    return x


# ---------------------------------------------------------------- datasets
def elements(session: Any, fetch: Any) -> list[Any]:
    """What the runs of a fetch give until the end of its dataset."""
    found = []
    while True:
        try:
            value = session.run(fetch)
        except tf.errors.OutOfRangeError as error:
            assert 'End of sequence' in str(error)
            return found
        found.append(value.tolist() if hasattr(value, 'tolist') else value)


def datasets() -> dict[str, Any]:
    """Datasets of several kinds, with what each has that a GraphDef of TensorFlow has not."""
    data = v1.data.Dataset
    words = data.from_tensor_slices({'a': [1., 2.], 'b': ['x', 'y']})
    return {
        'shuffle': data.range(50).shuffle(20, seed=3).map(lambda x: x * x, num_parallel_calls=2).repeat(2).batch(30),
        'filter': data.range(20).filter(lambda x: x % 3 > 0).prefetch(2).enumerate(),
        'nested': data.range(4).interleave(lambda x: data.range(x).map(lambda y: x * 10 + y), cycle_length=2),
        'cond': data.range(5).map(lambda x: tf.cond(x > 2, lambda: x * 100, lambda: -x)),
        'scan': data.range(5).scan(tf.constant(0, tf.int64), lambda state, x: (state + x, state)).window(2).flat_map(
            lambda window: window.batch(2)),
        'words': words.map(lambda row: tf.strings.join([row['b'], tf.as_string(tf.cast(row['a'], tf.int32))]))}


@pytest.mark.parametrize('one_shot', [False, True])
def test_iterators_read_their_dataset_on_its_task(target: str, one_shot: bool) -> None:
    def read(target: str) -> dict[str, list[Any]]:
        with v1.Graph().as_default(), v1.Session(target) as session:
            v1.set_random_seed(1)
            with tf.device(SECOND) if target else nullcontext():
                made = datasets()
                iterators = [v1.data.make_one_shot_iterator(d) if one_shot else v1.data.make_initializable_iterator(d)
                             for d in made.values()]
            fetches = [iterator.get_next() for iterator in iterators]
            if one_shot:
                return {name: elements(session, fetch) for name, fetch in zip(made, fetches, strict=True)}
            starts = [iterator.initializer for iterator in iterators]
            session.run(starts)
            session.run(fetches)
            session.run(starts)                 # they begin again
            return {name: elements(session, fetch) for name, fetch in zip(made, fetches, strict=True)}
    here = read('')
    assert read(target) == here
    assert here['nested'] == [10, 20, 21, 30, 31, 32] and here['words'] == [b'x1', b'y2'] and len(here['shuffle']) == 4


def test_where_a_dataset_is_read(client: Any, target: str, session: Any) -> None:
    data = v1.data
    x = v1.placeholder(tf.int64)
    with tf.device(PS):
        v = v1.get_variable('v', initializer=tf.constant(5, tf.int64), use_resource=True)
    with tf.device(SECOND):
        dataset = data.Dataset.range(3).map(
            lambda i: (i + x, tf.numpy_function(os.getpid, [], tf.int64, serialize=True)))
    with tf.device(FIRST):                      # as in TensorFlow: the dataset's device counts
        iterator = data.make_initializable_iterator(dataset)
        number, pid = iterator.get_next()
        total = number + v
    session.run(v.initializer)
    session.run(iterator.initializer, {x: 10})
    second = pids(client)['1']
    assert [session.run([total, pid]) for _ in range(3)] == [[15, second], [16, second], [17, second]]
    made = [op for op in session.graph.get_operations() if 'Iterator' in op.type]
    assert [op.type for op in made] == ['IteratorV2', 'MakeIterator', 'IteratorToStringHandle', 'IteratorGetNext']
    assert {tuple(op.colocation_groups()) for op in made} == {(b'loc:@MapDataset',)}
    with pytest.raises(tf.errors.OutOfRangeError):
        session.run(number)


def test_a_failing_function_of_a_dataset_and_what_comes_after_it(session: Any) -> None:
    with tf.device(SECOND):
        dataset = v1.data.Dataset.range(3).map(
            lambda i: tf.debugging.check_numerics(1. / tf.cast(i, tf.float32), 'no reciprocal'))
        iterator = v1.data.make_initializable_iterator(dataset)
        number = iterator.get_next()
    with pytest.raises(tf.errors.FailedPreconditionError, match='the iterator has not been initialized'):
        session.run(number)
    session.run(iterator.initializer)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r'passed to MapDataset.* no reciprocal : Tensor had Inf'):
        session.run(number)
    assert session.run([number, number]) == [1., 1.] and session.run(number) == .5


def test_which_sessions_share_an_iterator(target: str, session: Any) -> None:
    with tf.device(SECOND):
        dataset = v1.data.Dataset.range(9)
        named, own, once = (v1.data.make_initializable_iterator(dataset, shared_name='numbers'),
                            v1.data.make_initializable_iterator(dataset), v1.data.make_one_shot_iterator(dataset))
    following = [iterator.get_next() for iterator in (named, own, once)]
    session.run([named.initializer, own.initializer])
    assert session.run(following) == [0, 0, 0]
    with v1.Session(target, graph=session.graph) as other:
        assert other.run(following[::2]) == [1, 0]
        with pytest.raises(tf.errors.FailedPreconditionError):
            other.run(following[1])
    assert session.run(following) == [2, 1, 1]
    v1.Session.reset(target)
    with v1.Session(target, graph=session.graph) as other, pytest.raises(tf.errors.FailedPreconditionError):
        other.run(following[0])


def test_handles_of_iterators(session: Any) -> None:
    fed = v1.placeholder(tf.string, [])
    with tf.device(SECOND):
        iterator = v1.data.Iterator.from_structure(tf.int64, [])
        starts = [iterator.make_initializer(v1.data.Dataset.range(*limits)) for limits in ((3,), (7, 9))]
        handle, value = iterator.string_handle(), v1.data.Iterator.from_string_handle(fed, tf.int64, []).get_next()
        optional = iterator.get_next_as_optional()
    with tf.device(FIRST):
        elsewhere = v1.data.Iterator.from_string_handle(fed, tf.int64, []).get_next()
    far = iterator.make_initializer(v1.data.Dataset.range(2))          # this dataset is on the task of the session
    for start, expected in zip(starts, ([0, 1, 2], [7, 8]), strict=True):
        session.run(start)
        feeds = {fed: session.run(handle)}
        assert [session.run(value, feeds) for _ in expected] == expected
        assert not session.run(optional.has_value())
    with pytest.raises(tf.errors.InvalidArgumentError, match=(
            'create an iterator on device "/job:worker/replica:0/task:0/device:CPU:0" from handle defined on device '
            '"/job:worker/replica:0/task:1/device:CPU:0"')):
        session.run(elsewhere, feeds)
    with pytest.raises(tf.errors.InvalidArgumentError, match=(
            r'From /job:worker/replica:0/task:0:\nRangeDataset_2:0 is needed on another task, but is of type Ele')):
        session.run(far)


# ---------------------------------------------------------------- what is refused
def test_a_python_function_of_another_process_is_not_found(session: Any) -> None:
    called = []
    with tf.device(SECOND):
        here = tf.numpy_function(lambda: called.append(1) or 1., [], tf.float64)
        iterator = v1.data.make_one_shot_iterator(v1.data.Dataset.range(2).map(
            lambda i: tf.numpy_function(lambda i: called.append(1) or i, [i], tf.int64)))
    with pytest.raises(tf.errors.InvalidArgumentError, match=rf'key=pyfunc_\d+ \(of process {os.getpid()} on '):
        session.run(iterator.get_next())
    with pytest.raises(tf.errors.InvalidArgumentError, match=(
            r'From /job:worker/replica:0/task:1:\nValueError: Could not find callback with key=pyfunc_\d+ '
            rf'\(of process {os.getpid()} on ')) as caught:
        session.run(here)
    assert caught.value.op is here.op and not called


def test_the_program_as_a_task(client: Any) -> None:
    from distributed import Worker

    async def join() -> Any:
        return await Worker(client.scheduler.address, name='program', nthreads=1)
    worker = client.sync(join)
    try:
        spec = {'worker': ['0', '1'], 'ps': ['0'], 'program': ['program']}
        target = tf.distribute.Server(spec, 'worker', 1, protocol='dask').target
        made: list[int] = []

        def odd(x: Any) -> Any:
            made.append(x.tolist())
            if x > 5:
                raise failure
            return x + 1
        failure = KeyError('too large')
        with v1.Graph().as_default(), v1.Session(target) as session:
            x = v1.placeholder(tf.int64)
            doubled = x * 2
            with tf.device('/job:program'):
                y = v1.py_func(odd, [doubled], tf.int64, name='odd')
            assert session.run(y * 10, {x: 1}) == 30
            with pytest.raises(tf.errors.UnknownError, match='too large') as caught:
                session.run(y * 10, {x: 3})
            left: list[int] = []

            def generator() -> Iterator[int]:
                try:
                    yield from range(5)
                finally:
                    left.append(1)
            with tf.device('/job:program'):
                dataset = v1.data.Dataset.from_generator(generator, tf.int64).map(
                    lambda i: tf.py_function(lambda i: made.append(int(i)) or -i, [i], tf.int64))
                iterator = v1.data.make_initializable_iterator(dataset)
                number = iterator.get_next()
            session.run(iterator.initializer)
            assert [session.run(number) for _ in range(3)] == [0, -1, -2] and made[2:] == [0, 1, 2] and not left
            session.run(iterator.initializer)   # ends the first reading
            assert left == [1] and elements(session, number) == [0, -1, -2, -3, -4] and left == [1, 1]
            del made[2:]
        assert caught.value.__cause__ is failure and caught.value.op is y.op and made == [2, 6]
    finally:
        client.sync(worker.close)
        serve()


def placed_inside(name: str, placed: bool) -> tuple[Any, Any, dict[Any, Any]]:
    """A loop, a conditional and a function, without a device, with nodes on one other task: fetch, gradient and feeds."""
    def there() -> Any:
        return tf.device(SECOND) if placed else nullcontext()

    def body(i: Any, y: Any) -> tuple[Any, Any]:
        with there():
            y = tf.tanh(y)
        return i + 1, y * 1.5

    def branch() -> Any:
        with there():
            return tf.sin(x) * 2.
    x = v1.placeholder(tf.float32, [2])
    if name == 'loop':
        y = tf.while_loop(lambda i, _: i < 3, body, [0, x])[1]
    elif name == 'nested':
        y = tf.while_loop(lambda i, _: i < 2, lambda i, y: (i + 1, tf.while_loop(lambda j, _: j < 2, body, [i, y])[1]),
                          [0, x])[1]
    elif name == 'cond':
        y = tf.cond(x[0] > 0., branch, lambda: -x)
    else:
        y = tf.function(lambda x: body(0, x)[1] + x)(x)
    return y, v1.gradients(y, x)[0], {x: [.5, -2.]}


@pytest.mark.parametrize('name', ['loop', 'nested', 'cond', 'function'])
def test_a_function_runs_on_the_task_of_the_nodes_in_it(target: str, name: str) -> None:
    def run(target: str) -> list[Any]:
        with v1.Graph().as_default(), v1.Session(target) as session:
            y, gradient, feeds = placed_inside(name, bool(target))
            metadata = v1.RunMetadata()
            session.run(y, feeds, v1.RunOptions(trace_level=v1.RunOptions.FULL_TRACE), metadata)
            where = {node.node_name: device.device for device in metadata.step_stats.dev_stats for node in device.node_stats}
            assert not target or where[y.op.inputs[0].op.name if y.op.type == 'Identity' else y.op.name].startswith(
                '/job:worker/replica:0/task:1/')
            return [value.tolist() for value in session.run([y, gradient], feeds)]
    assert run(target) == run('')


def test_nodes_with_effects_stay_on_the_task_of_the_session(client: Any, session: Any) -> None:
    def body(i: Any, pids: Any) -> Any:
        pid = tf.ensure_shape(tf.numpy_function(os.getpid, [], tf.int64, serialize=True), [])
        with tf.device(SECOND):                 # alone it would have the loop run there
            return i + 1, pids + pid
    loop = tf.while_loop(lambda i, _: i < 3, body, [tf.constant(0), tf.constant(0, tf.int64)])[1]
    assert session.run(loop) == 3 * pids(client)['0']


def test_the_graph_of_each_task(session: Any) -> None:
    """As TensorFlow has them, with other numbers, and feeds on the task that needs them."""
    x = v1.placeholder(tf.float32, [2], name='x')
    with tf.device(SECOND):
        y = tf.tanh(x, name='y')
        first = tf.no_op(name='first')
    with tf.device(FIRST), tf.control_dependencies([first]):
        z = tf.add(y, y, name='z')
    metadata = v1.RunMetadata()
    session.run(z, {x: [1., 2.]}, v1.RunOptions(), metadata)
    assert not metadata.partition_graphs
    session.run(z, {x: [1., 2.]}, v1.RunOptions(output_partition_graphs=True), metadata)
    own, other = ([(node.name, node.op, list(node.input)) for node in graph.node] for graph in metadata.partition_graphs)
    assert other == [('_recv_x_0', '_Recv', []), ('y', 'Tanh', ['_recv_x_0']), ('first', 'NoOp', []),
                     ('first_S2', 'Const', ['^first']), ('first_S3', '_Send', ['first_S2']), ('y_S0', '_Send', ['y'])]
    assert own == [('y_S1', '_Recv', []), ('first_S4', '_Recv', []), ('first_S5', 'Identity', ['first_S4']),
                   ('z', 'AddV2', ['y_S1', 'y_S1', '^first_S5']), ('_send_z_0', '_Send', ['z'])]
    sent, received = (next(node for node in graph.node if node.name.startswith('y_S')).attr for graph in reversed(
        metadata.partition_graphs))
    names = ('tensor_name', 'send_device', 'send_device_incarnation', 'recv_device', 'client_terminated')
    assert [sent[name] for name in names] == [received[name] for name in names] and sent['tensor_name'].s == b'edge_0_y'
    assert (sent['send_device'].s, sent['recv_device'].s) == (
        f'{SECOND.replace("/task", "/replica:0/task")}/device:CPU:0'.encode(),
        f'{FIRST.replace("/task", "/replica:0/task")}/device:CPU:0'.encode())
    assert {node.device for node in metadata.partition_graphs[1].node} == {sent['send_device'].s.decode()}


def left_on(client: Any) -> list[Any]:
    """What the workers have of steps, and of sessions."""
    def left(dask_worker: Any) -> list[Any]:
        server = dask_worker.handlers['pyfuncdbg_task'].__self__
        return [*server._steps, *(session for task in server._tasks.values() for session in task._sessions)]
    return [entry for entries in client.run(left).values() for entry in entries]


def test_nothing_is_left_of_a_session(client: Any, target: str) -> None:
    gc.collect()
    with v1.Graph().as_default():
        with tf.device(SECOND):
            far = tf.tanh(v1.placeholder_with_default([1., 2.], [2]))
        with tf.device(FIRST):
            fetches = [far + float(i) for i in range(3)]
        for closes in (True, False):
            session = v1.Session(target)
            for fetch in fetches * 3:
                session.run(fetch)
            assert len(left_on(client)) == 2    # on two tasks
            if closes:
                session.close()
            del session
            gc.collect()
            end = time.monotonic() + 60
            while left_on(client) and time.monotonic() < end:
                time.sleep(.02)
            assert left_on(client) == []


def test_no_such_task(client: Any, target: str) -> None:
    with pytest.raises(tf.errors.UnavailableError, match=r"task /job:worker/task:1 is not there: the Dask cluster has no "
                                                         r"worker '7'\. Its workers: '0', '1'\."):
        tf.distribute.Server({'worker': ['0', '7']}, 'worker', 0, protocol='dask')
    with pytest.raises(tf.errors.NotFoundError, match=r'GRPC_SERVER, DASK_SERVER'):
        tf.distribute.Server({'worker': ['0']}, 'worker', 0, protocol='dust')
    with pytest.raises(tf.errors.InvalidArgumentError, match='expected "dask://SCHEDULER/JOB/INDEX"'):
        v1.Session('dask://127.0.0.1')
    serve()
    with v1.Graph().as_default(), v1.Session(target.replace('worker/0', 'worker/9')) as session:
        x = tf.constant(1.) + 1.
        with pytest.raises(tf.errors.UnavailableError, match=r'no server is at .*/worker/9\. Did you mean .*worker/0'):
            session.run(x)


@pytest.mark.skipif(shutil.which('openssl') is None, reason='openssl makes the certificate')
def test_the_security_settings_of_the_client_and_other_versions_of_a_task(
        client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    from distributed import Client, LocalCluster, Security
    subprocess.run(['openssl', 'req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', tmp_path / 'key.pem', '-out',
                    tmp_path / 'cert.pem', '-days', '2', '-subj', '/CN=localhost'], check=True, capture_output=True)
    files = {f'tls_{role}_{kind}': str(tmp_path / f'{kind}.pem') for role in ('client', 'worker', 'scheduler')
             for kind in ('cert', 'key')}
    other = {**task_server.versions(), 'NumPy': '1.0\x1b', 'pyfuncdbg': '9.9'}
    monkeypatch.setattr(task_server, 'versions', lambda: other)
    security = Security(require_encryption=True, tls_ca_file=str(tmp_path / 'cert.pem'), **files)
    with LocalCluster(n_workers=2, processes=False, dashboard_address=':0', security=security, protocol='tls') as cluster, \
            Client(cluster, security=security), v1.Graph().as_default():
        target = tf.distribute.Server({'worker': ['0', '1']}, 'worker', 0, protocol='dask').target
        x = v1.placeholder(tf.float32)
        with tf.device(SECOND):
            y = v1.py_func(lambda value: value + 1, [x], tf.float32)        # the tasks are in this process
        with v1.Session(target) as session:
            assert session.run(y * 2., {x: 3.}) == 8.
        with v1.Session(target) as session:
            assert session.run(y * 2., {x: 3.}) == 8.
    said = [line for line in capfd.readouterr().err.splitlines() if line.startswith('pyfuncdbg: ')]
    assert said == [f'pyfuncdbg: task /job:worker/replica:0/task:{task}/device:CPU:0 has pyfuncdbg 9.9, and this process '
                    f'{pyfuncdbg.__version__}; NumPy 1.0\\x1b, and this process {np.__version__}' for task in (0, 1)]
