"""Random ops: ranges and moments, seeds in eager code, graphs and sessions."""
from __future__ import annotations

import numpy as np
import pytest

import pyfuncdbg.tf as tf
from pyfuncdbg.hosts.numpy.graph.graph import Graph
from pyfuncdbg.hosts.numpy.runtime.sessions.session import Session


@pytest.mark.parametrize('dtype', [tf.float16, tf.bfloat16, tf.float32, tf.float64])
def test_uniform_stays_below_one(dtype: tf.DType) -> None:
    drawn = tf.random.uniform([100_000], dtype=dtype).numpy().astype(np.float64)
    assert drawn.min() >= 0 and drawn.max() < 1
    assert abs(drawn.mean() - 0.5) < 0.01


def test_moments_of_the_distributions() -> None:
    normal = tf.random.normal([50_000], 3., 2., seed=1).numpy()
    assert abs(normal.mean() - 3) < 0.05 and abs(normal.std() - 2) < 0.05
    truncated = tf.random.truncated_normal([50_000], seed=1).numpy()
    assert np.abs(truncated).max() < 2 and abs(truncated.std() - 0.88) < 0.02
    whole = tf.random.uniform([1000], -3, 4, tf.int32, seed=1).numpy()
    assert set(whole.tolist()) == set(range(-3, 4)) and whole.dtype == np.int32


def test_shuffle_moves_whole_rows() -> None:
    rows = np.arange(20).reshape(10, 2)
    mixed = tf.random.shuffle(tf.constant(rows), seed=4).numpy()
    assert sorted(map(tuple, mixed)) == sorted(map(tuple, rows)) and not np.array_equal(mixed, rows)


def test_a_global_seed_repeats_the_program() -> None:
    def program() -> list[np.ndarray]:
        tf.random.set_seed(5)
        return [tf.random.uniform([3]).numpy(), tf.random.uniform([3]).numpy(), tf.random.normal([3], seed=2).numpy()]

    first, second = program(), program()
    np.testing.assert_array_equal(first, second)
    assert not np.array_equal(first[0], first[1])


def test_nodes_of_a_graph_have_streams_of_their_own() -> None:
    with Graph().as_default() as graph:
        tf.compat.v1.random.set_random_seed(3)
        a, b = tf.random.uniform([2], seed=1), tf.random.uniform([2], seed=1)
        c = tf.random.uniform([2])
        runs = [Session(graph=graph).run([a, b, c]) for _ in range(2)]
        session = Session(graph=graph)
        again = [session.run(a) for _ in range(2)]
    np.testing.assert_array_equal(runs[0][0], runs[0][1])        # equal seeds: equal numbers, as in TensorFlow
    assert not np.array_equal(runs[0][0], runs[0][2])
    np.testing.assert_array_equal(runs[0], runs[1])              # a new session starts anew
    np.testing.assert_array_equal(again[0], runs[0][0])
    assert not np.array_equal(again[0], again[1])                # the same session goes on


def test_without_a_seed_sessions_differ() -> None:
    with Graph().as_default() as graph:
        a = tf.random.uniform([4])
        assert not np.array_equal(Session(graph=graph).run(a), Session(graph=graph).run(a))


def test_dropout_keeps_the_mean() -> None:
    kept = tf.nn.dropout(tf.ones([10_000]), 0.25, seed=1).numpy()
    assert set(np.unique(kept).tolist()) == {0., np.float32(1 / 0.75)}
    assert abs(kept.mean() - 1) < 0.03


def test_bad_arguments_are_named() -> None:
    with pytest.raises(ValueError, match='Must specify maxval for integer dtype'):
        tf.random.uniform([2], dtype=tf.int32)
    with pytest.raises(ValueError, match=r'rate=1.5'):
        tf.nn.dropout(tf.ones([2]), 1.5)
    with pytest.raises(tf.errors.InvalidArgumentError, match='Need minval < maxval, got 5 >= 5'):
        tf.random.uniform([2], 5, 5, tf.int32)
