"""What looks at a call takes nothing that the program is to get, and says why it cannot make a call again."""
from __future__ import annotations

import collections
import io
import multiprocessing
import queue
import random
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scripted_user import ScriptedUser

from pyfuncdbg import tf
from pyfuncdbg.hooks.call import CallSite
from pyfuncdbg.observers.debug.debugger import debugger
from pyfuncdbg.observers.debug.stepping.held_state import consumables, held_objects, repeat_obstacle
from pyfuncdbg.observers.record.recorder import Recorder

NUMBERS = iter(())


@pytest.fixture
def recorder(tmp_path: Path) -> Iterator[Recorder]:
    with Recorder(tmp_path / 'it.pfd') as one:
        yield one


def asked_after(call: Callable[[], Any], place: str, *commands: str) -> tuple[Any, list[str]]:
    """The result of a call, with commands asked at a stop after the first one of a site: what they refuse, '' of others."""
    with ScriptedUser([*commands, 'cont']) as user:
        debugger.start()
        number = debugger.breakpoints.set(place, timing='after-call', once=True).number
        try:
            result = call()
        finally:
            debugger.breakpoints.clear(number)
    return result, [one if isinstance(one, str) else '' for one in user.answers[:len(commands)]]


def rows() -> Iterator[np.ndarray]:
    for i in range(6):
        yield np.float32([i, np.nan if i == 0 else 1])


def test_a_generator_keeps_its_elements(recorder: Recorder) -> None:
    data = tf.data.Dataset.from_generator(rows, output_signature=tf.TensorSpec([2], tf.float32))

    def call() -> list[float]:
        return [float(row[0]) for row in data.as_numpy_iterator()]

    found, said = asked_after(call, 'rows', 'health --line PyFunc', 'retry', 'health --line PyFunc[0]')
    assert found == [0, 1, 2, 3, 4, 5] and len(said) == 3
    for text in said:
        assert 'cannot be repeated: each call takes the next element from the generator rows' in text, said


def test_no_parameter_of_a_generator_stands_for_the_number_of_the_iteration(recorder: Recorder) -> None:
    def counted(count: Any) -> Iterator[np.float32]:
        yield from np.arange(count, dtype=np.float32)
    data = tf.data.Dataset.from_generator(counted, args=(3,), output_signature=tf.TensorSpec([], tf.float32))
    with ScriptedUser(['p count', 'cont']) as user:
        debugger.start()
        number = debugger.breakpoints.set('counted', once=True).number
        try:
            assert [float(x) for x in data.as_numpy_iterator()] == [0, 1, 2]
        finally:
            debugger.breakpoints.clear(number)
    assert "name 'count' is not defined" in str(user.answers[0])


def test_the_end_of_a_generator_is_no_error(recorder: Recorder) -> None:
    data = tf.data.Dataset.from_generator(rows, output_signature=tf.TensorSpec([2], tf.float32))
    with ScriptedUser([]) as user:
        debugger.start()
        debugger.catching = True
        try:
            assert len(list(data.repeat(2))) == 12
        finally:
            debugger.catching = False
    assert user.answers == []
    with recorder.trace() as trace:
        calls = [call for call in trace.calls() if call.site.function == 'rows']
        assert [len(call.outputs) for call in calls] == [1] * 6 + [0] + [1] * 6 + [0]
        assert trace.calls(failed=True) == []


class Reader:
    def __init__(self) -> None:
        self.lines = io.StringIO('1\n2\n3\n')

    def read(self, x: Any) -> Any:
        return x * np.float32(self.lines.readline())

    def __call__(self, x: Any) -> Any:
        return self.read(x)


def functions() -> dict[str, tuple[Callable[[Any], Any], list[float]]]:
    line: queue.Queue[float] = queue.Queue()
    for value in (1.0, 2.0, 3.0):
        line.put(value)
    numbers, source = iter([1.0, 2.0, 3.0]), (float(i) for i in (1, 2, 3))
    return {'iterator': (lambda x: x * np.float32(next(numbers)), [1, 2, 3]),
            'generator': (lambda x, source=source: x * np.float32(next(source)), [1, 2, 3]),
            'queue': (lambda x: x * np.float32(line.get()), [1, 2, 3]),
            'method': (Reader().read, [1, 2, 3]), 'object': (Reader(), [1, 2, 3])}


@pytest.mark.parametrize('kind', ['iterator', 'generator', 'queue', 'method', 'object'])
def test_a_function_that_takes_from_something_is_not_called_again(recorder: Recorder, kind: str) -> None:
    function, expected = functions()[kind]

    def call() -> list[float]:
        return [float(tf.numpy_function(function, [np.float32(1)], tf.float32, name='taking')) for _ in range(3)]

    found, said = asked_after(call, 'taking', 'health --line taking')
    assert found == expected and len(said) == 1
    assert all('cannot be repeated: its function uses' in text for text in said), said


class Client:
    """A program's own object around a socket."""

    def __init__(self, source: socket.socket) -> None:
        self.source = source

    def __call__(self, x: Any) -> Any:
        return x * np.float32(self.source.recv(1))


def lines_of_stdin(x: Any) -> Any:
    return x * np.float32(sys.stdin.readline())


def at_second_hand(x: Any) -> Any:
    return lines_of_stdin(x)


def with_its_own_import(x: Any) -> Any:
    from sys import stdin as source
    return x * np.float32(next(source))


@pytest.mark.parametrize('function', [lines_of_stdin, at_second_hand, with_its_own_import,
                                      lambda x: (lambda: x * np.float32(sys.stdin.buffer.readline()))()])
def test_standard_input_is_read_once(recorder: Recorder, function: Callable[[Any], Any],
                                     monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, 'stdin', io.TextIOWrapper(io.BytesIO(b'1\n2\n3\n')))

    def call() -> list[float]:
        return [float(tf.numpy_function(function, [np.float32(1)], tf.float32, name='reading')) for _ in range(3)]

    found, said = asked_after(call, 'reading', 'health --line reading')
    assert found == [1, 2, 3] and len(said) == 1
    assert all('cannot be repeated: its function uses sys.stdin, an open file' in text for text in said), said


@pytest.mark.parametrize('kind', ['socket', 'object', 'pipe', 'process'])
def test_connections_are_read_once(recorder: Recorder, kind: str) -> None:
    one, other = socket.socketpair()
    first, second = multiprocessing.Pipe()
    child = subprocess.Popen([sys.executable, '-c', 'print(123)'], stdout=subprocess.PIPE)
    with one, other, first, second, child:
        one.send(b'123')
        for number in (1, 2, 3):
            first.send(number)
        pipe: Any = child.stdout
        process: Any = child
        functions = {'socket': lambda x: x * np.float32(other.recv(1)), 'object': Client(other),
                     'pipe': lambda x: x * np.float32(second.recv()),
                     'process': lambda x: x * np.float32(process.stdout.read(1))}
        names = {'socket': 'other, a connection (socket)', 'object': 'source, a connection (socket)',
                 'pipe': 'second, a connection (Connection)', 'process': 'process.stdout, an open file'}

        def call() -> list[float]:
            return [float(tf.numpy_function(functions[kind], [np.float32(1)], tf.float32, name='receiving'))
                    for _ in range(3)]

        found, said = asked_after(call, 'receiving', 'health --line receiving')
        pipe.read()
    assert found == [1, 2, 3] and len(said) == 1
    assert all(f'cannot be repeated: its function uses {names[kind]}' in text for text in said), said


def test_names_of_attributes_are_no_streams() -> None:
    class Layer:
        input, stdin, NUMBERS = 1, 2, 3

    def plain(x: Any, layer: Any = Layer) -> Any:
        print(x, file=sys.stderr)
        sys.stdout.write('')
        return x * layer.input + layer.NUMBERS + np.random.normal()
    site = CallSite('plain', 'PyFunc', 'python', None, function=plain)  # type: ignore[arg-type]
    assert repeat_obstacle(site) == '' and 'NUMBERS' not in {name for name, _ in held_objects(plain)}


@pytest.mark.parametrize('kind', ['Generator', 'RandomState', 'Random', 'deque', 'module'])
def test_random_generators_go_on_as_if_nobody_had_looked(recorder: Recorder, kind: str) -> None:
    def drawing() -> Callable[[Any], Any]:
        if kind == 'Generator':
            generator = np.random.default_rng(5)
            return lambda x: x + generator.normal()
        if kind == 'RandomState':
            state = np.random.RandomState(5)
            return lambda x: x + state.normal()
        if kind == 'Random':
            source = random.Random(5)
            return lambda x: x + source.random()
        if kind == 'deque':
            line = collections.deque([1.0, 2.0, 3.0])
            return lambda x: x + line.popleft()
        np.random.seed(5)
        return lambda x: x + np.random.normal()

    def call(function: Callable[[Any], Any]) -> list[float]:
        return [float(tf.numpy_function(function, [np.float64(1)], tf.float64, name='drawing')) for _ in range(3)]

    alone = call(drawing())
    function = drawing()
    found, said = asked_after(lambda: call(function), 'drawing', 'health --line drawing')
    assert said == ['']
    assert found == alone


def test_a_gradient_of_such_a_function_is_not_checked(recorder: Recorder) -> None:
    numbers = iter([1.0, 2.0])

    def scaled(x: Any) -> Any:
        return x * next(numbers)

    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.py_function(scaled, [x], tf.float32, name='scaled')
    tape.gradient(y, x)
    with recorder.trace() as trace:
        from pyfuncdbg.observers.debug.gradients.gradient_check import check_step
        edges = [edge for step in trace.calls(kind='gradient') for edge in check_step(trace, step)
                 if edge.op_type.startswith('EagerPyFunc')]
    assert [edge.outcome.verdict for edge in edges] == ['unchecked']
    assert "uses numbers, an iterator (list_iterator)" in edges[0].outcome.reason
    assert next(numbers) == 2.0


def test_what_is_only_written_to_or_named_is_no_obstacle() -> None:
    log, closed = io.StringIO(), io.StringIO()
    closed.close()

    def plain(x: Any) -> Any:
        print('said', file=log)
        return x if closed.closed else NUMBERS

    names = {name for name, _ in held_objects(plain)}
    assert {'log', 'closed', 'NUMBERS'} <= names
    assert 'np' not in names and 'tf' not in names


def by_local_import() -> float:
    from random import gauss
    return gauss(0, 1)


def by_a_helper() -> np.ndarray:
    return np.array([of_numpy() for _ in range(2)])


def of_numpy() -> float:
    return np.random.normal()


@pytest.mark.parametrize(('function', 'names'), [
    (of_numpy, ['np.random.normal, of the global random generator']),
    (by_a_helper, ['np.random.normal, of the global random generator']),
    (by_local_import, ['random.gauss, of the global random generator']),
    (lambda: random.random(), ['random.random, of the global random generator']),
    (lambda: np.random.sample(), ['np.random.sample, of the global random generator']),
    (lambda: np.random.default_rng(0).normal(), []),        # `normal` is a name of np.random too, but it is not read there
    (lambda: (np.random.RandomState(1).rand(), random.Random(1).gauss(0, 1)), [])])
def test_the_global_random_generators_that_a_function_reads_are_named(function: Callable[[], Any], names: list[str]) -> None:
    assert list(consumables(function)) == names
