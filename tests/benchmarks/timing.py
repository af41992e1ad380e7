"""How the benchmarks measure: the best of several short series, ours and the peer in turn, so both see the same noise."""
from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

Work = Callable[[], object]


@dataclass(frozen=True, slots=True)
class Result:
    """One comparison.

    Attributes:
        name: What was measured.
        ours: Microseconds of one call of ours.
        peer: Microseconds of one call of the peer's; None where there is no peer here.
        target: What is asked for, as text.
        ratio: Ours against the peer: 'x faster' or 'x the time'.
    """

    name: str
    ours: float
    peer: float | None
    target: str
    ratio: str


def measured(name: str, ours: Work, peer: Work | None, target: str, *, faster: bool = True, seconds: float = 0.6) -> Result:
    """Time two things in turn.

    Args:
        name: What to call it.
        ours: One call of ours.
        peer: One call of the peer's, or None.
        target: The target, as text.
        faster: Show how many times faster ours is; else how many times the peer's time it takes.
        seconds: Time to spend on each.
    """
    works = [ours] if peer is None else [ours, peer]
    best = [float('inf')] * len(works)
    counts = [_count(work) for work in works]
    end = time.perf_counter() + seconds * len(works)
    while time.perf_counter() < end:
        for i, work in enumerate(works):
            start = time.perf_counter()
            for _ in range(counts[i]):
                work()
            best[i] = min(best[i], (time.perf_counter() - start) / counts[i] * 1e6)
    if peer is None:
        return Result(name, best[0], None, target, '-')
    ratio = best[1] / best[0] if faster else best[0] / best[1]
    return Result(name, best[0], best[1], target, f'{ratio:.2f}x {"faster" if faster else "the time"}')


def _count(work: Work) -> int:
    """Calls that take about 20 ms."""
    work()
    count = 1
    while True:
        start = time.perf_counter()
        for _ in range(count):
            work()
        taken = time.perf_counter() - start
        if taken > 0.02:
            return count
        count *= 2 if taken <= 0 else max(2, min(16, int(0.02 / taken) + 1))


def table(results: list[Result]) -> str:
    """The results as text."""
    rows = [('what', 'ours µs', 'peer µs', 'ratio', 'target')]
    rows += [(r.name, f'{r.ours:.2f}', '-' if r.peer is None else f'{r.peer:.2f}', r.ratio, r.target) for r in results]
    widths = [max(len(row[i]) for row in rows) for i in range(5)]
    return '\n'.join('  '.join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows)
