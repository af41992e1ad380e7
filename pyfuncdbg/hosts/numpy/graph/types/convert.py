"""Python values as NumPy values, by the rules of `tf.convert_to_tensor`.

A value of the runtime is a NumPy scalar at rank 0 and a C-contiguous ndarray of native byte order above it; strings are
always object arrays of `bytes`, also at rank 0. Eager ops call `to_array` for every argument that is no tensor, on the
thread of the call, so scalars and suitable arrays have a fast path.
"""
from __future__ import annotations

from typing import Any

import numpy as np

from pyfuncdbg.errors import InvalidArgumentError, UnimplementedError
from pyfuncdbg.hosts.numpy.graph.types import dtypes
from pyfuncdbg.hosts.numpy.graph.types.dtypes import DType
from pyfuncdbg.hosts.numpy.graph.types.sequences import (
    FlatSequence,
    TensorFoundError,
    flatten,
    holds_tensor,
    is_sequence,
    mixed_types_error,
    tensor_value,
    unsupported_error,
)
from pyfuncdbg.hosts.numpy.graph.types.shapes import TensorShape

Value = np.ndarray[Any, Any] | np.generic

_LARGEST = float(np.finfo(np.float32).max)
_WRAPS = np.__version__.startswith('1.')
"""Whether NumPy 1 wraps negative numbers to uint64."""
_PLACE = 'device_/job:localhost/replica:0/task:0/device:CPU:0}}'
_DIRECT = {  # the kinds of Python values that TensorFlow converts directly to a type
    dtypes.float32: 'bif', dtypes.float64: 'bif', dtypes.float16: 'bif', dtypes.complex128: 'bifc',
    dtypes.int32: 'bi', dtypes.int64: 'bi', dtypes.uint64: 'bi', dtypes.bool: 'b', dtypes.string: 's',
}
_NATIVE = {d.array: d for d in dtypes.ALL if d.is_numpy_compatible and d.array.kind not in 'OV'}
_NATIVE_SCALARS = {d.as_numpy_dtype: d for d in _NATIVE.values()}
_NPY_NAMES = {'g': 'NPY_LONGDOUBLE', 'G': 'NPY_CLONGDOUBLE', 'M': 'NPY_DATETIME', 'm': 'NPY_TIMEDELTA'}


def to_array(value: Any, dtype: DType | None = None) -> Value:
    """A Python value as a NumPy value.

    Python ints become int32 (int64 if one does not fit), floats float32, complex numbers complex128, strings object
    arrays of bytes; arrays and NumPy scalars keep their type. In a list the first leaf decides: NumPy's float64 and float16
    keep their width, its ints do not.

    Args:
        value: A number, string, array, anything with `__array__`, an eager tensor, or a nested sequence of these.
        dtype: The required type. Python values must convert to it without loss of a fraction; arrays are cast by NumPy.

    Returns:
        A NumPy scalar, or an ndarray. It is `value` itself if that is an array of the right type and layout: a caller that
        keeps it must copy.

    Raises:
        ValueError: Rows of different length, mixed or unsupported types, numbers out of range, or a tensor of another type.
        TypeError: A Python value cannot have `dtype`.
        InvalidArgumentError: Tensors in one list differ in type or shape.
    """
    kind = type(value)
    if kind is float:
        if (dtype is None or dtype is dtypes.float32) and -_LARGEST <= value <= _LARGEST:
            return np.float32(value)
        if dtype is dtypes.float64:
            return np.float64(value)
    elif kind is int:
        if (dtype is None or dtype is dtypes.int32) and -0x80000000 <= value <= 0x7FFFFFFF:
            return np.int32(value)
        if dtype is dtypes.float32 and -0x1000000 <= value <= 0x1000000:
            return np.float32(value)
    elif kind is bool and (dtype is None or dtype is dtypes.bool):
        return np.bool_(value)
    elif kind is np.ndarray:
        native = _NATIVE.get(value.dtype)
        if native is not None and (dtype is None or dtype is native) and value.ndim and value.flags.c_contiguous:
            return value  # type: ignore[no-any-return]
        return _of_array(value, dtype)
    elif kind in _NATIVE_SCALARS:
        native = _NATIVE_SCALARS[kind]
        return value if dtype is None or dtype is native else _of_array(value, dtype)
    return _of_object(value, dtype)


def _of_object(value: Any, dtype: DType | None) -> Value:
    tensor = tensor_value(value)
    if tensor is not None:
        actual = dtypes.of_value(tensor)
        if dtype is not None and actual is not dtype:
            raise ValueError(f'Tensor conversion requested dtype {dtype.name} for Tensor with dtype {actual.name}: '
                             f'{value!r}')
        return tensor  # type: ignore[no-any-return]
    if isinstance(value, TensorShape):
        return _of_shape(value, dtype)
    if isinstance(value, range):
        return to_array(_narrow(np.arange(value.start, value.stop, value.step, dtype=np.int64)), dtype)
    if isinstance(value, (str, bytes)):
        if dtype is None or dtype is dtypes.string:
            return _object_array([_encode(value)], ())
    elif hasattr(value, '__array__') and not isinstance(value, type):
        return _of_array(np.asarray(value), dtype)
    try:
        flat = flatten(value)
    except TensorFoundError:
        return _pack(value, dtype)
    return _of_flat(value, flat, dtype)


def _narrow(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """An int64 array as int32 if all elements are in range."""
    narrow = array.astype(np.int32)
    return narrow if np.array_equal(narrow, array) else array


def _of_shape(shape: TensorShape, dtype: DType | None) -> Value:
    if not shape.is_fully_defined():
        raise ValueError(f'Cannot convert a partially known TensorShape {shape} to a Tensor.')
    if dtype is not None and dtype not in (dtypes.int32, dtypes.int64):
        raise TypeError(f'Cannot convert TensorShape {shape} to dtype {dtype}. Allowed dtypes are tf.int32 and tf.int64.')
    sizes = np.array(shape.as_list(), np.int64)
    if dtype is dtypes.int32 and sizes.size and sizes.max() > np.iinfo(np.int32).max:
        raise ValueError(f'Cannot convert TensorShape {shape} to dtype int32; a dimension is too large. Consider using '
                         'tf.int64.')
    return _narrow(sizes) if dtype is None else sizes.astype(dtype.array)


def _of_array(value: Any, dtype: DType | None) -> Value:
    array = np.asarray(value) if isinstance(value, np.ndarray) else value
    if dtype is not None and (dtype is dtypes.string or array.dtype != dtype.array):
        return cast_array(array, dtype)
    if array.dtype.kind in 'OSU':
        return _strings(array)
    try:
        array = array.astype(dtypes.of_value(array).array, copy=False)
    except TypeError:
        name = _NPY_NAMES.get(array.dtype.char)
        why = f'Unsupported numpy type: {name}' if name else 'Unsupported numpy data type'
        raise ValueError(f'Failed to convert a NumPy array to a Tensor ({why}).') from None
    return _to_scalar(array)


def cast_array(value: Value, dtype: DType) -> Value:
    """An array or NumPy scalar in another type, by NumPy's rules: fractions are cut, integers wrap.

    Used for results of a py_function and for feeds. NumPy's ComplexWarning for a lost imaginary part stays.

    Raises:
        ValueError: A text is no number, or `dtype` is string and a value a number.
        TypeError: NumPy has no such cast.
    """
    if dtype is dtypes.string:
        return _strings(value)
    with np.errstate(all='ignore'):
        return _to_scalar(np.asarray(value).astype(dtype.array, copy=False))


def _to_scalar(array: Any) -> Value:
    """Numbers of rank 0 as a scalar, other arrays in C order."""
    if array.ndim or array.dtype.kind == 'O':
        return array if array.flags.c_contiguous else np.ascontiguousarray(array)
    return array[()]  # type: ignore[no-any-return]


def _strings(value: Value) -> np.ndarray[Any, Any]:
    array = np.asarray(value)
    if array.dtype.kind == 'O' and array.flags.c_contiguous and all(type(item) is bytes for item in array.flat):
        return array
    return _object_array([_encode(item) for item in array.astype(object).flat], array.shape)


def _encode(item: Any) -> bytes:
    if isinstance(item, bytes):
        return bytes(item)
    if not isinstance(item, str):
        raise ValueError(f'Failed to convert a NumPy array to a Tensor (Unsupported object type {type(item).__name__}).')
    try:
        return item.encode()
    except UnicodeEncodeError:
        raise ValueError('Error converting unicode string while converting Python sequence to Tensor.') from None


def _object_array(items: list[bytes], shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    array = np.empty(len(items), object)
    array[:] = items
    return array.reshape(shape)


def _of_flat(value: Any, flat: FlatSequence, dtype: DType | None) -> Value:
    """A flat sequence as an array: converted directly if the type takes such values, else inferred and then cast."""
    if not flat.kinds:
        return np.zeros(flat.shape, (dtype or dtypes.float32).array)
    if dtype is None:
        return _to_scalar(_infer_array(flat, checked=True))
    direct = flat.kinds <= set(_DIRECT.get(dtype, ''))
    if direct and dtype not in (dtypes.int32, dtypes.int64):
        return _to_scalar(_read(flat, dtype))
    kind = 'i' if direct else _common_kind(flat)
    array = _read(flat, dtypes.int64) if kind == 'i' else _infer_array(flat, checked=False)
    if not _fits(kind, dtype):
        raise TypeError(f'Cannot convert {value!r} to EagerTensor of dtype {dtype.kernel_name}')
    return cast_array(array, dtype)


def _fits(kind: str, dtype: DType) -> bool:
    """Whether a type takes Python values of a kind: ints any number type, floats float and complex types."""
    if kind == 'i':
        return not (dtype.is_bool or dtype.array.kind == 'O')
    if kind == 'f':
        return dtype.is_floating or dtype.is_complex
    return kind == 'c' and dtype.is_complex


def _common_kind(flat: FlatSequence) -> str:
    """The kind of the first leaf, widened from int to float where a float follows."""
    kinds, first = flat.kinds, flat.first
    if isinstance(first, (bool, np.bool_, str, bytes)):
        if len(kinds) > 1:
            raise mixed_types_error()
        return next(iter(kinds))
    kind = 'c' if isinstance(first, (complex, np.complexfloating)) else 'f' if 'f' in kinds else 'i'
    if not kinds <= set('bifc'[:'bifc'.index(kind) + 1]):
        raise mixed_types_error()
    return kind


def _infer_array(flat: FlatSequence, checked: bool) -> np.ndarray[Any, Any]:
    kind = _common_kind(flat)
    if kind == 'i':
        return _narrow(_read(flat, dtypes.int64))
    if kind != 'f':
        return _read(flat, {'b': dtypes.bool, 'c': dtypes.complex128, 's': dtypes.string}[kind])
    if isinstance(flat.first, np.float64):
        return _read(flat, dtypes.float64)
    _check_ints_before_floats(flat)
    if isinstance(flat.first, np.float16):
        return _read(flat, dtypes.float16)
    array = _read(flat, dtypes.float32)
    if checked and np.isinf(array).any() and not np.array_equal(np.isinf(array), np.isinf(_read(flat, dtypes.float64))):
        raise ValueError("Can't convert Python sequence with a value out of range for a double-precision float.")
    return array


def _check_ints_before_floats(flat: FlatSequence) -> None:
    if 'i' in flat.kinds and not isinstance(flat.leaves, np.ndarray):
        for leaf in flat.leaves:
            if isinstance(leaf, (float, np.floating)):
                return
            if not -2**63 <= int(leaf) < 2**63:
                raise _out_of_range()


def _read(flat: FlatSequence, dtype: DType) -> np.ndarray[Any, Any]:
    if dtype is dtypes.string:
        return _object_array([_encode(leaf) for leaf in flat.leaves], flat.shape)
    try:
        if dtype is dtypes.uint64 and _WRAPS and any(leaf < 0 for leaf in flat.leaves):
            raise OverflowError
        with np.errstate(all='ignore'):
            return np.asarray(flat.leaves).astype(dtype.array) if isinstance(flat.leaves, np.ndarray) else np.array(
                flat.leaves, dtype.array).reshape(flat.shape)
    except OverflowError:
        raise _out_of_range() from None


def _out_of_range() -> ValueError:
    return ValueError("Can't convert Python sequence with out-of-range integer to Tensor.")


def _first_tensor(items: Any) -> Any:
    for item in items:
        tensor = tensor_value(item)
        if tensor is None and is_sequence(item) and not isinstance(item, np.ndarray):
            tensor = _first_tensor(item)
        if tensor is not None:
            return tensor
    return None


def _pack(items: Any, dtype: DType | None) -> Value:
    """A nested sequence with eager tensors, as by TensorFlow's `Pack`.

    Without `dtype` the first tensor decides, and other tensors must agree; with it, tensors are cast.
    """
    common_dtype = dtype or dtypes.of_value(_first_tensor(items))
    values = [_packed_item(item, common_dtype, dtype) for item in items]
    name = 'packed' if all(tensor_value(item) is not None for item in items) else ''
    for i, value in enumerate(values[1:], 1):
        if value.dtype != values[0].dtype:
            dtype_0, dtype_i = dtypes.of_value(values[0]).kernel_name, dtypes.of_value(value).kernel_name
            raise InvalidArgumentError(
                None, None, f'cannot compute Pack as input #{i}(zero-based) was expected to be a {dtype_0} tensor but is a '
                            f'{dtype_i} tensor [Op:Pack] name: {name}')
        if value.shape != values[0].shape:
            shape_0, shape_i = (str(list(v.shape)).replace(' ', '') for v in (values[0], value))
            raise InvalidArgumentError(
                None, None, f'{{{{function_node __wrapped__Pack_N_{len(values)}_{_PLACE} Shapes of all inputs must match: '
                            f'values[0].shape = {shape_0} != values[{i}].shape = {shape_i} [Op:Pack] name: {name}')
    return np.stack(values)


def _packed_item(item: Any, common_dtype: DType, required: DType | None) -> Value:
    tensor = tensor_value(item)
    if tensor is None:
        if is_sequence(item) and not isinstance(item, np.ndarray) and holds_tensor(item):
            return _pack(item, required or common_dtype)
        return to_array(item, common_dtype)
    actual = dtypes.of_value(tensor)
    if required is None or actual is common_dtype:
        return tensor  # type: ignore[no-any-return]
    if common_dtype is dtypes.string or actual is dtypes.string:
        raise UnimplementedError(None, None, f'{{{{function_node __wrapped__Cast_{_PLACE} Cast {actual.kernel_name} to '
                                             f'{common_dtype.kernel_name} is not supported [Op:Cast] name: ')
    return cast_array(tensor, common_dtype)


__all__ = ['Value', 'cast_array', 'to_array', 'unsupported_error']
