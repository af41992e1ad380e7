"""What `health --line` costs a call: line by line through 20 lines with arrays, against the plain call and PySnooper."""
from __future__ import annotations

import importlib
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from measurement import Row, Side, Target

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


def rows(folder: Path) -> Iterator[Row]:
    for size in (32, 256):
        x, w = np.random.default_rng(1).normal(size=(2, size, size))

        def plain(x: Any = x, w: Any = w) -> object:
            return layer(x, w)

        def traced(x: Any = x, w: Any = w) -> object:
            return LineTracer(np.asarray).run(lambda: layer(x, w))

        def snooped(x: Any = x, w: Any = w) -> Side | None:
            try:
                pysnooper = importlib.import_module('pysnooper')
            except ImportError:
                return None
            peer = pysnooper.snoop(io.StringIO())(layer)
            return Side('PySnooper', lambda: peer(x, w))
        ours = Side('health --line', traced)
        yield Row(f'20 lines with arrays of {size}x{size}, line by line', lambda o=ours, p=plain: (o, Side('plain call', p)),  # type: ignore[misc]
                  Target('time', 60), same=False)
        yield Row(f'the same lines, {size}x{size}', lambda o=ours, s=snooped: (o, s()), kind='faster', same=False)  # type: ignore[misc]
