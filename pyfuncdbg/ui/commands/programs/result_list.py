"""Comparison of the results of two runs of a program, bit by bit or to the last bits, for `verify`.

The program says in which order its results come, but for those that come on threads: of a dataset's threads each result is
known by its element, whichever thread worked on it; of others as many of each as there are. Pure.
"""
from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pyfuncdbg.hosts.interception.result_source import GET_NEXT
from pyfuncdbg.observers.record.dtypes import dtype_of
from pyfuncdbg.ui.commands.programs.last_bits import distance, tolerance

_MAIN = 'MainThread'

Found = tuple[str, str, str]
"""Where two results differ, and the two."""


@dataclass(frozen=True, slots=True)
class HostResult:
    """A result that the host gave to the program.

    Attributes:
        thread: Its name.
        element: Label and index of the element of a dataset, on a thread of the dataset; None elsewhere.
        what: What gave it.
        names: Of the values, as far as they are known.
        values: Of each value digest, dtype, shape and where its bytes are, -1 if they were not kept.
    """

    thread: str
    element: list[Any] | None
    what: str
    names: list[str]
    values: list[list[Any]]

    @property
    def content(self) -> Hashable:
        """The key by which results are equal."""
        return self.what, tuple([(digest, dtype, tuple(shape)) for digest, dtype, shape, _ in self.values])

    @property
    def place(self) -> str:
        """'of element 17 of Map', 'on thread worker'; '' on the main thread."""
        if self.element is not None:
            return f' of element {self.element[1]} of {self.element[0]}'
        return f' on thread {self.thread}' if self.thread != _MAIN else ''


class Comparison:
    """Equality of results: bit for bit, or to the last bits.

    Args:
        values, others: The bytes of the values of each run.
        near: Whether the last bits of a result may differ; by default no bit of any may.

    Attributes:
        largest: The largest distance that was let pass, as a share of the largest element of a tensor.
    """

    def __init__(self, values: bytes, others: bytes, near: Callable[[HostResult], bool] | None = None) -> None:
        self.values, self.others, self._near = values, others, near
        self.largest = 0.0

    def same(self, result: HostResult, one: Sequence[Any], other: Sequence[Any]) -> bool:
        """Whether two values of a result are the same; those that were too large to be kept only if no bit differs."""
        if one[:3] == other[:3]:
            return True
        if self._near is None or not self._near(result) or one[1:3] != other[1:3] or one[3] < 0 or other[3] < 0:
            return False
        a, b = _array(self.values, one), _array(self.others, other)
        gap = distance(a, b)
        if gap > tolerance(a.dtype):
            return False
        self.largest = max(self.largest, gap)
        return True

    def as_sets(self, results: Sequence[HostResult], others: Sequence[HostResult]) -> bool:
        """Whether two runs gave the same results, in whichever order."""
        left, right = Counter(one.content for one in results), Counter(one.content for one in others)
        left_only, right_only = _without(results, right), _without(others, left)
        if len(left_only) != len(right_only) or (left_only and self._near is None):
            return False
        for one in left_only:
            match = next((at for at, other in enumerate(right_only) if one.what == other.what and len(one.values) == len(
                other.values) and all(self.same(one, a, b) for a, b in zip(one.values, other.values, strict=True))), None)
            if match is None:
                return False
            del right_only[match]
        return True


def _without(results: Sequence[HostResult], others: Counter[Hashable]) -> list[HostResult]:
    """The results that have no equal one among the others."""
    left, remaining = Counter(others), []
    for one in results:
        if left[one.content]:
            left[one.content] -= 1
        else:
            remaining.append(one)
    return remaining


def difference(results: Sequence[HostResult], others: Sequence[HostResult], comparison: Comparison) -> Found | None:
    """The first difference between the results of two runs, None if there is none.

    Elements that an iterator gave come last: where they differ, a call for one of them that does says more.

    Args:
        results, others: In the order in which they came.
        comparison: Of their values.
    """
    calls, other_calls = ([one for one in run if one.what != GET_NEXT] for run in (results, others))
    found = _of_calls(calls, other_calls, comparison)
    return found if found is not None else _of_calls(results, others, comparison)


def _of_calls(results: Sequence[HostResult], others: Sequence[HostResult], comparison: Comparison) -> Found | None:
    left_threads, right_threads = _by_thread(results), _by_thread(others)
    main = _in_order(left_threads.pop(_MAIN, []), right_threads.pop(_MAIN, []), comparison)
    if main is not None:
        return main
    if not comparison.as_sets(_elsewhere(left_threads), _elsewhere(right_threads)):
        found = (_in_order(left_threads.get(thread, []), right_threads.get(thread, []), comparison)
                 for thread in {**left_threads, **right_threads})
        threaded = next((one for one in found if one is not None), None)
        if threaded is not None:
            return threaded
    return _in_elements(results, others, comparison)


def _by_thread(results: Sequence[HostResult]) -> dict[str, list[HostResult]]:
    by_thread: dict[str, list[HostResult]] = {}
    for one in results:
        if one.element is None:
            by_thread.setdefault(one.thread, []).append(one)
    return by_thread


def _elsewhere(results: dict[str, list[HostResult]]) -> list[HostResult]:
    """Results that came on other threads than the main one: the scheduler decides which thread of a pool does what."""
    return [one for found in results.values() for one in found]


def _in_order(results: Sequence[HostResult], others: Sequence[HostResult], comparison: Comparison) -> Found | None:
    """The first difference between two sequences of results."""
    counts: Counter[str] = Counter()
    for one, other in zip(results, others, strict=False):
        counts[one.what] += 1
        if (found := _in_one(f'{one.what} number {counts[one.what]}{one.place}', one, other, comparison)) is not None:
            return found
    if len(results) != len(others):
        where = (results or others)[0].place.removeprefix(' ') or f'on thread {_MAIN}'
        return f'results {where}', f'{len(results)} results', f'{len(others)} results'
    return None


def _in_one(where: str, one: HostResult, other: HostResult, comparison: Comparison) -> Found | None:
    if other.what != one.what or len(other.values) != len(one.values):
        return where, f'{one.what} with {len(one.values)} values', f'{other.what} with {len(other.values)} values'
    for i, (a, b) in enumerate(zip(one.values, other.values, strict=True)):
        if not comparison.same(one, a, b):
            name = one.names[i] if i < len(one.names) and one.names[i] else f'value {i}'
            element, before, after = _element(a, b, comparison.values, comparison.others)
            return f'{where}, {name}{element}', before, after
    return None


# ---------------------------------------------------------------- elements of datasets
_Key = tuple[str, int]


def _in_elements(results: Sequence[HostResult], others: Sequence[HostResult], comparison: Comparison) -> Found | None:
    """The first difference between results for elements, by index. One that only one run has come to is none where that is
    the scheduler's: behind the last one of the other, or in work on another thread when that ended."""
    left_elements, right_elements = _by_element(results), _by_element(others)
    ends = _ends(results), _ends(others)
    for key in sorted({*left_elements, *right_elements}, key=lambda key: (key[1], key[0])):
        one, other = left_elements.get(key, []), right_elements.get(key, [])
        if not one or not other:
            if key[1] > ends[bool(one)].get(key[0], -1):
                continue
        elif comparison.as_sets(one, other):
            continue                            # two maps of one label, or two readings, may overlap
        found = _in_order(one, other, comparison)
        if found is not None:
            return found
    return None


def _by_element(results: Sequence[HostResult]) -> dict[_Key, list[HostResult]]:
    by_element: dict[_Key, list[HostResult]] = {}
    for one in results:
        if one.element is not None:
            by_element.setdefault((one.element[0], one.element[1]), []).append(one)
    return by_element


def _ends(results: Sequence[HostResult]) -> dict[str, int]:
    """By label, the index up to which all elements have been worked on, if the last ones were in work on every thread."""
    last: dict[str, int] = {}
    threads: dict[str, set[str]] = {}
    for one in results:
        if one.element is not None:
            label, index = one.element
            last[label] = max(last.get(label, -1), index)
            threads.setdefault(label, set()).add(one.thread)
    return {label: index - len(threads[label]) for label, index in last.items()}


# ---------------------------------------------------------------- elements of tensors
def _element(one: Sequence[Any], other: Sequence[Any], values: bytes, others: bytes) -> tuple[str, str, str]:
    """The first element that differs, and the two."""
    if one[1:3] != other[1:3]:
        return '', f'{one[1]} {one[2]}', f'{other[1]} {other[2]}'
    if one[3] < 0 or other[3] < 0:
        return '', f'digest {one[0]}', f'digest {other[0]}'
    a, b = (_array(data, entry) for data, entry in ((values, one), (others, other)))
    step = a.dtype.itemsize
    bits = a.view(np.uint8).reshape(-1, step) != b.view(np.uint8).reshape(-1, step)
    at = int(np.flatnonzero(bits.any(axis=1))[0])
    index = [int(i) for i in np.unravel_index(at, tuple(one[2]))] if one[2] else []
    return f' element {index}', str(a[at]), str(b[at])


def _array(data: bytes, entry: Sequence[Any]) -> np.ndarray:
    dtype = dtype_of(entry[1]) if not entry[1].startswith(('str', 'bytes')) else np.dtype(np.uint8)
    count = int(np.prod(entry[2], dtype=np.int64))
    return np.frombuffer(data, dtype, count, entry[3])
