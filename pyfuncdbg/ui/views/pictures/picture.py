"""The picture of an array: a curve for one axis, a heat map for two, one slice for more."""
from __future__ import annotations

import numpy as np
from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from pyfuncdbg.observers.record.dtypes import as_numbers
from pyfuncdbg.observers.record.elements import has_index
from pyfuncdbg.ui.views.pictures.curve import Curve
from pyfuncdbg.ui.views.pictures.heatmap import LARGEST, HeatMap

FEWEST = 32
"""An array of fewer elements is as easily read as seen."""
_CHANNELS = 4
"""A last axis of so few elements, behind two longer ones, counts channels of an image."""


def has_picture(array: np.ndarray) -> bool:
    """Whether there is anything to draw: numbers or bools, neither too few nor too many."""
    return FEWEST <= array.size <= LARGEST and (array.dtype.kind == 'b' or as_numbers(array[:0].reshape(-1)) is not None)


class Picture:
    """A renderable for an array.

    Args:
        array: For which `has_picture` is true.
        near: Index that must be in the slice that is drawn, such as that of the first NaN.
    """

    __slots__ = ('array', 'near')

    def __init__(self, array: np.ndarray, near: tuple[int, ...] | None = None) -> None:
        self.array = array
        self.near = near

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        index = choose_axes(self.array.shape, self.near)
        if is_part(index, self.array.shape):
            yield Text(f'of {index_text(index)}', 'dim', overflow='fold')
        yield drawing(self.array[index])


def drawing(part: np.ndarray) -> Curve | HeatMap:
    """The picture of one or two axes."""
    return Curve(part) if part.ndim == 1 else HeatMap(part)


def is_part(index: tuple[int | slice, ...], shape: tuple[int, ...]) -> bool:
    """Whether there is more than this slice."""
    return any(isinstance(one, int) and size > 1 for one, size in zip(index, shape, strict=True))


def index_text(index: tuple[int | slice, ...]) -> str:
    """'[2, :, :]'."""
    return '[' + ', '.join(str(one) if isinstance(one, int) else ':' for one in index) + ']'


def choose_axes(shape: tuple[int, ...], near: tuple[int, ...] | None = None) -> tuple[int | slice, ...]:
    """The one or two axes that are drawn, and the index on the others.

    Axes of one element are left out. Of more than two others, the last two are drawn; of images, height and width.
    """
    long = [axis for axis, size in enumerate(shape) if size != 1] or [len(shape) - 1]
    axes = long[-2:]
    if len(long) > 2 and shape[long[-1]] <= _CHANNELS < min(shape[long[-2]], shape[long[-3]]):
        axes = long[-3:-1]
    at = near if near is not None and has_index(near, shape) else None
    return tuple(slice(None) if axis in axes else (at[axis] if at is not None else 0) for axis in range(len(shape)))


if __name__ == '__main__':
    from pyfuncdbg.ui.views.sample_trace import demo
    waves = np.sin(np.linspace(0, 60, 4 * 12 * 40)).reshape(4, 12, 40)
    waves[2, 5, 7] = np.nan
    demo(Picture(waves, near=(2, 5, 7)), Picture(waves[0, 0]))
