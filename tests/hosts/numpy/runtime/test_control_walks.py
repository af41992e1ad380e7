"""A run that is paused inside of branches and loops: step by step, to the next execution of a node, and out again."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pyfuncdbg import tf
from pyfuncdbg.hooks.call import Call
from pyfuncdbg.hooks.chain import hooks


class Pauser:
    """Pauses a run before the node after one of its Python calls, then does what a list of actions says."""

    kinds = frozenset(('python',))

    def __init__(self, at: int, *actions: Callable[[Any], None]) -> None:
        self.at = at
        self.actions = list(actions)
        self.places: list[str] = []
        self.calls: list[tuple[str, int]] = []

    def around(self, call: Call, proceed: Callable[[], Any]) -> Any:
        self.calls.append((call.site.name, call.ordinal))
        if len(self.calls) == self.at + 1:
            self.run = call.run
            call.run.control.pause(self.on_pause)
        return proceed()

    def on_pause(self) -> None:
        control = self.run.control
        names = [site.name for site in control.sites]
        self.places.append(names[control.position] if control.position < len(names) else 'end')
        if self.actions:
            self.actions.pop(0)(control)
        else:
            control.resume()


def step(control: Any) -> None:
    control.go_to(control.position + 1)


def to(name: str) -> Callable[[Any], None]:
    def go(control: Any) -> None:
        control.go_to([site.name for site in control.sites].index(name))
    return go


class Program:
    """x → a loop of 3 iterations with a Python call → a branch with another → out."""

    def __init__(self) -> None:
        with tf.Graph().as_default() as graph:
            self.x = tf.compat.v1.placeholder(tf.float64, [], name='x')

            def body(i: Any, a: Any) -> Any:
                h = tf.ensure_shape(tf.numpy_function(lambda a: a * 2, [a], tf.float64, name='twice'), [])
                return i + 1, tf.add(h, 1., name='more')
            _, y = tf.while_loop(lambda i, a: i < 3, body, [0, self.x])
            self.out = tf.add(tf.cond(y > 0., lambda: tf.numpy_function(lambda a: -a, [y], tf.float64, name='minus'),
                                      lambda: y), 0.5, name='out')
        self.session = tf.compat.v1.Session(graph=graph)

    def run(self, pauser: Pauser | None = None) -> Any:
        if pauser is None:
            return self.session.run(self.out, {self.x: 1.0})
        hooks.add(pauser)
        try:
            return self.session.run(self.out, {self.x: 1.0})
        finally:
            hooks.remove(pauser)


@pytest.fixture
def program() -> Program:
    return Program()


PLAIN = -14.5


def test_steps_go_through_the_iterations_and_out_into_the_graph(program: Program) -> None:
    pauser = Pauser(1, *[step] * 16)
    assert program.run(pauser) == program.run() == PLAIN
    iteration = ['add', 'more', 'Less', 'twice', 'EnsureShape']
    assert pauser.places[0] == 'EnsureShape'
    assert pauser.places[1:6] == iteration
    assert pauser.places[6:9] == ['add', 'more', 'Less']
    assert pauser.places[9] == 'while/Identity_3'
    assert pauser.places[-4:] == ['cond', 'cond/Identity', 'out', 'end']


def test_a_branch_is_one_step_or_is_entered(program: Program) -> None:
    pauser = Pauser(2, to('twice'), to('cond'), lambda control: control.enter(), step, step)
    assert program.run(pauser) == PLAIN
    assert pauser.places == ['EnsureShape', 'while/Identity_3', 'cond', 'minus', 'cond/Identity', 'out']


def test_to_a_node_that_has_run_is_its_next_execution(program: Program) -> None:
    pauser = Pauser(0, to('twice'), to('EnsureShape'), to('twice'), lambda control: control.resume())
    assert program.run(pauser) == PLAIN
    assert pauser.places == ['EnsureShape', 'twice', 'EnsureShape', 'twice']
    assert pauser.calls == [('twice', 0), ('twice', 1), ('twice', 2), ('minus', 0)]


def test_to_a_node_that_does_not_come_again_pauses_behind_the_loop(program: Program) -> None:
    pauser = Pauser(2, to('twice'), lambda control: control.resume())
    assert program.run(pauser) == PLAIN
    assert pauser.places == ['EnsureShape', 'while/Identity_3']


def test_a_value_injected_into_an_iteration_goes_on(program: Program) -> None:
    def inject(control: Any) -> None:
        control.inject('twice:0', np.array(100.0))
        control.resume()
    assert program.run(Pauser(1, inject)) == -(((100 + 1) * 2 + 1) - 0.5)


def test_an_iteration_is_rewound_to_its_beginning(program: Program) -> None:
    def rewind(control: Any) -> None:
        control.rewind(0)
    pauser = Pauser(1, step, rewind, lambda control: control.resume())
    assert program.run(pauser) == PLAIN
    assert pauser.places == ['EnsureShape', 'add', 'twice']
    assert len([name for name, _ in pauser.calls if name == 'twice']) == 3      # what it gave stands


def test_a_backwards_loop_can_be_paused_too() -> None:
    with tf.Graph().as_default() as graph, tf.compat.v1.Session(graph=graph) as session:
        x = tf.compat.v1.placeholder(tf.float64, [])

        def body(i: Any, a: Any) -> Any:
            return i + 1, tf.ensure_shape(tf.py_function(lambda a: a * a, [a], tf.float64, name='square'), [])
        y = tf.while_loop(lambda i, a: i < 3, body, [0, x])[1]
        g = tf.gradients(y, x)[0]
        pauser = Pauser(0, *[step] * 200)
        hooks.add(pauser)
        try:
            assert session.run(g, {x: 1.1}) == pytest.approx(8 * 1.1 ** 7)
        finally:
            hooks.remove(pauser)
    assert pauser.places.count('square') == 2 and any('Grad' in place or 'grad' in place for place in pauser.places)
