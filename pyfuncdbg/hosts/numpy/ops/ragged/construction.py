"""`tf.ragged.range`, `stack`, `boolean_mask` and segment ids."""
from __future__ import annotations

from typing import Any

from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.graph.types.dtypes import as_dtype, int64
from pyfuncdbg.hosts.numpy.ops.arrays.joining import stack as stack_tensors
from pyfuncdbg.hosts.numpy.ops.definition.constant import convert_to_tensor, convert_together
from pyfuncdbg.hosts.numpy.ops.ragged import functions, rows
from pyfuncdbg.hosts.numpy.ops.ragged.tensor import RaggedTensor, as_values


def range(starts: Any, limits: Any = None, deltas: Any = 1, dtype: Any = None, name: Any = None,
          row_splits_dtype: Any = int64) -> RaggedTensor:
    """A row of numbers from each start (0 where only `starts` is given) to its limit."""
    if limits is None:
        starts, limits = 0, starts
    first = as_dtype(dtype) if dtype is not None else None
    begin, end, step = convert_together([starts, limits, deltas], ('starts', 'limits', 'deltas')) if first is None else [
        as_values(value) if isinstance(value, Tensor) else convert_to_tensor(value, first)
        for value in (starts, limits, deltas)]
    splits, values = rows.ranges(begin, end, step, as_dtype(row_splits_dtype))
    return RaggedTensor(values, splits, internal=True)


def stack(values: Any, axis: int = 0, name: Any = None) -> Any:
    """Tensors and ragged tensors stacked along a new axis, as a ragged tensor."""
    parts = [as_values(value) for value in values]
    if all(isinstance(part, Tensor) and part.shape.rank == 0 for part in parts):
        return stack_tensors(parts)
    return functions.stacked(parts, axis)


def boolean_mask(data: Any, mask: Any, name: Any = None) -> Any:
    """The values where `mask` is True, in their rows."""
    return functions.masked(data, mask)


def row_splits_to_segment_ids(splits: Any, name: Any = None, out_type: Any = None) -> Tensor:
    """The row number of each value."""
    return rows.numbers_of(rows.as_partition(splits, 'splits', None if out_type is None else as_dtype(out_type)))


def segment_ids_to_row_splits(segment_ids: Any, num_segments: Any = None, out_type: Any = None, name: Any = None) -> Tensor:
    """Row splits from the row numbers of the values."""
    numbers = rows.as_partition(segment_ids, 'segment_ids', None if out_type is None else as_dtype(out_type))
    return rows.of_numbers(numbers, num_segments, validate=False)
