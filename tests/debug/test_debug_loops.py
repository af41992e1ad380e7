"""A user inside of a loop: the stack with the nodes around, steps from iteration to iteration, and `to` a later one."""
from __future__ import annotations

from typing import Any

from scripted_stops import typing

from pyfuncdbg import tf


def run() -> Any:
    """out = -(a loop of 3 iterations that doubles), the sign changed in a branch."""
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        def body(i: Any, a: Any) -> Any:
            return i + 1, tf.ensure_shape(tf.numpy_function(lambda a: a * 2, [a], tf.float64, name='twice'), [])
        y = tf.while_loop(lambda i, a: i < 3, body, [0, tf.constant(1.5, tf.float64)])[1]
        out = tf.cond(y > 0., lambda: tf.numpy_function(lambda a: -a, [y], tf.float64, name='minus'), lambda: y)
        return session.run(tf.identity(out, name='out'))


def test_the_stack_has_the_loop_around_a_node_of_its_body() -> None:
    with typing('break twice[1]', 'cont', 'bt', 'node', 'bt', 'cont') as typist:
        assert run() == -12.0
    stacks = [text.splitlines() for line, text in typist.said if line == 'bt']
    nodes = [[line.split() for line in stack if line.split()[0] == 'node'] for stack in stacks]
    around = [['out', 'Identity,'], ['cond/Identity', 'Identity,'], ['cond', 'If,'], ['while/Identity_3', 'Identity,'],
              ['while', 'While,']]
    assert [[words[1:3] for words in stack] for stack in nodes[:2]] == [around, around]
    assert 'While, runs the node below' in stacks[0][-2] and 'twice  PyFunc' in stacks[0][-1]
    assert 'EnsureShape, is next' in stacks[1][-1]


def test_to_goes_to_a_later_iteration_and_names_its_limits() -> None:
    with typing('break twice[0] --once', 'cont', 'to twice', 'p a', 'to twice[2]', 'node', 'to twice', 'node',
                'to twice') as typist:
        assert run() == -12.0
    assert "'to' goes to the next execution of a node" in typist.shown('to twice[2]')
    positions = [card.splitlines()[0] for card in typist.cards]
    assert [p.split("'")[1] for p in positions if 'twice' in p][:3] == ['twice', 'twice', 'twice']
    assert any("before node 'while/Identity_3'" in p for p in positions)      # there is no fourth execution
