"""Ragged tensors: rows made in every way, in eager code and graphs, and what becomes of values and gradients."""
from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import pyfuncdbg.tf as tf
from pyfuncdbg.errors import InvalidArgumentError
from pyfuncdbg.hosts.numpy.graph.types import nest

R = tf.RaggedTensor
ROWS = st.lists(st.lists(st.integers(-100, 100), max_size=5), min_size=1, max_size=6)


def ragged(rows: list[list[int]]) -> Any:
    return R.from_row_lengths(np.array([x for row in rows for x in row], np.int64), [len(row) for row in rows])


@settings(max_examples=40, deadline=None)
@given(ROWS)
def test_rows_are_the_same_whichever_way_they_are_told(rows: list[list[int]]) -> None:
    values = np.array([x for row in rows for x in row], np.int64)
    lengths = [len(row) for row in rows]
    ends = np.cumsum(lengths)
    numbers = np.repeat(np.arange(len(rows)), lengths)
    ways = [R.from_row_lengths(values, lengths), R.from_row_splits(values, [0, *ends]), R.from_row_limits(values, ends),
            R.from_row_starts(values, [0, *ends[:-1]]), R.from_value_rowids(values, numbers, nrows=len(rows))]
    assert [way.to_list() for way in ways] == [rows] * 5
    assert ways[0].value_rowids().numpy().tolist() == numbers.tolist()


@settings(max_examples=40, deadline=None)
@given(ROWS)
def test_to_a_tensor_and_a_sparse_one_and_back(rows: list[list[int]]) -> None:
    made = ragged(rows)
    width = max(map(len, rows))
    assert made.to_tensor(-1).numpy().tolist() == [row + [-1] * (width - len(row)) for row in rows]
    assert R.from_sparse(made.to_sparse()).to_list() == rows
    assert R.from_tensor(made.to_tensor(), lengths=[len(row) for row in rows]).to_list() == rows


@settings(max_examples=40, deadline=None)
@given(ROWS, st.integers(-4, 4), st.integers(-4, 4))
def test_slices_are_those_of_lists(rows: list[list[int]], start: int, stop: int) -> None:
    made = ragged(rows)
    assert made[start:stop].to_list() == rows[start:stop]
    assert made[:, start:stop].to_list() == [row[start:stop] for row in rows]
    assert made[::-1].to_list() == rows[::-1]


@settings(max_examples=30, deadline=None)
@given(ROWS)
def test_sums_and_concatenation_are_those_of_rows(rows: list[list[int]]) -> None:
    made = ragged(rows)
    assert tf.reduce_sum(made, 1).numpy().tolist() == [sum(row) for row in rows]
    columns = [[row[i] for row in rows if i < len(row)] for i in range(max(map(len, rows)))]
    assert tf.reduce_sum(made, 0).numpy().tolist() == [sum(column) for column in columns]
    assert tf.concat([made, made], 1).to_list() == [row + row for row in rows]
    assert (made + made).to_list() == [[2 * x for x in row] for row in rows]


def test_a_column_goes_along_each_row() -> None:
    x = tf.ragged.constant([[1., 2.], [3.]])
    column = [[10.], [20.]]
    assert (x + column).to_list() == [[11., 12.], [23.]]
    assert (tf.constant([[10.], [20.]]) - x).to_list() == [[9., 8.], [17.]]


def test_rows_that_differ_are_not_added() -> None:
    with pytest.raises(InvalidArgumentError):
        tf.ragged.constant([[1], [2, 3]]) + tf.ragged.constant([[1, 2], [3]])


def test_rows_that_differ_are_not_added_in_a_graph_either() -> None:
    @tf.function(autograph=False)
    def add(x: Any, y: Any) -> Any:
        return x + y
    assert add(tf.ragged.constant([[1], [2]]), tf.ragged.constant([[3], [4]])).to_list() == [[4], [6]]
    with pytest.raises(InvalidArgumentError):
        add(tf.ragged.constant([[1], [2, 3]]), tf.ragged.constant([[1, 2], [3]]))


def test_the_gradient_has_the_rows_of_its_source() -> None:
    x = tf.ragged.constant([[1., 2.], [], [3.]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(x.to_tensor() * [[1., 10.], [5., 5.], [100., 1.]]) + tf.reduce_sum(x[:, :1] ** 2)
    assert tape.gradient(y, x).to_list() == [[3., 10.], [], [106.]]


def test_a_traced_function_is_traced_once_for_rows_of_one_shape() -> None:
    seen = []

    @tf.function(autograph=False)
    def double(x: Any) -> Any:
        seen.append(x.shape)
        return x * 2
    assert double(tf.ragged.constant([[1, 2], [3]])).to_list() == [[2, 4], [6]]
    assert double(tf.ragged.constant([[1], [2, 3, 4]])).to_list() == [[2], [4, 6, 8]]
    assert seen == [[2, None]]


def test_a_signature_takes_rows_of_any_shape_in_one_trace() -> None:
    seen = []

    @tf.function(autograph=False, input_signature=[tf.RaggedTensorSpec([None, None], tf.int32)])
    def total(x: Any) -> Any:
        seen.append(x.shape)
        return tf.reduce_sum(x, 1)
    assert total(tf.ragged.constant([[1, 2], [3]])).numpy().tolist() == [3, 3]
    assert total(tf.ragged.constant([[1], [2], [3]])).numpy().tolist() == [1, 2, 3]
    assert seen == [[None, None]]
    with pytest.raises(TypeError, match='Can not cast'):
        total(tf.ragged.constant([[1.]]))


def test_a_session_fetches_and_is_fed_values() -> None:
    with tf.Graph().as_default():
        x = tf.ragged.placeholder(tf.int32, 2)
        given_value = tf.ragged.constant_value([[[1], [2, 3]], []], dtype=np.int32)
        with tf.Session() as session:
            found = session.run({'x': x, 'sum': [tf.reduce_sum(x, 2)]}, {x: given_value})
    assert found['x'].to_list() == [[[1], [2, 3]], []]
    assert found['sum'][0].to_list() == [[1, 5], []]


def test_py_function_gets_and_gives_ragged_tensors() -> None:
    seen = []

    def double(x: Any) -> Any:
        seen.append((type(x), x.to_list()))
        return x * 2
    spec = tf.RaggedTensorSpec([None, None], tf.int32)
    assert tf.py_function(double, [tf.ragged.constant([[1, 2], [3]])], spec).to_list() == [[2, 4], [6]]
    assert seen == [(R, [[1, 2], [3]])]


def test_py_function_checks_the_shape_of_a_spec() -> None:
    spec = tf.RaggedTensorSpec([4, None], tf.int32)
    with pytest.raises(InvalidArgumentError, match='did not match Tout'):
        tf.py_function(lambda x: x, [tf.ragged.constant([[1, 2], [3]])], spec)


def test_nest_takes_apart_and_puts_together() -> None:
    x = tf.ragged.constant([[[1], [2, 3]], []])
    parts = nest.flatten({'a': x, 'b': 1}, expand_composites=True)
    assert [np.asarray(part).tolist() for part in parts] == [[1, 2, 3], [0, 2, 2], [0, 1, 3], 1]
    assert nest.pack_sequence_as({'a': x, 'b': 1}, parts, expand_composites=True)['a'].to_list() == x.to_list()
