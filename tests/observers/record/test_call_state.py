"""The state that a call began in, as a trace gives it back: generators, the function with what it reads, surroundings."""
from __future__ import annotations

import os
import random
import types
import warnings
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from plain_host import wrapped

from pyfuncdbg.hooks import random_states
from pyfuncdbg.observers.record.index.state_records import CallState
from pyfuncdbg.observers.record.recorder import Recorder
from pyfuncdbg.observers.record.trace import Trace

SCALE = 2.0
RNG = np.random.default_rng(3)
TABLE = {'a': [1, 2]}


def scaled(x: Any) -> Any:
    return [x * SCALE]


def by_another(x: Any) -> Any:
    return scaled(x)


def states_of(folder: Path, calls: Any, **options: Any) -> list[CallState]:
    """The states of the Python calls that are recorded while `calls` runs."""
    with Recorder(folder / 't.pfd', **options):
        calls()
    with Trace.open(folder / 't.pfd') as trace:
        return [trace.call_state(call.number) for call in trace.calls(kind='python')]


def test_the_generators_are_those_at_the_beginning_of_each_call(tmp_path: Path) -> None:
    drawn = []

    def draws(x: Any) -> Any:
        drawn.append((np.random.rand(), np.random.randn(), random.random(), random.gauss(0, 1)))
        return [x]

    def quiet(x: Any) -> Any:
        return [x]
    first, second = wrapped(draws, name='draws'), wrapped(quiet, name='quiet')

    def calls() -> None:
        for _ in range(3):
            first(np.float32(1))
        second(np.float32(1))
        second(np.float32(1))
    states = states_of(tmp_path, calls)
    again = []
    for state in states[:3]:
        assert state.generators is not None
        for name in ('random', 'numpy.random'):
            random_states.restore(random_states.global_generator(name), state.generators[name])
        again.append((np.random.rand(), np.random.randn(), random.random(), random.gauss(0, 1)))
    assert again == drawn
    assert len({state.numbers[0] for state in states}) == 4      # the last two began in one state, which is stored once


def test_closures_defaults_and_globals_are_those_at_the_call(tmp_path: Path) -> None:
    global SCALE
    count = 0

    def closed(x: Any, y: int = 7) -> Any:
        nonlocal count
        count += 1
        return [x + count]
    site, other = wrapped(closed, name='closed'), wrapped(by_another, name='by_another')

    def calls() -> None:
        global SCALE
        for scale in (2.0, 2.0, 3.0):
            SCALE = scale
            site(np.float32(1))
            other(np.float32(1))
    states = states_of(tmp_path, calls)
    SCALE = 2.0
    closed_states, others = states[::2], states[1::2]
    for index, state in enumerate(closed_states):
        tag, module, name, _, _, _, cells, defaults, *_ = state.function
        assert (tag, module, name) == ('function', __name__, closed.__qualname__)
        assert cells == [['count', ['v', index]]] and defaults == [['v', 7]]
    for state, scale in zip(others, (2.0, 2.0, 3.0), strict=True):
        assert [(one.module, one.name, one.value) for one in state.variables] == [(__name__, 'SCALE', ['v', scale])]
    assert others[0].numbers[1] == others[1].numbers[1] != others[2].numbers[1]


class Layer:
    def __init__(self) -> None:
        self.weights = np.arange(3, dtype=np.float32)
        self.calls = 0
        self.model = open(os.devnull)           # noqa: SIM115

    def __call__(self, x: Any) -> Any:
        self.calls += 1
        return [x * self.weights]


def test_objects_are_kept_by_class_and_attributes_and_what_cannot_be_kept_is_named(tmp_path: Path) -> None:
    layer = Layer()
    site = wrapped(layer, name='layer')
    states = states_of(tmp_path, lambda: [site(np.float32(1)) for _ in range(2)])
    layer.model.close()
    for index, state in enumerate(states):
        tag, module, name, attributes = state.function
        assert (tag, module, name) == ('object', __name__, 'Layer')
        by_name = dict(attributes)
        assert by_name['weights'] == ['a', '<f4', [3], np.arange(3, dtype=np.float32).tobytes()]
        assert by_name['calls'] == ['v', index]
        assert by_name['model'][:2] == ['?', 'TextIOWrapper']


def test_partials_methods_and_generators_in_globals(tmp_path: Path) -> None:
    def drawing(x: Any) -> Any:
        return [x + RNG.random()]
    site = wrapped(drawing, name='drawing')
    before = np.random.default_rng(3)
    one, two = states_of(tmp_path, lambda: [site(np.float32(1)) for _ in range(2)])
    (variable,) = one.variables
    assert variable.name == 'RNG' and variable.value[:2] == ['rng', 'Generator']
    made = random_states.generator_in(variable.value[2], 'Generator')
    assert made.random() == before.random()
    assert random_states.generator_in(two.variables[0].value[2], 'Generator').random() == before.random()
    part = wrapped(partial(scaled, np.float32(4)), name='part')
    (state,) = states_of(tmp_path / 'two' if (tmp_path / 'two').mkdir() is None else tmp_path, lambda: part())
    assert state.function[0] == 'partial' and state.function[1][2] == 'scaled'
    assert state.function[2] == ['l', [['g', '<f4', [], np.float32(4).tobytes()]]]


def test_what_is_too_large_to_compare_is_named(tmp_path: Path) -> None:
    global TABLE
    table = TABLE

    def looks(x: Any) -> Any:
        return [x + len(TABLE)]
    site = wrapped(looks, name='looks')

    def calls() -> None:
        global TABLE
        site(np.float32(1))
        TABLE = {str(number): [] for number in range(100)}
        site(np.float32(1))
    small, large = states_of(tmp_path, calls)
    TABLE = table
    assert small.unwatched == () and large.unwatched == ('TABLE',)
    assert len(large.variables[0].value[1]) == 100


def test_the_surroundings_are_those_in_force(tmp_path: Path, monkeypatch: Any) -> None:
    site = wrapped(lambda x: [x], name='f')

    def calls() -> None:
        with np.errstate(divide='raise', over='ignore'), warnings.catch_warnings():
            warnings.simplefilter('error', RuntimeWarning)
            site(np.float32(1))
        site(np.float32(1))
    inside, outside = states_of(tmp_path, calls)
    assert inside.errstate is not None and inside.errstate['divide'] == 'raise' and inside.errstate['over'] == 'ignore'
    assert list(inside.filters[0]) == ['error', None, ['builtins', 'RuntimeWarning'], None, 0]
    assert outside.errstate == dict(np.geterr()) and list(outside.filters[0])[:3] != list(inside.filters[0])[:3]
    assert inside.folder == os.getcwd()


def test_without_values_no_state_is_kept(tmp_path: Path) -> None:
    site = wrapped(lambda x: [x], name='f')
    (state,) = states_of(tmp_path, lambda: site(np.float32(1)), level='none')
    assert state == CallState() and state.numbers == (0, 0, 0)


def test_a_function_that_holds_itself_and_one_with_a_hostile_object(tmp_path: Path) -> None:
    class Hostile:
        def __eq__(self, other: object) -> bool:
            raise RuntimeError('compared')

        def __repr__(self) -> str:
            raise RuntimeError('shown')

        def __getattr__(self, name: str) -> Any:
            raise RuntimeError(f'asked for {name}')
    hostile, endless = Hostile(), []     # type: ignore[var-annotated]
    endless.append(endless)

    def recursive(x: Any) -> Any:
        return [x] if hostile is not None and endless and recursive is not None else recursive(x)
    site = wrapped(recursive, name='f')
    one, two = states_of(tmp_path, lambda: [site(np.float32(1)) for _ in range(2)])
    cells = dict(one.function[6])
    assert cells['hostile'][0] in ('?', 'object') and cells['endless'][0] == 'l'
    assert cells['recursive'] == ['itself', recursive.__qualname__]
    assert one.numbers == two.numbers


class Proxy:
    """What answers each question about itself with code of the program, as proxies of web frameworks do."""

    asked: ClassVar[list[str]] = []

    def __getattribute__(self, name: str) -> Any:
        Proxy.asked.append(name)
        raise RuntimeError(f'asked for {name}')

    @property
    def __dict__(self) -> Any:                  # type: ignore[override]
        raise RuntimeError('asked for its attributes')

    @property
    def __class__(self) -> Any:
        raise RuntimeError('asked for its class')

    def __eq__(self, other: object) -> bool:
        raise RuntimeError('compared')

    def __len__(self) -> int:
        raise RuntimeError('asked for its length')


PROXY = Proxy()


class LazyModule(types.ModuleType):
    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError(f'loaded for {name}')


LAZY = LazyModule('lazy')


def test_no_code_of_the_program_runs_to_take_a_state(tmp_path: Path) -> None:
    inner = Proxy()

    def reads(x: Any) -> Any:
        assert LAZY is not None and PROXY is not None and inner is not None
        return [x]
    site = wrapped(reads, name='reads')
    Proxy.asked.clear()                         # what pytest has asked
    one, two = states_of(tmp_path, lambda: [site(np.float32(1)) for _ in range(2)])
    assert Proxy.asked == [] and one.numbers == two.numbers and one.numbers[1]
    assert [(variable.name, variable.value[:2]) for variable in one.variables] == [('PROXY', ['?', 'Proxy'])]
    assert dict(one.function[6])['inner'][:2] == ['?', 'Proxy']
