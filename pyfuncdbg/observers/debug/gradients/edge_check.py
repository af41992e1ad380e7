"""Gradient check of one edge of a tape by finite differences: is the recorded gradient the derivative, and where not.

Small inputs are checked element by element, large ones along the gradient and along random directions; what does not fit is
located by halving. A gradient is wrong if it is several errors of the difference away from it, however large these are.
"""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from pyfuncdbg.observers.debug.gradients.finite_differences import Slope, WeightedOutputs, dot, signs, sizes_of

Verdict = Literal['OK', 'BAD', 'kink', 'unchecked']

EACH = 16
"""Largest input whose elements are checked one by one."""
DIRECTIONS = 3
LOCATED = 12
"""Elements of a large input that are located and checked one by one."""
_SHARP = 0.3
"""Largest error of a difference, five times its estimate, that lets it judge: relative to the derivative."""
_RELATIVE = {8: 1e-6, 4: 1e-3, 2: 5e-2}
_ABSOLUTE = {8: 1e-11, 4: 2e-5, 2: 1e-2}


@dataclass(frozen=True, slots=True)
class EdgeOutcome:
    """Result of checking one edge.

    Attributes:
        error: Relative difference to what was expected; the largest of those met.
        index: Of the element, where one was located.
        actual, expected: Its gradient on the tape and by differences; at a kink `expected` is the derivative from one side,
            `other_side` that from the other.
        reason: Why it could not be checked, or what is remarkable.
    """

    verdict: Verdict
    error: float | None = None
    index: tuple[int, ...] | None = None
    actual: float | None = None
    expected: float | None = None
    other_side: float | None = None
    reason: str = ''


class EdgeCheck:
    """Check of the gradient of one input."""

    def __init__(self, weighted: WeightedOutputs, slot: int, values: np.ndarray, gradient: np.ndarray, *,
                 analytic: bool) -> None:
        """Prepare.

        Args:
            weighted: The function.
            slot: The input.
            values: Its elements.
            gradient: On the tape.
            analytic: Try imaginary steps.
        """
        self._weighted = weighted
        self._slot = slot
        self._values = values
        self._gradient = gradient
        self._sizes = sizes_of(values)
        self._analytic = analytic
        self._random = np.random.default_rng(20)
        self._relative = _RELATIVE.get(gradient.dtype.itemsize, 5e-2)
        finite = np.abs(np.asarray(gradient, np.float64)[np.isfinite(np.asarray(gradient, np.float64))])
        # Relative to the largest element, for rounding; and what underflows on a tape of fewer bits.
        self._floor = _ABSOLUTE.get(gradient.dtype.itemsize, 1e-2) * float(finite.max(initial=0.0))
        self._floor += 1e3 * float(np.finfo(gradient.dtype).tiny)
        self._error = 0.0
        self._kink: EdgeOutcome | None = None
        self._unknown: EdgeOutcome | None = None

    def outcome(self) -> EdgeOutcome:
        """The verdict on the whole input: the worst that was found."""
        open_ = np.ones(self._values.shape, bool)
        bad = ~np.isfinite(np.asarray(self._gradient, np.float64))
        for flat in np.flatnonzero(bad)[:LOCATED]:
            outcome = self._element(int(flat))
            if outcome.verdict == 'BAD':
                return outcome
        open_[bad] = False
        outcome = self._each(open_) if open_.sum() <= EACH else self._along(open_)
        if outcome.verdict == 'BAD':
            return outcome
        return self._kink or self._unknown or outcome

    def _each(self, open_: np.ndarray) -> EdgeOutcome:
        noisy: EdgeOutcome | None = None
        for flat in np.flatnonzero(open_):
            outcome = self._element(int(flat))
            if outcome.verdict == 'BAD':
                return outcome
            if outcome.verdict == 'kink':
                open_.reshape(-1)[flat] = False
            elif outcome.verdict == 'unchecked' and outcome is not self._unknown:
                noisy = noisy or outcome
        if noisy is None:
            return EdgeOutcome('OK', self._error)
        along = self._along(open_)              # the sum may be less noisy than one element
        return noisy if along.verdict == 'unchecked' else along

    def _along(self, open_: np.ndarray) -> EdgeOutcome:
        """The gradient's own direction, then random ones; what does not fit is located, and left out if it is a kink."""
        located = directions = 0
        noisy: EdgeOutcome | None = None
        sharp = False
        while directions <= DIRECTIONS and open_.any() and not (self._weighted.over and directions):
            name = 'along the gradient' if not directions else 'along a random direction'
            way = np.sign(np.asarray(self._gradient, np.float64)) if not directions else signs(self._random, open_.shape)
            direction = np.where(open_, way, 0.0) * self._sizes
            if not direction.any():
                directions += 1
                continue
            judged = self._judge(direction, name)
            if judged.verdict != 'BAD':
                sharp |= judged.verdict == 'OK'
                noisy = noisy or (judged if judged.verdict == 'unchecked' else None)
                directions += 1
                continue
            if located == LOCATED:
                return EdgeOutcome('unchecked', reason=f'more than {LOCATED} elements do not fit {name}')
            located += 1
            flat = self._locate(direction, self._misfit)
            outcome = self._element(flat)
            if outcome.verdict == 'BAD':
                return outcome
            if outcome.verdict == 'kink':
                open_ &= self._values != self._values.reshape(-1)[flat]     # kinks come with a value, such as 0
            elif self._is_confirmed(direction):
                return judged
            else:
                open_.reshape(-1)[flat] = False
        if self._kink is None and open_.any():
            direction = signs(self._random, open_.shape) * open_ * self._sizes
            if self._gap(np.flatnonzero(direction), direction) > 0:      # the mean of two sides may fit
                self._element(self._locate(direction, self._gap))
        return EdgeOutcome('OK', self._error) if sharp or noisy is None else noisy

    def _judge(self, direction: np.ndarray, name: str) -> EdgeOutcome:
        """Whether the gradient's derivative along a direction is that by differences, as far as these can tell."""
        derivative = dot(self._gradient, direction)
        slope = self._slope(direction, derivative)
        if not slope.is_known:
            return EdgeOutcome('unchecked', reason=f'the function gives no finite value near its input, {name}')
        if not self._close(slope, derivative, direction):
            size = max(abs(slope.value), abs(derivative))
            return EdgeOutcome('BAD', abs(slope.value - derivative) / size if size else None, None, derivative, slope.value,
                               reason=name)
        if not self._is_conclusive(slope, derivative, direction):
            return EdgeOutcome('unchecked', actual=derivative,
                               reason=f'the differences are too noisy, {name}: {_shown(slope)}')
        return EdgeOutcome('OK', self._error)

    def _slope(self, direction: np.ndarray, got: float, factor: float = 1.0) -> Slope:
        """The derivative by differences. Where short steps change nothing it is 0 only if the gradient is, too."""
        return self._weighted.central(self._slot, direction, factor, got == 0)

    def _is_confirmed(self, direction: np.ndarray) -> bool:
        """Whether other step sizes say, too, that the gradient is wrong along a direction, and it is no kink."""
        derivative = dot(self._gradient, direction)
        slope = self._slope(direction, derivative)
        again = self._slope(direction, derivative, 0.6)
        if not self._is_repeated(slope, again, derivative) or self._opposed(slope, derivative, direction) is not None:
            return False
        return not self._is_kink(*self._weighted.one_sided(self._slot, direction), derivative)

    def _is_repeated(self, slope: Slope, again: Slope, got: float) -> bool:
        gap = abs(slope.value - got)
        return again.is_known and abs(again.value - got) > 5 * again.error and abs(slope.value - again.value) <= 0.2 * gap

    def _opposed(self, slope: Slope, got: float, direction: np.ndarray) -> Slope | None:
        """The derivative by steps of another length that does not agree with `slope`, but does with the gradient.

        The difference with the smallest error is not always right: long steps on both sides of a pole or a kink agree with
        each other, and short ones see no change where rounding inside of the function hides it.
        """
        if not slope.is_known:
            return None
        for other in self._weighted.by_length(self._slot, direction):
            if other.is_known and abs(other.value - slope.value) > other.error + slope.error and (
                    abs(other.value - got) <= other.error < 0.5 * abs(got)):
                return other
        return None

    def _is_conclusive(self, slope: Slope, got: float, direction: np.ndarray) -> bool:
        """Whether differences are sharp enough to tell a gradient from one that is wrong by a third."""
        margin = 5 * slope.error + self._floor * float(np.linalg.norm(direction))
        return margin <= _SHARP * max(abs(slope.value), abs(got)) or slope.value == got == 0

    def _close(self, slope: Slope, expected: float, direction: np.ndarray) -> bool:
        used = direction != 0
        norm = float(np.linalg.norm(np.asarray(self._gradient, np.float64)[used] * direction[used]))
        size = max(abs(slope.value), abs(expected), norm)
        allowed = 5 * slope.error + self._relative * size + self._floor * float(np.linalg.norm(direction))
        fits = abs(slope.value - expected) <= allowed
        if fits and size > 0 and self._is_conclusive(slope, expected, direction):
            self._error = max(self._error, abs(slope.value - expected) / size)
        return fits

    def _locate(self, direction: np.ndarray, blame: Callable[[np.ndarray, np.ndarray], float]) -> int:
        """The element that is most to blame, by halving."""
        flat = np.flatnonzero(direction)
        while len(flat) > 1:
            halves = flat[:len(flat) // 2], flat[len(flat) // 2:]
            flat = max(halves, key=lambda half: blame(half, direction))
        return int(flat[0])

    def _gap(self, flat: np.ndarray, direction: np.ndarray) -> float:
        """By how much the derivatives from two sides differ, beyond their errors."""
        part = np.zeros(direction.shape)
        part.reshape(-1)[flat] = direction.reshape(-1)[flat]
        up, down = self._weighted.one_sided(self._slot, part)
        if not (up.is_known and down.is_known):
            return 0.0
        return max(0.0, abs(up.value - down.value) - self._margin(up, down))

    def _misfit(self, flat: np.ndarray, direction: np.ndarray) -> float:
        part = np.zeros(direction.shape)
        part.reshape(-1)[flat] = direction.reshape(-1)[flat]
        derivative = dot(self._gradient, part)
        slope = self._slope(part, derivative)
        return max(0.0, abs(slope.value - derivative) - slope.error) if slope.is_known else float('inf')

    def _element(self, flat: int) -> EdgeOutcome:
        """One element by itself."""
        direction = np.zeros(self._values.shape)
        size = float(self._sizes.reshape(-1)[flat])
        direction.reshape(-1)[flat] = size
        got = float(self._gradient.reshape(-1)[flat])
        index = tuple(int(i) for i in np.unravel_index(flat, self._values.shape))
        slope = self._slope(direction, got)
        fits = tells = False
        if slope.is_known and np.isfinite(got):
            slope = self._sharpen(slope, direction)
            fits, tells = self._close(slope, got * size, direction), self._is_conclusive(slope, got * size, direction)
        up, down = self._weighted.one_sided(self._slot, direction)
        if self._is_kink(up, down, got * size):
            self._kink = self._kink or EdgeOutcome('kink', index=index, actual=got, expected=down.value / size,
                                                   other_side=up.value / size)
            return self._kink
        noisy = EdgeOutcome('unchecked', index=index, actual=got,
                            reason=f'the differences are too noisy: {_shown(slope, size)}')
        if fits:
            return EdgeOutcome('OK', self._error) if tells or self._is_negligible(flat) else noisy
        again = self._slope(direction, got, 0.6)
        sides = [side.value for side in (up, down) if _is_sound(side)]
        if slope.is_known and (self._is_repeated(slope, again, got * size) if np.isfinite(got)
                            else _is_sound(slope) and again.is_known):
            expected = slope.value / size
        elif not np.isfinite(got) and sides:
            expected = sides[0] / size                  # at the edge of where the function is defined
        else:
            self._unknown = self._unknown or (noisy if slope.is_known else EdgeOutcome(
                'unchecked', index=index, actual=got, reason='the function gives no finite value near this element'))
            return self._unknown
        if np.isfinite(got) and (other := self._opposed(slope, got * size, direction)) is not None:
            self._unknown = self._unknown or EdgeOutcome('unchecked', index=index, actual=got, reason=(
                f'differences by steps of two lengths disagree: {_shown(slope, size)}, and {_shown(other, size)}'))
            return self._unknown
        scale = max(abs(expected), abs(got)) if np.isfinite(got) else 1.0
        return EdgeOutcome('BAD', abs(expected - got) / scale if np.isfinite(got) else None, index, got, expected)

    def _is_negligible(self, flat: int) -> bool:
        """Whether the rest of the gradient is so much larger that an error in this element is no matter."""
        share = np.abs(np.asarray(self._gradient, np.float64)) * self._sizes
        share[~np.isfinite(share)] = 0.0
        return bool(share.reshape(-1)[flat] <= self._relative * share.max(initial=0.0))

    def _sharpen(self, slope: Slope, direction: np.ndarray) -> Slope:
        """The derivative by an imaginary step, where that agrees with the difference."""
        exact = self._weighted.complex_step(self._slot, direction) if self._analytic else None
        if exact is None or abs(exact - slope.value) > 5 * slope.error + 1e-6 * abs(slope.value):
            return slope
        return Slope(exact, 1e-12 * abs(exact))

    def _is_kink(self, up: Slope, down: Slope, got: float) -> bool:
        if not (up.is_known and down.is_known and np.isfinite(got)):
            return False
        margin = self._margin(up, down)
        low, high = sorted((up.value, down.value))
        return high - low > margin and low - margin <= got <= high + margin

    def _margin(self, up: Slope, down: Slope) -> float:
        return 5 * (up.error + down.error) + max(self._relative, 1e-4) * max(abs(up.value), abs(down.value))


def _shown(slope: Slope, size: float = 1.0) -> str:
    return f'{slope.value / size:.3g}, give or take {slope.error / size:.1g}'


def _is_sound(slope: Slope) -> bool:
    return slope.is_known and slope.error <= 0.05 * abs(slope.value) + 1e-9
