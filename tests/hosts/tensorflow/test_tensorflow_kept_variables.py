"""Calls that are made again only to look at them leave the variables of the program as they were."""
from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scripted_user import ScriptedUser

import pyfuncdbg
from pyfuncdbg.hosts.tensorflow.host import TensorFlowHost
from pyfuncdbg.hosts.tensorflow.tensorflow_parts import parts
from pyfuncdbg.observers.debug.debugger import debugger

pytestmark = [pytest.mark.tensorflow, pytest.mark.timeout(100)]


@pytest.fixture
def variables(tf: Any) -> dict[str, Any]:
    class Model(tf.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.step = tf.Variable(3, name='step')
            self.rows = tf.Variable(np.arange(6.0).reshape(3, 2), name='rows')
            self.words = tf.Variable(['a', 'b'], name='words')
            self.half = tf.Variable([1.5], dtype=tf.bfloat16, name='half')
            self.loose = tf.Variable([1.0], shape=[None], name='loose')
    model = Model()
    return {'step': model.step, 'rows': model.rows, 'words': model.words, 'half': model.half, 'loose': model.loose,
            'random': tf.random.Generator.from_seed(1).state}


def bits(variable: Any) -> Any:
    found = variable.numpy()
    return found.shape, found.tolist() if found.dtype == object else found.tobytes()


CHANGES = {
    'assign': lambda tf, v: (v['step'].assign(8), v['loose'].assign([1.0, 2.0]), v['words'].assign(['a', 'c']),
                             v['half'].assign([2.5])),
    'assign_add': lambda tf, v: (v['step'].assign_add(1), v['rows'].assign_sub(np.ones((3, 2)))),
    'scatter': lambda tf, v: v['rows'].scatter_nd_update([[1]], [[9.0, 9.0]]),
    'sparse': lambda tf, v: v['rows'].scatter_update(tf.IndexedSlices(np.full((1, 2), 7.0), np.array([2]))),
    'slice': lambda tf, v: v['rows'][0, 1].assign(5.0),
    'random': lambda tf, v: tf.random.Generator(state=v['random'], alg='philox').normal([3]),
    'optimizer': lambda tf, v: tf.keras.optimizers.SGD(0.5).apply_gradients([(tf.ones([3, 2], tf.float64), v['rows'])]),
    'in a function': lambda tf, v: tf.function(lambda: v['rows'].assign(v['rows'] * 2.0))(),
}
CHANGED = {'assign': {'step', 'loose', 'words', 'half'}, 'assign_add': {'step', 'rows'}, 'random': {'random'}}


@pytest.mark.parametrize('way', CHANGES)
def test_variables_are_put_back_to_the_bit(tf: Any, variables: dict[str, Any], way: str) -> None:
    before = {name: bits(variable) for name, variable in variables.items()}
    host = TensorFlowHost(parts())
    for _ in range(2):                          # after a scatter TensorFlow copies at every read
        with host.restored_state() as changed:
            assert not set(changed()) & {variable.name for variable in variables.values()}
            CHANGES[way](tf, variables)
            expected = {variables[name].name for name in CHANGED.get(way, {'rows'})}
            assert set(changed()) & {variable.name for variable in variables.values()} == expected
        assert {name: bits(variable) for name, variable in variables.items()} == before


def test_keeping_is_on_no_tape_and_no_record(tf: Any, variables: dict[str, Any], tmp_path: Any) -> None:
    host = TensorFlowHost(parts())
    with pyfuncdbg.attach('tensorflow'), pyfuncdbg.record(tmp_path / 't.pfd', ops=True) as recorder, \
            tf.GradientTape() as tape:
        with host.restored_state():
            pass
        loss = variables['rows'] * 2.0
        assert [variable.name for variable in tape.watched_variables()] == ['rows:0']
    assert np.array_equal(tape.gradient(loss, variables['rows']), np.full((3, 2), 2.0))
    assert [call.site.op_type for call in recorder.trace().calls(kind='op')].count('ReadVariableOp') == 1


def test_variables_without_a_value_and_of_graphs_are_no_obstacle(tf: Any) -> None:
    v1 = tf.compat.v1
    with tf.Graph().as_default():
        graph_variable = v1.get_variable('g', [2], use_resource=True)
    deleted = tf.Variable(1.0, name='deleted')
    tf.raw_ops.DestroyResourceOp(resource=deleted.handle)
    with TensorFlowHost(parts()).restored_state() as changed:
        assert graph_variable.name not in changed() and deleted.name not in changed()


def test_a_line_that_is_looked_for_counts_nothing(tf: Any, tmp_path: Any) -> None:
    count = tf.Variable(0.0, name='count')

    def spoiled(x: Any) -> Any:
        count.assign_add(1.0)
        return tf.math.log(x) * tf.cast(count > 0.0, tf.float32)
    with pyfuncdbg.attach('tensorflow'), pyfuncdbg.record(tmp_path / 't.pfd'), \
            ScriptedUser(['health --line EagerPyFunc', 'cont']) as user:
        debugger.start()
        number = debugger.breakpoints.set('spoiled', timing='after-call', once=True).number
        try:
            results = [tf.py_function(spoiled, [tf.constant(x)], tf.float32).numpy() for x in (-1.0, 1.0)]
        finally:
            debugger.breakpoints.clear(number)
    assert np.isnan(results[0]) and results[1] == 0.0 and count.numpy() == 2.0
    assert 'tf.math.log' in str(user.answers[0]) and 'count' in str(user.answers[0])
