"""IndexedSlices: the gradient of a gather, how parts of it add up, and what becomes of it where a tensor is needed."""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from wrapped_calls import Keeper

from pyfuncdbg import tf
from pyfuncdbg.hooks.chain import hooks
from pyfuncdbg.hosts.numpy.runtime.backward.indexed_slices import IndexedSlices

TABLE = np.arange(6, dtype=np.float32).reshape(3, 2)


@pytest.fixture
def gradient_calls() -> Iterator[Keeper]:
    keeper = Keeper('gradient')
    hooks.add(keeper)
    yield keeper
    hooks.remove(keeper)


def of_gathers(*places: list[int], beside: bool = False) -> Any:
    table = tf.constant(TABLE)
    with tf.GradientTape() as tape:
        tape.watch(table)
        total = tf.add_n([tf.reduce_sum(tf.gather(table, at)) for at in places])
        if beside:
            total += tf.reduce_sum(table * table)
    return tape.gradient(total, table)


def test_several_gathers_give_all_their_slices_and_a_dense_part_makes_a_tensor() -> None:
    found = of_gathers([0, 2], [2])
    assert isinstance(found, IndexedSlices)
    assert sorted(found.indices.numpy().tolist()) == [0, 2, 2] and found.shape == [3, 2]
    assert tf.convert_to_tensor(found).numpy().tolist() == [[1, 1], [0, 0], [2, 2]]
    mixed = of_gathers([0, 2], beside=True)
    assert mixed.numpy().tolist() == [[1, 3], [4, 6], [9, 11]]


def test_gather_nd_of_whole_rows_gives_slices_and_of_elements_a_tensor() -> None:
    table = tf.constant(TABLE)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(table)
        rows = tf.gather_nd(table, tf.constant([[2], [0], [2]], tf.int64))
        dense = [tf.gather_nd(table, [[2, 0]]), tf.gather_nd(table, [[[2]]]), tf.gather_nd(table, [[0], [0], [1]], 1),
                 tf.gather_nd(table * 1.0, [[2]])]
    found = tape.gradient(rows, table)
    assert isinstance(found, IndexedSlices) and found.indices.dtype == found.dense_shape.dtype == tf.int64
    assert [part.numpy().tolist() for part in (found.indices, found.values, found.dense_shape)] == [
        [2, 0, 2], [[1, 1]] * 3, [3, 2]]
    assert [tape.gradient(part, table).numpy().tolist() for part in dense] == [
        [[0, 0], [0, 0], [1, 0]], [[0, 0], [0, 0], [1, 1]], [[1, 0], [1, 0], [0, 1]], [[0, 0], [0, 0], [1, 1]]]


def test_indices_of_both_widths_add_up() -> None:
    table = tf.constant(TABLE)
    with tf.GradientTape() as tape:
        tape.watch(table)
        total = tf.reduce_sum(tf.gather(table, tf.constant([1], tf.int64))) + tf.reduce_sum(tf.gather(table, [1]))
    found = tape.gradient(total, table)
    assert found.indices.dtype == tf.int64 and tf.convert_to_tensor(found).numpy()[1].tolist() == [2, 2]


def test_fetched_in_any_structure_and_by_its_parts() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        table = tf.placeholder(tf.float32, [None, 2])
        slices, = tf.gradients(tf.gather(table, [1, 1]), table)
        found = session.run({'g': [slices, slices.indices]}, {table: TABLE})
        assert type(found['g'][0]).__name__ == 'IndexedSlicesValue'
        assert found['g'][0].dense_shape.tolist() == [3, 2] and found['g'][1].tolist() == [1, 1]
        assert session.run(tf.convert_to_tensor(slices), {table: TABLE}).tolist() == [[0, 0], [2, 2], [0, 0]]


def test_an_optimizer_takes_slices_and_leaves_other_rows_alone() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        table = tf.Variable(TABLE)
        step = tf.train.GradientDescentOptimizer(0.5).minimize(tf.reduce_sum(tf.gather(table, [2, 2])))
        session.run(tf.global_variables_initializer())
        session.run(step)
        assert session.run(table).tolist() == [[0, 1], [2, 3], [3, 4]]


def test_a_function_gives_slices_as_what_it_calls_does() -> None:
    table = tf.constant(TABLE)
    with tf.GradientTape() as tape:
        tape.watch(table)
        result = tf.function(lambda t: tf.gather(t, [1, 1]))(table)
    slices = tape.gradient(result, table)
    assert slices.indices.numpy().tolist() == [1, 1]
    assert slices.values.numpy().tolist() == [[1, 1], [1, 1]]
    assert slices.dense_shape.numpy().tolist() == [3, 2]


def test_a_py_function_and_a_jacobian_give_tensors() -> None:
    table = tf.constant(TABLE)
    with tf.GradientTape() as tape:
        tape.watch(table)
        result = tf.py_function(lambda u: tf.reduce_sum(tf.gather(u, [1])), [table], tf.float32)
    assert tape.gradient(result, table).numpy().tolist() == [[0, 0], [1, 1], [0, 0]]
    with tf.GradientTape() as tape:
        tape.watch(table)
        row = tf.gather(table, [1])[0]
    assert tape.jacobian(row, table).numpy().tolist() == [[[0, 0], [1, 0], [0, 0]], [[0, 0], [0, 1], [0, 0]]]


def test_who_watches_gradients_sees_the_slices(gradient_calls: Keeper) -> None:
    of_gathers([0, 2])
    (call,) = (call for call in gradient_calls.calls if call.site.op_type == 'GatherV2')
    assert call.site.host.to_numpy(call.outputs[0]).tolist() == [[1, 1], [1, 1]]


def test_without_a_shape_it_is_no_tensor() -> None:
    slices = IndexedSlices(tf.constant([[1.]]), tf.constant([0]))
    with pytest.raises(ValueError, match='IndexedSlices for argument `value` without dense_shape'):
        tf.convert_to_tensor(slices)
