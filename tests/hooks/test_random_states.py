"""States of random generators: marks change with each draw, and a restored state gives the same numbers."""
from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import msgpack
import numpy as np
import pytest

from pyfuncdbg.hooks import random_states
from pyfuncdbg.hooks.random_states import NumPyRandom, PythonRandom

GENERATORS: dict[str, Callable[[], Any]] = {
    'PCG64': lambda: np.random.default_rng(1),
    'PCG64DXSM': lambda: np.random.Generator(np.random.PCG64DXSM(1)),
    'MT19937': lambda: np.random.Generator(np.random.MT19937(1)),
    'Philox': lambda: np.random.Generator(np.random.Philox(1)),
    'SFC64': lambda: np.random.Generator(np.random.SFC64(1)),
    'RandomState': lambda: np.random.RandomState(1),
    'RandomState of PCG64': lambda: np.random.RandomState(np.random.PCG64(1)),
    'Random': lambda: random.Random(1),
}


def numbers(generator: Any) -> list[float]:
    """Normal numbers, of which most generators keep the second of a pair, and 32-bit ones, of which PCG64 keeps half."""
    if isinstance(generator, random.Random):
        return [generator.gauss(0, 1) for _ in range(3)] + [generator.random()]
    small = (generator.integers(0, 9, 3, np.uint32) if isinstance(generator, np.random.Generator)
             else generator.randint(0, 9, 3))
    return [*generator.standard_normal(3), *small]


@pytest.mark.parametrize('name', GENERATORS)
def test_a_state_that_went_through_a_trace_gives_the_same_numbers(name: str) -> None:
    generator = GENERATORS[name]()
    numbers(generator)
    state = msgpack.unpackb(msgpack.packb(random_states.plain_state(generator)))
    expected = numbers(generator)
    assert numbers(random_states.generator_in(state, random_states.kind_of(generator))) == expected
    random_states.restore(generator, state)
    assert numbers(generator) == expected


def test_marks_of_the_global_generators_change_with_each_draw_and_with_nothing_else() -> None:
    python, numpy = PythonRandom(random_states.global_generator('random')), NumPyRandom(np.random.mtrand._rand)
    assert python.words is not None and numpy.words is not None     # else each call would cost 20 us
    for reader, draws in ((python, [random.random, lambda: random.gauss(0, 1), lambda: random.gauss(0, 1), random.seed]),
                          (numpy, [np.random.rand, np.random.randn, np.random.randn, lambda: np.random.seed(3),
                                   lambda: np.random.rand(624)])):
        for draw in draws:
            before = reader.mark()
            assert reader.mark() == before
            draw()
            assert reader.mark() != before, draw
            state = msgpack.unpackb(msgpack.packb(reader.state()))
            expected = numbers(reader.generator)
            random_states.restore(reader.generator, state)
            assert numbers(reader.generator) == expected


def test_another_bit_generator_behind_numpys_functions_is_noticed() -> None:
    before = np.random.get_bit_generator()
    reader = NumPyRandom(np.random.mtrand._rand)
    try:
        np.random.set_bit_generator(np.random.PCG64(5))
        first = reader.mark()
        np.random.rand()
        assert reader.mark() != first
        state = reader.state()
        expected = np.random.rand()
        random_states.restore(np.random.mtrand._rand, state)
        assert np.random.rand() == expected
    finally:
        np.random.set_bit_generator(before)


@pytest.mark.parametrize('state', [
    [], ['python'], ['python', b'', 0, None], ['python', b'1' * 2496, 9999, None], ['python', 7, 7, 7], ['numpy'], [{}],
    ['numpy', 'PCG64', {}], ['numpy', 'MT19937', {'key': ['O', b'12345678']}], ['numpy', 'PCG64', {'state': 'x'}],
    ['numpy', 'os', {}]])
def test_damaged_states_are_refused(state: Any) -> None:
    for make in (GENERATORS['PCG64'], GENERATORS['Random'], GENERATORS['RandomState']):
        with pytest.raises(ValueError):
            random_states.restore(make(), state)
    for kind in ('Generator', 'RandomState', 'BitGenerator', 'Random'):
        with pytest.raises(ValueError):
            random_states.generator_in(state, kind)
