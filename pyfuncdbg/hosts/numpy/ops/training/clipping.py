"""Clipping by norm: scaling of gradients and other tensors whose Euclidean norm is too large."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.graph.types import dtypes
from pyfuncdbg.hosts.numpy.ops.arrays.filling import ones_like, range as range_to
from pyfuncdbg.hosts.numpy.ops.arrays.joining import stack
from pyfuncdbg.hosts.numpy.ops.arrays.reduction import reduce_sum
from pyfuncdbg.hosts.numpy.ops.arrays.shaping import rank, size
from pyfuncdbg.hosts.numpy.ops.definition.cast import cast
from pyfuncdbg.hosts.numpy.ops.definition.constant import constant, convert_to_tensor
from pyfuncdbg.hosts.numpy.ops.definition.node_scope import scope
from pyfuncdbg.hosts.numpy.ops.definition.shape_rules import check_eager_types
from pyfuncdbg.hosts.numpy.ops.elementwise.binary import maximum
from pyfuncdbg.hosts.numpy.ops.elementwise.comparison import where
from pyfuncdbg.hosts.numpy.ops.elementwise.unary import rsqrt, sqrt
from pyfuncdbg.hosts.numpy.ops.linalg.products import l2_loss
from pyfuncdbg.hosts.numpy.runtime.backward.indexed_slices import IndexedSlices
from pyfuncdbg.hosts.numpy.runtime.eager.dispatch import apply


def _values(t: Any, name: str) -> Any:
    return convert_to_tensor(t.values if isinstance(t, IndexedSlices) else t, name=name)


def _in_place_of(t: Any, clipped: Any) -> Any:
    """The clipped values in the form of the original: a tensor, or `IndexedSlices` with its indices."""
    return IndexedSlices(clipped, t.indices, t.dense_shape) if isinstance(t, IndexedSlices) else clipped


def clip_by_norm(t: Any, clip_norm: Any, axes: Any = None, name: str | None = None) -> Any:
    """`t`, scaled where its norm (along `axes`) exceeds `clip_norm` so that it does not.

    Raises:
        ValueError: `clip_norm` has a shape that would broadcast `t`.
    """
    with scope(name, 'clip_by_norm') as full:
        values = _values(t, 't')
        check_eager_types('Mul', (values, values))
        if np.isscalar(clip_norm):
            clip_norm = 0 if clip_norm < 0 else clip_norm  # type: ignore[operator]
        else:
            clip_norm = cast(maximum(clip_norm, 0), values.dtype)
        squares = reduce_sum(values * values, axes, keepdims=True)
        positive = squares > 0
        safe = where(positive, squares, ones_like(squares))     # the root of 0 has no gradient
        check_eager_types('Sqrt', (safe,))
        length = where(positive, sqrt(safe), squares)
        scaled = values * clip_norm
        values.shape.assert_is_compatible_with(scaled.shape)
        return _in_place_of(t, apply('Identity', (scaled / _maximum(length, clip_norm),), None, full))


def _maximum(x: Tensor, y: Any) -> Tensor:
    return apply('Maximum', (x, convert_to_tensor(y, x.dtype)))


def _minimum(x: Tensor, y: Any) -> Tensor:
    return apply('Minimum', (x, convert_to_tensor(y, x.dtype)))


def _listed(t_list: Any) -> list[Any]:
    if not isinstance(t_list, Sequence) or isinstance(t_list, str):
        raise TypeError(f'`t_list` should be a sequence of tensors. Received {type(t_list)}.')
    return [None if t is None else _values(t, f't_{i}') for i, t in enumerate(t_list)]


def global_norm(t_list: Sequence[Any], name: str | None = None) -> Tensor:
    """The Euclidean norm of all elements of several tensors together; None is skipped.

    Raises:
        TypeError: `t_list` is no sequence.
    """
    with scope(name, 'global_norm'):
        halves = [l2_loss(v) for v in _listed(t_list) if v is not None]
        half = reduce_sum(stack(halves))
        return sqrt(half * constant(2.0, half.dtype), 'global_norm')


def clip_by_global_norm(t_list: Sequence[Any], clip_norm: Any, use_norm: Any = None,
                        name: str | None = None) -> tuple[list[Any], Any]:
    """Tensors scaled by one factor so that their global norm is at most `clip_norm`, and the norm before.

    Where the norm is not finite, the tensors become NaN.

    Raises:
        TypeError: `t_list` is no sequence.
    """
    if not isinstance(t_list, Sequence) or isinstance(t_list, str):
        raise TypeError(f'`t_list` should be a sequence of tensors. Received {type(t_list)}.')
    total_norm = global_norm(t_list, name) if use_norm is None else convert_to_tensor(use_norm)
    with scope(name, 'clip_by_global_norm') as full:
        finite = clip_norm * _minimum(1.0 / total_norm, constant(1.0, total_norm.dtype) / clip_norm)
        scale = finite + (total_norm - total_norm)
        prefix = (full or '').rstrip('/').rpartition('/')[2]
        clipped = [None if v is None else apply('Identity', (v * scale,), None, f'{prefix}_{i}')
                   for i, v in enumerate(_listed(t_list))]
    return [_in_place_of(t, v) for t, v in zip(t_list, clipped, strict=True)], total_norm


def clip_by_average_norm(t: Any, clip_norm: Any, name: str | None = None) -> Tensor:
    """`t`, scaled so that its norm divided by its number of elements is at most `clip_norm`."""
    with scope(name, 'clip_by_average_norm') as full:
        t = convert_to_tensor(t, name='t')
        count = cast(size(t), dtypes.float32)
        inverse = rsqrt(reduce_sum(t * t, range_to(rank(t))))
        clipped = t * clip_norm * _minimum(inverse * count, constant(1.0) / clip_norm)
        return apply('Identity', (clipped,), None, full)
