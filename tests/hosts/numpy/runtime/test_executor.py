"""The executor: a run that is paused from inside a Python call, looked at, moved, changed, and goes on."""
from __future__ import annotations

import io
import random
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from wrapped_calls import Keeper

from pyfuncdbg import tf
from pyfuncdbg.errors import RunAborted
from pyfuncdbg.hooks.call import Call
from pyfuncdbg.hooks.chain import hooks


class Pauser:
    """Pauses a run before the node after the first Python call, and does at each pause what a list of actions says."""

    kinds = frozenset(('python',))

    def __init__(self, *actions: Callable[[Any], None], at: int = 0) -> None:
        self.actions = list(actions)
        self.at = at
        self.stops: list[int] = []
        self.control: Any = None

    def around(self, call: Call, proceed: Callable[[], Any]) -> Any:
        if call.ordinal == self.at and not self.stops:
            self.run = call.run
            call.run.control.pause(self.on_pause)
        return proceed()

    def on_pause(self) -> None:
        self.control = self.run.control
        self.stops.append(self.control.position)
        if self.actions:
            self.actions.pop(0)(self.control)


@pytest.fixture
def paused():
    added: list[Pauser] = []

    def add(*actions: Callable[[Any], None], at: int = 0) -> Pauser:
        pauser = Pauser(*actions, at=at)
        hooks.add(pauser)
        added.append(pauser)
        return pauser
    yield add
    for pauser in added:
        hooks.remove(pauser)


class Program:
    """x → doubled → py (adds 1) → tripled → py2 (random) → out, with a variable that counts."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        with tf.Graph().as_default() as self.graph:
            self.x = tf.placeholder(tf.float32, [2], name='x')
            self.counter = tf.get_variable('counter', [], initializer=tf.zeros_initializer())
            doubled = tf.multiply(self.x, 2.0, name='doubled')
            self.py = tf.numpy_function(self.plus_one, [doubled], tf.float32, name='py')
            self.py.set_shape([2])
            tripled = tf.multiply(self.py, 3.0, name='tripled')
            with tf.control_dependencies([tripled]):
                count = self.counter.assign_add(1.0, read_value=False)
            with tf.control_dependencies([count]):
                noise = tf.random.uniform([2], seed=5, name='noise')
                self.second = tf.numpy_function(self.noisy, [tripled], tf.float32, name='py2')
            self.second.set_shape([2])
            self.out = tf.add(tripled, 0.5, name='out')
            self.noise = noise
        self.session = tf.Session(graph=self.graph)
        self.session.run(self.counter.initializer)

    def plus_one(self, a: np.ndarray) -> np.ndarray:
        self.calls.append('py')
        return a + 1

    def noisy(self, a: np.ndarray) -> np.ndarray:
        self.calls.append('py2')
        return np.full(2, np.random.rand() + random.random(), np.float32)

    def run(self) -> list[Any]:
        return self.session.run([self.out, self.second, self.noise], {self.x: [1.0, 2.0]})


@pytest.fixture
def program() -> Program:
    np.random.seed(3)
    random.seed(3)
    return Program()


def names(control: Any) -> list[str]:
    return [site.name for site in control.sites]


def test_a_pause_shows_position_values_and_sites(program: Program, paused: Any) -> None:
    seen: dict[str, Any] = {}

    def look(control: Any) -> None:
        seen['next'] = names(control)[control.position]
        seen['py'] = control.value('py:0').tolist()
        seen['x'] = control.value('x:0').tolist()
        seen['doubled'] = control.value('doubled:0').tolist()       # dropped by the plan, and pure
        with pytest.raises(KeyError, match='not computed yet'):
            control.value('out:0')
        with pytest.raises(KeyError, match=r"'pyy:0' is not in this run.*'py:0'"):
            control.value('pyy:0')
    pauser = paused(look)
    out = program.run()[0]
    assert seen == {'next': 'tripled', 'py': [3.0, 5.0], 'x': [1.0, 2.0], 'doubled': [2.0, 4.0]}
    assert len(pauser.stops) == 1 and out.tolist() == [9.5, 15.5]
    assert pauser.run.control is None


def test_go_to_and_the_end(program: Program, paused: Any) -> None:
    def to_out(control: Any) -> None:
        control.go_to(names(control).index('out'))

    def to_end(control: Any) -> None:
        assert control.value('tripled:0').tolist() == [9.0, 15.0]
        with pytest.raises(ValueError, match='use rewind'):
            control.go_to(0)
        control.go_to(len(control.sites))

    def at_end(control: Any) -> None:
        assert control.position == len(control.sites) and control.value('out:0').tolist() == [9.5, 15.5]
    pauser = paused(to_out, to_end, at_end)
    program.run()
    assert len(pauser.stops) == 3 and pauser.actions == []


def test_rewind_restores_variables_and_random_states(program: Program, paused: Any) -> None:
    expected_program = Program()
    np.random.seed(3)
    random.seed(3)
    expected = expected_program.run()
    after = np.random.rand(), random.random()
    np.random.seed(3)
    random.seed(3)

    def to_end(control: Any) -> None:
        control.go_to(999)

    def back(control: Any) -> None:
        assert float(control.nodes.execution.resources['variable', 'counter'].value) == 1.0
        control.rewind(names(control).index('tripled'))

    def there(control: Any) -> None:
        assert float(control.nodes.execution.resources['variable', 'counter'].value) == 0.0
    paused(to_end, back, there)
    found = program.run()
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_array_equal(a, b)
    assert float(program.session.run(program.counter)) == 1.0
    assert program.calls == ['py', 'py2']            # made calls give their recorded results
    assert (np.random.rand(), random.random()) == after


def test_a_rewind_over_a_python_call_uses_what_it_returned(program: Program, paused: Any) -> None:
    paused(lambda control: control.rewind(0), lambda control: control.go_to(999))
    assert program.run()[0].tolist() == [9.5, 15.5]
    assert program.calls.count('py') == 1


def test_retry_calls_again(program: Program, paused: Any) -> None:
    paused(lambda control: control.retry())
    assert program.run()[0].tolist() == [9.5, 15.5]
    assert program.calls.count('py') == 2


def test_swap_calls_another_function_and_what_depends_on_it(program: Program, paused: Any) -> None:
    def swap(control: Any) -> None:
        assert program.calls == ['py', 'py2']
        control.swap(next(site for site in control.sites if site.name == 'py'), lambda a: a + np.float32(100))
        assert names(control)[control.position] == 'py'
    paused(lambda control: control.go_to(names(control).index('py2') + 1), swap, lambda control: control.go_to(999))
    out, _, _ = program.run()
    assert out.tolist() == [(2 + 100) * 3 + 0.5, (4 + 100) * 3 + 0.5]
    assert program.calls == ['py', 'py2', 'py2']                # py2 takes what py returns
    assert program.session.run(program.counter) == 1.0          # the write below was taken back and made again


def test_swap_keeps_what_does_not_depend_on_it(program: Program, paused: Any) -> None:
    def swap(control: Any) -> None:
        control.swap(next(site for site in control.sites if site.name == 'py2'), lambda a: a * np.float32(0))
    paused(lambda control: control.go_to(names(control).index('py2') + 1), swap, lambda control: control.go_to(999))
    out, second, _ = program.run()
    assert (out.tolist(), second.tolist()) == ([9.5, 15.5], [0.0, 0.0])
    assert program.calls == ['py', 'py2']


def test_swap_of_what_is_no_python_call_changes_nothing(program: Program, paused: Any) -> None:
    def swap(control: Any) -> None:
        with pytest.raises(ValueError, match="'doubled' is not a Python call of this run"):
            control.swap(next(site for site in control.sites if site.name == 'doubled'), len)
    paused(swap)
    assert program.run()[0].tolist() == [9.5, 15.5]


def test_a_mistake_at_a_pause_is_said_and_the_run_goes_on(program: Program, paused: Any, monkeypatch: Any) -> None:
    said = io.StringIO()
    monkeypatch.setattr(sys, '__stderr__', said)
    pauser = paused(lambda control: control.go_to(-1))
    assert program.run()[0].tolist() == [9.5, 15.5]
    assert len(pauser.stops) == 1 and said.getvalue().startswith('pyfuncdbg: the action at step ')
    assert 'ValueError: step -1 has run already' in said.getvalue()


def test_inject(program: Program, paused: Any) -> None:
    def inject(control: Any) -> None:
        for wrong in (np.zeros(3, np.float32), np.zeros(2)):
            with pytest.raises(ValueError, match='as the value it replaces'):
                control.inject('py:0', wrong)
        assert control.value('py:0').tolist() == [3.0, 5.0]
        given = np.array([10.0, 20.0], np.float32)
        control.inject('py:0', given)
        given += 1
    paused(inject)
    assert program.run()[0].tolist() == [30.5, 60.5]


def test_what_was_computed_before_an_injection_stays_also_where_it_was_dropped(program: Program, paused: Any) -> None:
    seen: list[Any] = []

    def inject(control: Any) -> None:
        assert not control.holds('doubled:0')
        control.inject('x:0', np.float32([100, 200]))
        seen.extend(control.value(name).tolist() for name in ('doubled:0', 'py:0', 'x:0'))
    paused(inject)
    assert program.run()[0].tolist() == [9.5, 15.5] and seen == [[2.0, 4.0], [3.0, 5.0], [100.0, 200.0]]


def test_an_exception_in_a_step_names_its_node_also_after_a_pause(paused: Any) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [2])
        first = tf.numpy_function(lambda a: a, [x], tf.float32)
        bad = tf.numpy_function(lambda a: 1 / 0, [first], tf.float32, name='bad')
        paused(lambda control: None)
        with pytest.raises(tf.errors.UnknownError, match="Detected at node 'bad'"):
            session.run(bad, {x: [1.0, 2.0]})


def test_abort_from_a_pause_ends_the_run(program: Program, paused: Any) -> None:
    def abort(control: Any) -> None:
        raise RunAborted
    paused(abort)
    with pytest.raises(RunAborted):
        program.run()
    assert program.calls == ['py']
    program.calls.clear()
    assert program.run()[0].tolist() == [9.5, 15.5]


def test_op_calls_are_seen_with_their_values(program: Program) -> None:
    keeper = Keeper('op')
    hooks.add(keeper)
    try:
        watched = program.run()
    finally:
        hooks.remove(keeper)
    by_name = {call.site.name: call for call in keeper.calls}
    assert [v.tolist() for v in by_name['doubled'].outputs] == [[2.0, 4.0]]
    assert by_name['tripled'].site.inputs[0] == 'py:0' and by_name['py'].site.kind == 'op'
    assert watched[0].tolist() == [9.5, 15.5]


def test_a_traced_function_can_be_paused_too(paused: Any) -> None:
    seen = []
    f = tf.function(lambda x: tf.numpy_function(lambda a: a + 1, [x * 2.0], tf.float32, name='py') * 10.0)
    paused(lambda control: (seen.append(control.value('py:0').tolist()),
                            control.inject('py:0', np.array([0.0, 1.0], np.float32))))
    assert f(tf.constant([1.0, 2.0])).numpy().tolist() == [0.0, 10.0]
    assert seen == [[3.0, 5.0]]
    assert f(tf.constant([1.0, 2.0])).numpy().tolist() == [30.0, 50.0]


class Watcher:
    """Looks at each op; says how many earlier results are still in the executor."""

    kinds = frozenset(('op',))

    def __init__(self, passive: bool) -> None:
        self.passive = passive
        self.kept: list[int] = []

    def around(self, call: Call, proceed: Callable[[], Any]) -> Any:
        self.kept.append(len(call.run.control.nodes.history.values.value_by_slot))
        return proceed()


def test_values_are_dropped_after_their_last_use_when_all_who_watch_are_passive():
    with tf.Graph().as_default() as graph:
        x = y = tf.placeholder(tf.float32, [2])
        for _ in range(10):
            y = tf.add(y, x)
        early = y
        for _ in range(10):
            y = tf.tanh(y)
    results = []
    for passive in (False, True):
        watcher = Watcher(passive)
        hooks.add(watcher)
        try:
            with tf.Session(graph=graph) as session:
                results.append(session.run([early, y], {x: [1.0, 2.0]}))
        finally:
            hooks.remove(watcher)
        assert watcher.kept == ([*range(1, 21)] if not passive else [1, *[2] * 10, *[3] * 9])
    assert np.array_equal(results[0], results[1])
