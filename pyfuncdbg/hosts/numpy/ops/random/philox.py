"""TensorFlow's random numbers: the Philox 4x32-10 generator, and distributions over its bits.

Blocks of four 32-bit numbers are a function of a key and a counter, so any of them can be computed on its own (Salmon et
al., "Parallel random numbers: as easy as 1, 2, 3", 2011). `random` and `stateless_random` draw from it, on the thread of
the run.
"""
from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np

_MULTIPLIERS = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
_WEYL = 0x9E3779B9, 0xBB67AE85
_LOW = np.uint64(0xFFFFFFFF)
_32 = np.uint64(32)
_WORD = 2**64 - 1
_PER_OUTPUT = 256
"""Number of samples that TensorFlow reserves for each group of outputs of a rejection sampler."""


class Philox(np.random.Generator):
    """A key and a counter. NumPy's `Philox` only holds them, so that its state can be saved and restored
    like that of any generator; the blocks are computed here.

    Args:
        key: 64 bits.
        counter: 128 bits; the next block.
    """

    def __init__(self, key: int, counter: int) -> None:
        super().__init__(np.random.Philox(key=[key, 0], counter=[counter & _WORD, counter >> 64, 0, 0]))

    @staticmethod
    def seeded(seed: int, seed2: int) -> Philox:
        """The generator of a stateful op with these seeds; with (0, 0) a random one."""
        if not seed and not seed2:
            seed, seed2 = (int.from_bytes(os.urandom(8), 'little') for _ in range(2))
        return Philox(seed & _WORD, (seed2 & _WORD) << 64)

    def position(self) -> tuple[int, int]:
        """The key and the counter."""
        state: Any = self.bit_generator.state
        low, high = state['state']['counter'][:2].tolist()
        return int(state['state']['key'][0]), high << 64 | low

    def reserve(self, blocks: int) -> Blocks:
        """The next blocks; advances the counter."""
        key, counter = self.position()
        state: Any = self.bit_generator.state
        after = counter + blocks
        state['state']['counter'][:2] = after & _WORD, after >> 64 & _WORD
        self.bit_generator.state = state
        return Blocks(key, counter)


class Blocks:
    """The blocks from a counter on.

    Args:
        key: 64 bits.
        counter: 128 bits.
    """

    __slots__ = ('_counter', '_key')

    def __init__(self, key: int, counter: int) -> None:
        self._key = key
        self._counter = counter

    def at(self, places: Any) -> Any:
        """The blocks at these places after the counter: uint32 of shape [n, 4]."""
        low = np.uint64(self._counter & _WORD) + places.astype(np.uint64)
        high = np.uint64(self._counter >> 64) + (low < places.astype(np.uint64)).astype(np.uint64)
        c0, c1, c2, c3 = low & _LOW, low >> _32, high & _LOW, high >> _32
        k0, k1 = self._key & 0xFFFFFFFF, self._key >> 32
        for _ in range(10):
            first, second = c0 * _MULTIPLIERS[0], c2 * _MULTIPLIERS[1]
            c0, c1, c2, c3 = ((second >> _32) ^ c1 ^ np.uint64(k0), second & _LOW,
                              (first >> _32) ^ c3 ^ np.uint64(k1), first & _LOW)
            k0, k1 = k0 + _WEYL[0] & 0xFFFFFFFF, k1 + _WEYL[1] & 0xFFFFFFFF
        return np.stack([c0, c1, c2, c3], -1).astype(np.uint32)

    def numbers(self, count: int) -> Any:
        """The first `count` 32-bit numbers."""
        return self.at(np.arange(-(-count // 4))).reshape(-1)[:count]


# ---------------------------------------------------------------- numbers from bits
def float32_below_one(bits: Any) -> Any:
    """The low 23 bits as a float32 in [0, 1)."""
    return ((bits & np.uint32(0x7FFFFF)) | np.uint32(127 << 23)).view(np.float32) - np.float32(1)


def float64_below_one(low: Any, high: Any) -> Any:
    """20 bits of one number and 32 of the other as a float64 in [0, 1)."""
    bits = ((low.astype(np.uint64) & np.uint64(0xFFFFF)) << _32) | high
    return (bits | np.uint64(1023 << 52)).view(np.float64) - 1.0


def _half_below_one(bits: Any, dtype: Any, mantissa: int, one: int) -> Any:
    pattern = (bits & np.uint32((1 << mantissa) - 1)) | np.uint32(one)
    return (pattern.astype(np.uint16).view(dtype) - dtype.type(1)).astype(dtype)


def uniform(blocks: Blocks, count: int, dtype: Any) -> Any:
    """In [0, 1), of a float dtype."""
    if dtype == np.float64:
        bits = blocks.numbers(2 * count).reshape(-1, 2)
        return float64_below_one(bits[:, 0], bits[:, 1])
    bits = blocks.numbers(count)
    if dtype == np.float32:
        return float32_below_one(bits)
    return _half_below_one(bits, dtype, 10, 15 << 10) if dtype == np.float16 else _half_below_one(bits, dtype, 7, 127 << 7)


def integers(blocks: Blocks, count: int, dtype: Any) -> Any:
    """All values of an integer dtype of 32 or 64 bits, as unsigned numbers."""
    if dtype.itemsize == 4:
        return blocks.numbers(count)
    bits = blocks.numbers(2 * count).reshape(-1, 2).astype(np.uint64)
    return bits[:, 0] | bits[:, 1] << _32


def integers_between(blocks: Blocks, count: int, low: Any, high: Any) -> Any:
    """In [low, high), of their dtype."""
    unsigned = np.dtype(f'u{low.dtype.itemsize}')
    width = unsigned.type((int(high) - int(low)) % 2**(8 * unsigned.itemsize))
    offsets = integers(blocks, count, low.dtype) % width
    return (offsets + np.asarray(low).view(unsigned)).astype(unsigned).view(low.dtype)


def _box_muller32(first: Any, second: Any) -> Any:
    """Two normal numbers from two uniform ones, rounded to float32 where TensorFlow's kernel rounds."""
    size = np.maximum(float32_below_one(first), np.float32(1e-7)).astype(np.float64)
    log = np.log(size).astype(np.float32)
    radius = np.sqrt(np.float32(-2) * log)
    angle = (2.0 * np.pi * float32_below_one(second).astype(np.float64)).astype(np.float32).astype(np.float64)
    return np.stack([np.sin(angle).astype(np.float32) * radius, np.cos(angle).astype(np.float32) * radius], -1)


def _box_muller64(bits: Any) -> Any:
    size = np.maximum(float64_below_one(bits[..., 0], bits[..., 1]), 1e-7)
    angle = 2.0 * np.pi * float64_below_one(bits[..., 2], bits[..., 3])
    radius = np.sqrt(-2.0 * np.log(size))
    return np.stack([np.sin(angle) * radius, np.cos(angle) * radius], -1)


def _pairs(bits: Any, double: bool) -> Any:
    """Normal numbers from blocks, in the order of TensorFlow's kernel."""
    if double:
        return _box_muller64(bits)
    return _box_muller32(bits[..., 0::2], bits[..., 1::2]).reshape(*bits.shape[:-1], 4)


def normal(blocks: Blocks, count: int, dtype: Any) -> Any:
    """Normally distributed, of a float dtype."""
    double = dtype == np.float64
    bits = blocks.at(np.arange(-(-count // (2 if double else 4))))
    return _pairs(bits, double).reshape(-1)[:count].astype(dtype)


def truncated_normal(blocks: Blocks, count: int, dtype: Any) -> Any:
    """Normally distributed within two standard deviations: each group of outputs takes the first accepted samples of
    its own row of blocks."""
    double = dtype == np.float64
    size = 2 if double else 4
    groups = -(-count // size)
    skip = size * _PER_OUTPUT // 4
    result = np.empty((groups, size), np.float64 if double else np.float32)
    open_groups, filled, step = np.arange(groups), np.zeros(groups, np.int64), 0
    while len(open_groups):
        samples = _pairs(blocks.at(open_groups * skip + step), double)
        for column in samples.reshape(len(open_groups), -1).T:
            fits = (np.abs(column) < 2) & (filled[open_groups] < size)
            result[open_groups[fits], filled[open_groups[fits]]] = column[fits]
            filled[open_groups[fits]] += 1
        open_groups = open_groups[filled[open_groups] < size]
        step += 1
    return result.reshape(-1)[:count].astype(dtype)


def categorical(blocks: Blocks, logits: Any, samples: int, dtype: Any) -> Any:
    """`samples` class numbers for each row of logits."""
    rows = len(logits)
    bits = blocks.numbers(2 * rows * samples).reshape(-1, 2)
    uniform = float64_below_one(bits[:, 0], bits[:, 1]).reshape(rows, samples)
    finite = np.isfinite(logits)
    wide = logits.astype(np.float64)
    largest = np.where(finite, wide, -np.inf).max(1, keepdims=True, initial=-np.inf)
    sums = np.cumsum(np.where(finite, np.exp(wide - largest), 0.0), 1)
    numbers = np.empty((rows, samples), dtype)
    for row in range(rows):
        numbers[row] = np.searchsorted(sums[row], uniform[row] * sums[row, -1], 'right')
    return numbers


def permutation(blocks: Blocks, count: int) -> Any:
    """Fisher and Yates' shuffle of the first `count` numbers."""
    order = np.arange(count)
    numbers = blocks.numbers(max(count - 1, 0)).tolist()
    for i, number in enumerate(numbers):
        j = i + number % (count - i)
        order[i], order[j] = order[j], order[i]
    return order


Distribution = Callable[[Blocks, int, Any], Any]
