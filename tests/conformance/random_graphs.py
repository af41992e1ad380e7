"""Programs of 5 to 50 ops made by hypothesis: their values and gradients, with any module that has TensorFlow's names.

Every op keeps the shape [3, 4] and values within a few units, so that any may follow any other and rounding stays small.
"""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

SHAPE = (3, 4)
OPS: dict[str, tuple[int, Callable[..., Any]]] = {
    'add': (2, lambda tf, a, b: (a + b) / 2.),
    'sub': (2, lambda tf, a, b: (a - b) * 0.5),
    'mul': (2, lambda tf, a, b: a * b * 0.3),
    'div': (2, lambda tf, a, b: a / (1. + b * b)),
    'maximum': (2, lambda tf, a, b: tf.maximum(a, b)),
    'where': (2, lambda tf, a, b: tf.where(a > b, a, 0.5 * b)),
    'difference': (2, lambda tf, a, b: tf.tanh(tf.math.squared_difference(a, b))),
    'matmul': (2, lambda tf, a, b: tf.tanh(tf.matmul(tf.matmul(a, b, transpose_b=True), a))),
    'joined': (2, lambda tf, a, b: tf.concat([a, b], 0)[1:4]),
    'stacked': (2, lambda tf, a, b: tf.reduce_mean(tf.stack([a, b, a]), 0)),
    'einsum': (2, lambda tf, a, b: tf.tanh(tf.tensordot(a, b, [[1], [1]])) @ a * 0.3),
    'tanh': (1, lambda tf, a: tf.tanh(a)),
    'sigmoid': (1, lambda tf, a: tf.sigmoid(a)),
    'sin': (1, lambda tf, a: tf.sin(2. * a)),
    'exp': (1, lambda tf, a: tf.exp(-a * a)),
    'sqrt': (1, lambda tf, a: tf.sqrt(a * a + 1.)),
    'log': (1, lambda tf, a: tf.math.log(a * a + 1.)),
    'softmax': (1, lambda tf, a: tf.nn.softmax(a)),
    'softplus': (1, lambda tf, a: tf.nn.softplus(a) * 0.5),
    'relu': (1, lambda tf, a: tf.nn.relu(a)),
    'clip': (1, lambda tf, a: tf.clip_by_value(a, -0.4, 0.6)),
    'centred': (1, lambda tf, a: a - tf.reduce_mean(a, 1, keepdims=True)),
    'norm': (1, lambda tf, a: a / (1. + tf.reduce_sum(a * a))),
    'cumsum': (1, lambda tf, a: tf.cumsum(a, 1) * 0.25),
    'turned': (1, lambda tf, a: tf.transpose(tf.reshape(a, [4, 3]))),
    'rows': (1, lambda tf, a: tf.gather(a, [2, 0, 2])),
    'columns': (1, lambda tf, a: tf.gather(a, [3, 1, 0, 1], axis=1)),
    'padded': (1, lambda tf, a: tf.pad(a, [[0, 0], [2, 0]])[:, 1:5]),
    'reversed': (1, lambda tf, a: tf.reverse(a, [1])),
    'split': (1, lambda tf, a: tf.concat(tf.split(a, 2, 1)[::-1], 1)),
    'tiled': (1, lambda tf, a: tf.tile(a[:1], [3, 1])),
    'picked': (1, lambda tf, a: a[::-1, ::-1]),
    'cast': (1, lambda tf, a: tf.cast(tf.cast(a, tf.float64), a.dtype)),
    'stopped': (1, lambda tf, a: tf.stop_gradient(a) * 0.5 + a * 0.5),
    'scattered': (1, lambda tf, a: tf.scatter_nd([[2], [0], [2]], a, [3, 4])),
}
_EDGES = {'maximum': (0.,), 'where': (0.,), 'relu': (0.,), 'clip': (-0.4, 0.6)}
"""Where an op has a corner: a rounding error there changes a gradient as a whole."""


@dataclass(frozen=True, slots=True)
class RandomGraph:
    """Ops with the places of their inputs among what came before (0 and 1 are fed), the dtype, and what is fetched."""

    steps: tuple[tuple[str, tuple[int, ...]], ...]
    dtype: str
    seed: int

    def feeds(self) -> list[Any]:
        """Values for the two inputs."""
        random = np.random.default_rng(self.seed)
        return [random.uniform(-1, 1, SHAPE).astype(self.dtype) for _ in range(2)]

    def built(self, tf: Any, inputs: list[Any]) -> list[Any]:
        """The inputs and the result of each op."""
        values = list(inputs)
        for name, places in self.steps:
            values.append(OPS[name][1](tf, *(values[i] for i in places)))
        return values


    def clear_of_corners(self, values: list[Any]) -> bool:
        """Whether no value is so close to an op's corner that a rounding error could move it across."""
        for name, places in self.steps:
            found = [np.asarray(values[i]) for i in places]
            apart = found[0] - found[1] if len(found) == 2 else found[0]
            if any(0 < abs(d) < 1e-3 for edge in _EDGES.get(name, ()) for d in (apart - edge).ravel()):
                return False
        return True


@st.composite
def random_graphs(draw: st.DrawFn) -> RandomGraph:
    steps: list[tuple[str, tuple[int, ...]]] = []
    for _ in range(draw(st.integers(5, 50))):
        name = draw(st.sampled_from(sorted(OPS)))
        count = len(steps) + 2
        # Mostly what is near: chains, not only a wide first layer.
        places = tuple(count - 1 - draw(st.integers(0, min(count - 1, 5))) for _ in range(OPS[name][0]))
        steps.append((name, places))
    return RandomGraph(tuple(steps), draw(st.sampled_from(['float32', 'float64'])), draw(st.integers(0, 99)))


def values_and_gradients(tf: Any, graph: RandomGraph) -> tuple[list[Any], list[Any]]:
    """The value of every op, and the gradients of the sum of the last three by the inputs: in a session."""
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        inputs = [v1.placeholder(graph.dtype, SHAPE) for _ in range(2)]
        values = graph.built(tf, inputs)
        found = tf.gradients([tf.reduce_sum(value) for value in values[-3:]], inputs, unconnected_gradients='zero')
        return session.run([values, [tf.convert_to_tensor(gradient) for gradient in found]],
                           dict(zip(inputs, graph.feeds(), strict=True)))


def taped(tf: Any, graph: RandomGraph) -> list[Any]:
    """The same gradients by a tape, and those of their sum of squares: first and second order."""
    inputs = [tf.constant(value) for value in graph.feeds()]
    with tf.GradientTape() as outer:
        outer.watch(inputs)
        with tf.GradientTape() as inner:
            inner.watch(inputs)
            total = tf.add_n([tf.reduce_sum(value) for value in graph.built(tf, inputs)[-3:]])
        first = [tf.convert_to_tensor(g) for g in inner.gradient(total, inputs, unconnected_gradients='zero')]
        squares = tf.add_n([tf.reduce_sum(g * g) for g in first])
    second = outer.gradient(squares, inputs, unconnected_gradients='zero')
    return [np.asarray(tf.convert_to_tensor(g)) for g in (*first, *second)]
