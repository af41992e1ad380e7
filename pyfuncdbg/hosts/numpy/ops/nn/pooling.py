"""Pooling: the largest element, or the mean, of each window of images."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pyfuncdbg.hosts.numpy.graph.definitions.registry import Attrs, Node, OpDef, Output, TypedInput, register
from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.graph.types.shapes import TensorShape
from pyfuncdbg.hosts.numpy.ops.definition.broadcast import sizes_of
from pyfuncdbg.hosts.numpy.ops.definition.constant import constant, convert_to_tensor
from pyfuncdbg.hosts.numpy.ops.definition.node_scope import scope
from pyfuncdbg.hosts.numpy.ops.definition.shape_rules import (
    FLOAT,
    REAL,
    Allowed,
    as_static_shape,
    check_dtype,
    check_types,
    invalid,
    text,
    with_rank,
)
from pyfuncdbg.hosts.numpy.ops.nn import windows
from pyfuncdbg.hosts.numpy.ops.nn.convolution import padding_of, per_axis, static_counts
from pyfuncdbg.hosts.numpy.runtime.eager.dispatch import apply

_ATTRS = ('ksize', 'strides', 'padding', 'explicit_paddings', 'data_format')


def _window_rows(x: Any, attrs: Attrs, rank: int, fill: Any) -> tuple[Any, list[windows.Axis]]:
    """The elements of each window in a row: [batch, count..., elements, channels]; and the axes."""
    if x.ndim != rank:
        raise invalid(f'tensor_in_shape must have 2 spatial dimensions. {x.ndim} {max(x.ndim - 2, 0)}'
                      if rank == 4 else f'Pooling ksize field must specify {rank} '
                      f'dimensions, input has shape {text(TensorShape(x.shape))}')
    images = windows.last_channels(x, attrs)
    axes = windows.axes_of(images.shape[1:-1], windows.spatial(attrs['ksize'], attrs), attrs)
    rows = windows.windows(images, axes, fill)
    return rows.reshape(*rows.shape[:rank - 1], -1, images.shape[-1]), axes


def _in_windows(rows: Any, axes: Sequence[windows.Axis]) -> Any:
    """Rows of elements as windows again."""
    return rows.reshape(*rows.shape[:len(axes) + 1], *(a.window for a in axes), rows.shape[-1])


def _lowest(x: Any) -> Any:
    return -np.inf if x.dtype.kind in 'fV' else np.iinfo(x.dtype).min


# ---------------------------------------------------------------- the largest
def _max_pool(rank: int) -> Callable[..., Any]:
    def kernel(x: Any, **attrs: Any) -> Any:
        rows, _ = _window_rows(x, attrs, rank, _lowest(x))
        return windows.as_given(rows.max(-2, initial=_lowest(x)).astype(x.dtype), attrs)
    return kernel


def _first_largest(x: Any, attrs: Attrs, rank: int) -> tuple[Any, Any, list[windows.Axis]]:
    rows, axes = _window_rows(x, attrs, rank, _lowest(x))
    return rows, np.expand_dims(rows.argmax(-2), -2), axes


def _max_grad(rank: int) -> Callable[..., Any]:
    def kernel(x: Any, y: Any, grad: Any, **attrs: Any) -> Any:
        rows, place, axes = _first_largest(x, attrs, rank)
        parts = np.zeros(rows.shape, grad.dtype)
        np.put_along_axis(parts, place, np.expand_dims(windows.last_channels(grad, attrs), -2), -2)
        return windows.as_given(windows.added(_in_windows(parts, axes), axes), attrs)
    return kernel


def _max_grad_grad(rank: int) -> Callable[..., Any]:
    def kernel(x: Any, y: Any, grad: Any, **attrs: Any) -> Any:
        _, place, _ = _first_largest(x, attrs, rank)
        rows, _ = _window_rows(grad, attrs, rank, 0)
        return windows.as_given(np.take_along_axis(rows, place, -2)[..., 0, :], attrs)
    return kernel


# ---------------------------------------------------------------- the mean
def _counts(shape: Sequence[int], attrs: Attrs, rank: int, dtype: Any) -> Any:
    """The number of elements of the image in each window."""
    rows, _ = _window_rows(np.ones((1, *shape[1:]), dtype), attrs, rank, 0)
    return rows.sum(-2)


def _avg_pool(rank: int) -> Callable[..., Any]:
    def kernel(x: Any, **attrs: Any) -> Any:
        wide = windows.wide(x)
        rows, _ = _window_rows(wide, attrs, rank, 0)
        mean = rows.sum(-2) / _counts(x.shape, attrs, rank, wide.dtype)
        return windows.as_given(mean.astype(x.dtype), attrs)
    return kernel


def _avg_grad(rank: int) -> Callable[..., Any]:
    def kernel(sizes: Any, grad: Any, **attrs: Any) -> Any:
        shape = np.asarray(sizes).tolist()
        wide = windows.wide(windows.last_channels(grad, attrs))
        rows, axes = _window_rows(np.broadcast_to(np.zeros((), wide.dtype), shape), attrs, rank, 0)
        share = np.expand_dims(wide / _counts(shape, attrs, rank, wide.dtype), -2)
        parts = np.broadcast_to(share, rows.shape)
        return windows.as_given(windows.added(_in_windows(parts, axes), axes).astype(grad.dtype), attrs)
    return kernel


# ---------------------------------------------------------------- the ops
def _pool_types(op: str, parameter: str, rank: int,
                allowed: Allowed) -> Callable[[Sequence[TypedInput], Attrs], Sequence[Output]]:
    def infer(inputs: Sequence[TypedInput], attrs: Attrs) -> list[Output]:
        x = inputs[0]
        check_dtype(op, parameter, x.dtype, allowed)
        sizes = with_rank(x.shape, rank).sizes
        assert sizes is not None
        first = windows.channels_first(attrs)
        inner = static_counts(sizes[2:] if first else sizes[1:-1], windows.spatial(attrs['ksize'], attrs), attrs)
        return [(x.dtype, TensorShape.of((*sizes[:2], *inner) if first else (sizes[0], *inner, sizes[-1])))]
    return infer


def _like(place: int) -> Callable[[Sequence[TypedInput], Attrs], Sequence[Output]]:
    return lambda inputs, attrs: [(inputs[place].dtype, inputs[place].shape)]


def _zeros_for(x: Any) -> Any:
    return apply('ZerosLike', (x,))


def _register_max(op: str, rank: int) -> None:
    def gradient(node: Node, grad: Tensor) -> Sequence[Any]:
        return [apply(f'{op}Grad', (node.inputs[0], node.outputs[0], grad), dict(node.attrs))]

    def grad_gradient(node: Node, grad: Tensor) -> Sequence[Any]:
        x, y, _ = node.inputs
        return [_zeros_for(x), _zeros_for(y), apply(f'{op}GradGrad', (x, y, grad), dict(node.attrs))]

    def grad_grad_gradient(node: Node, grad: Tensor) -> Sequence[Any]:
        x, y, _ = node.inputs
        return [_zeros_for(x), _zeros_for(y), apply(f'{op}Grad', (x, y, grad), dict(node.attrs))]

    register(OpDef(op, _max_pool(rank), _pool_types(op, 'input', rank, REAL), gradient, kernel_attrs=_ATTRS))
    register(OpDef(f'{op}Grad', _max_grad(rank), _like(0), grad_gradient, kernel_attrs=_ATTRS))
    register(OpDef(f'{op}GradGrad', _max_grad_grad(rank), _like(1), grad_grad_gradient, kernel_attrs=_ATTRS))


def _register_avg(op: str, rank: int) -> None:
    def gradient(node: Node, grad: Tensor) -> Sequence[Any]:
        return [apply(f'{op}Grad', (sizes_of(node.inputs[0]), grad), dict(node.attrs))]

    def grad_gradient(node: Node, grad: Tensor) -> Sequence[Any]:
        return [None, apply(op, (grad,), dict(node.attrs))]

    register(OpDef(op, _avg_pool(rank), _pool_types(op, 'value', rank, FLOAT), gradient, kernel_attrs=_ATTRS))
    register(OpDef(f'{op}Grad', _avg_grad(rank), lambda inputs, attrs: [(inputs[1].dtype, as_static_shape(inputs[0]))],
                   grad_gradient, kernel_attrs=_ATTRS))


_register_max('MaxPool', 4)
_register_avg('AvgPool', 4)
_register_max('MaxPool3D', 5)
_register_avg('AvgPool3D', 5)


# ---------------------------------------------------------------- public functions
def _pool(op: str, x: Any, ksize: Any, strides: Any, padding: Any, data_format: str | None, count: int,
          name: str | None) -> Tensor:
    form = data_format or ('NHWC' if count == 2 else 'NDHWC')
    first = form.startswith('NC')
    kind, explicit = padding_of(padding)
    attrs: dict[str, Any] = {'ksize': per_axis(ksize, count, first, 'ksize'), 'strides': per_axis(strides, count, first,
                             'strides'), 'padding': kind, 'data_format': form}
    if op == 'MaxPool':
        attrs['explicit_paddings'] = explicit
    x = convert_to_tensor(x)
    check_types(op, (x,))
    return apply(op, (x,), attrs, name)


def max_pool2d(input: Any, ksize: Any, strides: Any, padding: Any, data_format: str = 'NHWC',
               name: str | None = None) -> Tensor:
    """The largest element of each window of images.

    Args:
        input: [batch, height, width, channels] ('NCHW': the channels come second).
        ksize: Of the windows: a number, two, or four.
        strides: From one window to the next.
        padding: 'SAME', 'VALID', or a list of pairs for the four axes.
        data_format: 'NHWC' or 'NCHW'.
        name: Of the node.
    """
    return _pool('MaxPool', input, ksize, strides, padding, data_format, 2, name or 'MaxPool2d')


def avg_pool2d(input: Any, ksize: Any, strides: Any, padding: Any, data_format: str = 'NHWC',
               name: str | None = None) -> Tensor:
    """The mean of each window of images, without padding."""
    return _pool('AvgPool', input, ksize, strides, padding, data_format, 2, name or 'AvgPool2D')


def max_pool3d(input: Any, ksize: Any, strides: Any, padding: Any, data_format: str = 'NDHWC',
               name: str | None = None) -> Tensor:
    """`max_pool2d` for images of three axes."""
    return _pool('MaxPool3D', input, ksize, strides, padding, data_format, 3, name)


def avg_pool3d(input: Any, ksize: Any, strides: Any, padding: Any, data_format: str = 'NDHWC',
               name: str | None = None) -> Tensor:
    """`avg_pool2d` for images of three axes."""
    return _pool('AvgPool3D', input, ksize, strides, padding, data_format, 3, name)


def _rows(op: str, default: str, x: Any, ksize: Any, strides: Any, padding: Any, data_format: str | None,
          name: str | None) -> Tensor:
    first = (data_format or 'NWC').startswith('NC')
    at = 2 if first else 1
    sizes, steps = per_axis(ksize, 1, first, 'ksize'), per_axis(strides, 1, first, 'strides')
    for values in (sizes, steps):
        values.insert(at, 1)
    with scope(name, default):
        wide = apply('ExpandDims', (convert_to_tensor(x), constant(np.int32(at))))
        pooled = _pool(op, wide, sizes, steps, padding, 'NCHW' if first else 'NHWC', 2, None)
        return apply('Squeeze', (pooled,), {'squeeze_dims': [at]})


def max_pool1d(input: Any, ksize: Any, strides: Any, padding: Any, data_format: str = 'NWC',
               name: str | None = None) -> Tensor:
    """`max_pool2d` for rows [batch, width, channels]."""
    return _rows('MaxPool', 'MaxPool1d', input, ksize, strides, padding, data_format, name)


def avg_pool1d(input: Any, ksize: Any, strides: Any, padding: Any, data_format: str = 'NWC',
               name: str | None = None) -> Tensor:
    """`avg_pool2d` for rows [batch, width, channels]."""
    return _rows('AvgPool', 'AvgPool1D', input, ksize, strides, padding, data_format, name)


def _by_rank(of_rows: Any, of_images: Any, of_volumes: Any, x: Any) -> Any:
    rank = x.shape.rank
    if rank not in (3, 4, 5):
        raise ValueError(f'`input.shape.rank` must be 3, 4 or 5. Received: input.shape={x.shape} of rank {rank}.')
    return (of_rows, of_images, of_volumes)[rank - 3]


def max_pool(input: Any, ksize: Any, strides: Any, padding: Any, data_format: str | None = None,
             name: str | None = None) -> Tensor:
    """`max_pool1d`, `max_pool2d` or `max_pool3d`, by the rank.

    Raises:
        ValueError: The rank is not 3 to 5.
    """
    x = convert_to_tensor(input)
    function = _by_rank(max_pool1d, max_pool2d, max_pool3d, x)
    return function(x, ksize, strides, padding, **({'data_format': data_format} if data_format else {}), name=name)


def avg_pool(input: Any, ksize: Any, strides: Any, padding: Any, data_format: str | None = None,
             name: str | None = None) -> Tensor:
    """`avg_pool1d`, `avg_pool2d` or `avg_pool3d`, by the rank.

    Raises:
        ValueError: The rank is not 3 to 5.
    """
    x = convert_to_tensor(input)
    function = _by_rank(avg_pool1d, avg_pool2d, avg_pool3d, x)
    return function(x, ksize, strides, padding, **({'data_format': data_format} if data_format else {}), name=name)


def max_pool_v1(value: Any = None, ksize: Any = None, strides: Any = None, padding: Any = None, data_format: str = 'NHWC',
                name: str | None = None, input: Any = None) -> Tensor:
    """`max_pool2d` with TensorFlow 1's arguments."""
    return max_pool2d(value if input is None else input, ksize, strides, padding, data_format, name or 'MaxPool')


def avg_pool_v1(value: Any = None, ksize: Any = None, strides: Any = None, padding: Any = None, data_format: str = 'NHWC',
                name: str | None = None, input: Any = None) -> Tensor:
    """`avg_pool2d` with TensorFlow 1's arguments."""
    return avg_pool2d(value if input is None else input, ksize, strides, padding, data_format, name or 'AvgPool')
