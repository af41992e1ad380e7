"""Sliding windows over the spatial axes of images: count, contents, and their sum back to images. No ops."""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pyfuncdbg.hosts.numpy.graph.definitions.registry import Attrs
from pyfuncdbg.hosts.numpy.ops.definition.shape_rules import invalid


@dataclass(frozen=True, slots=True)
class Axis:
    """One spatial axis.

    Attributes:
        size: Of the image.
        window: Number of elements of a window.
        stride: From one window to the next.
        dilation: Distance of neighbours in a window.
        before: Size of the padding before the image.
        count: Number of windows.
    """

    size: int
    window: int
    stride: int
    dilation: int
    before: int
    count: int

    @property
    def padded(self) -> int:
        """Size with padding."""
        return max((self.count - 1) * self.stride + (self.window - 1) * self.dilation + 1, self.before + self.size)

    def window_slice(self, i: int) -> slice:
        """The slice of padded elements at place `i` of each window."""
        first = i * self.dilation
        return slice(first, first + (self.count - 1) * self.stride + 1 if self.count else first, self.stride)


def spatial(values: Sequence[int], attrs: Attrs) -> list[int]:
    """The values for the spatial axes, of values for all axes of an image."""
    return list(values[2:]) if channels_first(attrs) else list(values[1:-1])


def channels_first(attrs: Attrs) -> bool:
    """Whether the channels come before the spatial axes."""
    return bool(str(attrs.get('data_format', 'NHWC')).startswith('NC'))


def count_of(size: int, window: int, stride: int, padding: str, explicit: Sequence[int]) -> int:
    """The number of windows of `window` elements along an axis; may be negative."""
    if padding == 'SAME':
        return -(-size // stride)
    return (size + sum(explicit) - window) // stride + 1 if stride else 0


def axes_of(sizes: Sequence[int], window: Sequence[int], attrs: Attrs) -> list[Axis]:
    """The spatial axes of an image of these sizes.

    Raises:
        InvalidArgumentError: A window is larger than the image.
    """
    padding, strides = attrs['padding'], spatial(attrs['strides'], attrs)
    dilations = spatial(attrs.get('dilations') or [1] * (len(sizes) + 2), attrs)
    explicit = attrs.get('explicit_paddings') or [0] * (2 * len(sizes) + 4)
    pads = _pairs(explicit)
    pads = pads[2:] if channels_first(attrs) else pads[1:-1]
    if any(stride <= 0 for stride in strides):
        raise invalid(f'Stride must be > 0, but got {min(strides)}' if 'ksize' in attrs else
                      'Row and column strides should be larger than 0.')
    if any(k <= 0 for k in window) and 'ksize' in attrs:
        raise invalid('Sliding window ksize must be positive. The specified or inferred ksize is: '
                      + ','.join(map(str, attrs['ksize'])))
    axes = []
    for size, k, stride, dilation, pad in zip(sizes, window, strides, dilations, pads, strict=True):
        extent = (k - 1) * dilation + 1
        count = count_of(size, extent, stride, padding, pad)
        if count < 0:
            raise invalid(f'Computed output size would be negative: {count} [input_size: {size}, effective_filter_size: '
                          f'{extent}, stride: {stride}]')
        before = max((count - 1) * stride + extent - size, 0) // 2 if padding == 'SAME' else pad[0]
        axes.append(Axis(size, k, stride, dilation, before, count))
    return axes


def _pairs(values: Sequence[int]) -> list[tuple[int, int]]:
    return list(zip(values[::2], values[1::2], strict=True))


def windows(x: Any, axes: Sequence[Axis], fill: float = 0) -> Any:
    """Windows of images [batch, spatial..., channels]: [batch, count..., window..., channels]."""
    margins = [(0, 0), *((a.before, a.padded - a.before - a.size) for a in axes), (0, 0)]
    padded = np.pad(x, margins, constant_values=fill) if any(map(any, margins)) else np.ascontiguousarray(x)
    steps = padded.strides
    inner = steps[1:-1]
    return np.lib.stride_tricks.as_strided(
        padded, (len(x), *(a.count for a in axes), *(a.window for a in axes), x.shape[-1]),
        (steps[0], *(s * a.stride for s, a in zip(inner, axes, strict=True)),
         *(s * a.dilation for s, a in zip(inner, axes, strict=True)), steps[-1]), writeable=False)


def places(axes: Sequence[Axis]) -> Iterator[tuple[tuple[int, ...], tuple[slice, ...]]]:
    """Each place in a window, with the slices of padded elements at this place of all windows."""
    for place in np.ndindex(*(a.window for a in axes)):
        yield place, tuple(a.window_slice(i) for a, i in zip(axes, place, strict=True))


def added(parts: Any, axes: Sequence[Axis]) -> Any:
    """Images in which each element is the sum over all windows [batch, count..., window..., channels] that contain
    it."""
    padded = np.zeros((len(parts), *(a.padded for a in axes), parts.shape[-1]), parts.dtype)
    every = (slice(None),) * (1 + len(axes))
    for place, window in places(axes):
        padded[(slice(None), *window)] += parts[(*every, *place)]
    return np.ascontiguousarray(padded[(slice(None), *(slice(a.before, a.before + a.size) for a in axes))])


def last_channels(x: Any, attrs: Attrs) -> Any:
    """Images with the channels last."""
    return np.moveaxis(x, 1, -1) if channels_first(attrs) else x


def as_given(x: Any, attrs: Attrs) -> Any:
    """Images in the program's data format."""
    return np.ascontiguousarray(np.moveaxis(x, -1, 1)) if channels_first(attrs) else x


def wide(x: Any) -> Any:
    """float16 and bfloat16 as float32, for the precision of sums."""
    return x.astype(np.float32) if x.dtype.itemsize < 4 and x.dtype.kind in 'fV' else x
