"""Factory methods of ragged tensors: from splits, lengths, starts, limits, row numbers, of one level or several."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.graph.types.dtypes import DType
from pyfuncdbg.hosts.numpy.ops.arrays.shaping import shape as shape_of
from pyfuncdbg.hosts.numpy.ops.definition.constant import constant, convert_to_tensor
from pyfuncdbg.hosts.numpy.ops.ragged import rows
from pyfuncdbg.hosts.numpy.ops.ragged.value import RaggedTensorValue


class RaggedFactory:
    """Factory methods of `RaggedTensor`."""

    __slots__ = ()

    if TYPE_CHECKING:
        row_splits: Any

        def __init__(self, values: Any, row_partition: Any, internal: bool = False, uniform: Any = None) -> None: ...
        def nrows(self, out_type: Any = None, name: Any = None) -> Tensor: ...

    @classmethod
    def _made(cls, values: Any, splits: Tensor, validate: bool, uniform: Any = None) -> Self:
        if isinstance(values, RaggedFactory) and values.row_splits.dtype is not splits.dtype:
            raise ValueError('Argument `row_partition` of RaggedTensor with name: partition must have same dtype as '
                             f'Argument `values`. ({splits.dtype} vs. {values.row_splits.dtype}).')
        if validate:
            splits = rows.checked_size(splits, count_of(values, splits.dtype))
        return cls(values, splits, True, uniform)

    @classmethod
    def from_row_splits(cls, values: Any, row_splits: Any, name: Any = None, validate: bool = True) -> Self:
        """Rows that begin at `row_splits[:-1]`."""
        _check_flag(validate)
        if isinstance(row_splits, (list, tuple)) and not row_splits:
            raise ValueError('row_splits tensor may not be empty.')
        values = cls.as_values(values)
        splits = rows.as_partition(row_splits, 'row_splits', _splits_dtype(values))
        splits.shape.assert_has_rank(1)
        return cls._made(values, rows.checked_splits(splits) if validate else splits, validate)

    @classmethod
    def from_row_lengths(cls, values: Any, row_lengths: Any, name: Any = None, validate: bool = True) -> Self:
        """Rows of these lengths."""
        _check_flag(validate)
        values = cls.as_values(values)
        lengths = rows.as_partition(row_lengths, 'row_lengths', _splits_dtype(values))
        lengths.shape.assert_has_rank(1)
        return cls._made(values, rows.of_lengths(lengths, validate), validate)

    @classmethod
    def from_row_starts(cls, values: Any, row_starts: Any, name: Any = None, validate: bool = True) -> Self:
        """Rows that begin at `row_starts`."""
        _check_flag(validate)
        values = cls.as_values(values)
        starts = rows.as_partition(row_starts, 'row_starts', _splits_dtype(values))
        starts.shape.assert_has_rank(1)
        return cls._made(values, rows.of_starts(starts, count_of(values, starts.dtype), validate), validate)

    @classmethod
    def from_row_limits(cls, values: Any, row_limits: Any, name: Any = None, validate: bool = True) -> Self:
        """Rows that end at `row_limits`."""
        _check_flag(validate)
        values = cls.as_values(values)
        limits = rows.as_partition(row_limits, 'row_limits', _splits_dtype(values))
        limits.shape.assert_has_rank(1)
        return cls._made(values, rows.of_limits(limits, validate), validate)

    @classmethod
    def from_value_rowids(cls, values: Any, value_rowids: Any, nrows: Any = None, name: Any = None,
                          validate: bool = True) -> Self:
        """Rows by the number of the row of each value; `nrows` of them, by default up to the last one with a value."""
        _check_flag(validate)
        values = cls.as_values(values)
        numbers = rows.as_partition(value_rowids, 'value_rowids', _splits_dtype(values))
        numbers.shape.assert_has_rank(1)
        values.shape[:1].assert_is_compatible_with(numbers.shape)
        return cls._made(values, rows.of_numbers(numbers, nrows, validate), validate)

    @classmethod
    def from_uniform_row_length(cls, values: Any, uniform_row_length: Any, nrows: Any = None, validate: bool = True,
                                name: Any = None) -> Self:
        """Rows of one length; the size of that axis is then known."""
        _check_flag(validate)
        values = cls.as_values(values)
        length = rows.as_partition(uniform_row_length, 'uniform_row_length', _splits_dtype(values))
        length.shape.assert_has_rank(0)
        splits = rows.of_uniform_length(length, nrows, count_of(values, length.dtype), validate)
        return cls._made(values, splits, validate, length)

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
        """A value converted to one that a ragged tensor can have as values."""
        if isinstance(value, (RaggedFactory, Tensor)):
            return value
        if isinstance(value, RaggedTensorValue):
            return cls.from_nested_row_splits(value.flat_values, value.nested_row_splits, validate=False)
        return convert_to_tensor(value, name='values')


def count_of(values: Any, dtype: DType) -> Tensor:
    """The number of values."""
    if isinstance(values, RaggedFactory):
        return values.nrows(dtype)
    known = values.shape[0] if values.shape.rank else None
    return shape_of(values, out_type=dtype)[0] if known is None else constant(known, dtype)


def _splits_dtype(values: Any) -> DType | None:
    return values.row_splits.dtype if isinstance(values, RaggedFactory) else None


def _check_flag(validate: Any) -> None:
    if not isinstance(validate, bool):
        raise TypeError(f'Argument `validate` must have type bool. Received {validate}.')


def _check_list(name: str, value: Any) -> None:
    if isinstance(value, Tensor):
        raise TypeError(f'Argument `{name}` must be a list of Tensors. Received {value}.')
