"""Any walk through a paused run: at each position all is as in a run that went straight there."""
from __future__ import annotations

import hashlib
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from hypothesis import given, settings, strategies as st

from pyfuncdbg import tf
from pyfuncdbg.hooks.call import Call
from pyfuncdbg.hooks.chain import hooks

SIZE = 3
TAKEN = tf.Variable(np.zeros(SIZE, np.float32), trainable=False, name='taken')      # no input of any node leads to it


class Program:
    """A graph of random ops, variables, Python calls, functions and gradients, made by numbers."""

    def __init__(self, recipe: list[tuple[int, int]]) -> None:
        tf.random.set_seed(1)
        np.random.seed(7)
        random.seed(7)
        TAKEN.assign(np.zeros(SIZE, np.float32))
        with tf.Graph().as_default() as graph:
            tf.set_random_seed(5)
            self.x = tf.placeholder(tf.float32, [SIZE], name='x')
            self.constant = tf.constant([0.5, -1.0, 2.0], name='constant')
            self.weight = tf.get_variable('weight', initializer=np.float32([1.0, 0.5, -0.5]))
            self.count = tf.get_variable('count', initializer=np.float32(0))
            self.tensors: list[Any] = [self.x, self.constant, self.weight.read_value()]
            self.effects: list[Any] = []
            for kind, at in recipe:
                STEPS[kind % len(STEPS)](self, self.tensors[at % len(self.tensors)])
            loss = tf.reduce_sum(tf.tanh(self.tensors[-1]) * self.weight)
            train = tf.train.AdamOptimizer(0.1).minimize(loss)
            self.fetches = [*self.tensors, *self.effects, loss, train]
            self.variables = tf.global_variables()
            initializer = tf.global_variables_initializer()
        self.session = tf.Session(graph=graph)
        self.session.run(initializer)
        self.run()                              # generators have drawn before

    def run(self) -> list[Any]:
        return self.session.run(self.fetches, {self.x: [0.25, -0.5, 3.0]})

    # ------------------------------------------------------------------ steps
    def pure(self, t: Any) -> None:
        self.tensors.append(tf.sin(t) + self.tensors[0])

    def view(self, t: Any) -> None:
        self.tensors.append(tf.reshape(tf.reshape(t, [SIZE, 1]), [SIZE]))

    def noise(self, t: Any) -> None:
        self.tensors.append(t + tf.random_normal([SIZE], seed=len(self.tensors)))

    def python(self, t: Any) -> None:
        self.tensors.append(tf.numpy_function(lambda a: a + np.float32(np.random.rand() + random.random()), [t], tf.float32))
        self.tensors[-1].set_shape([SIZE])

    def tensors_python(self, t: Any) -> None:
        self.tensors.append(tf.py_function(lambda a: a * a + tf.random.uniform([SIZE], seed=3), [t], tf.float32))
        self.tensors[-1].set_shape([SIZE])

    def unseen(self, t: Any) -> None:
        def write(a: Any) -> Any:
            TAKEN.assign_add(a)
            return TAKEN * 0.5
        self.tensors.append(tf.py_function(write, [t], tf.float32))
        self.tensors[-1].set_shape([SIZE])

    def unseen_inside(self, t: Any) -> None:
        @tf.function
        def inner(a: Any) -> Any:
            b = tf.numpy_function(lambda v: TAKEN.assign(TAKEN.numpy() - v).numpy(), [a + 1.0], tf.float32)
            b.set_shape([SIZE])
            return b
        self.tensors.append(inner(t))

    def add(self, t: Any) -> None:
        with tf.control_dependencies([t]):
            self.effects.append(self.count.assign_add(tf.reduce_mean(t), read_value=False))

    def assign(self, t: Any) -> None:
        with tf.control_dependencies(self.effects[-1:]):
            self.tensors.append(self.weight.assign(tf.cos(t) * self.weight))

    def function(self, t: Any) -> None:
        @tf.function
        def inner(a: Any) -> Any:
            b = tf.numpy_function(lambda v: v - np.float32(np.random.rand()), [a + 1.0], tf.float32)
            b.set_shape([SIZE])
            return b * tf.random.uniform([SIZE], seed=11)
        self.tensors.append(inner(t))


STEPS: list[Callable[[Program, Any], None]] = [
    Program.pure, Program.view, Program.noise, Program.python, Program.tensors_python, Program.add, Program.assign,
    Program.function, Program.unseen, Program.unseen_inside]


def digest(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return str(value.dtype), value.shape, value.tobytes()
    return type(value).__name__, getattr(value, 'name', '')


def everything(control: Any) -> str:
    """All that may be looked at, or changes what comes: values, variables, generators, error state."""
    found: list[Any] = [control.position, digest(TAKEN._storage.value)]
    for name in sorted({name for site in control.sites for name in site.outputs} | {'x:0', 'constant:0'}):
        found.append((name, digest(control.value(name)) if control.holds(name) else None))
    execution = control.nodes.execution
    for key, resource in sorted(execution.resources.items(), key=lambda item: (str(item[0][:3]), item[0][3:])):
        if isinstance(resource, np.random.Generator):
            found.append((key[:3], repr(resource.bit_generator.state)))
        elif hasattr(resource, 'variable'):
            found.append((key, digest(resource.value)))
    numpy_state, python_state, eager = execution.run.host.rng_state()
    found.append((repr(numpy_state[0]), numpy_state[1].tobytes(), numpy_state[2:], python_state))
    found.extend(sorted((str(key), repr(state)) for key, (_, state) in eager.items()))
    return hashlib.sha256(repr(found).encode()).hexdigest()


@dataclass
class Walker:
    """Pauses the next run of a session before its first node, and at each pause asks `step(control)` what to do."""

    step: Callable[[Any], None]
    kinds = frozenset(('run',))
    begun: bool = False
    positions: list[int] = field(default_factory=list)

    def around(self, call: Call, proceed: Callable[[], Any]) -> Any:
        if self.begun or call.site.name != 'Session.run':
            return proceed()                    # a run inside of a pause, or of a node
        self.begun = True
        run = call.run

        def on_pause() -> None:
            self.positions.append(run.control.position)
            self.step(run.control)
        run.control.pause(on_pause)
        return proceed()


def walked(program: Program, step: Callable[[Any], None]) -> tuple[list[Any], str]:
    """What a run that is steered gives, and what it leaves behind."""
    errors: list[BaseException] = []

    def careful(control: Any) -> None:
        try:
            step(control)
        except BaseException as error:
            errors.append(error)
            control.resume()
    walker = Walker(careful)
    tf.random.set_seed(1)
    hooks.add(walker)
    try:
        results = program.run()
    finally:
        hooks.remove(walker)
    if errors:
        raise errors[0]
    left = [digest(value) for value in (*program.session.run(program.variables), TAKEN.numpy())]
    return [digest(value) for value in results], repr((left, np.random.get_state(), random.getstate()))


Injected = dict[int, dict[str, np.ndarray]]


def straight(recipe: list[tuple[int, int]], injected: Injected) -> tuple[dict[int, str], list[Any], str]:
    """What is at each position of a run that is never gone back in, with values injected on the way."""
    seen: dict[int, str] = {}

    def step(control: Any) -> None:
        for name, value in injected.get(control.position, {}).items():
            control.inject(name, value)
        seen[control.position] = everything(control)
        control.go_to(control.position + 1)
    results, left = walked(Program(recipe), step)
    return seen, results, left


RECIPES = st.lists(st.tuples(st.integers(0, 99), st.integers(0, 99)), min_size=2, max_size=8)
WALKS = st.lists(st.tuples(st.sampled_from(['node', 'rewind', 'to', 'retry', 'inject', 'rewind', 'enter']),
                           st.integers(0, 999)), max_size=25)


@settings(max_examples=25, deadline=None)
@given(RECIPES, WALKS)
def test_everything_after_any_walk_is_as_in_a_straight_run(recipe: list[tuple[int, int]],
                                                           walk: list[tuple[str, int]]) -> None:
    injected: Injected = {}
    program = Program(recipe)
    plain, left_plain = walked(program, lambda control: control.resume())
    assert (plain, left_plain) == straight(recipe, {})[1:]
    references: dict[str, dict[int, str]] = {}
    actions = [*walk, ('rewind', 7 * len(recipe)), ('end', 0)]       # from the last to the first

    def step(control: Any) -> None:
        makers = {name: i for i, site in enumerate(control.sites) for name in site.outputs}
        if 'x:0' not in control.feeds:          # inside of the function that `enter` led to
            control.go_to(len(control.sites) + 1)
            return
        key = repr(injected)
        if key not in references:
            references[key] = straight_beside(recipe, injected)
        assert everything(control) == references[key][control.position]
        if not actions:
            control.resume()
            return
        verb, number = actions.pop()
        position, end = control.position, len(control.sites)
        if verb == 'node':
            control.go_to(min(position + 1, end))
        elif verb == 'enter':
            try:
                control.enter()
            except ValueError as refused:       # a Python call whose earlier result stands; nothing has changed
                assert 'its result is kept' in str(refused)
                control.go_to(position + 1)
        elif verb == 'end':
            control.go_to(end)
        elif verb == 'to':
            control.go_to(position + number % (end - position + 1))
        elif verb == 'retry' and position:
            control.retry()
            gone_back(injected, position - 1, makers)
            control.go_to(position)
        elif verb == 'inject':
            names = [name for name in ('x:0', 'constant:0', *makers) if control.holds(name)
                     and digest(control.value(name))[:2] == ('float32', (SIZE,))]
            name = names[number % len(names)]
            value = np.float32([number, 1, -number])
            control.inject(name, value)
            injected.setdefault(position, {}).pop(name, None)
            injected[position][name] = value
            control.rewind(position)            # look again at what is there now
        else:
            target = number % (position + 1)
            control.rewind(target)
            gone_back(injected, target, makers)
    results, left = walked(Program(recipe), step)
    assert (results, left) == straight(recipe, injected)[1:]


def gone_back(injected: Injected, target: int, makers: dict[str, int]) -> None:
    """Injected values stay until their node runs again: as if they had been injected where the run is now."""
    for position in sorted(injected):
        if position > target:
            for name, value in injected.pop(position).items():
                if makers.get(name, -1) < target:
                    injected.setdefault(target, {}).pop(name, None)
                    injected[target][name] = value


def straight_beside(recipe: list[tuple[int, int]], injected: Injected) -> dict[int, str]:
    """`straight`, from within another run: what it uses of the process is put back."""
    from pyfuncdbg.hosts.numpy.runtime.execution.host import host
    state, taken = host.rng_state(), TAKEN.numpy()
    try:
        return straight(recipe, injected)[0]
    finally:
        host.set_rng_state(state)
        TAKEN.assign(taken)


# ---------------------------------------------------------------- single steps of a walk that any walk takes too rarely
def steered(fetch: Any, feeds: Any, graph: Any, *steps: Callable[[Any], None], before: Any = None) -> Any:
    """What a run gives that is paused before its first node, and does one step at each pause."""
    coming = iter(steps)

    def step(control: Any) -> None:
        next(coming, lambda control: control.resume())(control)
    walker = Walker(step)
    with tf.Session(graph=graph) as session:
        if before is not None:
            session.run(before, feeds)
        hooks.add(walker)
        try:
            return session.run(fetch, feeds)
        finally:
            hooks.remove(walker)
            assert next(coming, None) is None


def index_of(control: Any, name: str) -> int:
    return [site.name for site in control.sites].index(name)


def to_out(control: Any) -> None:
    control.go_to(index_of(control, 'out'))


def test_a_python_call_is_made_again_for_other_inputs_and_only_then():
    seen: list[float] = []

    def noted(a: Any) -> Any:
        seen.append(float(a))
        return a * np.float32(10)
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [], name='x')
        doubled = tf.multiply(x, 2.0, name='doubled')
        out = tf.add(tf.numpy_function(noted, [doubled], tf.float32, name='py'), 1.0, name='out')

    def again(value: float | None) -> list[Callable[[Any], None]]:
        def back(control: Any) -> None:
            control.rewind(index_of(control, 'doubled'))

        def on(control: Any) -> None:
            if value is not None:
                control.inject('x:0', np.float32(value))
            control.go_to(index_of(control, 'out'))
        return [back, on]
    assert steered(out, {x: 1.0}, graph, to_out, *again(None), *again(3.0), *again(None)) == 61.0
    assert seen == [2.0, 6.0]


def test_a_python_call_that_read_another_value_of_a_variable_is_made_again():
    """Only Python leads to the variable: no input tells."""
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [], name='x')
        first = tf.py_function(lambda a: TAKEN.assign(a + tf.zeros(SIZE)).read_value(), [x], tf.float32, name='first')
        with tf.control_dependencies([first]):
            read = tf.py_function(lambda: tf.reduce_sum(TAKEN), [], tf.float32, name='read')
        out = tf.add(read, 0.0, name='out')

    def inject(control: Any) -> None:
        control.inject('x:0', np.float32(5))
        control.go_to(index_of(control, 'out'))
    assert steered(out, {x: 1.0}, graph, to_out, lambda control: control.rewind(0), inject) == 5.0 * SIZE


def test_what_other_threads_write_meanwhile_is_left_alone():
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [], name='x')
        out = tf.add(tf.py_function(lambda a: a, [x], tf.float32, name='py'), 0.0, name='out')
    TAKEN.assign([1.0, 1.0, 1.0])

    def elsewhere(control: Any) -> None:
        TAKEN._storage.value = np.float32([2, 2, 2])
        control.rewind(0)
    steered(out, {x: 1.0}, graph, to_out, elsewhere)
    assert TAKEN.numpy().tolist() == [2.0, 2.0, 2.0]


def test_random_numbers_drawn_inside_of_a_function_are_taken_back_with_it():
    @tf.function
    def inner(a: Any) -> Any:
        return a + tf.random.uniform([SIZE], seed=11)
    states: list[str] = []

    def generators(control: Any) -> str:
        found = {str(key): resource.bit_generator.state for key, resource in control.nodes.execution.resources.items()
                 if isinstance(resource, np.random.Generator)}
        assert found
        return repr(found)

    def enter(control: Any) -> None:
        states.append(generators(control))
        control.enter()

    def leave(control: Any) -> None:
        assert 'x:0' not in control.feeds       # inside of the function
        control.go_to(len(control.sites) + 1)

    def back(control: Any) -> None:
        states.append(generators(control))
        control.rewind(0)

    def look(control: Any) -> None:
        states.append(generators(control))
        control.go_to(index_of(control, 'out'))
    with tf.Graph().as_default() as graph:
        tf.set_random_seed(5)
        x = tf.placeholder(tf.float32, [SIZE], name='x')
        called = tf.identity(inner(x), name='called')
        out = tf.add(called, 1.0, name='out')
    steered(out, {x: [1.0, 2.0, 3.0]}, graph, enter, leave, to_out, back, look, before=out)
    before, after, taken_back = states
    assert before == taken_back != after
