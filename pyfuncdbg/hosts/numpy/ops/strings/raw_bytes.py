"""Numbers read from the bytes of strings: `tf.io.decode_raw`."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pyfuncdbg.hosts.numpy.graph.definitions.registry import Attrs, OpDef, Output, TypedInput, no_gradient, register
from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.graph.types import dtypes
from pyfuncdbg.hosts.numpy.graph.types.dtypes import DType, as_dtype
from pyfuncdbg.hosts.numpy.graph.types.shapes import TensorShape
from pyfuncdbg.hosts.numpy.ops.definition.constant import convert_to_tensor
from pyfuncdbg.hosts.numpy.ops.definition.shape_rules import check_attr_type, check_dtype, invalid
from pyfuncdbg.hosts.numpy.runtime.eager.dispatch import apply


def _decode_raw(data: Any, out_type: DType, little_endian: bool = True) -> Any:
    texts = np.asarray(data, object).reshape(-1)
    length = len(texts[0]) if texts.size else 0
    for place, text in enumerate(texts):
        if len(text) != length:
            raise invalid(f'DecodeRaw requires input strings to all be the same size, but element {place} has size {length} '
                          f'!= {len(text)}')
    if length % out_type.size:
        raise invalid(f'Input to DecodeRaw has length {length} that is not a multiple of {out_type.size}, the size of '
                      f'{out_type.kernel_name}')
    numbers = np.frombuffer(b''.join(texts), out_type.array)
    return (numbers if little_endian else numbers.byteswap()).reshape(*np.shape(data), length // out_type.size).copy()


def _types(inputs: Sequence[TypedInput], attrs: Attrs) -> list[Output]:
    check_dtype('DecodeRaw', 'bytes', inputs[0].dtype, (dtypes.string,))
    return [(attrs['out_type'], inputs[0].shape.concatenate(TensorShape([None])))]


register(OpDef('DecodeRaw', _decode_raw, _types, no_gradient, kernel_attrs=('out_type', 'little_endian')))


def decode_raw(input_bytes: Any, out_type: Any, little_endian: bool = True, fixed_length: int | None = None,
               name: str | None = None) -> Tensor:
    """The bytes of each string as numbers, along a new last axis.

    Args:
        input_bytes: Strings of one length.
        out_type: Dtype of the numbers.
        little_endian: Byte order.
        fixed_length: Bytes to read of each string; shorter ones are padded with zeros.
        name: Of the node.

    Raises:
        TypeError: `input_bytes` are no strings, or `out_type` is no dtype.
        InvalidArgumentError: A length is no multiple of the dtype's size; in a graph at run time.
    """
    try:
        kind = as_dtype(out_type)
    except TypeError:
        raise TypeError(f"Expected DataType for argument 'out_type' not {out_type!r}.") from None
    texts = convert_to_tensor(input_bytes, dtypes.string)
    check_attr_type('DecodeRaw', 'out_type', kind)
    if fixed_length is not None:
        count = convert_to_tensor(fixed_length, dtypes.int32)
        return apply('DecodePaddedRaw', (texts, count), {'out_type': kind, 'little_endian': little_endian}, name)
    return apply('DecodeRaw', (texts,), {'out_type': kind, 'little_endian': little_endian}, name)


def _decode_padded(data: Any, fixed_length: Any, out_type: DType, little_endian: bool = True) -> Any:
    length = int(fixed_length)
    if length % out_type.size:
        raise invalid(f'fixed_length ({length}) must be a multiple of the size of out_type ({out_type.size})')
    texts: Any = np.asarray(data, object)
    padded = np.empty(texts.shape, object)
    for at in np.ndindex(texts.shape):
        padded[at] = texts[at][:length].ljust(length, b'\0')
    return _decode_raw(padded, out_type, little_endian)


register(OpDef('DecodePaddedRaw', _decode_padded, _types, no_gradient, kernel_attrs=('out_type', 'little_endian')))
