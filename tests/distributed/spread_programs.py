"""Programs whose loops, conditionals and functions have nodes of several tasks, for any `tf`: ours, and the real TensorFlow.

As a script, `spread_programs.py FILE` runs them on three gRPC servers of the real TensorFlow, and saves what they give.
"""
from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

PS, FIRST, SECOND = '/job:ps/task:0', '/job:worker/task:0', '/job:worker/task:1'
Program = Callable[[Any, Callable[[str], Any]], tuple[list[Any], dict[Any, Any]]]
"""From `tf` and what places nodes to fetches and feeds."""


def variable(tf: Any, name: str, value: Any) -> Any:
    return tf.compat.v1.get_variable(name, initializer=value, use_resource=True)


def with_gradient(tf: Any, y: Any, x: Any) -> list[Any]:
    return [y, *tf.compat.v1.gradients(y, x)]


def loop(tf: Any, on: Any) -> Any:
    """With a gradient of the gradient, and a tensor from outside."""
    x = tf.compat.v1.placeholder(tf.float32, [2])

    def body(i: Any, y: Any) -> Any:
        with on(SECOND):
            y = tf.tanh(y)
        with on(FIRST):
            y = y * 1.5 + x
        return i + 1, y
    y = tf.while_loop(lambda i, _: i < 4, body, [0, x])[1]
    y, gradient = with_gradient(tf, y, x)
    return [y, gradient, *tf.compat.v1.gradients(gradient * gradient, x)], {x: [.5, -2.]}


def nested(tf: Any, on: Any) -> Any:
    """A loop and a branch within a loop, each with other tasks."""
    x = tf.compat.v1.placeholder(tf.float32, [2])

    def inner(j: Any, z: Any) -> Any:
        with on(FIRST):
            z = tf.sin(z)
        with on(PS):
            return j + 1, z + 1.

    def outer(i: Any, y: Any) -> Any:
        with on(SECOND):
            y = tf.tanh(y)
        y = tf.while_loop(lambda j, _: j < 2, inner, [0, y])[1]
        with on(PS):
            return i + 1, tf.cond(y[0] > 1., lambda: y * 2., lambda: y - 1.)
    return with_gradient(tf, tf.while_loop(lambda i, _: i < 3, outer, [0, x])[1], x), {x: [.5, -2.]}


def branches(tf: Any, on: Any) -> Any:
    x = tf.compat.v1.placeholder(tf.float32, [2])

    def branch(first: str, op: Any, factor: float) -> Any:
        def made() -> Any:
            with on(first):
                a = op(x)
            with on(PS):
                return a * factor
        return made
    y = tf.cond(x[0] > 0., branch(SECOND, tf.sin, 2.), branch(FIRST, tf.cos, 3.))
    z = tf.switch_case(tf.cast(x[1], tf.int32), [branch(SECOND, tf.exp, 1.), branch(FIRST, tf.tanh, 2.)])
    return [*with_gradient(tf, y, x), *with_gradient(tf, z, x)], {x: [.5, 1.]}


def function(tf: Any, on: Any) -> Any:
    """Called on two tasks."""
    x = tf.compat.v1.placeholder(tf.float32, [2])

    @tf.function
    def summed(a: Any) -> Any:
        with on(SECOND):
            b = tf.tanh(a)
        with on(FIRST):
            return b + tf.exp(a)
    with on(PS):
        y = summed(x)
    with on(SECOND):
        z = summed(-y)
    return [y, *with_gradient(tf, z, x)], {x: [.5, -2.]}


def assignments(tf: Any, on: Any) -> Any:
    """To variables of two tasks, in the order of control dependencies."""
    with on(PS):
        v = variable(tf, 'v', [1., 2.])
    with on(SECOND):
        w = variable(tf, 'w', 3.)

    def body(i: Any, y: Any) -> Any:
        with tf.control_dependencies([v.assign_add([1., y], read_value=False)]), on(SECOND):
            a = w.assign_sub(.25)
        with tf.control_dependencies([a]):
            return i + 1, y + tf.reduce_sum(v.read_value()) * w.read_value()
    first = w.assign_add(10.)
    with tf.control_dependencies([first]):
        y = tf.while_loop(lambda i, _: i < 3, body, [0, 1.])[1]
    with tf.control_dependencies([y]):
        return [first, y, v.read_value(), w.assign(w * 2.)], {}


def gradients_of_variables(tf: Any, on: Any) -> Any:
    x = tf.compat.v1.placeholder(tf.float32, [2])
    with on(PS):
        v = variable(tf, 'v', [1., 2.])
    with on(SECOND):
        w = variable(tf, 'w', [.5, .25])

    def body(i: Any, y: Any) -> Any:
        with on(FIRST):
            return i + 1, tf.tanh(y * v + w)
    return with_gradient(tf, tf.while_loop(lambda i, _: i < 3, body, [0, x])[1], [x, v, w]), {x: [.5, -2.]}


def lists(tf: Any, on: Any) -> Any:
    x = tf.compat.v1.placeholder(tf.float32, [3, 2])
    with on(FIRST):
        array = tf.TensorArray(tf.float32, 3)

    def body(i: Any, array: Any) -> Any:
        with on(SECOND):
            row = tf.sin(x[i])
        return i + 1, array.write(i, row * 2.)

    def product(row: Any) -> Any:
        with on(SECOND):
            a = tf.tanh(row)
        with on(PS):
            return a * tf.reduce_sum(row)
    written = tf.while_loop(lambda i, _: i < 3, body, [0, array])[1].stack()
    mapped = tf.map_fn(product, x)
    return [*with_gradient(tf, written, x), *with_gradient(tf, mapped, x)], {x: [[.1, .2], [.3, .4], [.5, .6]]}


def scan(tf: Any, on: Any) -> Any:
    x = tf.compat.v1.placeholder(tf.float32, [4])

    def summed(a: Any, element: Any) -> Any:
        with on(SECOND):
            a = a * .5
        with on(FIRST):
            return a + element
    return with_gradient(tf, tf.scan(summed, x), x), {x: [1., 2., 3., 4.]}


def condition(tf: Any, on: Any) -> Any:
    """On another task than the body, with the value of a variable of a third one."""
    with on(SECOND):
        limit = variable(tf, 'limit', 20.)

    def under(i: Any, y: Any) -> Any:
        with on(PS):
            return tf.reduce_sum(y) < limit

    def body(i: Any, y: Any) -> Any:
        with on(FIRST):
            return i + 1, y * 2.
    return list(tf.while_loop(under, body, [0, tf.constant([1., 1.])])), {}


def strings(tf: Any, on: Any) -> Any:
    x = tf.compat.v1.placeholder(tf.string, [])

    def body(i: Any, text: Any) -> Any:
        with on(SECOND):
            text = tf.strings.join([text, tf.strings.as_string(i)])
        with on(PS):
            return i + 1, tf.strings.join([text, '-'])
    return [tf.while_loop(lambda i, _: i < 3, body, [0, x])[1]], {x: 'a'}


def no_iteration(tf: Any, on: Any) -> Any:
    x = tf.compat.v1.placeholder(tf.float32, [2])

    def body(i: Any, y: Any) -> Any:
        with on(SECOND):
            y = tf.tanh(y)
        with on(PS):
            return i + 1, y * 2.
    return with_gradient(tf, tf.while_loop(lambda i, _: i < 0, body, [0, x])[1], x), {x: [.5, -2.]}


def function_in_branch_in_loop(tf: Any, on: Any) -> Any:
    x = tf.compat.v1.placeholder(tf.float32, [2])
    with on(PS):
        v = variable(tf, 'v', [1., 2.])

    @tf.function
    def summed(a: Any) -> Any:
        with on(SECOND):
            b = tf.tanh(a)
        with on(PS):
            return b + v

    def body(i: Any, y: Any) -> Any:
        def twice() -> Any:
            return tf.while_loop(lambda j, _: j < 2, lambda j, z: (j + 1, summed(z) * .5), [0, y])[1]
        return i + 1, tf.cond(tf.equal(i % 2, 0), lambda: summed(y), twice)
    return with_gradient(tf, tf.while_loop(lambda i, _: i < 3, body, [0, x])[1], [x, v]), {x: [.5, -2.]}


PROGRAMS: Mapping[str, Program] = {made.__name__: made for made in (
    loop, nested, branches, function, assignments, gradients_of_variables, lists, scan, condition, strings, no_iteration,
    function_in_branch_in_loop)}


def values(tf: Any, target: str, program: Program, on: Callable[[str], Any]) -> list[np.ndarray]:
    """What a program gives in two runs of a session."""
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session(target) as session:
        fetches, feeds = program(tf, on)
        session.run(v1.global_variables_initializer())
        return [np.asarray(value) for _ in range(2) for value in session.run(fetches, feeds)]


def main(file: str) -> None:
    import os
    import pickle
    import socket
    os.environ['TF_CPP_MIN_LOG_LEVEL'] = '3'
    import tensorflow as tf
    addresses = []
    for _ in range(3):
        with socket.socket() as free:
            free.bind(('localhost', 0))
            addresses.append(f'localhost:{free.getsockname()[1]}')
    spec = tf.train.ClusterSpec({'worker': addresses[:2], 'ps': addresses[2:]})
    servers = [tf.distribute.Server(spec, job, task) for job, task in (('worker', 0), ('worker', 1), ('ps', 0))]
    results = {}
    for name, program in PROGRAMS.items():
        results[name] = values(tf, servers[0].target, program, tf.device)
        tf.compat.v1.Session.reset(servers[0].target)
    with open(file, 'wb') as saved:
        pickle.dump(results, saved)
    os._exit(0)                                 # servers cannot be stopped


if __name__ == '__main__':
    import sys
    main(sys.argv[1])
