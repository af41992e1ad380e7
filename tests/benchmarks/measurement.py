"""How the benchmarks measure: series of ours and of the peer in turn, so that both see the same noise of a shared machine.

Figures are medians with their quartiles. A ratio or difference is taken of each pair of series, and the median of these is
told.
"""
from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np

Work = Callable[[], object]
Around = Callable[[], AbstractContextManager[Any]]
WALL, THREAD, PROCESS, REPORTED = 'wall', 'thread', 'process', 'reported'
"""Clocks: time that passes, CPU time of the program's thread, CPU time of all threads of the process; the microseconds that
the work returns, of another process.
"""
_CLOCKS: Mapping[str, Callable[[], int]] = {
    WALL: time.perf_counter_ns, THREAD: time.thread_time_ns, PROCESS: time.process_time_ns}
_FEWEST, _MOST = 7, 400
"""Series of each side."""
_SERIES = 0.02
"""Seconds of a series of pieces that are not counted by their row."""


@dataclass(frozen=True, slots=True)
class Target:
    """What is asked for.

    Attributes:
        kind: 'faster': the peer's time over ours is at least the bound; 'time': ours over the peer's is at most the bound;
            'adds': ours less the peer's, in microseconds; 'takes': ours, in microseconds.
        bound: The number.
    """

    kind: str
    bound: float

    def __str__(self) -> str:
        return {'faster': f'>= {self.bound:g}x faster', 'time': f'<= {self.bound:g}x the time',
                'adds': f'<= {self.bound:g} µs more', 'takes': f'<= {self.bound:g} µs'}[self.kind]


@dataclass(frozen=True, slots=True)
class Side:
    """One of two things that are compared.

    Attributes:
        name: What it is, such as 'TensorFlow'.
        work: One piece of work.
        around: Entered before each series, and left after it; neither is timed.
        finish: What a series ends with, timed: for a recorder, until all is in the log.
    """

    name: str
    work: Work
    around: Around = nullcontext
    finish: Work | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """One comparison.

    Attributes:
        name: What is measured.
        build: Makes our side and the peer's, None where there is no peer here. Called only if the row is wanted.
        target: What is asked for, None of a row that only informs.
        kind: How it is shown where there is no target: as `Target.kind`.
        per: What the time is told of: 'run', 'call', 'op', 'start'.
        calls: How many of these one piece of work is.
        series: Pieces of a series; 0: as many as take 20 ms.
        clock: `WALL`, `THREAD`, `PROCESS` or `REPORTED`.
        same: Both sides give the same value, which is checked before anything is timed.
        seconds: To spend on each side.
    """

    name: str
    build: Callable[[], tuple[Side, Side | None]]
    target: Target | None = None
    kind: str = 'time'
    per: str = 'call'
    calls: int = 1
    series: int = 0
    clock: str = WALL
    same: bool = True
    seconds: float = 1.0


@dataclass(frozen=True, slots=True)
class Figure:
    """A median and the quartiles around it."""

    median: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Measured:
    """A row with its figures, all in microseconds, but ratios.

    Attributes:
        name, per, clock, target: As of its row; the target as text.
        kind: As `Target.kind`: what `compared` is.
        ours, peer: Time of one.
        against: Name of the peer; '' where none is installed.
        compared: Ratio or difference; None without a peer, where the target needs one.
        met: Whether the target is met; None where that cannot be said: no peer, or the bound is between the quartiles.
        series: How many of each side.
    """

    name: str
    per: str
    clock: str
    kind: str
    target: str
    ours: Figure
    against: str
    peer: Figure | None
    compared: Figure | None
    met: bool | None
    series: int


def warm(work: Work, around: Around) -> Around:
    """A state with the first calls in it, which do not count: they happen once in a program."""
    @contextmanager
    def state() -> Iterator[None]:
        with around():
            for _ in range(3):
                work()
            yield
    return state


class DifferentValuesError(Exception):
    """The two sides of a row do not compute the same: their times say nothing."""


def measure(row: Row) -> Measured:
    """Measure one row.

    Args:
        row: The row.

    Returns:
        It with its figures.

    Raises:
        DifferentValuesError: Its sides do not compute the same.
    """
    ours, peer = row.build()
    sides = [ours] if peer is None else [ours, peer]
    values = [_value(side) for side in sides]
    if row.same and row.clock != REPORTED and len(values) == 2 and not equal(*values):
        raise DifferentValuesError(f'{row.name}: {ours.name} gives {values[0]!r:.200}, {sides[1].name} {values[1]!r:.200}')
    counts = [row.series or (1 if row.clock == REPORTED else _count(side)) for side in sides]
    times: list[list[float]] = [[] for _ in sides]
    end = time.perf_counter() + row.seconds * len(sides)
    while len(times[0]) < _FEWEST or (time.perf_counter() < end and len(times[0]) < _MOST):
        for side, count, found in zip(sides, counts, times, strict=True):
            found.append(_series(side, count, row.clock) / row.calls)
    return _measured(row, ours, peer, times)


def _measured(row: Row, ours: Side, peer: Side | None, times: Sequence[Sequence[float]]) -> Measured:
    kind = row.target.kind if row.target is not None else row.kind
    compared: Figure | None = None
    if kind == 'takes':
        compared = figure(times[0])
    elif peer is not None:
        pairs = list(zip(*times, strict=True))
        compared = figure([{'faster': their / our, 'time': our / their, 'adds': our - their}[kind] for our, their in pairs])
    met = None
    if row.target is not None and compared is not None:
        low, high = (compared.low >= row.target.bound, compared.high >= row.target.bound) if kind == 'faster' else (
            compared.low <= row.target.bound, compared.high <= row.target.bound)
        met = low if low == high else None
    return Measured(row.name, row.per, row.clock, kind, str(row.target or ''), figure(times[0]),
                    '' if peer is None else peer.name, figure(times[1]) if peer is not None else None, compared, met,
                    len(times[0]))


def figure(values: Sequence[float]) -> Figure:
    """The median of some values and their quartiles."""
    if len(values) < 2:
        return Figure(values[0], values[0], values[0])
    low, median, high = statistics.quantiles(values, n=4, method='inclusive')
    return Figure(median, low, high)


def _value(side: Side) -> Any:
    with side.around():
        return side.work()


def _series(side: Side, count: int, clock_name: str) -> float:
    """Microseconds of one piece."""
    work: Any = side.work
    if clock_name == REPORTED:
        return sum(work() for _ in range(count)) / count
    clock = _CLOCKS[clock_name]
    with side.around():
        gc.collect()                            # of what the series before has left
        start = clock()
        for _ in range(count):
            work()
        if side.finish is not None:
            side.finish()
        return max(clock() - start, 1) / count / 1e3


def _count(side: Side) -> int:
    with side.around():
        side.work()
        count = 1
        while True:
            start = time.perf_counter()
            for _ in range(count):
                side.work()
            taken = time.perf_counter() - start
            if taken > _SERIES:
                return count
            count *= 2 if taken <= 0 else max(2, min(16, int(_SERIES / taken) + 1))


def equal(one: Any, two: Any) -> bool:
    """Whether two results are the same numbers, up to the last bits in which libraries differ.

    Args:
        one, two: Arrays, tensors of any framework, numbers, or lists and tuples of them; None of what gives nothing.

    Returns:
        True or False.
    """
    if one is None or two is None:
        return one is two
    if isinstance(one, (list, tuple)) and isinstance(two, (list, tuple)):
        return len(one) == len(two) and all(map(equal, one, two))
    return bool(np.allclose(np.asarray(one), np.asarray(two), rtol=1e-4, atol=1e-5, equal_nan=True))
