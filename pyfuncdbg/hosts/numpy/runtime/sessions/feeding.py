"""Feeds of `Session.run`, checked and converted before anything runs."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from pyfuncdbg.hosts.numpy.graph.graph import Graph
from pyfuncdbg.hosts.numpy.graph.symbolic_tensor import SymbolicTensor
from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.graph.types.convert import cast_array


def feed_tensor(graph: Graph, key: Any) -> SymbolicTensor:
    """The tensor for a key of a feed_dict.

    Raises:
        TypeError: It is no tensor of this graph, or no name of one.
        ValueError: The tensor may not be fed.
    """
    try:
        tensor = graph.as_graph_element(key, allow_operation=False)
    except (TypeError, ValueError, KeyError) as error:
        text = error.args[0] if error.args else error
        raise TypeError(f'Cannot interpret feed_dict key as Tensor: {text}') from None
    if id(tensor) in graph.unfeedable:
        raise ValueError(f'Tensor {tensor.name} may not be fed.')
    return tensor  # type: ignore[no-any-return]


def is_several(key: Any) -> bool:
    """Whether a key of a feed_dict is a structure or composite."""
    return type(key) is not SymbolicTensor and (isinstance(key, tuple) or hasattr(key, 'fed'))


def flat_feeds(feed_dict: Any) -> Mapping[Any, Any]:
    """A feed_dict whose keys may be structures (a tuple of tensors for a tuple of values) and composites.

    Raises:
        TypeError: It is no dict.
    """
    if not isinstance(feed_dict, Mapping):
        raise TypeError("FlattenDictItems: 'dict' must be a dictionary or collection.Mapping type object, instead of "
                        f"'{type(feed_dict).__name__}'.")
    flat: dict[Any, Any] = {}
    for key, value in feed_dict.items():
        if hasattr(key, 'fed'):                     # a composite
            flat.update(key.fed(value))
        elif isinstance(key, tuple):
            flat.update(_pair_values(key, value))
        else:
            flat[key] = value
    return flat


def _pair_values(key: Any, value: Any) -> list[tuple[Any, Any]]:
    """Pairs of key and value for a structure of keys: a list may be the value of one tensor."""
    if hasattr(key, 'fed'):
        return key.fed(value)  # type: ignore[no-any-return]
    if not isinstance(key, (tuple, list)):
        return [(key, value)]
    if not isinstance(value, (tuple, list)):
        value = [value]
    if len(key) != len(value):
        raise ValueError(f'Could not flatten dictionary. Key had {len(key)} elements, but value had {len(value)} elements. '
                         f'Key: {list(key)}, value: {list(value)}.')
    return [pair for k, v in zip(key, value, strict=True) for pair in _pair_values(k, v)]


def converter(tensor: SymbolicTensor) -> Callable[[Any], Any]:
    """The function that converts a fed value to the tensor's NumPy value.

    The result may share memory with the user's array: it is never written to.
    """
    dtype, sizes = tensor.dtype.array, tensor.shape.sizes
    scalar = dtype.type if sizes == () and dtype.kind in 'fiu' and dtype.isbuiltin == 1 else None
    exact = float if dtype.kind == 'f' else int if dtype == np.int64 else None

    def convert(value: Any) -> Any:
        kind = type(value)
        if scalar is not None and (kind is scalar or kind is exact):
            return scalar(value)
        if kind is np.ndarray and value.dtype == dtype and dtype.kind != 'O' and value.flags.c_contiguous:
            array = value
        else:
            array = _array_of(tensor, value)
        if sizes is not None and array.shape != sizes and not _fits(array.shape, sizes):
            raise ValueError(f"Cannot feed value of shape {array.shape!r} for Tensor {tensor.name}, which has shape "
                             f'{tensor.shape!s}')
        return array if array.ndim or dtype.kind == 'O' else array[()]
    return convert


def _fits(shape: tuple[int, ...], sizes: tuple[int | None, ...]) -> bool:
    return len(shape) == len(sizes) and all(n is None or n == m for m, n in zip(shape, sizes, strict=True))


def _holds(dtype: np.dtype, value: int) -> bool:
    try:
        return bool(dtype.type(value) == value)
    except OverflowError:
        return False


def _array_of(tensor: SymbolicTensor, value: Any) -> np.ndarray:
    if isinstance(value, Tensor):
        raise TypeError('The value of a feed cannot be a tf.Tensor object. Acceptable feed values include Python scalars, '
                        'strings, lists, numpy ndarrays, or TensorHandles. For reference, the tensor object was '
                        f'{value} which was passed to the argument `feed_dict` with key {tensor}.')
    if tensor.dtype.name == 'string':
        return np.asarray(cast_array(np.asarray(value, dtype=object), tensor.dtype))
    if isinstance(value, int) and not _holds(tensor.dtype.array, value):
        raise TypeError(f'Type of feed value {value} with type {type(value)} is not compatible with Tensor type '
                        f'{tensor.dtype.array.type}. Try explicitly setting the type of the feed tensor to a larger type '
                        '(e.g. int64).')
    if value is None:
        return np.asarray(value, dtype=tensor.dtype.array)
    return np.asarray(np.asarray(value).astype(tensor.dtype.array, copy=False), order='C')
