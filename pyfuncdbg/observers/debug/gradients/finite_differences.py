"""Derivatives by differences: of the sum of a function's outputs, weighted, along a direction of one input; with an error.

Pure arithmetic on a function that the caller gives; any thread.
"""
from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Arrays = Sequence[np.ndarray]
Function = Callable[[Arrays], Arrays]
"""Outputs for inputs, which are its own; raises `NoValueError` where it has none."""

_FIRST = {8: 1e-3, 4: 5e-2, 2: 1e-1}
"""First step by the bytes of the function's element, relative to an element's size: Richardson's rule allows long ones."""
_SHORTER = (1.0, 1 / 64, 1 / 4096)
_NOISE = 8.0
"""Rounding errors of an output, in units of its last place."""
_COMPLEX_STEP = 1e-30


@dataclass(frozen=True, slots=True)
class Slope:
    """A derivative and how far off it may be."""

    value: float
    error: float

    @property
    def is_known(self) -> bool:
        """Whether it is a number with an error."""
        return bool(np.isfinite(self.value) and np.isfinite(self.error))


UNKNOWN = Slope(float('nan'), float('inf'))


class NoValueError(Exception):
    """The function gives nothing there."""


class WeightedOutputs:
    """The sum of a function's outputs, weighted by output gradients, as a function of one input.

    Attributes:
        calls: How often the function was called.
    """

    def __init__(self, function: Function, inputs: Arrays, seeds: Sequence[np.ndarray | None], seconds: float) -> None:
        """Prepare.

        Args:
            function: Called with a list of arrays that are its own.
            inputs: Where it is differentiated.
            seeds: The gradient of each output, None for none.
            seconds: After that time `over` is true.
        """
        self._function = function
        self._inputs = list(inputs)
        self._seeds = list(seeds)
        self._end = time.monotonic() + seconds
        self.calls = 0
        self._middle = self._outputs(self._inputs)

    @property
    def over(self) -> bool:
        """Whether the time is up."""
        return time.monotonic() > self._end

    def _outputs(self, inputs: Arrays) -> list[np.ndarray]:
        self.calls += 1
        return [np.asarray(output) for output in self._function([np.array(value) for value in inputs])]

    def _shifted_outputs(self, slot: int, move: np.ndarray) -> list[np.ndarray]:
        inputs = list(self._inputs)
        moved = inputs[slot] + move
        inputs[slot] = moved if move.dtype.kind == 'c' else moved.astype(inputs[slot].dtype)
        return self._outputs(inputs)

    def _change(self, high: Arrays, low: Arrays) -> tuple[float, float]:
        """The weighted difference of outputs, and the rounding error in it."""
        total = noise = 0.0
        for one, other, seed in zip(high, low, self._seeds, strict=False):
            if seed is None or one.dtype.kind != 'f' or one.shape != other.shape:
                continue
            a, b, v = (np.asarray(value, np.float64) for value in (one, other, seed))
            with np.errstate(all='ignore'):
                total += float(np.sum(np.where(v == 0, 0.0, v * (a - b))))
                rounding = v * np.maximum(np.abs(a), np.abs(b)) * float(np.finfo(one.dtype).eps)
                noise += float(np.sum(np.where(v == 0, 0.0, rounding) ** 2))
        return total, _NOISE * noise ** 0.5

    def central(self, slot: int, direction: np.ndarray, factor: float = 1.0, flat_counts: bool = True) -> Slope:
        """The derivative by central differences with several step sizes, extrapolated.

        Args:
            slot: The input.
            direction: Of its shape; its elements are of the size of a relative step of 1.
            factor: Of all step sizes, for an independent second opinion.
            flat_counts: As of `by_length`.
        """
        best = UNKNOWN
        for found in self.by_length(slot, direction, factor, flat_counts):
            if found.error < best.error:
                best = found
            if found.error <= 1e-7 * abs(found.value):
                break
        return best

    def by_length(self, slot: int, direction: np.ndarray, factor: float = 1.0, flat_counts: bool = True) -> Iterator[Slope]:
        """The derivative by steps of each length, the longest first.

        An error says nothing of what the steps do not see: a function that bends between them.

        Args:
            slot, direction, factor: As of `central`.
            flat_counts: Where short steps change nothing the derivative is 0. Else rounding inside of the function may
                hide the change: the error is then the smallest change that was seen.
        """
        first = _FIRST.get(self._inputs[slot].dtype.itemsize, 1e-1) * factor
        smallest = float('inf')
        for step in (first * shorter for shorter in _SHORTER):
            try:
                totals, noises = self._differences(slot, direction, step)
            except NoValueError:
                continue
            smallest = min([smallest, *(abs(total) for total in totals if total)])
            if not flat_counts and not all(totals) and smallest < float('inf'):
                noises = [max(noise, smallest) for noise in noises]
            yield _extrapolated(step, totals, noises)

    def _differences(self, slot: int, direction: np.ndarray, step: float) -> tuple[list[float], list[float]]:
        """The changes from a step back to a step forward, for three sizes, and the rounding errors in them."""
        moves = [direction * size for size in (step, step / 4, step / 16)]
        changes = [self._change(self._shifted_outputs(slot, move), self._shifted_outputs(slot, -move)) for move in moves]
        return [total for total, _ in changes], [noise for _, noise in changes]

    def one_sided(self, slot: int, direction: np.ndarray) -> tuple[Slope, Slope]:
        """The derivatives in this direction and from the opposite one; they differ at a kink."""
        step = {8: 1e-6, 4: 4e-3}.get(self._inputs[slot].dtype.itemsize, 5e-2)
        slopes = []
        for sign in (1.0, -1.0):
            try:
                slopes.append(self._from_side(slot, direction, sign, step))
            except NoValueError:
                slopes.append(UNKNOWN)
        return slopes[0], slopes[1]

    def _from_side(self, slot: int, direction: np.ndarray, sign: float, step: float) -> Slope:
        values, noises = [], []
        for size in (step, step / 4, step / 16):
            total, noise = self._change(self._shifted_outputs(slot, direction * (sign * size)), self._middle)
            values.append(sign * total / size)
            noises.append(noise / size)
        if not np.isfinite(values).all():
            return UNKNOWN
        near, nearer = (4 * values[1] - values[0]) / 3, (4 * values[2] - values[1]) / 3
        return Slope(near, abs(near - nearer) + noises[1])

    def complex_step(self, slot: int, direction: np.ndarray) -> float | None:
        """The derivative by an imaginary step, exact to rounding where the function is analytic; None where it takes none.

        Nothing says that the function is analytic: the caller compares with a difference.
        """
        if self._inputs[slot].dtype != np.float64:
            return None
        try:
            outputs = self._shifted_outputs(slot, direction * (1j * _COMPLEX_STEP))
        except NoValueError:
            return None
        total = 0.0
        for output, seed in zip(outputs, self._seeds, strict=False):
            if seed is not None and output.dtype.kind == 'c':
                total += float(np.sum(np.asarray(seed, np.float64) * output.imag)) / _COMPLEX_STEP
        return total if np.isfinite(total) else None


def _extrapolated(step: float, totals: Sequence[float], noises: Sequence[float]) -> Slope:
    """The derivative from the changes of three steps, each a quarter of the one before, by Richardson's rule."""
    sizes = (step, step / 4, step / 16)
    values = [total / (2 * size) for total, size in zip(totals, sizes, strict=True)]
    if not np.isfinite(values).all():
        return UNKNOWN
    wide, narrow = (16 * values[1] - values[0]) / 15, (16 * values[2] - values[1]) / 15
    one, two = (Slope(value, abs(wide - narrow) + noise / (2 * size))
                for value, noise, size in zip((wide, narrow), noises[1:], sizes[1:], strict=True))
    return one if one.error <= two.error else two


def sizes_of(values: np.ndarray) -> np.ndarray:
    """The size of a relative step of 1 for each element: its own magnitude, or the usual one for those that are small."""
    magnitudes = np.abs(np.asarray(values, np.float64))
    usual = float(np.sqrt(np.mean(magnitudes ** 2))) if magnitudes.size else 1.0
    return np.asarray(np.maximum(magnitudes, usual) if usual > 0 else np.ones(magnitudes.shape))


def dot(gradient: np.ndarray, direction: np.ndarray) -> float:
    """The derivative along a direction by a gradient; elements that the direction leaves out do not count."""
    used = direction != 0
    return float(np.sum(np.asarray(gradient, np.float64)[used] * direction[used]))


def signs(random: Any, shape: tuple[int, ...]) -> np.ndarray:
    """A random direction of plus and minus one."""
    made: np.ndarray = random.integers(0, 2, shape) * 2.0 - 1.0
    return made
