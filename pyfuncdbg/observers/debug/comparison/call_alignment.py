"""Alignment of the calls of one site in two recordings: equal ones, different ones, calls that only one side has.

By digests of what the calls hold, as arrays of a million. Pure.
"""
from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher

import numpy as np

MOST = 2000
"""Calls that are aligned exactly; more are by those that occur once on both sides, as in a patience diff."""

_Span = tuple[int, int, int, int]
"""Begin and end on the first side, begin and end on the second."""
_ODD = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, slots=True)
class CallKeys:
    """Digests of the calls of one site, in order.

    Attributes:
        content: Of all that a call holds.
        inputs: Of its inputs.
    """

    content: np.ndarray
    inputs: np.ndarray

    def __len__(self) -> int:
        return len(self.content)


def align(one: CallKeys, two: CallKeys, *, ordered: bool = True) -> tuple[np.ndarray, np.ndarray]:
    """Align two sequences of calls.

    Args:
        one, two: The calls of both sides.
        ordered: The order is the program's; else, as on several threads, equal calls belong together wherever they are.

    Returns:
        Places on both sides, pair by pair; -1 where the other side has no such call.
    """
    start, end = _equal_ends(one.content, two.content, (0, len(one), 0, len(two)))
    middle = start, len(one) - end, start, len(two) - end
    pairs = [(np.arange(start), np.arange(start))]
    pairs += [_unordered(one, two, middle)] if not ordered else list(_aligned(one.content, two.content, middle, one, two))
    pairs.append((np.arange(len(one) - end, len(one)), np.arange(len(two) - end, len(two))))
    left, right = (np.concatenate(side) for side in zip(*pairs, strict=True))
    if ordered and _edits(one, two, left, right) >= _edits(one, two, *(by_place := _in_order((0, len(one), 0, len(two))))):
        return by_place
    return left, right


def _edits(one: CallKeys, two: CallKeys, left: np.ndarray, right: np.ndarray) -> int:
    """The distance of two sides that are paired so: calls without a partner, and pairs that differ, twice if inputs do."""
    paired = (left >= 0) & (right >= 0)
    left, right = left[paired], right[paired]
    return int(np.count_nonzero(~paired)) + sum(int(np.count_nonzero(first[left] != second[right])) for first, second in (
        (one.content, two.content), (one.inputs, two.inputs)))


def _equal_ends(one: np.ndarray, two: np.ndarray, span: _Span) -> tuple[int, int]:
    """How many are equal from the begin of a span on, and from its end back."""
    first, second = one[span[0]:span[1]], two[span[2]:span[3]]
    length = min(len(first), len(second))
    unequal = np.flatnonzero(first[:length] != second[:length])
    start = int(unequal[0]) if len(unequal) else length
    rest = length - start
    unequal = np.flatnonzero(first[len(first) - rest:][::-1] != second[len(second) - rest:][::-1])
    return start, int(unequal[0]) if len(unequal) else rest


def _aligned(one: np.ndarray, two: np.ndarray, span: _Span, first: CallKeys, second: CallKeys
             ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The pairs of a span by these digests; of calls that differ in them by their inputs, then by place."""
    if span[1] - span[0] + span[3] - span[2] <= MOST:
        yield from _exactly(one, two, span, first, second)
        return
    at, other = span[0], span[2]
    for left, right in _anchors(one[span[0]:span[1]], two[span[2]:span[3]]):
        yield from _between_anchors(one, two, (at, span[0] + left, other, span[2] + right), first, second)
        yield np.array([span[0] + left]), np.array([span[2] + right])
        at, other = span[0] + left + 1, span[2] + right + 1
    yield from _between_anchors(one, two, (at, span[1], other, span[3]), first, second)


def _between_anchors(one: np.ndarray, two: np.ndarray, span: _Span, first: CallKeys, second: CallKeys
                     ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The pairs of a span in which no call occurs once on both sides."""
    if span[0] == span[1] and span[2] == span[3]:
        return
    start, end = _equal_ends(one, two, span)
    inner = span[0] + start, span[1] - end, span[2] + start, span[3] - end
    yield np.arange(span[0], inner[0]), np.arange(span[2], inner[2])
    if inner[1] - inner[0] + inner[3] - inner[2] <= MOST:
        yield from _exactly(one, two, inner, first, second)
    else:
        yield _in_order(inner)
    yield np.arange(inner[1], span[1]), np.arange(inner[3], span[3])


def _anchors(one: np.ndarray, two: np.ndarray) -> list[tuple[int, int]]:
    """Places of calls that occur once on both sides, in the longest order that both have."""
    once = []
    for side in (one, two):
        values, places, counts = np.unique(side, return_index=True, return_counts=True)
        once.append((values[counts == 1], places[counts == 1]))
    _, lefts, rights = np.intersect1d(once[0][0], once[1][0], assume_unique=True, return_indices=True)
    lefts, rights = once[0][1][lefts], once[1][1][rights]
    order = np.argsort(lefts)
    return _longest_increasing(lefts[order].tolist(), rights[order].tolist())


def _longest_increasing(lefts: list[int], rights: list[int]) -> list[tuple[int, int]]:
    """The longest part of these pairs in which both sides increase (patience sorting)."""
    tops: list[int] = []
    numbers: list[int] = []
    before: list[int] = []
    for number, right in enumerate(rights):
        pile = bisect_left(tops, right)
        before.append(numbers[pile - 1] if pile else -1)
        tops[pile:pile + 1] = [right]
        numbers[pile:pile + 1] = [number]
    chain = []
    at = numbers[-1] if numbers else -1
    while at >= 0:
        chain.append((lefts[at], rights[at]))
        at = before[at]
    return chain[::-1]


def _exactly(one: np.ndarray, two: np.ndarray, span: _Span, first: CallKeys, second: CallKeys
             ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The pairs of a span by the longest runs of equal calls."""
    matcher = SequenceMatcher(None, one[span[0]:span[1]].tolist(), two[span[2]:span[3]].tolist(), autojunk=False)
    for kind, *places in matcher.get_opcodes():
        part = span[0] + places[0], span[0] + places[1], span[2] + places[2], span[2] + places[3]
        if kind == 'replace' and one is first.content and part[1] - part[0] != part[3] - part[2]:
            yield from _exactly(first.inputs, second.inputs, part, first, second)
        else:
            yield _in_order(part)


def _in_order(span: _Span) -> tuple[np.ndarray, np.ndarray]:
    """By place; what one side has more of has no partner."""
    return _padded(np.arange(span[0], span[1]), np.arange(span[2], span[3]))


def _padded(left: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Both sides in the length of the longer one."""
    missing = len(left) - len(right)
    return np.concatenate((left, np.full(max(-missing, 0), -1))), np.concatenate((right, np.full(max(missing, 0), -1)))


def _unordered(one: CallKeys, two: CallKeys, span: _Span) -> tuple[np.ndarray, np.ndarray]:
    """The pairs of a span, equal calls first, then those with equal inputs, the others by place."""
    left, right = np.arange(span[0], span[1]), np.arange(span[2], span[3])
    pairs = []
    for digests in ((one.content, two.content), (one.inputs, two.inputs)):
        keys = _numbered(digests[0][left]), _numbered(digests[1][right])
        _, lefts, rights = np.intersect1d(*keys, assume_unique=True, return_indices=True)
        order = np.argsort(lefts)
        pairs.append((left[lefts[order]], right[rights[order]]))
        left, right = np.delete(left, lefts), np.delete(right, rights)
    pairs.append(_padded(left, right))
    lefts, rights = (np.concatenate(side) for side in zip(*pairs, strict=True))
    return lefts, rights


def _numbered(digests: np.ndarray) -> np.ndarray:
    """Digests made unique: the second, third, ... of equal ones get another value."""
    order = np.argsort(digests, kind='stable')
    ordered = digests[order]
    begins = np.concatenate(([True], ordered[1:] != ordered[:-1])) if len(ordered) else np.empty(0, bool)
    starts = np.flatnonzero(begins)
    occurrence = np.arange(len(ordered)) - np.repeat(starts, np.diff(np.append(starts, len(ordered))))
    numbered = np.empty_like(digests)
    numbered[order] = ordered + occurrence.astype(np.uint64) * _ODD
    return numbered
