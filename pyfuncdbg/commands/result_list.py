"""The results of two runs of one program, compared bit by bit: what `verify` judges by.

The program says in which order its results come, but for those that come on threads: of a dataset's threads each result is
known by its element, whichever thread worked on it; of others as many of each as there are. Pure.
"""
from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pyfuncdbg.record.dtypes import dtype_of

_MAIN = 'MainThread'

Found = tuple[str, str, str]
"""Where two results differ, and the two."""


@dataclass(frozen=True, slots=True)
class Result:
    """What the host gave to the program.

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
        """What makes it the same as another one."""
        return self.what, tuple([(digest, dtype, tuple(shape)) for digest, dtype, shape, _ in self.values])

    @property
    def place(self) -> str:
        """'of element 17 of Map', 'on thread worker'; '' on the main thread."""
        if self.element is not None:
            return f' of element {self.element[1]} of {self.element[0]}'
        return f' on thread {self.thread}' if self.thread != _MAIN else ''


def difference(results: Sequence[Result], others: Sequence[Result], values: bytes, other_values: bytes) -> Found | None:
    """The first difference between the results of two runs, None if there is none.

    Args:
        results, others: In the order in which they came.
        values, other_values: The bytes of their values.
    """
    data = values, other_values
    mine, theirs = _by_thread(results), _by_thread(others)
    found = {thread: _in_order(mine.get(thread, []), theirs.get(thread, []), data) for thread in {**mine, **theirs}}
    if (main := found.pop(_MAIN, None)) is not None:
        return main
    threaded = next((one for one in found.values() if one is not None), None)
    if threaded is not None and Counter(_elsewhere(mine)) != Counter(_elsewhere(theirs)):
        return threaded
    return _in_elements(results, others, data)


def _by_thread(results: Sequence[Result]) -> dict[str, list[Result]]:
    found: dict[str, list[Result]] = {}
    for one in results:
        if one.element is None:
            found.setdefault(one.thread, []).append(one)
    return found


def _elsewhere(results: dict[str, list[Result]]) -> Iterator[Hashable]:
    """The contents of what did not come on the main thread: which thread of a pool does what is the scheduler's."""
    return (one.content for thread, found in results.items() if thread != _MAIN for one in found)


def _in_order(results: Sequence[Result], others: Sequence[Result], data: tuple[bytes, bytes]) -> Found | None:
    """The first difference between two sequences of results."""
    counts: Counter[str] = Counter()
    for one, other in zip(results, others, strict=False):
        counts[one.what] += 1
        if (found := _in_one(f'{one.what} number {counts[one.what]}{one.place}', one, other, data)) is not None:
            return found
    if len(results) != len(others):
        where = (results or others)[0].place.removeprefix(' ') or f'on thread {_MAIN}'
        return f'results {where}', f'{len(results)} results', f'{len(others)} results'
    return None


def _in_one(where: str, one: Result, other: Result, data: tuple[bytes, bytes]) -> Found | None:
    if other.what != one.what or len(other.values) != len(one.values):
        return where, f'{one.what} with {len(one.values)} values', f'{other.what} with {len(other.values)} values'
    for i, (a, b) in enumerate(zip(one.values, other.values, strict=True)):
        if a[:3] != b[:3]:
            name = one.names[i] if i < len(one.names) and one.names[i] else f'value {i}'
            element, before, after = _element(a, b, *data)
            return f'{where}, {name}{element}', before, after
    return None


# ---------------------------------------------------------------- elements of datasets
_Key = tuple[str, int]


def _in_elements(results: Sequence[Result], others: Sequence[Result], data: tuple[bytes, bytes]) -> Found | None:
    """The first difference between results for elements, by index. One that only one run has come to is none where that is
    the scheduler's: behind the last one of the other, or in work on another thread when that ended."""
    mine, theirs = _by_element(results), _by_element(others)
    ends = _ends(results), _ends(others)
    for key in sorted({*mine, *theirs}, key=lambda key: (key[1], key[0])):
        one, other = mine.get(key, []), theirs.get(key, [])
        if not one or not other:
            if key[1] > ends[bool(one)].get(key[0], -1):
                continue
        elif Counter(each.content for each in one) == Counter(each.content for each in other):
            continue                            # two maps of one label, or two readings, may overlap
        found = _in_order(one, other, data)
        if found is not None:
            return found
    return None


def _by_element(results: Sequence[Result]) -> dict[_Key, list[Result]]:
    found: dict[_Key, list[Result]] = {}
    for one in results:
        if one.element is not None:
            found.setdefault((one.element[0], one.element[1]), []).append(one)
    return found


def _ends(results: Sequence[Result]) -> dict[str, int]:
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
