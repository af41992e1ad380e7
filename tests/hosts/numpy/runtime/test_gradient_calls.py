"""Each backward step is a call of kind 'gradient' with its edges, on a tape, in a session and in a function."""
from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from wrapped_calls import Keeper

from pyfuncdbg import tf
from pyfuncdbg.hooks.chain import hooks


@pytest.fixture
def keeper():
    keeper = Keeper('gradient', 'run', 'python')
    hooks.add(keeper)
    yield keeper
    hooks.remove(keeper)
    assert keeper not in hooks._failed


def steps(keeper: Keeper) -> dict[str, Any]:
    return {call.site.attrs['forward']: call for call in keeper.calls if call.site.kind == 'gradient'}


def values(outputs: Any) -> list[Any]:
    return [None if v is None else np.asarray(getattr(v, '_value', v)).tolist() for v in outputs]


def square(a):
    return tf.square(a)                 # 'Square': the backward step inside the Python function, of a run of its own


def test_on_a_tape(keeper: Keeper) -> None:
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        a = tf.py_function(square, [x], tf.float32, name='squared')
        b = tf.exp(a * 0.0, name='one')
        y = tf.add_n([a, b * 2.0], name='total')
    assert not steps(keeper)
    tape.gradient(y, x)
    found = steps(keeper)
    total, squared = found['total'], found['squared']
    python = next(call for call in keeper.calls if call.site.kind == 'python')
    assert squared.forward == python.id and total.forward == 0
    assert values(total.inputs) == [1.0] and values(total.outputs) == [1.0, 1.0]
    assert values(squared.outputs) == [6.0]
    assert list(total.sources) == []
    assert set(squared.sources) >= {total.id} and len(squared.sources) == 2
    run = next(call for call in keeper.calls if call.site.kind == 'run')
    assert {call.run.id for name, call in found.items() if name != 'Square'} == {run.run.id} and run.id == -run.run.id
    assert values(run.outputs) == [6.0]


def test_in_a_session(keeper: Keeper) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [2], name='x')
        a = tf.py_function(square, [x], tf.float32, name='squared')
        b = tf.multiply(a, 3.0, name='tripled')
        c = tf.multiply(a, 5.0, name='fived')
        y = tf.reduce_sum(tf.add(b, c, name='sum'), name='loss')
        gradient = tf.gradients(y, x)[0]
        found_value = session.run(gradient, {x: [1.0, 2.0]})
        assert found_value.tolist() == [16.0, 32.0]
        found = steps(keeper)
        assert set(found) == {'squared', 'tripled', 'fived', 'sum', 'loss', 'Square'}
        inner = found.pop('Square')
        assert inner.run is not found['sum'].run
        python = next(call for call in keeper.calls if call.site.kind == 'python' and call.site.name == 'squared')
        assert found['squared'].forward == python.id
        assert values(found['loss'].inputs) == [1.0]
        assert values(found['squared'].inputs)[0] == [8.0, 8.0] and values(found['squared'].outputs)[0] == [16.0, 32.0]
        assert values(found['tripled'].inputs) == [[1.0, 1.0]] and values(found['tripled'].outputs)[0] == [3.0, 3.0]
        assert list(found['sum'].sources) == [found['loss'].id]
        assert sorted(found['squared'].sources) == sorted([found['tripled'].id, found['fived'].id])
        assert len({call.run.id for call in found.values()}) == 1 and found['sum'].site.name == 'sum_grad'
        keeper.calls.clear()
        session.run(y, {x: [1.0, 2.0]})              # no gradient is computed, none is reported
        assert not steps(keeper)


def test_a_hook_that_comes_and_goes_changes_nothing() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [3000])
        y = tf.reduce_sum(tf.tanh(x * 2.0) * tf.exp(x))
        gradient = tf.gradients(y, x)[0]
        fed = {x: np.linspace(-1, 1, 3000, dtype=np.float32)}
        bare = session.run(gradient, fed)
        keeper = Keeper('gradient')
        hooks.add(keeper)
        try:
            watched = session.run(gradient, fed)
        finally:
            hooks.remove(keeper)
        assert watched.tobytes() == bare.tobytes() == session.run(gradient, fed).tobytes()
        kept = {name: [np.array(v) for v in call.outputs if v is not None] for name, call in steps(keeper).items()}
        np.testing.assert_allclose(kept['Tanh'][0], np.exp(fed[x]) * (1 - np.tanh(fed[x] * 2) ** 2), rtol=1e-4, atol=1e-6)


def test_in_a_function_and_around_one(keeper: Keeper) -> None:
    x = tf.constant(2.0)

    @tf.function
    def inside(v):
        with tf.GradientTape() as tape:
            tape.watch(v)
            y = tf.py_function(square, [v], tf.float32, name='squared') * 3.0
        return tape.gradient(y, v)
    assert float(inside(x)) == 12.0
    found = steps(keeper)
    python = next(call for call in keeper.calls if call.site.kind == 'python')
    assert found['squared'].forward == python.id and values(found['squared'].outputs) == [12.0]
    assert list(found['squared'].sources) == [found['mul'].id]
    keeper.calls.clear()
    f = tf.function(lambda v: tf.py_function(square, [v], tf.float32, name='squared') * 3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    assert float(tape.gradient(y, x)) == 12.0
    found = steps(keeper)
    python = next(call for call in keeper.calls if call.site.kind == 'python')
    assert {'squared', 'mul'} <= set(found)
    assert found['squared'].forward == python.id and list(found['squared'].sources) == [found['mul'].id]


def test_an_aborting_or_failing_rule_raises_what_it_raised(keeper: Keeper) -> None:
    x = tf.constant(2.0)

    @tf.custom_gradient
    def f(v):
        def gradient(dy):
            raise KeyError('mine')
        return v * 1.0, gradient
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    with pytest.raises(KeyError, match='mine'):
        tape.gradient(y, x)
    assert isinstance(steps(keeper)['IdentityN'].error, KeyError)
