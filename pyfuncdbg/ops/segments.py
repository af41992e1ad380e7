"""Sums over segments: rows that have one number are added."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pyfuncdbg.graph import dtypes
from pyfuncdbg.graph.registry import Attrs, Node, OpDef, Output, Typed, register
from pyfuncdbg.graph.shapes import UNKNOWN, TensorShape
from pyfuncdbg.graph.tensor import Tensor
from pyfuncdbg.ops.comparison import where
from pyfuncdbg.ops.constant import constant
from pyfuncdbg.ops.filling import fill, zeros_like
from pyfuncdbg.ops.inference import ints, invalid
from pyfuncdbg.ops.joining import concat
from pyfuncdbg.ops.scope import call
from pyfuncdbg.ops.shaping import expand_dims, rank, reshape, shape
from pyfuncdbg.runtime.dispatch import apply


def _sum(data: Any, segments: Any, count: Any) -> Any:
    if segments.shape != data.shape[:segments.ndim]:
        raise invalid(f'data.shape = [{",".join(map(str, data.shape))}] does not start with segment_ids.shape = '
                      f'[{",".join(map(str, segments.shape))}]')
    if np.any(segments >= count):
        at = np.argwhere(segments >= count)[0].tolist() if segments.ndim else []
        place = f'[{",".join(map(str, at))}]' if at else ''
        raise invalid(f'segment_ids{place} = {segments[tuple(at)]} is out of range [0, {count})')
    total = np.zeros((int(count), *data.shape[segments.ndim:]), data.dtype)
    kept = segments >= 0                            # a negative number drops the row
    np.add.at(total, segments[kept], data[kept])
    return total


def _types(inputs: Sequence[Typed], attrs: Attrs) -> list[Output]:
    data, segments, count = inputs
    if data.shape.sizes is None or segments.shape.sizes is None:
        return [(data.dtype, UNKNOWN)]
    known = ints(count)
    rows = None if known is None else known[0]
    return [(data.dtype, TensorShape.of((rows, *data.shape.sizes[len(segments.shape.sizes):])))]


def _gradient(node: Node, grad: Tensor) -> Sequence[Any]:
    segments = node.inputs[1]
    kept = segments >= 0
    rows = apply('GatherV2', (grad, where(kept, segments, zeros_like(segments)), constant(np.int32(0))))
    inner = fill(expand_dims(rank(rows) - rank(segments), 0), np.int32(1))
    return [where(reshape(kept, concat([shape(segments), inner], 0)), rows, zeros_like(rows)), None, None]


register(OpDef('UnsortedSegmentSum', _sum, _types, _gradient))


def unsorted_segment_sum(data: Any, segment_ids: Any, num_segments: Any, name: str | None = None) -> Tensor:
    """The sums of the rows of `data` with the same number, `num_segments` of them; rows with a negative number count
    nowhere."""
    arguments = {'data': data, 'segment_ids': segment_ids, 'num_segments': num_segments}
    return call('UnsortedSegmentSum', arguments, None, name, segment_ids=dtypes.int32, num_segments=dtypes.int32)
