"""Smallest inputs on which a function still fails alike: delta debugging of arrays.

Parts of axes are left out, then elements replaced by simpler ones. Pure but for the calls of the function.
Source: Zeller and Hildebrandt, Simplifying and Isolating Failure-Inducing Input, IEEE TSE 28(2), 2002.
"""
from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

SECONDS = 60
"""Time after which the least inputs so far are taken."""
_FEW = 64
"""Elements of an array that are simplified one by one."""
Inputs = list[np.ndarray]


def least_inputs(inputs: Inputs, fails: Callable[[Sequence[np.ndarray]], bool], plain: Sequence[bool]) -> Inputs:
    """The least inputs that were found within the time, in rounds until one changes nothing.

    Args:
        inputs: On which the function fails.
        fails: Whether it fails alike on others.
        plain: By input whether its elements may be replaced by simpler ones.
    """
    end = time.monotonic() + SECONDS

    def holds(candidate: Inputs) -> bool:
        return time.monotonic() < end and fails(candidate)
    before = -1
    while before != (before := _measure(inputs)) and time.monotonic() < end:
        for axes in _axes(inputs):
            inputs = _shorten(inputs, axes, holds)
        for slot, is_plain in enumerate(plain):
            if is_plain:
                inputs = _simplify(inputs, slot, holds)
    return inputs


def _measure(inputs: Inputs) -> int:
    """A number that each step makes less."""
    total: int = 0
    for array in inputs:
        total += int(array.size) + (int(_costs(array).sum()) if array.dtype.kind in 'biuf' else 0)
    return total


def _costs(array: np.ndarray) -> np.ndarray:
    """By element: 0 of zero, 1 of one, 2 of another whole number, 3 of the rest."""
    with np.errstate(all='ignore'):
        return np.select([array == 0, array == 1, array == np.trunc(array)], [0, 1, 2], 3)


def _axes(inputs: Inputs) -> Iterator[list[tuple[int, int]]]:
    """Axes that are shortened together: all of one length, then first ones of one length, then each alone."""
    places = [(slot, axis) for slot, array in enumerate(inputs) for axis in range(array.ndim)]

    def length(place: tuple[int, int]) -> int:
        return int(inputs[place[0]].shape[place[1]])
    for group in (places, [place for place in places if place[1] == 0]):
        for size, same in itertools.groupby(sorted(group, key=length), length):
            together = list(same)
            if size > 1 and len(together) > 1:
                yield together
    yield from ([place] for place in places if length(place) > 1)


def _shorten(inputs: Inputs, axes: Sequence[tuple[int, int]], holds: Callable[[Inputs], bool]) -> Inputs:
    """Leave out parts of some axes, halves first, down to single indices; one is always left."""
    sizes = {inputs[slot].shape[axis] for slot, axis in axes}
    if len(sizes) != 1:
        return inputs                           # others have been shortened since
    kept = np.arange(sizes.pop())
    part = len(kept) // 2
    while part and len(kept) > 1:
        start = 0
        while start < len(kept):
            rest = np.delete(kept, slice(start, start + part))
            candidate = _taken(inputs, axes, rest) if len(rest) else inputs
            if len(rest) and holds(candidate):
                kept = rest
            else:
                start += part
        part = min(part // 2, len(kept) // 2) if part > 1 else 0
    return _taken(inputs, axes, kept)


def _taken(inputs: Inputs, axes: Sequence[tuple[int, int]], indices: np.ndarray) -> Inputs:
    taken = list(inputs)
    for slot, axis in axes:
        taken[slot] = taken[slot].take(indices, axis)
    return taken


def _simplify(inputs: Inputs, slot: int, holds: Callable[[Inputs], bool]) -> Inputs:
    """Make elements 0, 1 or whole: all at once, then one by one where there are few."""
    def with_array(array: np.ndarray) -> Inputs:
        return [*inputs[:slot], array, *inputs[slot + 1:]]
    array = inputs[slot]
    for simple in (np.zeros_like(array), np.ones_like(array)):
        if _costs(simple).sum() < _costs(array).sum() and holds(with_array(simple)):
            return with_array(simple)
    if array.size > _FEW:
        return inputs
    for index in np.ndindex(array.shape):
        for value in _simpler(array[index]):
            candidate = array.copy()
            candidate[index] = value
            if holds(with_array(candidate)):
                array = candidate
                break
    return with_array(array)


def _simpler(element: Any) -> list[Any]:
    """Simpler values than an element, the simplest first."""
    cost = int(_costs(element))
    return [0, 1, np.trunc(element)][:cost] if np.isfinite(element) else [0, 1]
