"""Convolutions of images of one to three axes, and their transposes."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pyfuncdbg.hosts.numpy.graph.context import current_graph
from pyfuncdbg.hosts.numpy.graph.definitions.registry import Attrs, Node, OpDef, Output, TypedInput, register
from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.graph.types import dtypes
from pyfuncdbg.hosts.numpy.graph.types.shapes import TensorShape
from pyfuncdbg.hosts.numpy.ops.definition.broadcast import sizes_of
from pyfuncdbg.hosts.numpy.ops.definition.constant import constant, convert_to_tensor, convert_together
from pyfuncdbg.hosts.numpy.ops.definition.node_scope import scope
from pyfuncdbg.hosts.numpy.ops.definition.shape_rules import (
    FLOAT,
    as_static_shape,
    check_dtype,
    check_same_dtype,
    check_types,
    int_attr,
    invalid,
    text,
    with_rank,
)
from pyfuncdbg.hosts.numpy.ops.nn import windows
from pyfuncdbg.hosts.numpy.runtime.eager.dispatch import apply
from pyfuncdbg.hosts.numpy.runtime.execution.eager_tensor import DEVICE

_ATTRS = ('strides', 'padding', 'explicit_paddings', 'data_format', 'dilations')


# ---------------------------------------------------------------- kernels
def _parts(x: Any, kernel: Any, attrs: Attrs) -> tuple[Any, list[windows.Axis], int]:
    """Images with the channels last, their axes, and the number of channel groups."""
    x = windows.last_channels(x, attrs)
    depth, inner = x.shape[-1], kernel[-2]
    if not inner or depth % inner:
        raise invalid(f'input depth must be evenly divisible by filter depth: {depth} vs {inner}')
    return x, windows.axes_of(x.shape[1:-1], kernel[:-2], attrs), depth // inner


def _check_rank(x: Any, filters: Any, rank: int) -> None:
    for name, value in (('input', x), ('filter', filters)):
        if value.ndim != rank:
            name = 'convolution input' if name == 'input' and value.ndim else name
            raise invalid(f'{name} must be {rank}-dimensional: {text(TensorShape(value.shape))}')


def _forward(rank: int) -> Callable[..., Any]:
    def kernel(x: Any, filters: Any, **attrs: Any) -> Any:
        _check_rank(x, filters, rank)
        images, axes, groups = _parts(x, filters.shape, attrs)
        patches, weights = windows.windows(windows.wide(images), axes), windows.wide(filters)
        inner = list(range(rank - 1, 2 * rank - 2))
        products = [np.tensordot(a, b, (inner, list(range(rank - 1))))
                 for a, b in zip(_split(patches, groups), _split(weights, groups), strict=True)]
        return windows.as_given((np.concatenate(products, -1) if groups > 1 else products[0]).astype(x.dtype), attrs)
    return kernel


def _split(x: Any, groups: int) -> Sequence[Any]:
    return np.split(x, groups, -1) if groups > 1 else [x]


def _input_backprop(rank: int) -> Callable[..., Any]:
    def kernel(sizes: Any, filters: Any, grad: Any, **attrs: Any) -> Any:
        shape = np.asarray(sizes).tolist()
        empty = np.broadcast_to(np.zeros((), grad.dtype), shape)
        images, axes, groups = _parts(empty, filters.shape, attrs)
        back, weights = windows.wide(windows.last_channels(grad, attrs)), windows.wide(filters)
        _check_back(images, back, axes, filters.shape[-1])
        parts = [np.tensordot(a, b, ([rank - 1], [rank - 1]))
                 for a, b in zip(_split(back, groups), _split(weights, groups), strict=True)]
        patches = np.concatenate(parts, -1) if groups > 1 else parts[0]
        return windows.as_given(windows.added(patches, axes).astype(grad.dtype), attrs)
    return kernel


def _check_back(images: Any, grad: Any, axes: Sequence[windows.Axis], depth: int) -> None:
    expected = (len(images), *(a.count for a in axes), depth)
    if grad.shape != expected:
        raise invalid(f'Conv2DSlowBackpropInput: Size of out_backprop doesn\'t match computed: actual = {list(grad.shape)}, '
                      f'computed = {list(expected)}')


def _filter_backprop(rank: int) -> Callable[..., Any]:
    def kernel(x: Any, sizes: Any, grad: Any, **attrs: Any) -> Any:
        images, axes, groups = _parts(x, np.asarray(sizes).tolist(), attrs)
        patches, back = windows.windows(windows.wide(images), axes), windows.wide(windows.last_channels(grad, attrs))
        outer = list(range(rank - 1))
        products = [np.tensordot(a, b, (outer, outer)) for a,
                    b in zip(_split(patches, groups), _split(back, groups), strict=True)]
        return (np.concatenate(products, -1) if groups > 1 else products[0]).astype(x.dtype)
    return kernel


# ---------------------------------------------------------------- shapes
def _types(op: str, rank: int) -> Callable[[Sequence[TypedInput], Attrs], Sequence[Output]]:
    def infer(inputs: Sequence[TypedInput], attrs: Attrs) -> list[Output]:
        x, filters = inputs
        check_dtype(op, 'input', x.dtype, (*FLOAT, dtypes.int32))
        check_same_dtype(op, ('input', 'filter'), inputs)
        sizes, kernel = with_rank(x.shape, rank).sizes, with_rank(filters.shape, rank).sizes
        assert sizes is not None and kernel is not None
        first = windows.channels_first(attrs)
        depth = sizes[1 if first else -1]
        if depth is not None and kernel[-2] and depth % kernel[-2]:
            raise ValueError(f'Depth of input ({depth}) is not a multiple of input depth of filter ({kernel[-2]})')
        inner = static_counts(sizes[2:] if first else sizes[1:-1], kernel[:-2], attrs)
        return [(x.dtype, TensorShape.of((sizes[0], kernel[-1], *inner) if first else (sizes[0], *inner, kernel[-1])))]
    return infer


def static_counts(sizes: Sequence[int | None], window: Sequence[int | None], attrs: Attrs) -> list[int | None]:
    """The number of windows along each axis, None where it is not static.

    Raises:
        ValueError: A window is larger than the image.
    """
    dilations = windows.spatial(attrs.get('dilations') or [1] * (len(sizes) + 2), attrs)
    explicit = attrs.get('explicit_paddings') or [0] * (2 * len(sizes) + 4)
    pads = list(zip(explicit[::2], explicit[1::2], strict=True))
    pads = pads[2:] if windows.channels_first(attrs) else pads[1:-1]
    counts: list[int | None] = []
    for size, k, stride, dilation, pad in zip(sizes, window, windows.spatial(attrs['strides'], attrs), dilations, pads,
                                              strict=True):
        if size is None or (k is None and attrs['padding'] != 'SAME'):
            counts.append(None)
            continue
        extent = ((k or 1) - 1) * dilation + 1
        count = windows.count_of(size, extent, stride, attrs['padding'], pad)
        if count < 0 or (attrs['padding'] != 'SAME' and size + sum(pad) < extent):
            raise ValueError(f'Negative dimension size caused by subtracting {extent} from {size + sum(pad)}')
        counts.append(count)
    return counts


def _by_sizes(place: int) -> Callable[[Sequence[TypedInput], Attrs], Sequence[Output]]:
    return lambda inputs, attrs: [(inputs[2].dtype, as_static_shape(inputs[place]))]


# ---------------------------------------------------------------- the ops
def _register(op: str, of_input: str, of_filter: str, rank: int) -> None:
    def gradient(node: Node, grad: Tensor) -> Sequence[Any]:
        x, filters = node.inputs
        attrs = dict(node.attrs)
        return [apply(of_input, (sizes_of(x), filters, grad), attrs), apply(of_filter, (x, sizes_of(filters), grad), attrs)]

    def input_gradient(node: Node, grad: Tensor) -> Sequence[Any]:
        _, filters, back = node.inputs
        attrs = dict(node.attrs)
        return [None, apply(of_filter, (grad, sizes_of(filters), back), attrs), apply(op, (grad, filters), attrs)]

    def filter_gradient(node: Node, grad: Tensor) -> Sequence[Any]:
        x, _, back = node.inputs
        attrs = dict(node.attrs)
        return [apply(of_input, (sizes_of(x), grad, back), attrs), None, apply(op, (x, grad), attrs)]

    register(OpDef(op, _forward(rank), _types(op, rank), gradient, kernel_attrs=_ATTRS))
    register(OpDef(of_input, _input_backprop(rank), _by_sizes(0), input_gradient, kernel_attrs=_ATTRS))
    register(OpDef(of_filter, _filter_backprop(rank), _by_sizes(1), filter_gradient, kernel_attrs=_ATTRS))


_register('Conv2D', 'Conv2DBackpropInput', 'Conv2DBackpropFilter', 4)
_register('Conv3D', 'Conv3DBackpropInputV2', 'Conv3DBackpropFilterV2', 5)


# ---------------------------------------------------------------- arguments
def per_axis(value: Any, count: int, first: bool, name: str) -> list[int]:
    """A number for each axis of an image, from one number, one for each spatial axis, or all.

    Raises:
        ValueError: The number of values differs.
    """
    value = 1 if value is None else value
    numbers = [int_attr(v, name) for v in (value if isinstance(value, (list, tuple, np.ndarray)) else [value])]
    if len(numbers) == 1:
        numbers = numbers * count
    if len(numbers) == count:
        return [1, 1, *numbers] if first else [1, *numbers, 1]
    if len(numbers) != count + 2:
        raise ValueError(f'{name} should be of length 1, {count} or {count + 2}. Received: {name}={value} of length '
                         f'{len(numbers)}')
    return numbers


def padding_of(padding: Any) -> tuple[str, list[int]]:
    """The name of a padding, and its numbers if it is explicit.

    Raises:
        InvalidArgumentError, in a graph ValueError: It is no padding.
    """
    if isinstance(padding, (list, tuple)):
        return 'EXPLICIT', [int(n) for pair in padding for n in pair]
    if padding not in ('SAME', 'VALID'):
        text = (f"Value for attr 'padding' of \"{padding}\" is not in the list of allowed values: \"SAME\", \"VALID\", "
                f'"EXPLICIT"')
        raise invalid(text) if current_graph() is None else ValueError(text)
    return padding, []


def _attrs(strides: Any, padding: Any, data_format: str | None, dilations: Any, count: int) -> dict[str, Any]:
    form = data_format or ('NHWC' if count == 2 else 'NDHWC')
    if count == 2 and form not in ('NHWC', 'NCHW'):
        text = f"Value for attr 'data_format' of \"{form}\" is not in the list of allowed values: \"NHWC\", \"NCHW\""
        raise invalid(text) if current_graph() is None else ValueError(text)
    first = form.startswith('NC')
    name, explicit = padding_of(padding)
    return {'strides': per_axis(strides, count, first, 'strides'), 'padding': name, 'explicit_paddings': explicit,
            'data_format': form, 'dilations': per_axis(dilations, count, first, 'dilations')}


def _convolve(op: str, x: Any, filters: Any, attrs: dict[str, Any], name: str | None) -> Tensor:
    x, filters = convert_together([x, filters], ('input', 'filter'), op)
    check_types(op, (x, filters))
    return apply(op, (x, filters), attrs, name)


def conv2d(input: Any, filters: Any, strides: Any, padding: Any, data_format: str | None = 'NHWC', dilations: Any = None,
           name: str | None = None) -> Tensor:
    """The convolution of images with filters.

    Args:
        input: [batch, height, width, channels] ('NCHW': the channels come second).
        filters: [height, width, channels, channels of the result].
        strides: Of the windows: a number, two, or four.
        padding: 'SAME', 'VALID', or a list of pairs for the four axes.
        data_format: 'NHWC' or 'NCHW'.
        dilations: Distance of neighbours in a window.
        name: Of the node.
    """
    return _convolve('Conv2D', input, filters, _attrs(strides, padding, data_format, dilations, 2), name)


def conv2d_v1(input: Any, filter: Any = None, strides: Any = None, padding: Any = None, use_cudnn_on_gpu: bool = True,
              data_format: str = 'NHWC', dilations: Any = (1, 1, 1, 1), name: str | None = None,
              filters: Any = None) -> Tensor:
    """`conv2d` with TensorFlow 1's arguments."""
    return conv2d(input, filter if filters is None else filters, strides, padding, data_format, list(dilations), name)


def conv3d(input: Any, filters: Any, strides: Any, padding: Any, data_format: str | None = 'NDHWC', dilations: Any = None,
           name: str | None = None) -> Tensor:
    """`conv2d` for images of three axes."""
    attrs = _attrs(strides, padding, data_format, dilations, 3)
    return _convolve('Conv3D', input, filters, {k: v for k, v in attrs.items() if k != 'explicit_paddings'}, name)


def conv1d(input: Any, filters: Any, stride: Any, padding: Any, data_format: str | None = 'NWC', dilations: Any = None,
           name: str | None = None) -> Tensor:
    """`conv2d` for rows: input [batch, width, channels], filters [width, channels, channels of the result]."""
    first = (data_format or 'NWC').startswith('NC')
    with scope(name, 'conv1d'):
        x, filters = convert_together([input, filters], ('input', 'filter'), 'Conv2D')
        check_types('Conv2D', (x, filters))
        at = constant(np.int32(-2 if first else -3))
        steps, spread = (per_axis(v, 1, first, n) for v, n in ((stride, 'stride'), (dilations, 'dilations')))
        place = 2 if first else 1
        for values in (steps, spread):
            values.insert(place, 1)
        attrs = {**_attrs(steps, padding, 'NCHW' if first else 'NHWC', spread, 2)}
        wide = apply('Conv2D', (apply('ExpandDims', (x, at)), apply('ExpandDims', (filters, constant(np.int32(0))))), attrs)
        return apply('Squeeze', (wide,), {'squeeze_dims': [-2 if first else -3]})


def conv1d_v1(value: Any = None, filters: Any = None, stride: Any = None, padding: Any = None, use_cudnn_on_gpu: Any = None,
              data_format: str | None = None, name: str | None = None, input: Any = None, dilations: Any = None) -> Tensor:
    """`conv1d` with TensorFlow 1's arguments."""
    return conv1d(value if input is None else input, filters, stride, padding, data_format, dilations, name)


def conv2d_transpose(input: Any, filters: Any, output_shape: Any, strides: Any, padding: Any = 'SAME',
                     data_format: str | None = 'NHWC', dilations: Any = None, name: str | None = None) -> Tensor:
    """The transpose of `conv2d`, as a map of images to images of `output_shape`; filters [height, width, channels of the
    result, channels]."""
    with scope(name, 'conv2d_transpose') as full:
        x, filters = convert_together([input, filters], ('value', 'filter'), 'conv2d_transpose')
        shape = convert_to_tensor(output_shape, dtype_hint=dtypes.int32)
        return apply('Conv2DBackpropInput', (shape, filters, x), _attrs(strides, padding, data_format, dilations, 2), full)


def convolution(input: Any, filters: Any, strides: Any = None, padding: Any = 'VALID', data_format: str | None = None,
                dilations: Any = None, name: str | None = None) -> Tensor:
    """`conv1d`, `conv2d` or `conv3d`, by the rank of the filters.

    Raises:
        ValueError: The rank is not 3 to 5.
    """
    x, filters = convert_together([input, filters], ('input', 'filter'), 'convolution')
    match filters.shape.rank:
        case 3:
            return conv1d(x, filters, 1 if strides is None else strides, padding, data_format, dilations, name)
        case 4:
            return conv2d(x, filters, strides, padding, data_format, dilations, name)
        case 5:
            return conv3d(x, filters, strides, padding, data_format, dilations, name)
    raise ValueError(f'`num_spatial_dims` must be 1, 2, or 3. Received: num_spatial_dims={(filters.shape.rank or 2) - 2}.')


# ---------------------------------------------------------------- channel by channel
def depthwise_conv2d(input: Any, filter: Any, strides: Any, padding: Any, data_format: str | None = None,
                     dilations: Any = None, name: str | None = None) -> Tensor:
    """A convolution of each channel with separate filters; filter [height, width, channels, results per channel]."""
    with scope(name, 'depthwise'):
        x, weights = convert_together([input, filter], ('tensor_in', 'filter_in'), 'depthwise')
        channels = x.shape.sizes and x.shape.sizes[1 if (data_format or '').startswith('NC') else -1], weights.shape[2]
        if None not in channels and channels[0] != channels[1] and current_graph() is None:
            raise invalid(f'{{{{function_node __wrapped__DepthwiseConv2dNative_device_{DEVICE}}}}} input and filter must '
                          f'have the same depth: {channels[0]} vs {channels[1]} [Op:DepthwiseConv2dNative] name: ')
        h, w, depth, each = (sizes_of(weights)[i] for i in range(4))
        sizes = apply('Pack', (h, w, constant(np.int32(1)), depth * each), {'axis': 0, 'N': 4})
        grouped = apply('Reshape', (weights, sizes))            # as many groups as channels
        if weights.shape.is_fully_defined():
            a, b, c, d = weights.shape.as_list()
            grouped.set_shape([a, b, 1, c * d])
        return conv2d(x, grouped, strides, padding, data_format or 'NHWC', dilations)


def separable_conv2d(input: Any, depthwise_filter: Any, pointwise_filter: Any, strides: Any, padding: Any,
                     data_format: str | None = None, dilations: Any = None, name: str | None = None) -> Tensor:
    """`depthwise_conv2d`, then a 1x1 convolution."""
    with scope(name, 'separable_conv2d'):
        deep = depthwise_conv2d(input, depthwise_filter, strides, padding, data_format, dilations, 'depthwise')
        return conv2d(deep, pointwise_filter, [1, 1, 1, 1], 'VALID', data_format or 'NHWC')
