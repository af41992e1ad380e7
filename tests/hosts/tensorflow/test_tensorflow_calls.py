"""Each way in which the real TensorFlow calls a Python function becomes a call of the user's function, with its values."""
from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scripted_user import ScriptedUser
from seen_calls import Seen

import pyfuncdbg
from pyfuncdbg.hooks.chain import hooks
from pyfuncdbg.hooks.own_files import is_own_file
from pyfuncdbg.hosts.tensorflow.host import TensorFlowHost
from pyfuncdbg.hosts.tensorflow.tensorflow_parts import parts
from pyfuncdbg.observers.debug.debugger import debugger
from pyfuncdbg.observers.debug.stepping.injection import replacement_value

pytestmark = pytest.mark.tensorflow


def add_one(value: Any) -> Any:
    return value + value.dtype.type(1) if isinstance(value, np.generic) else value + 1


def places(tf: Any) -> dict[tuple[Any, str], Any]:
    """Everything of TensorFlow that attaching replaces."""
    from tensorflow.python.client import session
    from tensorflow.python.eager import core
    from tensorflow.python.eager.polymorphic_function import atomic_function
    from tensorflow.python.framework import errors_impl
    from tensorflow.python.ops import script_ops
    from tensorflow.python.util import tf_stack
    owners = [script_ops, script_ops.FuncRegistry, script_ops.EagerFunc, errors_impl.OpError, core, session.BaseSession,
              atomic_function.InterpolateRuntimeError, tf_stack]
    found = {(owner, name): id(value) for owner in owners for name, value in vars(owner).items()}
    stacks = tf_stack._source_filter_stacks
    found[tf_stack, 'default_factory'] = id(stacks.default_factory)
    found[tf_stack, 'this thread'] = id(stacks[threading.get_ident()][0])
    return found


def test_detach_puts_back_every_attribute(tf: Any, replaced: dict[tuple[Any, str], Any]) -> None:
    before = places(tf)
    function = tf.function(lambda x: tf.py_function(add_one, [x], tf.float32))
    hook = Seen()
    hooks.add(hook)
    try:
        with pyfuncdbg.attach('tensorflow'):
            during = places(tf)
            function(tf.constant(1.0))
            registered = next(iter(tf.py_function.__wrapped__.__globals__['_py_funcs']._funcs.values()))
    finally:
        hooks.remove(hook)
    changed = {(owner.__name__, name) for (owner, name), value in during.items() if before.get((owner, name)) != value}
    stacks = {('tensorflow.python.util.tf_stack', name) for name in ('default_factory', 'this thread')}
    owners = {owner for owner, _ in before}
    assert {('FuncRegistry', '__call__'), ('OpError', 'with_traceback')} <= changed
    assert changed == stacks | {(owner.__name__, name) for owner, name in replaced if owner in owners}
    assert places(tf) == before
    assert all(vars(owner).get(name) is original for (owner, name), original in replaced.items())
    assert len(hook.calls) == 1 and not [name for name in vars(registered) if 'pyfuncdbg' in name]


def test_attaching_twice_is_attaching_once(tf: Any) -> None:
    before = places(tf)
    first = pyfuncdbg.attach('tensorflow')
    during = places(tf)
    assert pyfuncdbg.attach('tensorflow') is first and places(tf) == during
    first.detach()
    first.detach()
    assert places(tf) == before and not first.attached
    pyfuncdbg.detach('tensorflow')


def test_what_somebody_put_on_top_stays(tf: Any) -> None:
    from tensorflow.python.ops.script_ops import FuncRegistry
    original = FuncRegistry.__call__
    attachment = pyfuncdbg.attach('tensorflow')
    ours = FuncRegistry.__call__
    hook = Seen()
    hooks.add(hook)

    def on_top(*args: Any) -> Any:
        return ours(*args)

    FuncRegistry.__call__ = on_top
    try:
        attachment.detach()
        assert FuncRegistry.__call__ is on_top
        assert float(tf.py_function(add_one, [1.0], tf.float32)) == 2 and not hook.calls
    finally:
        FuncRegistry.__call__ = original
        hooks.remove(hook)


def test_a_function_made_before_attaching_has_its_node(tf: Any) -> None:
    @tf.function
    def early(x: Any) -> Any:
        return tf.py_function(add_one, [x], tf.float32, name='early_node')

    early(tf.constant(1.0))
    hook = Seen()
    hooks.add(hook)
    try:
        with pyfuncdbg.attach('tensorflow'):
            assert float(early(tf.constant(5.0))) == 6
        early(tf.constant(7.0))
    finally:
        hooks.remove(hook)
    (call,) = hook.calls
    assert call.site.function is add_one and call.site.name == 'early_node' and call.site.op_type == 'EagerPyFunc'
    assert call.site.inputs == ['x:0'] and call.site.outputs == ['early_node:0']
    assert call.site.stack == ()                # TensorFlow may have lost the code of that stack: to ask is to crash
    assert (hook.inputs[0][0], hook.outputs[0][0]) == (5, 6)


def test_eager_calls_are_calls_at_their_line(tf: Any, seen: Seen) -> None:
    for _ in range(2):
        assert float(tf.py_function(add_one, [1.0], tf.float32, name='one')) == 2
    assert float(tf.numpy_function(add_one, [np.float32(3)], tf.float32)) == 4

    @tf.numpy_function(Tout=tf.float32)
    def decorated(value: Any) -> Any:
        return value * 3

    assert float(decorated(np.float32(2))) == 6
    assert seen.names == ['one', 'one', 'PyFunc', 'PyFunc']
    assert [call.site.function.__name__ for call in seen.calls] == ['add_one', 'add_one', 'add_one', 'decorated']
    assert seen.calls[0].site.id == seen.calls[1].site.id != seen.calls[2].site.id
    assert [call.ordinal for call in seen.calls] == [0, 1, 0, 0]
    assert all(call.site.stack[-1].filename == __file__ for call in seen.calls)
    assert all(call.run is seen.calls[0].run and 'MainThread' in call.run.label for call in seen.calls)


def test_functions_of_one_line_that_differ_in_a_constant_are_two_sites(tf: Any, seen: Seen) -> None:
    for _ in range(2):
        tf.py_function(lambda x: x + 1, [1.0], tf.float32), tf.py_function(lambda x: x + 2, [1.0], tf.float32)
    first, second, again, once_more = (call.site.id for call in seen.calls)
    assert (first, second) == (again, once_more) and first != second
    assert [call.ordinal for call in seen.calls] == [0, 0, 1, 1]


def test_calls_that_no_breakpoint_means_are_not_made_calls(tf: Any) -> None:
    class Choosy(Seen):
        """Interested in one function only."""

        wanted = 'add_one'

        def wants(self, site: Any, run: Any) -> bool:
            return site.function.__name__ == self.wanted

    def other(value: Any) -> Any:
        if value < 0:
            raise ZeroDivisionError('negative')
        return value * 2

    hook = Choosy()
    hooks.add(hook)
    traced = tf.function(lambda x: tf.py_function(other, [x], tf.float32))

    def call_all() -> list[float]:
        found = [traced(tf.constant(1.0)), tf.numpy_function(other, [np.float32(2)], tf.float32),
                 tf.py_function(other, [3.0], tf.float32), tf.numpy_function(add_one, [np.float32(4)], tf.float32)]
        return [float(value) for value in found]

    try:
        with pyfuncdbg.attach('tensorflow'):
            assert call_all() == call_all() == [2, 4, 6, 5] and len(hook.calls) == 2
            with pytest.raises(ZeroDivisionError) as caught:
                tf.numpy_function(other, [np.float32(-1)], tf.float32)
            assert not [entry for entry in caught.traceback if is_own_file(str(entry.path))]
            hook.wanted = 'other'               # a breakpoint is set on it now
            hooks.invalidate_interest()
            assert call_all() == [2, 4, 6, 5]
    finally:
        hooks.remove(hook)
    assert [call.site.function.__name__ for call in hook.calls] == ['add_one', 'add_one', 'other', 'other', 'other']


def test_a_session_run_is_a_run(tf: Any, seen: Seen) -> None:
    v1 = tf.compat.v1
    with tf.Graph().as_default():
        x = v1.placeholder(tf.float32, [None], name='x')
        one = v1.py_func(add_one, [x], tf.float32, name='one')
        two = v1.py_function(add_one, [one], tf.float32, name='two')
        three = tf.numpy_function(add_one, [two], tf.float32, name='three')
        with v1.Session() as session:
            for number in (1, 2):
                np.testing.assert_array_equal(session.run(three, {x: [number]}), [number + 3])
    assert seen.names == ['one', 'two', 'three'] * 2
    assert [call.site.op_type for call in seen.calls[:3]] == ['PyFunc', 'EagerPyFunc', 'PyFunc']
    runs = [call.run for call in seen.calls]
    assert runs[0] is runs[2] is not runs[3] and runs[0].feeds == ('x:0',) and runs[0].fetches == ('three:0',)
    assert seen.outputs[4][0] == [4]


def test_functions_in_datasets(tf: Any, seen: Seen) -> None:
    data = tf.data.Dataset

    def numbers() -> Any:
        yield 1
        yield 2

    mapped = data.range(8).map(lambda x: tf.numpy_function(add_one, [x], tf.int64, name='mapped'), num_parallel_calls=4)
    assert list(mapped.as_numpy_iterator()) == [*range(1, 9)]
    filtered = data.range(4).filter(lambda x: tf.py_function(lambda a: a % 2 == 0, [x], tf.bool, name='even'))
    assert list(filtered.as_numpy_iterator()) == [0, 2]
    mixed = data.range(2).interleave(lambda x: data.from_tensors(tf.numpy_function(add_one, [x], tf.int64, name='inner')))
    assert sorted(mixed.as_numpy_iterator()) == [1, 2]
    generated = data.from_generator(numbers, output_signature=tf.TensorSpec((), tf.int32))
    assert list(generated.as_numpy_iterator()) == [1, 2]
    assert {name: seen.names.count(name) for name in seen.names} == {'mapped': 8, 'even': 4, 'inner': 2, 'PyFunc': 3}
    given = {int(out[0]) for call, out in zip(seen.returned, seen.outputs, strict=True) if call.site.name == 'mapped'}
    assert given == {*range(1, 9)}
    generator = [call for call in seen.calls if call.site.name == 'PyFunc']
    assert {call.site.function for call in generator} == {numbers}
    assert [call.error for call in generator] == [None] * 3 and list(generator[-1].outputs or ()) == []     # its end
    assert sorted(call.ordinal for call in seen.calls if call.site.name == 'mapped') == [*range(8)]
    assert threading.get_native_id() not in {call.thread for call in seen.calls if call.site.name == 'mapped'}


def test_values_of_every_kind(tf: Any, seen: Seen) -> None:
    ragged = tf.ragged.constant([[1.0, 2.0], [3.0]])
    doubled = tf.py_function(lambda rows: rows * 2, [ragged], tf.RaggedTensorSpec([None, None], tf.float32))
    assert doubled.to_list() == [[2, 4], [6]]
    tf.py_function(lambda x: x, [tf.constant([1.5, 2], tf.bfloat16)], tf.bfloat16)
    tf.py_function(lambda x: x, [tf.constant(['a', 'bc'])], tf.string)
    sparse = tf.sparse.from_dense([[0, 7], [0, 0]])
    tf.py_function(lambda x: x, [sparse], tf.SparseTensorSpec([2, 2], tf.int32))
    np.testing.assert_array_equal(seen.inputs[0][0], [1, 2, 3])
    assert str(seen.outputs[1][0].dtype) == 'bfloat16' and seen.outputs[1][0].tolist() == [1.5, 2]
    assert seen.outputs[2][0].tolist() == [b'a', b'bc']
    host = seen.calls[0].site.host
    assert host.to_numpy(sparse).tolist() == [[0, 7], [0, 0]]
    assert [row.tolist() for row in host.to_numpy(ragged)] == [[1, 2], [3]]
    assert host.to_numpy(tf.Variable([1.0, 2.0])).tolist() == [1, 2]
    assert host.to_numpy(None).dtype == object and host.to_numpy(None).shape == ()
    with tf.Graph().as_default():
        assert host.tensor_name(tf.constant(1, name='c')) == 'c:0'
    assert host.tensor_name(tf.constant(1)) == ''


def test_outputs_are_replaced(tf: Any, seen: Seen) -> None:
    def replace(call: Any, proceed: Any) -> Any:
        outputs = proceed()
        host = call.site.host
        return [host.from_numpy(np.full_like(host.to_numpy(output), 9), output) for output in outputs]

    def skip(call: Any, proceed: Any) -> Any:
        return [np.float32(8)]

    traced = tf.function(lambda x: tf.py_function(add_one, [x], tf.float32))
    numpied = tf.function(lambda x: tf.numpy_function(add_one, [x], tf.float32))
    for change, expected in ((replace, 9), (skip, 8)):
        seen.change = change
        assert float(traced(1.0)) == float(numpied(1.0)) == expected
        assert float(tf.py_function(add_one, [1.0], tf.float32)) == expected
        assert float(tf.numpy_function(add_one, [np.float32(1)], tf.float32)) == expected
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = tf.py_function(add_one, [x], tf.float32)
    assert float(y) == 8 and float(tape.gradient(y, x)) == 0        # what was not computed has no gradient


def test_a_value_that_does_not_fit_is_refused(tf: Any, seen: Seen) -> None:
    host = seen.calls[0].site.host if tf.py_function(add_one, [1.0], tf.float32) is not None else None
    like = tf.constant([1.0, 2.0])
    with pytest.raises(ValueError, match=r'got float64\[2\], expected float32\[2\]'):
        host.from_numpy(np.zeros(2), like)
    with pytest.raises(ValueError, match=r'got float32\[3\], expected float32\[2\]'):
        host.from_numpy(np.zeros(3, np.float32), like)
    assert host.from_numpy(np.zeros(2, np.float32), like).dtype == tf.float32


def test_a_call_is_made_again_and_a_function_replaced(tf: Any, seen: Seen) -> None:
    traced = tf.function(lambda x: tf.py_function(add_one, [x], tf.float32))
    numpied = tf.function(lambda x: tf.numpy_function(add_one, [x], tf.float32))
    for function in (traced, numpied):
        seen.calls.clear()
        assert float(function(tf.constant(1.0))) == 2
        call = seen.calls[0]
        host, site = call.site.host, call.site
        (again,) = host.call_again(site, [np.float32(4)])
        assert host.to_numpy(again) == 5 and len(seen.calls) == 1
        host.replace(site, lambda x: x * np.float32(10), 1)
        assert float(function(tf.constant(1.0))) == 10
        with pytest.raises(ValueError, match='cannot be called with 1 argument'):
            host.replace(site, lambda: None, 1)
        host.replace(site, add_one, 1)
        assert float(function(tf.constant(1.0))) == 2


def test_gradients_are_those_of_tensorflow(tf: Any, seen: Seen) -> None:
    def square(x: Any) -> Any:
        return x * x

    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = tf.py_function(square, [x], tf.float32)
    assert float(tape.gradient(y, x)) == 6
    traced = tf.function(lambda: tf.py_function(square, [x], tf.float32))
    with tf.GradientTape() as tape:
        y = traced()
    assert float(tape.gradient(y, x)) == 6

    @tf.custom_gradient
    def custom(x: Any) -> Any:
        return (tf.numpy_function(lambda a: np.float32(a * 5), [x], tf.float32),
                lambda dy: tf.numpy_function(lambda g: np.float32(g * 7), [dy], tf.float32))

    with tf.GradientTape() as tape:
        y = tf.function(lambda v: custom(v))(x)
    assert float(tape.gradient(y, x)) == 7
    assert len(seen.calls) == 4


@pytest.mark.parametrize('traced', [False, True])
def test_a_backward_step_is_a_gradient_call_of_its_forward_call(tf: Any, seen: Seen, traced: bool) -> None:
    def square(x: Any) -> Any:
        return x * x

    def work(x: Any) -> Any:
        return tf.py_function(square, [x], tf.float32, name='square')

    seen.kinds = frozenset(('python', 'gradient'))
    hooks.refresh()
    x, called = tf.Variable(3.0), tf.function(work) if traced else work
    with tf.GradientTape() as tape:
        y = called(x)
    assert float(tape.gradient(y, x, output_gradients=tf.constant(2.0))) == 12
    forward = next(call for call in seen.calls if call.site.kind == 'python')
    (number,) = [i for i, call in enumerate(seen.calls) if call.site.name == 'square_grad' and call.forward]
    backward = seen.calls[number]
    assert (backward.site.kind, backward.site.name, backward.forward) == ('gradient', 'square_grad', forward.id)
    assert backward.site.attrs['forward'] == 'square'
    given = seen.outputs[seen.returned.index(backward)]
    assert [float(array) for array in (*seen.inputs[number], *given)] == [2, 12]


def test_the_functions_of_a_dataset_in_debug_mode(tf: Any, seen: Seen) -> None:
    def triple(x: Any) -> Any:
        return x * 3

    tf.data.experimental.enable_debug_mode()
    try:
        assert list(tf.data.Dataset.range(3).map(triple).as_numpy_iterator()) == [0, 3, 6]
    finally:
        from tensorflow.python.data.ops import debug_mode
        debug_mode.DEBUG_MODE = False
    assert [call.site.function for call in seen.calls] == [triple] * 3


def test_a_loaded_model_calls_the_function_it_was_saved_with(tf: Any, seen: Seen, tmp_path: Any) -> None:
    class Model(tf.Module):     # type: ignore[misc, name-defined]
        @tf.function(input_signature=[tf.TensorSpec((), tf.float32)])
        def __call__(self, x: Any) -> Any:
            return tf.py_function(add_one, [x], tf.float32, name='saved')

    model = Model()
    tf.saved_model.save(model, str(tmp_path / 'model'))
    assert float(tf.saved_model.load(str(tmp_path / 'model'))(tf.constant(1.0))) == 2
    assert seen.names == ['saved'] and seen.calls[0].site.function is add_one


def test_several_threads(tf: Any, seen: Seen) -> None:
    traced = tf.function(lambda x: tf.py_function(add_one, [x], tf.float32, name='shared'))
    found: list[float] = []

    def work(start: int) -> None:
        for number in range(start, start + 20):
            found.append(float(traced(tf.constant(float(number)))))
            found.append(float(tf.py_function(add_one, [float(number)], tf.float32, name='own')))

    threads = [threading.Thread(target=work, args=(100 * index,)) for index in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    wanted = [start + number + 1 for start in range(0, 400, 100) for number in range(20) for _ in range(2)]
    assert sorted(found) == wanted
    assert sorted(float(out[0]) for out in seen.outputs) == wanted
    assert len({call.run.id for call in seen.calls if call.site.name == 'own'}) == 4
    assert len({(call.site.id, call.ordinal) for call in seen.calls}) == 160


def test_threads_that_come_at_once_find_one_site(tf: Any, seen: Seen) -> None:
    barrier = threading.Barrier(2, timeout=20)

    def meet(x: Any) -> Any:
        barrier.wait()
        return x

    for _ in range(5):
        seen.calls.clear()
        data = tf.data.Dataset.range(4).map(lambda x: tf.numpy_function(meet, [x], tf.int64), num_parallel_calls=2)
        assert list(data.as_numpy_iterator()) == [0, 1, 2, 3]
        assert len({call.site.id for call in seen.calls}) == 1
        assert sorted(call.ordinal for call in seen.calls) == [0, 1, 2, 3]


def test_nothing_is_kept_alive(tf: Any, seen: Seen) -> None:
    import gc
    import weakref

    class Function:
        def __call__(self, x: Any) -> Any:
            return x

    def make() -> tuple[Any, Any]:
        user = Function()
        with tf.Graph().as_default() as graph:
            y = tf.compat.v1.py_func(user, [tf.constant(1.0)], tf.float32)
            with tf.compat.v1.Session() as session:
                session.run(y)
        return weakref.ref(user), weakref.ref(graph)

    references = make()
    seen.calls.clear()
    seen.returned.clear()
    gc.collect()
    assert [reference() for reference in references] == [None, None]


def test_detaching_in_the_middle_of_a_call(tf: Any) -> None:
    attachment = pyfuncdbg.attach('tensorflow')
    hook = Seen()
    hooks.add(hook)

    def leave(value: Any) -> Any:
        attachment.detach()
        return value + 1

    try:
        traced = tf.function(lambda x: tf.py_function(leave, [x], tf.float32))
        assert float(traced(tf.constant(1.0))) == 2 and len(hook.outputs) == 1
        assert float(traced(tf.constant(2.0))) == 3 and len(hook.outputs) == 1
    finally:
        hooks.remove(hook)


@pytest.mark.parametrize('given', [b'ab\0', np.float32(2), np.array([b'ab'], object)], ids=['bytes', 'scalar', 'array'])
def test_a_call_made_again_gets_what_tensorflow_gives(tf: Any, given: Any) -> None:
    got: list[Any] = []

    def kept(value: Any) -> np.ndarray:
        got.append(value)
        return np.int32(len(got))

    seen = Seen()
    hooks.add(seen)
    try:
        with pyfuncdbg.attach('tensorflow'):
            tf.function(lambda: tf.numpy_function(kept, [tf.constant(given)], tf.int32))()
    finally:
        hooks.remove(seen)
    (call,) = seen.calls
    call.site.host.call_again(call.site, [np.array(call.site.host.to_numpy(call.inputs[0]))])
    first, again = got
    assert type(again) is type(first) and np.array_equal(again, first)


def test_what_replaces_a_string_is_bytes_too(tf: Any) -> None:
    host = TensorFlowHost(parts())
    replaced = replacement_value(b'ab\0', b'long', host, 'raw')
    assert type(replaced) is bytes and replaced == b'ab\0'


def test_the_end_of_a_generator_is_no_error_and_no_look_takes_an_element(tf: Any, tmp_path: Path) -> None:
    def rows() -> Any:
        for i in range(4):
            yield np.float32([i, np.nan if i == 0 else 1])

    data = tf.data.Dataset.from_generator(rows, output_signature=tf.TensorSpec([2], tf.float32))
    commands = ['health --line PyFunc', 'retry', 'health --line PyFunc[0]', 'cont']
    with pyfuncdbg.attach('tensorflow'), pyfuncdbg.record(tmp_path / 'it.pfd') as recorder, ScriptedUser(commands) as user:
        debugger.start()
        debugger.catching = True
        number = debugger.breakpoints.set('rows', timing='after-call', once=True).number
        try:
            found = [float(row[0]) for row in data.as_numpy_iterator()]
        finally:
            debugger.catching = False
            debugger.breakpoints.clear(number)
    assert found == [0, 1, 2, 3]
    assert user.phases == ['after'] and len(user.answers) == 4
    for text in user.answers[:3]:
        assert 'cannot be repeated: each call takes the next element from the generator' in text
    with pyfuncdbg.load(recorder.path) as trace:
        assert [len(call.outputs) for call in trace.calls()] == [1, 1, 1, 1, 0]
        assert trace.calls(failed=True) == []
