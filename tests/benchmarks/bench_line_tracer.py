"""What `health --line` costs a call: `python tests/benchmarks/bench_line_tracer.py`.

Line by line through a function of 20 lines with arrays, against the plain call, and against PySnooper where it is installed.
"""
from __future__ import annotations

import importlib
import io
from collections.abc import Iterator
from typing import Any

import numpy as np
from timing import Result, measured, table

from pyfuncdbg.observers.debug.numerics.nan_line_tracer import LineTracer


def layer(x: np.ndarray, w: np.ndarray) -> np.ndarray:
    """20 lines with arrays."""
    h = x @ w
    mean = h.mean(axis=-1, keepdims=True)
    centred = h - mean
    variance = (centred ** 2).mean(axis=-1, keepdims=True)
    scale = 1.0 / np.sqrt(variance + 1e-5)
    normal = centred * scale
    gate = 1.0 / (1.0 + np.exp(-normal))
    active = normal * gate
    total = active.sum()
    for row in range(3):
        active[row] += normal[row]
        total += float(active[row, 0])
    largest = np.abs(active).max()
    if largest > 0:
        active = active / largest
    weights = np.exp(active - active.max())
    weights /= weights.sum()
    result = weights * active + total * 1e-9
    result = np.where(result > 0, result, 0.1 * result)
    return result  # noqa: RET504


def results() -> Iterator[Result]:
    for size in (32, 256):
        x, w = np.random.default_rng(1).normal(size=(2, size, size))

        def plain(x: Any = x, w: Any = w) -> object:
            return layer(x, w)

        def traced(x: Any = x, w: Any = w) -> object:
            return LineTracer(np.asarray).run(lambda: layer(x, w))
        yield measured(f'20 lines, {size}x{size}, line by line, against the plain call', traced, plain, '<= 60x the time',
                       faster=False, seconds=1.5)
        try:
            pysnooper = importlib.import_module('pysnooper')
        except ImportError:
            continue
        snooped = pysnooper.snoop(io.StringIO())(layer)

        def peer(x: Any = x, w: Any = w, snooped: Any = snooped) -> object:
            return snooped(x, w)
        yield measured(f'20 lines, {size}x{size}, line by line, against PySnooper', traced, peer, '-', seconds=1.5)


if __name__ == '__main__':
    print(table(list(results())))
