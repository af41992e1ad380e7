"""Alignment of the calls of one site in two recordings: equal ones, different ones, calls that only one side has. Pure."""
from __future__ import annotations

from collections.abc import Hashable, Sequence
from difflib import SequenceMatcher

MOST = 4000
"""Calls between the equal ones at both ends that are aligned by what they hold; of more, by position."""

Pair = tuple[int | None, int | None]


def align(one: Sequence[Hashable], two: Sequence[Hashable]) -> list[Pair]:
    """Align two sequences.

    Args:
        one, two: What identifies the content of each call, in order of ordinals.

    Returns:
        Pairs of indices, in order of both; None where the other side has no such call.
    """
    start = 0
    while start < min(len(one), len(two)) and one[start] == two[start]:
        start += 1
    end = 0
    while end < min(len(one), len(two)) - start and one[-1 - end] == two[-1 - end]:
        end += 1
    pairs: list[Pair] = [(place, place) for place in range(start)]
    rest = range(start, len(one) - end), range(start, len(two) - end)
    pairs += _by_content(one, two, *rest) if len(rest[0]) + len(rest[1]) <= MOST else _in_order(*rest)
    return pairs + [(len(one) - place, len(two) - place) for place in range(end, 0, -1)]


def _by_content(one: Sequence[Hashable], two: Sequence[Hashable], rest: range, other: range) -> list[Pair]:
    """By the longest runs of equal calls, unless by position fewer differ."""
    pairs: list[Pair] = []
    matcher = SequenceMatcher(None, one[rest.start:rest.stop], two[other.start:other.stop], autojunk=False)
    edits = 0
    for kind, first, last, other_first, other_last in matcher.get_opcodes():
        pairs += _in_order(rest[first:last], other[other_first:other_last])
        edits += max(last - first, other_last - other_first) if kind != 'equal' else 0
    differing = sum(one[first] != two[second] for first, second in zip(rest, other, strict=False))
    return pairs if edits < differing + abs(len(rest) - len(other)) else _in_order(rest, other)


def _in_order(one: Sequence[int], two: Sequence[int]) -> list[Pair]:
    """By position; what one side has more of has no partner."""
    paired = min(len(one), len(two))
    pairs: list[Pair] = list(zip(one[:paired], two[:paired], strict=True))
    pairs += [(place, None) for place in one[paired:]]
    return pairs + [(None, place) for place in two[paired:]]
