"""Conversion of arrays to TensorProto and back: constants in a GraphDef, and `tf.make_tensor_proto`.

In TensorFlow's form: raw bytes for more than one element, a field of numbers otherwise. No state.
"""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from pyfuncdbg.hosts.numpy.graph.proto.messages import TensorProto, shape_proto
from pyfuncdbg.hosts.numpy.graph.types import dtypes
from pyfuncdbg.hosts.numpy.graph.types.convert import to_array
from pyfuncdbg.hosts.numpy.graph.types.dtypes import DType, as_dtype
from pyfuncdbg.hosts.numpy.graph.types.shapes import TensorShape

# `make_tensor_proto` writes arrays of these types, when they have more than one element, as raw bytes.
_AS_BYTES = frozenset((
    dtypes.float32, dtypes.float64, dtypes.int32, dtypes.uint8, dtypes.int16, dtypes.int8, dtypes.int64, dtypes.uint32,
    dtypes.uint64, dtypes.qint8, dtypes.quint8, dtypes.qint16, dtypes.quint16, dtypes.qint32))
_FIELDS: dict[DType, str] = {
    dtypes.float32: 'float_val', dtypes.float64: 'double_val', dtypes.int64: 'int64_val', dtypes.uint32: 'uint32_val',
    dtypes.uint64: 'uint64_val', dtypes.bool: 'bool_val', dtypes.string: 'string_val', dtypes.complex64: 'scomplex_val',
    dtypes.complex128: 'dcomplex_val', dtypes.float16: 'half_val', dtypes.bfloat16: 'half_val'}
_LARGEST = 1 << 31
"""Most bytes of an array in a message, also in a damaged one."""


def shape_of(proto: Any) -> TensorShape:
    """A TensorShapeProto as a shape.

    Raises:
        ValueError: A size below -1.
    """
    if proto.unknown_rank:
        return TensorShape(None)
    sizes = [dim.size for dim in proto.dim]
    if any(size < -1 for size in sizes):
        raise ValueError(f'Shape {sizes} has dimensions that are less than -1')
    return TensorShape([None if size < 0 else size for size in sizes])


def _field_of(dtype: DType) -> str:
    if dtype in _FIELDS:
        return _FIELDS[dtype]
    return 'float8_val' if dtype.is_floating and dtype.size == 1 else 'int_val'


def tensor_proto(value: Any) -> Any:
    """A TensorProto of an array or NumPy scalar.

    Raises:
        ValueError: It has two gigabytes or more.
    """
    array = np.asarray(value)
    dtype = dtypes.of_value(array)
    proto = TensorProto(dtype=dtype.as_datatype_enum, tensor_shape=shape_proto(array.shape))
    if array.size * max(dtype.size, 1) >= _LARGEST:
        raise ValueError('Cannot create a tensor proto whose content is larger than 2GB.')
    if array.size > 1 and not any(array.strides):           # equal elements
        _put_elements(proto, dtype, array.reshape(-1)[:1])
    elif array.size > 1 and dtype in _AS_BYTES:
        proto.tensor_content = array.astype(dtype.array, copy=False).tobytes()
    elif array.size:
        _put_elements(proto, dtype, array.reshape(-1))
    return proto


def _put_elements(proto: Any, dtype: DType, flat: Any) -> None:
    field = _field_of(dtype)
    if field == 'float8_val':
        proto.float8_val = flat.tobytes()
    elif field == 'half_val':
        proto.half_val.extend(flat.view(np.uint16).tolist())
    elif dtype.is_complex:
        getattr(proto, field).extend(float(part) for number in flat for part in (number.real, number.imag))
    elif field == 'string_val':
        proto.string_val.extend(item if isinstance(item, bytes) else str(item).encode() for item in flat)
    else:
        getattr(proto, field).extend(int(item) if field != 'float_val' and field != 'double_val' else float(item)
                                     for item in flat)


def make_tensor_proto(values: Any, dtype: Any = None, shape: Any = None) -> Any:
    """A TensorProto of Python values, arrays or a TensorProto.

    Raises:
        TypeError, ValueError: The values are incompatible with dtype or shape.
    """
    if isinstance(values, TensorProto):
        return values
    try:
        array = np.asarray(to_array(values, None if dtype is None else as_dtype(dtype)))
    except ValueError as error:
        if values is None or 'unsupported type' not in str(error):
            raise
        raise TypeError(f'Failed to convert elements of {values} to Tensor. Consider casting elements to a supported type. '
                        'See https://www.tensorflow.org/api_docs/python/tf/dtypes for supported TF dtypes.') from None
    if shape is not None:
        sizes: Any = tuple(TensorShape(shape).as_list())
        fills = array.size == 1 and math.prod(sizes) != 1
        array = np.broadcast_to(array.reshape(()), sizes) if fills else array.reshape(sizes)
    return tensor_proto(array)


def make_ndarray(tensor: Any) -> Any:
    """The array of a TensorProto; the last number of a field is repeated for missing ones.

    Raises:
        TypeError: No array can have its dtype.
        ValueError: Its content contradicts its shape.
    """
    sizes = tuple(dim.size for dim in tensor.tensor_shape.dim)
    try:
        dtype = as_dtype(tensor.dtype)
    except TypeError:
        raise TypeError(f'Unsupported tensor type: {tensor.dtype}. See '
                        'https://www.tensorflow.org/api_docs/python/tf/dtypes for more information.') from None
    if any(size < 0 for size in sizes) or (
            math.prod(sizes) * max(dtype.size, 8) >= _LARGEST * 8):
        raise ValueError(f'Cannot parse tensor from proto: dtype: {dtype.proto_name} has no shape that is known.')
    if not dtype.is_numpy_compatible:
        raise TypeError(f'Unsupported tensor type: {tensor.dtype}. See '
                        'https://www.tensorflow.org/api_docs/python/tf/dtypes for more information.')
    flat = _flat(tensor, dtype, math.prod(sizes))
    return np.broadcast_to(flat[:1], sizes) if flat.size > 1 and not any(flat.strides) else flat.reshape(sizes)


def _flat(tensor: Any, dtype: DType, count: int) -> Any:
    if tensor.tensor_content:
        if dtype is dtypes.string or len(tensor.tensor_content) != count * dtype.size:
            raise ValueError(f'Cannot parse tensor from proto: {len(tensor.tensor_content)} bytes of content are not '
                             f'{count} elements of {dtype.name}.')
        return np.frombuffer(tensor.tensor_content, dtype.array).copy()
    field = _field_of(dtype)
    field_values = getattr(tensor, field)
    if field == 'float8_val':
        elements = np.frombuffer(field_values, dtype.array)
    elif field == 'half_val':
        elements = np.array([number & 0xffff for number in field_values], np.uint16).view(dtype.array)
    elif dtype.is_complex:
        pairs = np.array(field_values[:len(field_values) // 2 * 2], np.float64)
        elements = (pairs[::2] + 1j * pairs[1::2]).astype(dtype.array)
    elif field == 'string_val':
        elements = np.empty(len(field_values), object)
        elements[:] = list(field_values)
    else:
        elements = np.array(field_values,
                            np.uint64 if field == 'uint64_val' else None if field_values else np.int64).astype(dtype.array)
    elements = elements[:count]
    if len(elements) == 1 < count:
        return np.broadcast_to(elements, (count,))
    if len(elements) < count:
        last = elements[-1] if len(elements) else b'' if dtype is dtypes.string else np.zeros((), dtype.array)[()]
        rest = np.empty(count - len(elements), elements.dtype)
        rest[:] = last
        elements = np.concatenate([elements, rest])
    return elements
