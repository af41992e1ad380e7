"""`tf.function`: when it traces, what it captures and returns, its gradients, its errors and its lifetime."""
from __future__ import annotations

import gc
import threading
import weakref

import numpy as np
import pytest

from pyfuncdbg import tf
from pyfuncdbg.errors import InvalidArgumentError


def floats(tensors):
    return [None if t is None else float(t) for t in tensors]


def test_what_is_traced_anew() -> None:
    traces = []

    @tf.function
    def f(x, k=None):
        traces.append(1)
        return x

    def traced(*args, **kwargs) -> bool:
        before = len(traces)
        f(*args, **kwargs)
        return len(traces) > before
    one = tf.constant(1.0)
    assert [traced(one), traced(tf.constant(2.0)), traced(tf.constant([1.0])), traced(tf.constant(1))] == [True, False, True,
                                                                                                           True]
    assert [traced(1), traced(1.0), traced(True), traced(2)] == [True, False, False, True]
    assert [traced(np.float32(1)), traced(np.ones(1, np.float32)), traced(x=one, k=None)] == [False, False, False]
    assert [traced(one, k='a'), traced(one, 'a'), traced(one, 'b'), traced([one]), traced((one,)), traced({'a': one}),
            traced({'b': one})] == [True, False, True, True, True, True, True]
    v, w = tf.Variable(1.0), tf.Variable(2.0)
    assert [traced(v), traced(w), traced(tf.Variable([1.0])), traced([v, w]), traced([w, v]), traced([v, v])] == [
        True, False, True, True, False, True]


def test_a_variable_argument_is_the_callers() -> None:
    @tf.function
    def f(x, v):
        with tf.GradientTape() as tape:
            y = v * v * x
        v.assign_add(1.0)
        return y, tape.gradient(y, v)
    v, w = tf.Variable(2.0), tf.Variable(5.0)
    x = tf.constant(3.0)
    assert floats(f(x, v)) == [12.0, 12.0] and floats(f(x, w)) == [75.0, 30.0]
    assert floats([v, w]) == [3.0, 6.0] and f.experimental_get_tracing_count() == 1
    with tf.GradientTape() as tape:
        y = f(x, w)[0]
    assert floats([tape.gradient(y, w)]) == [36.0]


def test_reduce_retracing_widens_shapes() -> None:
    f = tf.function(lambda x: tf.reduce_sum(x), reduce_retracing=True)
    assert floats(f(tf.ones([n])) for n in (1, 2, 3, 4)) == [1, 2, 3, 4]
    assert f.experimental_get_tracing_count() == 2


def test_input_signature() -> None:
    traces = []

    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32), {'k': tf.TensorSpec([], tf.int32)}])
    def f(x, rest, scale=2.0):
        traces.append(1)
        return x * scale + tf.cast(rest['k'], tf.float32)
    for given in (tf.constant([1.0]), [1.0, 2.0], np.array([1.0, 2.0, 3.0])):
        assert np.asarray(f(given, {'k': 1}))[0] == 3.0
    assert len(traces) == 1
    with pytest.raises(TypeError, match=r'Binding inputs to tf.function failed due to `Can not cast TensorSpec\(shape=\(\)'):
        f(tf.constant(1.0), {'k': 1})
    with pytest.raises(TypeError, match=r"\{'other': 1\} has different keys with the TraceType Dict\[\['k', TensorSpec"):
        f([1.0], {'other': 1})
    with pytest.raises(TypeError, match=r'Can not cast 3\.0 to Literal\[2\.0\]'):
        f([1.0], {'k': 1}, 3.0)
    with pytest.raises(TypeError, match="missing a required argument: 'rest'"):
        f([1.0])
    with pytest.raises(TypeError, match='contains 1 extra type constraints'):
        tf.function(lambda x: x, input_signature=[tf.TensorSpec([])] * 2)
    with pytest.raises(TypeError, match='got invalid args'):
        tf.function(lambda x: x, input_signature=[tf.float32])
    with pytest.raises(TypeError, match='missing type constraint for y'):
        tf.function(lambda x, y: x, input_signature=[tf.TensorSpec([])])


def test_concrete_functions() -> None:
    w, cap = tf.Variable(3.0, name='w'), tf.constant(5.0)
    f = tf.function(lambda x, y=2.0: x * w * y + cap)
    concrete = f.get_concrete_function(tf.TensorSpec([None], tf.float32))
    assert concrete(tf.constant([1.0, 2.0])).numpy().tolist() == [11.0, 17.0]
    assert repr(concrete).startswith(
        '<ConcreteFunction (x: TensorSpec(shape=(None,), dtype=tf.float32, name=None), y: Literal[2.0]) -> '
        'TensorSpec(shape=(None,)')
    assert concrete.name.startswith(b'__inference_<lambda>_')
    assert [v is w for v in concrete.variables] == [True]
    assert sorted(t.dtype.name for t in concrete.captured_inputs) == ['float32', 'resource']
    assert concrete.structured_input_signature == ((tf.TensorSpec([None], tf.float32, 'x'), 2.0), {})
    with pytest.raises(InvalidArgumentError, match=r'was expected to be a float tensor but is a int32 tensor'):
        concrete(tf.constant([1]))
    with pytest.raises(TypeError, match="missing a required argument: 'y'"):
        concrete([1.0])
    with pytest.raises(TypeError, match=r'Can not cast 3.0 to Literal\[2.0\]'):
        concrete(tf.constant([1.0]), 3.0)


def test_results_keep_their_structure() -> None:
    @tf.function
    def f(x):
        return {'a': x, 'b': [None, (x + 1.0, 'text')], 'c': np.float64(2)}
    found = f(tf.constant(1.0))
    assert float(found['a']) == 1.0 and found['b'][0] is None and float(found['b'][1][0]) == 2.0
    assert found['b'][1][1].numpy() == b'text' and found['c'].dtype == tf.float64
    assert tf.function(lambda: None)() is None
    with pytest.raises(TypeError, match='found return value of type object, which is not a Tensor'):
        tf.function(lambda: object())()


def test_effects_happen_once_a_call_in_program_order() -> None:
    log, v = [], tf.Variable(1.0)

    @tf.function
    def f(x):
        v.assign(v * 2.0)
        tf.py_function(lambda a: log.append(float(a)), [v], [])
        v.assign_add(x)
        tf.numpy_function(lambda a: log.append(float(a)) or np.float32(0), [v], tf.float32)
        return v.read_value()
    assert floats([f(tf.constant(1.0)), f(tf.constant(10.0))]) == [3.0, 16.0]
    assert log == [2.0, 3.0, 6.0, 16.0]


class TestGradients:
    def test_of_every_order_through_calls(self) -> None:
        x, w = tf.constant(2.0), tf.Variable(3.0)
        inner = tf.function(lambda a: w * a * a * a)
        outer = tf.function(lambda a: inner(a) + inner(a * 2.0))
        with tf.GradientTape() as t3:
            t3.watch(x)
            with tf.GradientTape() as t2:
                t2.watch(x)
                with tf.GradientTape() as t1:
                    t1.watch(x)
                    y = outer(x)
                first = t1.gradient(y, x)
            second = t2.gradient(first, [x, w])
        third = t3.gradient(second[0], x)
        assert floats([y, first, *second, third]) == [27 * 8, 27 * 3 * 4, 27 * 6 * 2, 9 * 3 * 4, 27 * 6]

    def test_tapes_inside(self) -> None:
        w = tf.Variable(3.0)

        @tf.function
        def f(x):
            with tf.GradientTape() as outer:
                outer.watch(x)
                with tf.GradientTape() as tape:
                    tape.watch(x)
                    y = w * x * x * x
                first = tape.gradient(y, x)
            return first, outer.gradient(first, [x, w])
        first, (second, mixed) = f(tf.constant(2.0))
        assert floats([first, second, mixed]) == [36.0, 36.0, 12.0]

    def test_two_outputs_one_used_and_persistent(self) -> None:
        x = tf.constant([1.0, 2.0])
        f = tf.function(lambda a: (tf.exp(a), tf.reduce_sum(a * a)))
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y, z = f(x)
        np.testing.assert_allclose(tape.gradient(z, x), [2, 4])
        np.testing.assert_allclose(tape.gradient(y, x), np.exp([1, 2]), rtol=1e-6)
        np.testing.assert_allclose(tape.jacobian(y, x), np.diag(np.exp([1, 2])), rtol=1e-6)

    def test_a_python_function_inside_is_called_once(self) -> None:
        calls = []

        def cube(a):
            calls.append(1)
            return a * a * a
        f = tf.function(lambda a: tf.py_function(cube, [a], tf.float32))
        x = tf.constant(2.0)
        with tf.GradientTape() as t2:
            t2.watch(x)
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = f(x)
            first = tape.gradient(y, x)
        assert floats([y, first, t2.gradient(first, x)]) == [8.0, 12.0, 12.0]
        assert len(calls) == 1

    def test_in_a_session(self) -> None:
        f = tf.function(lambda a: a * a * a)
        with tf.Graph().as_default():
            x = tf.placeholder(tf.float32, [])
            y = f(x)
            first = tf.gradients(y, x)[0]
            assert tf.Session().run([y, first, tf.gradients(first, x)[0]], {x: 2.0}) == [8.0, 12.0, 12.0]


class TestVariables:
    def test_made_on_the_first_call_only(self) -> None:
        made = []

        @tf.function
        def f(x):
            if not made:
                made.append(tf.Variable(tf.ones([2]) * 2.0, name='made'))
            made[0].assign_add(x)
            return made[0].read_value()
        f(tf.constant([1.0, 1.0]))
        np.testing.assert_array_equal(f(tf.constant([1.0, 2.0])), [4, 5])
        assert isinstance(made[0].numpy(), np.ndarray)

    def test_not_on_each_call(self) -> None:
        with pytest.raises(ValueError, match=r'tf.function only supports singleton tf.Variables'):
            tf.function(lambda x: tf.Variable(1.0) + x)(1.0)

    def test_may_start_with_what_depends_on_the_first_arguments(self) -> None:
        made = []

        @tf.function
        def f(x):
            if not made:
                made.append(tf.Variable(x * 10.0))
            return made[0] + x
        assert f(tf.constant(2.0)).numpy() == 22.0 and f(tf.constant(5.0)).numpy() == 25.0

    def test_not_from_an_argument_that_is_not_known(self) -> None:
        keep = []
        with pytest.raises(ValueError, match=r'depends on an argument that is not known, <tf.Tensor .x:0.'):
            tf.function(lambda x: keep.append(tf.Variable(x)) or x).get_concrete_function(tf.TensorSpec([]))


class TestMethods:
    def test_objects_have_traces_of_their_own(self) -> None:
        class Model:
            def __init__(self, factor: float) -> None:
                self.factor = factor
                self.traces = 0

            def __eq__(self, other: object) -> bool:
                return True

            @tf.function
            def scaled(self, x):
                self.traces += 1
                return x * self.factor
        a, b = Model(2.0), Model(3.0)
        one = tf.constant(1.0)
        assert floats([a.scaled(one), b.scaled(one), a.scaled(one)]) == [2.0, 3.0, 2.0]
        assert (a.traces, b.traces) == (1, 1)

    def test_an_object_goes_with_its_traces(self) -> None:
        class Model:
            @tf.function
            def f(self, x):
                return tf.py_function(lambda a: a * 2.0, [x], tf.float32)
        gc.collect()
        gc.disable()
        try:
            model = Model()
            model.f(tf.constant(1.0))
            kept = weakref.ref(model)
            del model
            assert kept() is None
        finally:
            gc.enable()


def _made_with_captures():
    """A function, and weak references to an array and a Python function that only it refers to."""
    captured = tf.constant(np.ones(1000, np.float32))

    def python(a):
        return a * 2
    f = tf.function(lambda x: tf.numpy_function(python, [x * captured], tf.float32))
    return f, weakref.ref(captured._value), weakref.ref(python)


def test_a_function_frees_its_traces_without_the_collector() -> None:
    gc.collect()
    gc.disable()
    try:
        f, array, callback = _made_with_captures()
        x = tf.ones([1000])
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        f(tf.ones([1]))
        del f, tape, y
        assert array() is None
        gc.collect()                # a Python function's record and its site refer to each other
        assert callback() is None
    finally:
        gc.enable()


def test_argument_objects_are_held_weakly() -> None:
    class Options:
        factor = 3.0
    f = tf.function(lambda x, options: x * options.factor)
    options = Options()
    kept = weakref.ref(options)
    assert float(f(tf.constant(1.0), options)) == 3.0
    del options
    gc.collect()
    assert kept() is None
    f(tf.constant(1.0), Options())
    f(tf.constant(1.0), Options())
    assert f.experimental_get_tracing_count() <= 2


class TestErrors:
    def test_while_tracing_show_the_users_lines(self) -> None:
        def fails(x):
            raise ValueError('boom')
        with pytest.raises(ValueError, match=r'(?s)^in user code:\n\n    File ".*test_function.py", line \d+, in '
                                             r'fails.*ValueError: boom'
                           ) as caught:
            tf.function(fails)(tf.constant(1.0))
        assert isinstance(caught.value.__cause__, ValueError) and str(caught.value.__cause__) == 'boom'
        with pytest.raises(ValueError, match=r'^boom$'):
            tf.function(fails, autograph=False)(tf.constant(1.0))
        with pytest.raises(ZeroDivisionError, match=r'^division by zero$'):
            tf.function(lambda: 1 / 0)()

    def test_while_running_name_the_node(self) -> None:
        def f(x):
            return tf.py_function(lambda a: 1 / 0, [x], tf.float32, name='bad')
        with pytest.raises(tf.errors.UnknownError, match=r'(?s)^Graph execution error:\n\nDetected at node bad defined '
                                                         r'at.*ZeroDivisionError'
                           ) as caught:
            tf.function(f)(tf.constant(1.0))
        assert isinstance(caught.value.__cause__, ZeroDivisionError)

    def test_a_leaked_tensor_is_out_of_scope(self) -> None:
        leak = []
        tf.function(lambda x: leak.append(x * 2.0) or x)(tf.constant(1.0))
        with pytest.raises(TypeError, match='is out of scope and cannot be used here'):
            leak[0] + 1.0

    def test_a_symbolic_condition(self) -> None:
        with pytest.raises(TypeError, match=r'Using a symbolic `tf.Tensor` as a Python `bool` is not allowed'):
            tf.function(lambda x: x if x > 0.0 else -x, autograph=False)(tf.constant(1.0))


def test_run_eagerly() -> None:
    seen = []
    f = tf.function(lambda x: seen.append(x.numpy()) or x)
    tf.config.run_functions_eagerly(True)
    try:
        f(tf.constant(2.0))
    finally:
        tf.config.run_functions_eagerly(False)
    assert seen == [2.0] and not tf.config.functions_run_eagerly()


def test_threads_trace_once_and_get_their_own_results() -> None:
    traces, wrong = [], []
    w = tf.Variable(2.0)

    @tf.function
    def f(x):
        traces.append(1)
        return x * w

    def work(i: int) -> None:
        for _ in range(100):
            x = tf.constant(float(i))
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = f(x)
            if floats([y, *tape.gradient(y, [x, w])]) != [2.0 * i, 2.0, float(i)]:
                wrong.append(i)
    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong and len(traces) == 1


def test_recursion_while_tracing() -> None:
    @tf.function
    def total(n):
        return n if n <= 0 else total(n - 1) + n
    assert int(total(3)) == 6


def test_a_graph_outlives_the_function_it_was_got_from() -> None:
    graph = tf.function(lambda x: x + 1.0).get_concrete_function(tf.TensorSpec([])).graph
    assert [op.type for op in graph.get_operations()] == ['Placeholder', 'Const', 'AddV2', 'Identity']
