"""Jacobians of a tape: one backward pass for each element of the target.

`GradientTape.jacobian` and `batch_jacobian` call it. In a function being traced each row is part of the trace, or, where
their number is not static, the body of a loop, which `ops` registers.
"""
from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from pyfuncdbg.hosts.numpy.graph.definitions import lazy_ops
from pyfuncdbg.hosts.numpy.graph.definitions.registry import CONSTANT, PACK, RESHAPE
from pyfuncdbg.hosts.numpy.graph.types import nest
from pyfuncdbg.hosts.numpy.graph.types.convert import to_array
from pyfuncdbg.hosts.numpy.graph.types.dtypes import int32
from pyfuncdbg.hosts.numpy.runtime.backward.indexed_slices import dense
from pyfuncdbg.hosts.numpy.runtime.backward.unconnected_gradient import zeros_of
from pyfuncdbg.hosts.numpy.runtime.eager.dispatch import apply


class DifferentiatedTape(Protocol):
    """The tape that the rows are computed with."""

    def gradient(self, target: Any, sources: Any, output_gradients: Any = None, unconnected_gradients: Any = ...) -> Any:
        """The gradients of `target` with respect to `sources`, in their structure."""


class _Loops:
    """The loops over rows, registered by `ops`; `hosts/numpy/graph/definitions/lazy_ops.py` loads them."""

    rows: Callable[[Any, Any, Sequence[Any]], list[Any]]
    columns: Callable[[Any, Any, Any], Any]


def at_run_time(rows: Callable[[Any, Any, Sequence[Any]], list[Any]], columns: Callable[[Any, Any, Any], Any]) -> None:
    """Register the loops that compute the rows of a jacobian and the columns of a batch jacobian."""
    _Loops.rows, _Loops.columns = staticmethod(rows), staticmethod(columns)


def jacobian(tape: DifferentiatedTape, target: Any, sources: Any, unconnected: str) -> Any:
    """d target / d source for each of `sources`, in their structure; None where unconnected, or zeros."""
    flat = nest.flatten(sources)
    empty = target.shape.num_elements() == 0
    if not target.shape.is_fully_defined() or (empty and not all(source.shape.is_fully_defined() for source in flat)):
        lazy_ops.load(lazy_ops.JACOBIAN)
        rows = _Loops.rows(lambda seed: tape.gradient(target, flat, seed, unconnected), target, flat)
        return nest.pack_sequence_as(sources, rows)
    sizes = list(target.shape.as_list())
    if empty:
        gradients = tape.gradient(target, flat, _zeros(target.dtype, sizes), unconnected)
        return nest.pack_sequence_as(sources, [None if g is None else _zeros(s.dtype, [*sizes, *s.shape.as_list()])
                                               for g, s in zip(gradients, flat, strict=True)])
    rows = [[*map(dense, tape.gradient(target, flat, output_gradients=_one_hot(target, sizes, (i,))))]
            for i in range(math.prod(sizes))]
    return nest.pack_sequence_as(sources, [_stack_rows([row[i] for row in rows], sizes, source, unconnected)
                                           for i, source in enumerate(flat)])


def batch_jacobian(tape: DifferentiatedTape, target: Any, source: Any) -> Any:
    """For each element b of the first axis d target[b] / d source[b].

    The sum over the batch is differentiated, so each target[b] must depend on source[b] only. As in
    TensorFlow it is zero where they are unconnected.

    Raises:
        ValueError: A rank is below 2 or unknown, or batch sizes differ.
    """
    shapes = [tensor.shape.with_rank_at_least(2) for tensor in (target, source)]
    if any(shape.rank is None for shape in shapes) or not shapes[0][:1].is_compatible_with(shapes[1][:1]):
        raise ValueError(f'Need first dimension of target shape ({target.shape}) and source shape ({source.shape}) to '
                         'match.')
    sizes, inner = target.shape.as_list(), source.shape.as_list()
    if None in sizes or None in inner:
        lazy_ops.load(lazy_ops.JACOBIAN)
        return _Loops.columns(lambda seed: [tape.gradient(target, source, seed)], target, source)
    rest = sizes[1:]
    if not math.prod(rest):
        tape.gradient(target, source, output_gradients=_zeros(target.dtype, sizes))     # the tape is used up too
        return _zeros(target.dtype, [*sizes, *inner[1:]])
    columns = [dense(tape.gradient(target, source, output_gradients=_one_hot(target, sizes, (i,), skip=1)))
               for i in range(math.prod(rest))]
    if all(column is None for column in columns):
        return _zeros(target.dtype, [*sizes, *inner[1:]])
    stacked = apply(PACK, columns, {'axis': 1, 'N': len(columns)})
    return _reshape(stacked, [sizes[0], *rest, *inner[1:]])


def _zeros(dtype: Any, sizes: Sequence[int]) -> Any:
    return apply(CONSTANT, (), {'dtype': dtype, 'value': to_array(np.zeros(sizes), dtype)})


def _one_hot(target: Any, sizes: Sequence[int], at: tuple[int, ...], skip: int = 0) -> Any:
    """A one-hot gradient of the target; along the first `skip` axes it is constant."""
    outer = math.prod(sizes[:skip])
    hot = np.zeros((outer, math.prod(sizes[skip:])), target.dtype.array)
    hot[:, at[0]] = 1
    value = hot.reshape(sizes)
    return apply(CONSTANT, (), {'dtype': target.dtype, 'value': value if sizes else value[()]})


def _stack_rows(rows: Sequence[Any], sizes: Sequence[int], source: Any, unconnected: str) -> Any:
    """The rows of one source as a tensor of shape sizes + source's."""
    if all(row is None for row in rows) and (unconnected == 'none' or not rows):
        return None
    full = [zeros_of(source) if row is None else row for row in rows]
    if not sizes:
        return full[0]
    return _reshape(apply(PACK, full, {'axis': 0, 'N': len(full)}), [*sizes, *full[0].shape.as_list()])


def _reshape(tensor: Any, sizes: Sequence[int | None]) -> Any:
    shape = np.array([-1 if n is None else n for n in sizes], np.int32)
    return apply(RESHAPE, (tensor, apply(CONSTANT, (), {'dtype': int32, 'value': shape})))
