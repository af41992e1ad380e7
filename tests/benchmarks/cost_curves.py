"""Cost against N as a picture: one panel for each curve, both axes logarithmic, ours and the peers in it."""
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from measurement import Row, measure


@dataclass(frozen=True, slots=True)
class Curve:
    """How a cost grows.

    Attributes:
        name: What is measured.
        axis: What N is.
        sizes: The N.
        row: The row for one of them; its two sides are two lines.
    """

    name: str
    axis: str
    sizes: Sequence[int]
    row: Callable[[int], Row]


def measured_curve(curve: Curve) -> Iterator[tuple[int, dict[str, float]]]:
    """Measure a curve.

    Yields:
        N and the median microseconds of each line.
    """
    for size in curve.sizes:
        row = curve.row(size)
        names = [side.name for side in row.build() if side is not None]
        found = measure(row)
        figures = [found.ours, *([found.peer] if found.peer is not None else [])]
        yield size, {name: figure.median for name, figure in zip(names, figures, strict=True)}


def draw(curves: Sequence[dict[str, Any]], path: Path) -> None:
    """Draw measured curves as SVG.

    Args:
        curves: Plain data: 'name', 'axis', 'per', 'points': [[N, {line: microseconds}]].
        path: The file.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6 * min(len(curves), 2), 4 * ((len(curves) + 1) // 2)), layout='constrained')
    for index, curve in enumerate(curves):
        panel = figure.add_subplot((len(curves) + 1) // 2, min(len(curves), 2), index + 1)
        for line in curve['points'][0][1]:
            sizes, times = zip(*[(size, figures[line]) for size, figures in curve['points']], strict=True)
            panel.plot(sizes, times, 'o-', label=line)
        panel.set(title=curve['name'], xlabel=curve['axis'], ylabel=f'µs per {curve["per"]}', xscale='log', yscale='log')
        panel.grid(alpha=0.3)
        panel.legend()
    figure.savefig(path, format='svg', metadata={'Date': None})
