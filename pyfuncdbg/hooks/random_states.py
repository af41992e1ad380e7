"""States of random generators, NumPy's and Python's: a mark that changes with the state, and the state as plain data.

A recorder compares marks at each call, so those of the two global generators are words read from where the generators keep
them (0.15 µs; `np.random.get_state` takes 20). The places are verified against the public functions; where they are
elsewhere, the public functions are asked. Any thread.
"""
from __future__ import annotations

import ctypes
import functools
import os
import random
import sys
from typing import Any

import numpy as np

from pyfuncdbg.hooks.current_frames import current_frames

_WORDS = 624
"""Words of a Mersenne Twister's state; its position among them is one more."""
_WORD = np.dtype(np.uint32).str
_PYTHON_VERSION = 3
"""Of the states that `random.setstate` takes."""
Mark = Any
"""Compares equal as long as the state is the same."""


class TwisterWords:
    """The words of a Mersenne Twister in memory, read in place.

    Args:
        owner: The generator, which is kept alive.
        address: Of the first of its 625 words.
    """

    __slots__ = ('_owner', '_view', 'words')

    def __init__(self, owner: Any, address: int) -> None:
        self._owner = owner
        self._view = (ctypes.c_uint32 * (_WORDS + 1)).from_address(address)
        self.words = memoryview(self._view).cast('B').cast('I')

    def copy(self) -> bytes:
        """The words now.

        Returns:
            2,500 bytes.
        """
        return bytes(self._view)


class PythonRandom:
    """State of one `random.Random`: its position, then its words, and the next of a pair of normal numbers.

    Args:
        generator: The generator.
    """

    __slots__ = ('_words', 'generator', 'words')

    def __init__(self, generator: random.Random) -> None:
        self.generator = generator
        words = TwisterWords(generator, id(generator) + object.__basicsize__) if type(generator) is random.Random else None
        content: tuple[int, ...] = generator.getstate()[1] if words is not None else (0,)
        # Another interpreter may keep them elsewhere.
        self._words = words if words is not None and (words.words[0], words.words[1]) == (content[-1], content[0]) else None
        self.words = self._words.words if self._words is not None else None
        """Position and words in memory, None if they are elsewhere. Who compares them itself saves the call of `mark`."""

    def mark(self) -> Mark:
        """A mark of the state.

        Returns:
            Equal as long as nothing was drawn.
        """
        if self._words is None:
            return self.generator.getstate()
        words = self._words.words
        return words[0], words[1], getattr(self.generator, 'gauss_next', None)

    def state(self) -> list[Any]:
        """The state as plain data.

        Returns:
            ['python', words, position, next normal number or None].
        """
        if self._words is not None:             # 0.2 µs, instead of 16
            words = self._words.copy()
            gauss = getattr(self.generator, 'gauss_next', None)
            return ['python', words[4:], int.from_bytes(words[:4], sys.byteorder), gauss]
        _, content, gauss = self.generator.getstate()
        return ['python', np.array(content[:-1], np.uint32).tobytes(), content[-1], gauss]


class NumPyRandom:
    """State of one `np.random.RandomState`: as a Mersenne Twister, and the next of a pair of normal numbers.

    Args:
        generator: The generator.
    """

    __slots__ = ('_words', 'bits', 'gauss', 'generator', 'words')

    def __init__(self, generator: np.random.RandomState) -> None:
        self.generator = generator
        self.gauss = _flag_of_gauss(generator)
        self.bits: Any = None
        self._words: TwisterWords | None = None
        self._find()

    def _find(self) -> None:
        """Where the words are: a program may give the generator another bit generator."""
        self.bits = getattr(self.generator, '_bit_generator', None)
        self._words = None
        if isinstance(self.bits, np.random.MT19937):
            words = TwisterWords(self.bits, self.bits.ctypes.state_address)
            content = self.bits.state['state']
            if (words.words[_WORDS], words.words[0]) == (content['pos'], content['key'][0]):
                self._words = words
        self.words = self._words.words if self._words is not None and self.gauss is not None else None
        """Words and position in memory, None if they are elsewhere."""

    def mark(self) -> Mark:
        """A mark of the state.

        Returns:
            Equal as long as nothing was drawn.
        """
        if getattr(self.generator, '_bit_generator', None) is not self.bits:
            self._find()
        if self.words is None or self.gauss is None:
            return plain_state(self.generator)
        return self.words[_WORDS], self.words[0], self.words[1], self.gauss[0]

    def state(self) -> list[Any]:
        """The state as plain data.

        Returns:
            As `plain_state`.
        """
        if self._words is None or self.gauss is None or self.gauss[0]:
            return plain_state(self.generator)
        words = self._words.copy()              # 0.2 µs, instead of 24
        position = str(int.from_bytes(words[-4:], sys.byteorder))
        return ['numpy', 'MT19937', {'state': {'key': [_WORD, words[:-4]], 'pos': position}}, 0, 0.0]


def _flag_of_gauss(generator: np.random.RandomState) -> memoryview | None:
    """Where a `RandomState` says whether it holds the second of a pair of normal numbers."""
    place = _place_of_gauss()
    if place is None or type(generator) is not np.random.RandomState:
        return None
    return memoryview((ctypes.c_ubyte * 1).from_address(id(generator) + place)).cast('B')


@functools.cache
def _place_of_gauss() -> int | None:
    """The place of that flag in the memory of any `RandomState`: found in one of our own."""
    probe = np.random.RandomState(0)
    size = type(probe).__basicsize__
    content: Any = probe.get_state()
    before, after = [_memory_with(probe, (*content[:3], flag, 0.5), size) for flag in (0, 1)]
    differing = [place for place in range(size) if before[place] != after[place]]
    return differing[0] if len(differing) == 1 else None


def _memory_with(generator: np.random.RandomState, state: Any, size: int) -> bytes:
    generator.set_state(state)
    return ctypes.string_at(id(generator), size)


def plain_state(generator: Any) -> list[Any]:
    """The state of a generator as plain data.

    Args:
        generator: A `random.Random`, `RandomState`, `Generator` or `BitGenerator`.

    Returns:
        ['python', ...], ['numpy', name of the bit generator, its state], with the pair of normal numbers of a `RandomState`.

    Raises:
        ValueError: It is none of these, or has no state.
    """
    if isinstance(generator, random.Random) and not isinstance(generator, random.SystemRandom):
        return PythonRandom(generator).state()
    if isinstance(generator, np.random.RandomState):
        state = dict(generator.get_state(legacy=False))
        name, has_gauss, gauss = (state.pop(key) for key in ('bit_generator', 'has_gauss', 'gauss'))
        return ['numpy', str(name), _plain(state), int(has_gauss), float(gauss)]
    bits = generator.bit_generator if isinstance(generator, np.random.Generator) else generator
    if isinstance(bits, np.random.BitGenerator):
        state = dict(bits.state)
        return ['numpy', str(state.pop('bit_generator')), _plain(state)]
    raise ValueError(f'{type(generator).__name__} is no random generator with a state')


def _plain(value: Any) -> Any:
    """A state of NumPy with its arrays as bytes and its numbers, which have up to 128 bits, as text."""
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    if isinstance(value, np.ndarray):
        return [value.dtype.str, value.tobytes()]
    return str(int(value))


def restore(generator: Any, state: Any) -> None:
    """Put a generator into a state.

    Args:
        generator: As for `plain_state`.
        state: A result of it, perhaps from a trace: everything is checked.

    Raises:
        ValueError: The state is damaged, or of another kind of generator.
    """
    try:
        if state[0] == 'python' and isinstance(generator, random.Random):
            _, words, position, gauss = state
            numbers = np.frombuffer(words, np.uint32).tolist()
            generator.setstate((_PYTHON_VERSION, (*numbers, int(position)), None if gauss is None else float(gauss)))
        elif state[0] == 'numpy' and isinstance(generator, np.random.RandomState):
            _, name, content, has_gauss, gauss = state
            generator.set_state({**_content(content), 'bit_generator': name, 'has_gauss': int(has_gauss),
                                 'gauss': float(gauss)})
        elif state[0] == 'numpy' and isinstance(generator, np.random.Generator | np.random.BitGenerator):
            bits: Any = generator.bit_generator if isinstance(generator, np.random.Generator) else generator
            _, name, content = state
            bits.state = {'bit_generator': name, **_content(content)}
        else:
            raise ValueError(f'a state of kind {state[0]!r} does not fit {type(generator).__name__}')
    except (TypeError, KeyError, IndexError, OverflowError, AttributeError) as error:
        raise ValueError(f'the state of a random generator is damaged: {error}') from error


def _content(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _content(part) for key, part in value.items()}
    if isinstance(value, list):
        kind, data = value
        if kind not in ('<u4', '<u8'):
            raise ValueError(f'words of type {kind!r} in the state of a random generator')
        return np.frombuffer(data, kind).copy()
    return int(value)


_BIT_GENERATORS = 'MT19937', 'PCG64', 'PCG64DXSM', 'Philox', 'SFC64'
"""Of NumPy. Looked up when one is made: NumPy loads `numpy.random`, 10 ms, when it is first asked for it."""


def generator_in(state: Any, kind: str) -> Any:
    """A new generator in a state.

    Args:
        state: A result of `plain_state`, perhaps from a trace.
        kind: 'Generator', 'RandomState', 'BitGenerator' or 'Random'.

    Returns:
        The generator.

    Raises:
        ValueError: The state is damaged or of a bit generator that NumPy does not have.
    """
    if kind == 'Random':
        generator: Any = random.Random(0)
    else:
        known = isinstance(state, list) and len(state) > 1 and state[1] in _BIT_GENERATORS
        make = getattr(np.random, state[1], None) if known else None
        if make is None:
            raise ValueError('the state of a random generator is damaged')
        bits: Any = make(0)
        generator = bits if kind == 'BitGenerator' else (
            np.random.RandomState(bits) if kind == 'RandomState' else np.random.Generator(bits))
    restore(generator, state)
    return generator


def kind_of(generator: Any) -> str:
    """The kind of a generator, for `generator_in`.

    Args:
        generator: Any object.

    Returns:
        '' of what is no generator, or has no state.
    """
    kind = type(generator)                      # a proxy of the program would answer `isinstance` with code of its own
    for name, base in (('Generator', np.random.Generator), ('RandomState', np.random.RandomState),
                       ('BitGenerator', np.random.BitGenerator)):
        if issubclass(kind, base):
            return name
    return 'Random' if kind is random.Random else ''


def global_generator(name: str) -> Any:
    """The generator behind the functions of a module.

    Args:
        name: 'random' or 'numpy.random'.

    Returns:
        The generator.

    Raises:
        ValueError: There is none of that name.
    """
    if name == 'random':
        return random._inst
    if name == 'numpy.random':
        return np.random.mtrand._rand
    raise ValueError(f'no random generator {name!r}')


def _finish_loading() -> None:
    """Load `numpy.random` before a fork: a child would wait for ever for what another thread has begun to load."""
    if len(current_frames()) > 1:
        np.random.mtrand  # noqa: B018 - NumPy loads it when it is first asked for it


if hasattr(os, 'register_at_fork'):
    os.register_at_fork(before=_finish_loading)
