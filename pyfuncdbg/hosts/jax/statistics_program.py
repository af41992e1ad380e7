"""Program that makes the statistics of an array where it is, as one small array of integers.

Traced by JAX, for each type, shape and device once, on the thread that reads statistics.
"""
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pyfuncdbg.hooks.value_placeholders import OCTAVES

CATEGORIES = ('nan', 'neg_inf', 'neg', 'zero', 'pos', 'pos_inf')
FIRST_BAD, LOW, HIGH, TOP, SCALE, MEAN, STD = range(len(CATEGORIES), len(CATEGORIES) + 7)
"""Places of the numbers after the categories: index of the first NaN or infinity, or -1; the least and the greatest finite
element, by their place in the order of the type; exponent of the largest; then, as bits of floats, the power of two that the
elements were multiplied with, and of those the mean and the standard deviation."""


class _Elements(NamedTuple):
    """The elements of an array, traced, one dimension.

    Attributes:
        reals: As floats.
        order: As integers of the same order.
        exponent: Grows by one with each power of two.
        nan, infinite, negative, zero: Where they are.
        scale: A power of two that keeps the squares of `reals` in range.
    """

    reals: Any
    order: Any
    exponent: Any
    nan: Any
    infinite: Any
    negative: Any
    zero: Any
    scale: Any


def _integers(jnp: Any, lax: Any, flat: Any) -> _Elements:
    wide = flat.dtype.itemsize == 8
    word, unsigned, real = (np.int64, np.uint64, np.float64) if wide else (np.int32, np.uint32, np.float32)
    has_sign = flat.dtype.name.startswith('int')
    bits = lax.bitcast_convert_type(flat.astype(word if has_sign else unsigned), word)
    never = jnp.zeros(flat.shape, bool)
    negative = bits < 0 if has_sign else never
    magnitude = lax.bitcast_convert_type(jnp.where(negative, -bits, bits), unsigned)
    exponent = (8 * magnitude.dtype.itemsize - lax.clz(magnitude)).astype(word)
    return _Elements(flat.astype(real), bits if has_sign else bits ^ np.iinfo(word).min, exponent, never, never, negative,
                     magnitude == 0, real(1))


def _floats(jnp: Any, lax: Any, flat: Any) -> _Elements:
    """Told apart by their bits: a device may take denormal numbers for 0."""
    wide = flat.dtype.itemsize == 8
    word, real = (np.int64, np.float64) if wide else (np.int32, np.float32)
    reals = flat.astype(real)
    bits = lax.bitcast_convert_type(reals, word)
    digits, most = np.finfo(real).nmant, word((1 << (np.finfo(real).nexp)) - 1)
    sign_bit = word(8 * bits.dtype.itemsize - 1)
    magnitude = bits & np.iinfo(word).max
    exponent, bad = magnitude >> word(digits), most << word(digits)
    nan, infinite, zero = magnitude > bad, magnitude == bad, magnitude == 0
    top = jnp.max(jnp.where(nan | infinite, 0, exponent))
    scale = lax.bitcast_convert_type(jnp.clip(most - 2 - top, 1, most - 1).astype(word) << word(digits), real)
    return _Elements(reals, bits ^ ((bits >> sign_bit) & np.iinfo(word).max), exponent, nan, infinite, bits < 0, zero, scale)


def array_numbers(jax: Any, array: Any) -> Any:
    """The numbers of an array, to be traced.

    Args:
        jax: The imported JAX.
        array: Of numbers; not empty.

    Returns:
        `CATEGORIES`, then as the places say, then the histogram; of 64 bits for elements of 64 bits, else of 32.
    """
    jnp, lax = jax.numpy, jax.lax
    flat = array.reshape(-1)
    if flat.dtype.kind == 'c':
        flat = jnp.where(jnp.isnan(flat.real) | jnp.isnan(flat.imag), jnp.nan, jnp.abs(flat))
    is_whole = flat.dtype.name.startswith(('int', 'uint'))
    elements = (_integers if is_whole else _floats)(jnp, lax, flat)
    word, real = elements.order.dtype, elements.reals.dtype
    finite = ~(elements.nan | elements.infinite)
    categories = jnp.where(elements.nan, 0, jnp.where(
        elements.infinite, jnp.where(elements.negative, 1, 5),
        jnp.where(elements.zero, 3, jnp.where(elements.negative, 2, 4))))
    some = finite & ~elements.zero
    top = jnp.max(jnp.where(some, elements.exponent, 0))
    octave = jnp.minimum(top - elements.exponent, OCTAVES - 1)
    bins = jnp.where(some, jnp.where(elements.negative, octave, 2 * OCTAVES - 1 - octave), -1)
    count = jnp.maximum(jnp.sum(finite, dtype=word), 1).astype(real)
    scaled = jnp.where(finite, elements.reals * elements.scale, 0)
    mean = jnp.sum(scaled) / count
    offsets = jnp.where(finite, scaled - mean, 0)
    std = jnp.sqrt(jnp.sum(offsets * offsets) / count)
    low = jnp.min(jnp.where(finite, elements.order, np.iinfo(word).max))
    high = jnp.max(jnp.where(finite, elements.order, np.iinfo(word).min))
    first_bad = jnp.where(finite.all(), -1, jnp.argmin(finite))
    floats = [lax.bitcast_convert_type(jnp.asarray(value, real), word) for value in (elements.scale, mean, std)]
    return jnp.concatenate([_counts(jnp, categories, len(CATEGORIES), word),
                            jnp.stack([number.astype(word) for number in (first_bad, low, high, top, *floats)]),
                            _counts(jnp, bins, 2 * OCTAVES, word)])


def _counts(jnp: Any, keys: Any, length: int, word: Any) -> Any:
    """How often each of 0, 1, ... is among the keys: one pass over the array."""
    return jnp.sum(keys[:, None] == jnp.arange(length, dtype=keys.dtype), axis=0, dtype=word)
