"""`tf.RaggedTensor`: rows of different length, stored as flat values and row splits.

The values may be ragged themselves. In eager code, graphs and traced functions.
"""
# long: one class, TensorFlow's `RaggedTensor`: its factory methods are a third of it
from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from pyfuncdbg.hosts.numpy.graph import context
from pyfuncdbg.hosts.numpy.graph.symbolic_tensor import evaluate
from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.graph.types.dtypes import DType, as_dtype, int32, int64
from pyfuncdbg.hosts.numpy.graph.types.shapes import TensorShape
from pyfuncdbg.hosts.numpy.ops.arrays.filling import fill
from pyfuncdbg.hosts.numpy.ops.arrays.shaping import shape as shape_of
from pyfuncdbg.hosts.numpy.ops.definition.cast import cast
from pyfuncdbg.hosts.numpy.ops.definition.constant import constant, constant_value, convert_to_tensor
from pyfuncdbg.hosts.numpy.ops.ragged import rows
from pyfuncdbg.hosts.numpy.ops.ragged.value import RaggedFetch, RaggedTensorValue
from pyfuncdbg.hosts.numpy.runtime.execution.eager_tensor import EagerTensor


class RaggedTensor:
    """Rows of values. Made by the class methods `from_...` and by `tf.ragged.constant`.

    Attributes:
        values: The rows one after the other: a tensor, or a ragged tensor.
        row_splits: The start of each row, and the end of the last.
        uniform_row_length: The length of all rows as a tensor if they were declared uniform, else None.
    """

    __slots__ = ('__weakref__', 'row_splits', 'uniform_row_length', 'values')
    __array_priority__ = 200

    if TYPE_CHECKING:                           # `methods` puts them here
        @classmethod
        def from_tensor(cls, tensor: Any, lengths: Any = None, padding: Any = None, ragged_rank: Any = 1, name: Any = None,
                        row_splits_dtype: Any = int64) -> RaggedTensor: ...
        @classmethod
        def from_sparse(cls, st_input: Any, name: Any = None, row_splits_dtype: Any = int64) -> RaggedTensor: ...
        def bounding_shape(self, axis: Any = None, name: Any = None, out_type: Any = None) -> Tensor: ...
        def merge_dims(self, outer_axis: int, inner_axis: int) -> Any: ...
        def to_tensor(self, default_value: Any = None, name: Any = None, shape: Any = None) -> Tensor: ...
        def to_sparse(self, name: Any = None) -> Any: ...
        def combined(self, function: Callable[[Any, Any], Any], x: Any, y: Any) -> RaggedTensor: ...
        def __getitem__(self, key: Any) -> Any: ...

    def __init__(self, values: Any, row_partition: Any, internal: bool = False, uniform: Any = None) -> None:
        if not internal:
            raise ValueError('RaggedTensor constructor is private; please use one of the factory methods instead (e.g., '
                             'RaggedTensor.from_row_lengths())')
        self.values = values
        self.row_splits = row_partition
        self.uniform_row_length = uniform

    # ------------------------------------------------------------------ made of values and rows
    @classmethod
    def _create(cls, values: Any, splits: Tensor, validate: bool, uniform: Any = None) -> RaggedTensor:
        if isinstance(values, RaggedTensor) and values.row_splits.dtype is not splits.dtype:
            raise ValueError('Argument `row_partition` of RaggedTensor with name: partition must have same dtype as '
                             f'Argument `values`. ({splits.dtype} vs. {values.row_splits.dtype}).')
        if validate:
            splits = rows.checked_size(splits, count_of(values, splits.dtype))
        return cls(values, splits, True, uniform)

    @classmethod
    def _parts(cls, values: Any, partition: Any, name: str, validate: Any, rank: int = 1) -> tuple[Any, Tensor]:
        """The values and the row partition as tensors."""
        _check_flag(validate)
        values = cls.as_values(values)
        splits_dtype = values.row_splits.dtype if isinstance(values, RaggedTensor) else None
        tensor = rows.as_partition(partition, name, splits_dtype)
        tensor.shape.assert_has_rank(rank)
        return values, tensor

    @classmethod
    def from_row_splits(cls, values: Any, row_splits: Any, name: Any = None, validate: bool = True) -> RaggedTensor:
        """Rows that begin at `row_splits[:-1]`."""
        _check_flag(validate)
        if isinstance(row_splits, (list, tuple)) and not row_splits:
            raise ValueError('row_splits tensor may not be empty.')
        values, splits = cls._parts(values, row_splits, 'row_splits', validate)
        return cls._create(values, rows.checked_splits(splits) if validate else splits, validate)

    @classmethod
    def from_row_lengths(cls, values: Any, row_lengths: Any, name: Any = None, validate: bool = True) -> RaggedTensor:
        """Rows of these lengths."""
        values, lengths = cls._parts(values, row_lengths, 'row_lengths', validate)
        return cls._create(values, rows.of_lengths(lengths, validate), validate)

    @classmethod
    def from_row_starts(cls, values: Any, row_starts: Any, name: Any = None, validate: bool = True) -> RaggedTensor:
        """Rows that begin at `row_starts`."""
        values, starts = cls._parts(values, row_starts, 'row_starts', validate)
        return cls._create(values, rows.of_starts(starts, count_of(values, starts.dtype), validate), validate)

    @classmethod
    def from_row_limits(cls, values: Any, row_limits: Any, name: Any = None, validate: bool = True) -> RaggedTensor:
        """Rows that end at `row_limits`."""
        values, limits = cls._parts(values, row_limits, 'row_limits', validate)
        return cls._create(values, rows.of_limits(limits, validate), validate)

    @classmethod
    def from_value_rowids(cls, values: Any, value_rowids: Any, nrows: Any = None, name: Any = None,
                          validate: bool = True) -> RaggedTensor:
        """Rows from the row number of each value; `nrows` of them, by default up to the last with a value."""
        values, numbers = cls._parts(values, value_rowids, 'value_rowids', validate)
        values.shape[:1].assert_is_compatible_with(numbers.shape)
        return cls._create(values, rows.of_numbers(numbers, nrows, validate), validate)

    @classmethod
    def from_uniform_row_length(cls, values: Any, uniform_row_length: Any, nrows: Any = None, validate: bool = True,
                                name: Any = None) -> RaggedTensor:
        """Rows of one length; the size of that axis is then known."""
        values, length = cls._parts(values, uniform_row_length, 'uniform_row_length', validate, rank=0)
        splits = rows.of_uniform_length(length, nrows, count_of(values, length.dtype), validate)
        return cls._create(values, splits, validate, length)

    @classmethod
    def from_nested_row_splits(cls, flat_values: Any, nested_row_splits: Any, name: Any = None,
                               validate: bool = True) -> Any:
        """One level per vector of splits, outermost first."""
        _check_flag(validate)
        _check_list('nested_row_splits', nested_row_splits)
        for splits in reversed(nested_row_splits):
            flat_values = cls.from_row_splits(flat_values, splits, validate=validate)
        return flat_values

    @classmethod
    def from_nested_row_lengths(cls, flat_values: Any, nested_row_lengths: Any, name: Any = None,
                                validate: bool = True) -> Any:
        """One level per vector of lengths, outermost first."""
        _check_flag(validate)
        _check_list('nested_row_lengths', nested_row_lengths)
        for lengths in reversed(nested_row_lengths):
            flat_values = cls.from_row_lengths(flat_values, lengths, validate=validate)
        return flat_values

    @classmethod
    def from_nested_value_rowids(cls, flat_values: Any, nested_value_rowids: Any, nested_nrows: Any = None,
                                 name: Any = None, validate: bool = True) -> Any:
        """One level per vector of row numbers, outermost first."""
        _check_flag(validate)
        _check_list('nested_value_rowids', nested_value_rowids)
        if nested_nrows is None:
            nested_nrows = [None] * len(nested_value_rowids)
        _check_list('nested_nrows', nested_nrows)
        if len(nested_nrows) != len(nested_value_rowids):
            raise ValueError('Argument `nested_nrows` must have the same length as argument `nested_value_rowids`. '
                             f'len(nested_nrows) = {len(nested_nrows)} vs. len(nested_values_rowids) = '
                             f'{len(nested_value_rowids)}.')
        for numbers, nrows in reversed(list(zip(nested_value_rowids, nested_nrows, strict=True))):
            flat_values = cls.from_value_rowids(flat_values, numbers, nrows, validate=validate)
        return flat_values

    @classmethod
    def as_values(cls, value: Any) -> Any:
        """A value converted to the values of a ragged tensor."""
        if isinstance(value, (RaggedTensor, Tensor)):
            return value
        if isinstance(value, RaggedTensorValue):
            return cls.from_nested_row_splits(value.flat_values, value.nested_row_splits, validate=False)
        return convert_to_tensor(value, name='values')

    # ------------------------------------------------------------------ what it is
    @property
    def dtype(self) -> DType:
        """The dtype of the elements."""
        return self.values.dtype

    @property
    def shape(self) -> TensorShape:
        """The static shape, None in ragged dimensions."""
        splits = self.row_splits.shape
        count = None if splits.rank is None or splits[0] is None else splits[0] - 1
        width = None if self.uniform_row_length is None else constant_value(self.uniform_row_length)
        return TensorShape([count, None if width is None else int(width)]).concatenate(self.values.shape[1:])

    def get_shape(self) -> TensorShape:
        """The static shape."""
        return self.shape

    @property
    def ragged_rank(self) -> int:
        """The number of levels of rows."""
        return len(self.nested_row_splits)

    @property
    def flat_values(self) -> Any:
        """The innermost tensor of values."""
        return self.values.flat_values if isinstance(self.values, RaggedTensor) else self.values

    @property
    def nested_row_splits(self) -> tuple[Any, ...]:
        """The splits of all levels, outermost first."""
        inner = self.values.nested_row_splits if isinstance(self.values, RaggedTensor) else ()
        return (self.row_splits, *inner)

    def value_rowids(self, name: Any = None) -> Tensor:
        """The row number of each of `values`."""
        return rows.numbers_of(self.row_splits)

    def nested_value_rowids(self, name: Any = None) -> tuple[Any, ...]:
        """The row numbers of all levels, outermost first."""
        return tuple(rows.numbers_of(splits) for splits in self.nested_row_splits)

    def nrows(self, out_type: Any = None, name: Any = None) -> Tensor:
        """The number of rows."""
        return shape_of(self.row_splits, out_type=self.row_splits.dtype if out_type is None else as_dtype(out_type))[0] - 1

    def row_starts(self, name: Any = None) -> Tensor:
        """The index in `values` at which each row begins."""
        return self.row_splits[:-1]

    def row_limits(self, name: Any = None) -> Tensor:
        """The index in `values` at which each row ends."""
        return self.row_splits[1:]

    def row_lengths(self, axis: int = 1, name: Any = None) -> Any:
        """The sizes along an axis: ragged itself for an axis beyond 1."""
        rank = self.shape.rank
        if axis < 0 and rank is not None:
            axis += rank
        if axis < 0 or (rank is not None and axis >= rank):
            raise ValueError(f'axis={axis} out of bounds: expected {-(rank or 0)}<=axis<{rank}')
        if axis == 0:
            return self.nrows()
        if axis == 1:
            return rows.lengths_of(self.row_splits)
        if isinstance(self.values, RaggedTensor):
            return self.with_values(self.values.row_lengths(axis - 1))
        sizes = shape_of(self.values, out_type=self.row_splits.dtype)
        return self.with_values(fill(sizes[:axis - 1], sizes[axis - 1]))

    def nested_row_lengths(self, name: Any = None) -> tuple[Any, ...]:
        """The lengths of all levels, outermost first."""
        return tuple(rows.lengths_of(splits) for splits in self.nested_row_splits)

    # ------------------------------------------------------------------ others made of it
    def with_values(self, new_values: Any) -> RaggedTensor:
        """The same rows with other values."""
        new = self.as_values(new_values)
        new.shape.with_rank_at_least(1)
        self.values.shape[:1].assert_is_compatible_with(new.shape[:1])
        if isinstance(new, RaggedTensor) and new.row_splits.dtype is not self.row_splits.dtype:
            raise ValueError('self and new_values have mismatched row_splits dtypes; use '
                             'RaggedTensor.with_row_splits_dtype() to convert them to compatible dtypes.')
        return RaggedTensor(new, self.row_splits, True, self.uniform_row_length)

    def with_flat_values(self, new_values: Any) -> RaggedTensor:
        """The same rows of all levels with other flat values."""
        inner = self.values
        return self.with_values(inner.with_flat_values(new_values) if isinstance(inner, RaggedTensor) else new_values)

    def with_row_splits_dtype(self, dtype: Any) -> RaggedTensor:
        """The ragged tensor with row splits of another dtype."""
        kind = as_dtype(dtype)
        if kind not in (int32, int64):
            raise ValueError(f'Argument `row_splits` dtype must be int32 or int64. Received {kind}.')
        if self.row_splits.dtype is kind:
            return self
        inner = self.values.with_row_splits_dtype(kind) if isinstance(self.values, RaggedTensor) else self.values
        uniform = None if self.uniform_row_length is None else cast(self.uniform_row_length, kind)
        return RaggedTensor(inner, cast(self.row_splits, kind), True, uniform)

    def map_values(self, function: Callable[[Any], Any]) -> RaggedTensor:
        """An elementwise function of each value, in the same rows."""
        return self.with_flat_values(function(self.flat_values))

    def __eq__(self, other: object) -> Any:
        if other is None:
            return False
        if not context.executing_eagerly_outside_functions():
            return self is other
        return self.combined(Tensor.compare['equal'], self, other)

    def __ne__(self, other: object) -> Any:
        if other is None:
            return True
        if not context.executing_eagerly_outside_functions():
            return self is not other
        return self.combined(Tensor.compare['not_equal'], self, other)

    def __bool__(self) -> bool:
        raise TypeError('RaggedTensor may not be used as a boolean.')

    def consumers(self) -> list[Any]:
        """The operations that use its tensors."""
        return [op for tensor in (self.flat_values, *self.nested_row_splits) for op in tensor.consumers()]

    @property
    def graph(self) -> Any:
        """The graph of its values."""
        return self.flat_values.graph

    # ------------------------------------------------------------------ values
    def _is_eager(self) -> bool:
        return all(type(tensor) is EagerTensor for tensor in (self.flat_values, *self.nested_row_splits))

    def numpy(self) -> np.ndarray:
        """An array of rows; of dtype object where they differ in length."""
        if not self._is_eager():
            raise ValueError('RaggedTensor.numpy() is only supported in eager mode.')
        values, splits = self.values.numpy(), self.row_splits.numpy()
        rows = [values[start:end] for start, end in pairwise(splits)]
        if not rows:
            return np.zeros((0, 0, *values.shape[1:]), values.dtype)
        same = all(len(row) == len(rows[0]) for row in rows)
        return np.array(rows, dtype=None if same else object)

    def to_list(self) -> list[Any]:
        """The rows as nested lists."""
        if not self._is_eager():
            raise ValueError('to_list can only be used in eager mode.')
        inner = self.values.to_list() if isinstance(self.values, RaggedTensor) else self.values.numpy().tolist()
        splits = self.row_splits.numpy().tolist()
        return [inner[start:end] for start, end in pairwise(splits)]

    def eval(self, feed_dict: Any = None, session: Any = None) -> Any:
        """Its value, computed in `session` or the default session."""
        return evaluate(self, 'Cannot evaluate tensor using `eval()`', feed_dict, session)

    def __len__(self) -> int:
        raise TypeError("object of type 'RaggedTensor' has no len()")

    def __iter__(self) -> Iterator[Any]:
        if not self._is_eager():
            raise TypeError("'RaggedTensor' object is not iterable")
        return (self[i] for i in range(len(self.row_splits.numpy()) - 1))

    def __hash__(self) -> int:
        if context.executing_eagerly_outside_functions():
            raise TypeError('RaggedTensor is unhashable.')
        return id(self)

    def __repr__(self) -> str:
        if self._is_eager():
            return f'<tf.RaggedTensor {array_text(self.numpy())}>'
        return f'tf.RaggedTensor(values={self.values!s}, row_splits={self.row_splits!s})'

    # ------------------------------------------------------------------ as a composite
    def _as_tensor(self) -> Any:
        raise ValueError("TypeError: object of type 'RaggedTensor' has no len()")

    def printed(self, hole: str) -> tuple[str, list[Any]]:
        """The form for `tf.print`, in a graph by components: a text with holes, and the tensors to fill in."""
        if not self._is_eager():
            return f'tf.RaggedTensor(values={hole}, row_splits={hole})', [self.flat_values, self.row_splits]
        return rows_text(self.to_list(), 3), []

    def fetched(self) -> RaggedFetch:
        """The structure that `Session.run` fetches instead of it."""
        return RaggedFetch(self.flat_values, self.nested_row_splits)

    def fed(self, value: Any) -> list[tuple[Any, Any]]:
        """Feeds of its tensors where a run is fed `value` for it."""
        return list(zip((*self.nested_row_splits, self.flat_values), (*value.nested_row_splits, value.flat_values),
                        strict=False))


def count_of(values: Any, dtype: DType) -> Tensor:
    """The number of values."""
    if isinstance(values, RaggedTensor):
        return values.nrows(dtype)
    static_count = values.shape[0] if values.shape.rank else None
    return shape_of(values, out_type=dtype)[0] if static_count is None else constant(static_count, dtype)


def _check_flag(validate: Any) -> None:
    if not isinstance(validate, bool):
        raise TypeError(f'Argument `validate` must have type bool. Received {validate}.')


def _check_list(name: str, value: Any) -> None:
    if isinstance(value, Tensor):
        raise TypeError(f'Argument `{name}` must be a list of Tensors. Received {value}.')


as_values = RaggedTensor.as_values


def is_ragged(value: Any) -> bool:
    """Whether it is a ragged tensor or the value of one."""
    return isinstance(value, (RaggedTensor, RaggedTensorValue))


def rows_text(rows: Any, summarize: int) -> str:
    """Nested lists as `tf.print` shows them: the first and last items of each, floats with six digits."""
    if not isinstance(rows, list):
        return repr(rows.decode('utf-8', 'replace')) if isinstance(rows, bytes) else (
            f'{rows:.6f}' if isinstance(rows, float) else str(rows))
    items = [rows_text(row, summarize) for row in rows]
    if len(items) > 2 * summarize:
        items = [*items[:summarize], '...', *items[-summarize:]]
    return f'[{", ".join(items)}]'


def array_text(value: Any) -> str:
    """An array, whose elements may be arrays, as nested lists."""
    if not isinstance(value, np.ndarray):
        return str(value)
    if value.size == 0:
        return '[]' if value.ndim < 2 else str(value.tolist())
    return np.array2string(value, separator=', ', formatter={'all': array_text})

