"""Graphs that one backend writes as GraphDefs and the other one runs.

    python tests/conformance/exchange.py BACKEND make|run FOLDER

`make` writes NAME.pb and the values of its fetch `out` for the feeds below; `run` prints how far off the imported ones are.
"""
from __future__ import annotations

import importlib
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

FEEDS = ([0.5, -1., 2.], [3., 0.25, 1.])
BUILD: dict[str, Callable[[Any, Any], Any]] = {
    'arithmetic': lambda tf, x: tf.abs(x * 2. - 1.) / (x * x + 1.) + tf.maximum(x, 0.) ** 2.,
    'elementary': lambda tf, x: tf.tanh(x) + tf.sigmoid(x) * tf.exp(-tf.square(x)) + tf.math.softplus(tf.sin(x)),
    'reductions': lambda tf, x: tf.reduce_sum(x) + tf.reduce_mean(x * [1., 2., 3.], 0, keepdims=True) - tf.reduce_max(x),
    'matmul': lambda tf, x: tf.matmul(tf.reshape(x, [1, 3]), tf.constant(np.arange(6, dtype=np.float32).reshape(3, 2)))[0],
    'shapes': lambda tf, x: tf.reshape(tf.transpose(tf.tile(tf.expand_dims(x, 0), [2, 1])), tf.stack([tf.size(x) * 2])),
    'slices': lambda tf, x: tf.concat([x[1:], x[::-1], x[..., tf.newaxis][:, 0], tf.gather(x, [2, 0])], 0),
    'split': lambda tf, x: tf.add_n(tf.split(tf.pad(x, [[0, 3]]), 2)) + tf.unstack(x)[1] + tf.nn.top_k(x, 2)[0][0],
    'select': lambda tf, x: tf.where((x > 0.) & (x < 2.5), x, -x) + tf.cast(tf.cast(x, tf.int32) % 2, tf.float32),
    'one_hot': lambda tf, x: tf.matmul(tf.one_hot(tf.argsort(x), 3), x[:, tf.newaxis])[:, 0],
    'softmax': lambda tf, x: tf.nn.softmax(tf.nn.relu(x)) + tf.nn.log_softmax(x) + tf.nn.elu(x),
    'control': lambda tf, x: waiting(tf, x),
    'function': lambda tf, x: tf.function(lambda a: tf.function(lambda b, c: b * c)(a, a) + 1.)(x),
    'cond': lambda tf, x: tf.cond(tf.reduce_sum(x) > 2., lambda: x * 3., lambda: x - tf.reduce_max(x)),
    'switch': lambda tf, x: tf.switch_case(tf.argmax(x, output_type=tf.int32), [lambda: x, lambda: -x, lambda: x * x]),
    'while': lambda tf, x: tf.while_loop(lambda i, a: i < 4, lambda i, a: (i + 1, a * .5 + x), [tf.constant(0), x])[1],
    'limited': lambda tf, x: tf.while_loop(lambda a: tf.reduce_sum(a) < 100., lambda a: [a * 2. + 1.], [x],
                                           maximum_iterations=3)[0],
    'both': lambda tf, x: tf.while_loop(lambda a: tf.reduce_sum(a) < 30., lambda a: [tf.cond(
        a[0] > 2., lambda: a + 5., lambda: tf.abs(a) * 2. + 1.)], [x])[0],
    'variable': lambda tf, x: variable(tf, x),
    'gradient': lambda tf, x: tf.compat.v1.gradients(tf.reduce_sum(tf.sin(x) * x), x)[0],
    'strings': lambda tf, x: tf.strings.join([tf.as_string(tf.cast(x, tf.int32)), ['a', 'b', 'c']], '-'),
}


def waiting(tf: Any, x: Any) -> Any:
    with tf.control_dependencies([tf.debugging.check_numerics(x, 'bad')]), tf.device('/cpu:0'), tf.name_scope('scope'):
        return tf.identity(x) + 1.


def variable(tf: Any, x: Any) -> Any:
    v = tf.compat.v1.get_variable('v', initializer=[1., 2., 3.], use_resource=True)
    with tf.control_dependencies([v.initializer]):
        added = v.assign_add(x)
    with tf.control_dependencies([getattr(added, 'op', added)]):
        return v.read_value() * 2.


def make(tf: Any, folder: Path) -> None:
    v1 = tf.compat.v1
    for name, build in BUILD.items():
        with v1.Graph().as_default() as graph, v1.Session() as session:
            x = v1.placeholder(tf.float32, [3], name='x')
            out = tf.identity(build(tf, x), name='out')
            values = [np.asarray(session.run(out, {x: feed})) for feed in FEEDS]
        (folder / f'{name}.pb').write_bytes(graph.as_graph_def().SerializeToString())
        (folder / f'{name}.json').write_text(json.dumps([plain(value) for value in values]))


def plain(array: Any) -> Any:
    return [item.decode() for item in array.reshape(-1)] if array.dtype == object else array.tolist()


def alike(a: Any, b: Any) -> bool:
    if isinstance(a, list) and a and isinstance(a[0], str):
        return bool(a == b)
    return np.shape(a) == np.shape(b) and np.allclose(a, b, 1e-5, 1e-6)


def run(tf: Any, folder: Path) -> None:
    v1 = tf.compat.v1
    for path in sorted(folder.glob('*.pb')):
        expected = json.loads(path.with_suffix('.json').read_text())
        try:
            with v1.Graph().as_default(), v1.Session() as session:
                out, = tf.import_graph_def(v1.GraphDef.FromString(path.read_bytes()), return_elements=['out:0'], name='i')
                found = [plain(np.asarray(session.run(out, {'i/x:0': feed}))) for feed in FEEDS]
            same = all(alike(a, b) for a, b in zip(found, expected, strict=True))
            print(json.dumps([path.stem, 'same' if same else f'{found} for {expected}']))
        except Exception as error:              # the answer, for the test to show
            print(json.dumps([path.stem, f'{type(error).__name__}: {str(error)[:500]}']))


if __name__ == '__main__':
    os.environ.setdefault('TF_CPP_MIN_LOG_LEVEL', '3')
    {'make': make, 'run': run}[sys.argv[2]](importlib.import_module(sys.argv[1]), Path(sys.argv[3]))
