"""Sparse tensors: the whole that they stand for, through every op, session, traced function and py_function."""
from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import pyfuncdbg.tf as tf
from pyfuncdbg.errors import InvalidArgumentError

D = tf.sparse.to_dense
WHOLE = st.integers(1, 4).flatmap(lambda m: st.integers(1, 4).flatmap(lambda n: st.lists(
    st.lists(st.sampled_from([0., 0., 1., -2., 3.]), min_size=n, max_size=n), min_size=m, max_size=m)))


@settings(max_examples=40, deadline=None)
@given(WHOLE)
def test_ops_do_what_they_do_with_the_whole(rows: list[list[float]]) -> None:
    whole = np.array(rows, np.float32)
    sparse = tf.sparse.from_dense(whole)
    assert len(sparse.values.numpy()) == np.count_nonzero(whole)
    for found, expected in ((D(sparse), whole), (D(tf.sparse.transpose(sparse)), whole.T),
                            (D(tf.sparse.add(sparse, sparse)), whole * 2), (tf.sparse.add(sparse, whole), whole * 2),
                            (tf.sparse.reduce_sum(sparse, 0), whole.sum(0)), (tf.sparse.reduce_sum(sparse, 1), whole.sum(1)),
                            (D(tf.sparse.concat(0, [sparse, sparse])), np.concatenate([whole, whole])),
                            (D(tf.sparse.concat(1, [sparse, sparse])), np.concatenate([whole, whole], 1)),
                            (D(tf.sparse.reshape(sparse, [-1])), whole.reshape(-1)), (D(sparse * 2.), whole * 2),
                            (D(tf.sparse.slice(sparse, [0, 0], [1, 9])), whole[:1]),
                            (tf.sparse.sparse_dense_matmul(sparse, whole.T), whole @ whole.T),
                            (tf.sparse.sparse_dense_matmul(sparse, whole, adjoint_a=True), whole.T @ whole)):
        np.testing.assert_allclose(found.numpy(), expected, rtol=1e-6)


def test_elements_out_of_order_are_refused_until_reordered() -> None:
    sparse = tf.SparseTensor([[1, 0], [0, 1]], [1, 2], [2, 2])
    with pytest.raises(InvalidArgumentError, match=r'indices\[1\] = \[0,1\] is out of order'):
        D(sparse)
    assert D(tf.sparse.reorder(sparse)).numpy().tolist() == [[0, 2], [1, 0]]


def test_a_row_without_elements_has_no_greatest() -> None:
    assert tf.sparse.reduce_max(tf.SparseTensor([[0, 0], [0, 1]], [-5., -7.], [2, 2]), 1).numpy().tolist() == [-5., 0.]


def test_a_product_is_differentiated_by_the_elements() -> None:
    values = tf.constant([2., 3.])
    with tf.GradientTape() as tape:
        tape.watch(values)
        product = tf.sparse.sparse_dense_matmul(tf.SparseTensor([[0, 1], [1, 0]], values, [2, 2]), [[1., 2.], [10., 20.]])
    assert tape.gradient(product, values).numpy().tolist() == [30., 3.]


def test_a_session_fetches_and_is_fed_values() -> None:
    with tf.Graph().as_default():
        x = tf.sparse.placeholder(tf.float32, [2, 3])
        with tf.Session() as session:
            found = session.run([x, D(x)], {x: tf.SparseTensorValue([[0, 1]], [5.], [2, 3])})
    assert found[1].tolist() == [[0, 5, 0], [0, 0, 0]]
    assert [part.tolist() for part in found[0]] == [[[0, 1]], [5.], [2, 3]]


def test_py_function_gets_and_gives_sparse_tensors() -> None:
    def negated(x: Any) -> Any:
        assert type(x) is tf.SparseTensor
        return x.with_values(-x.values)
    sparse = tf.sparse.from_dense([[0., 2.], [3., 0.]])
    call = tf.function(lambda x: tf.py_function(negated, [x], tf.SparseTensorSpec([2, 2])), autograph=False)
    assert D(call(sparse)).numpy().tolist() == [[0., -2.], [-3., 0.]]
    assert D(tf.py_function(negated, [sparse], tf.SparseTensorSpec([2, 2]))).numpy().tolist() == [[0., -2.], [-3., 0.]]


def test_what_is_no_whole_is_refused() -> None:
    with pytest.raises(ValueError, match='must have rank 2'):
        tf.SparseTensor([0, 1], [1.], [2])
    with pytest.raises(ValueError, match='not compatible'):
        tf.SparseTensor([[0, 1]], [1., 2.], [2, 2])
