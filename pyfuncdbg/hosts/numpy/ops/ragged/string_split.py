"""Splitting of strings, `tf.strings.split` and the like, to ragged or sparse tensors. The ops are in `strings`."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyfuncdbg.hosts.numpy.graph.types import dtypes
from pyfuncdbg.hosts.numpy.ops.definition.broadcast import sizes_of, vector
from pyfuncdbg.hosts.numpy.ops.definition.cast import cast
from pyfuncdbg.hosts.numpy.ops.definition.constant import convert_to_tensor
from pyfuncdbg.hosts.numpy.ops.definition.node_scope import scope
from pyfuncdbg.hosts.numpy.ops.ragged.tensor import RaggedTensor
from pyfuncdbg.hosts.numpy.ops.sparse.tensor import SparseTensor
from pyfuncdbg.hosts.numpy.runtime.eager.dispatch import apply


def _ragged(x: Any, parts: Callable[[Any], Any]) -> Any:
    """The parts of each string as a further, ragged axis."""
    rank = x.shape.rank
    if rank is None:
        raise ValueError('input must have a known rank')
    if rank == 0:
        return parts(apply('Reshape', (x, vector([1]))))[1]
    if rank == 1:
        places, values, sizes = parts(x)
        return RaggedTensor.from_value_rowids(values, places[:, 0], sizes[0], validate=False)
    inner = _ragged(apply('Reshape', (x, vector([-1]))), parts)
    shape = cast(sizes_of(x), dtypes.int64)
    for axis in range(rank - 1, 0, -1):
        inner = RaggedTensor.from_uniform_row_length(inner, shape[axis], validate=False)
    return inner


def split(input: Any, sep: Any = None, maxsplit: int = -1, name: str | None = None) -> Any:
    """The parts of each string between separators.

    Args:
        input: Strings.
        sep: The separator; by default runs of white space, ignored at both ends.
        maxsplit: Largest number of splits, -1 for all.
        name: Of the scope.

    Returns:
        A vector for one string; otherwise a ragged tensor with one axis more.
    """
    with scope(name, 'StringSplit'):
        between = convert_to_tensor('' if sep is None else sep, dtypes.string, name='sep')
        return _ragged(convert_to_tensor(input, dtypes.string, name='input'),
                       lambda x: apply('StringSplitV2', (x, between), {'maxsplit': maxsplit}))


def split_v1(input: Any = None, sep: Any = None, maxsplit: int = -1, result_type: str = 'SparseTensor',
             source: Any = None, name: str | None = None) -> Any:
    """`split` of a vector, with a sparse tensor as result.

    Raises:
        ValueError: Another `result_type`.
    """
    _check_result(result_type)
    x = convert_to_tensor(source if input is None else input, dtypes.string)
    if result_type == 'RaggedTensor':
        return split(x, sep, maxsplit, name)
    with scope(name, 'StringSplit'):
        x = apply('Reshape', (x, vector([1]))) if x.shape.rank == 0 else x
        between = convert_to_tensor('' if sep is None else sep, dtypes.string, name='sep')
        return SparseTensor(*apply('StringSplitV2', (x, between), {'maxsplit': maxsplit}))


def _check_result(result_type: str) -> None:
    if result_type not in ('SparseTensor', 'RaggedTensor'):
        raise ValueError("`result_type` must be one of 'SparseTensor' or 'RaggedTensor'. Received: " f'{result_type}')


def string_split(source: Any, sep: Any = None, skip_empty: bool = True, delimiter: Any = ' ',
                 result_type: str = 'SparseTensor', name: str | None = None) -> Any:
    """TensorFlow 1's: the parts of strings between any of the characters of `delimiter`.

    Raises:
        ValueError: Another `result_type`.
    """
    _check_result(result_type)
    with scope(name, 'StringSplit'):
        x = convert_to_tensor(source, dtypes.string)
        between = convert_to_tensor(delimiter if sep is None else sep, dtypes.string)
        if result_type == 'RaggedTensor':
            return _ragged(x, lambda rows: apply('StringSplit', (rows, between), {'skip_empty': skip_empty}))
        return SparseTensor(*apply('StringSplit', (x, between), {'skip_empty': skip_empty}))


def bytes_split(input: Any, name: str | None = None) -> Any:
    """The bytes of each string: a vector for one string, otherwise a ragged tensor with one axis more."""
    with scope(name, 'StringsByteSplit'):
        empty = convert_to_tensor('', dtypes.string)
        return _ragged(convert_to_tensor(input, dtypes.string),
                       lambda rows: apply('StringSplit', (rows, empty), {'skip_empty': False}))
