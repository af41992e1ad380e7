"""Element types of tensors, with TensorFlow's names, numbers and comparison rules.

One `DType` object per type, made at import and never copied, so code may compare with `is`. `of_value` is on the path of
every eager op. No state: any thread may call it.
"""
from __future__ import annotations

import builtins
from dataclasses import dataclass, replace
from typing import Any

import ml_dtypes
import numpy as np

from pyfuncdbg.hooks.public_function import mark_unwrapped

_QUANTIZED = {'qint8': 'i1', 'quint8': 'u1', 'qint16': 'i2', 'quint16': 'u2', 'qint32': 'i4'}
_REAL = {'complex64': 'float32', 'complex128': 'float64'}
_TRAINABLE = frozenset(('float16', 'bfloat16', 'float32', 'float64', 'complex64', 'complex128', 'resource', 'variant'))
_OPAQUE = frozenset(('resource', 'variant'))
_REFERENCE = 100
"""Difference of the numbers of a reference type and its base type."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DType:
    """The type of a tensor's elements.

    Attributes:
        name: TensorFlow's name, such as 'float32'.
        as_datatype_enum: The number in TensorFlow's protos.
        kernel_name: The C++ name that error messages of kernels and the proto enum use, such as 'float'.
        as_numpy_dtype: The NumPy scalar type; `object` for strings, resources and variants.
        array: The NumPy dtype of arrays of it (object for strings: one `bytes` per element).
        size: Bytes per element; 0 where it varies.
        is_native: One of NumPy's real types: Python's operators give the same results on its scalars and arrays.
        is_trainable: Gradients flow through it (`backprop_util.IsTrainable`: 8-bit floats do not count).
    """

    name: str
    as_datatype_enum: int
    kernel_name: str
    as_numpy_dtype: Any
    array: np.dtype[Any]
    size: int
    is_floating: builtins.bool
    is_integer: builtins.bool
    is_unsigned: builtins.bool
    is_complex: builtins.bool
    is_bool: builtins.bool
    is_quantized: builtins.bool
    is_numpy_compatible: builtins.bool
    is_trainable: builtins.bool
    is_native: builtins.bool

    @property
    def is_numeric(self) -> builtins.bool:
        return not (self.is_bool or self.array.kind == 'O' or self.name in ('int4', 'uint4') or 'float8' in self.name)

    @property
    def proto_name(self) -> str:
        """The enum constant as a NodeDef prints it, such as 'DT_FLOAT'."""
        return 'DT_' + self.kernel_name.upper()

    @property
    def base_dtype(self) -> DType:
        """The type without a reference."""
        return _BY_NAME[self.name.removesuffix('_ref')]

    @property
    def _is_ref_dtype(self) -> builtins.bool:
        return self.as_datatype_enum > _REFERENCE

    @property
    def real_dtype(self) -> DType:
        """The type of the real part."""
        return _BY_NAME[_REAL.get(self.base_dtype.name, self.name)]

    @property
    def min(self) -> Any:
        """The lowest value; TypeError where there is none (bool, string, complex, quantized)."""
        return self._range('minimum').min

    @property
    def max(self) -> Any:
        """The highest value; TypeError where there is none."""
        return self._range('maximum').max

    def _range(self, which: str) -> Any:
        if self.is_floating:
            return ml_dtypes.finfo(self.as_numpy_dtype)  # type: ignore[no-untyped-call]
        if self.is_integer:
            return ml_dtypes.iinfo(self.as_numpy_dtype)  # type: ignore[no-untyped-call]
        kind = '' if self.name in _OPAQUE else f' with {"quantized " if self.is_quantized else ""}type {self}'
        raise TypeError(f'Cannot find {which} value of {self}{kind}.')

    @property
    def limits(self) -> tuple[Any, Any]:
        """The range of intensities of an image of this type, from 0."""
        if self.is_bool:
            return 0, True
        if self.name in ('float32', 'float64'):
            return 0, 1
        if self.is_integer and self.array.isbuiltin == 1:
            return 0, self.max
        raise ValueError(f'{self} does not have defined limits.')

    def is_compatible_with(self, other: object) -> builtins.bool:
        """Whether a tensor of type `other` is accepted where this type is required.

        Raises:
            TypeError: `other` names no type.
        """
        dtype = as_dtype(other)
        return dtype is self or dtype.base_dtype is self

    def is_subtype_of(self, other: object) -> builtins.bool:
        return self is other

    @mark_unwrapped
    def __eq__(self, other: object) -> builtins.bool:
        if self is other:
            return True
        if type(other) is DType or other is None:
            return False
        try:
            return as_dtype(other) is self
        except TypeError:
            return False

    def __ne__(self, other: object) -> builtins.bool:
        return not self == other

    @mark_unwrapped
    def __hash__(self) -> int:
        return self.as_datatype_enum

    def __int__(self) -> int:
        return self.as_datatype_enum

    def __repr__(self) -> str:
        return 'tf.' + self.name

    def __str__(self) -> str:
        return f"<dtype: '{self.name}'>"

    def __reduce__(self) -> tuple[Any, ...]:
        return as_dtype, (self.name,)


def _define(name: str, enum: int, scalar: Any, kernel_name: str = '') -> DType:
    array = np.dtype([(name, _QUANTIZED[name])]) if name in _QUANTIZED else np.dtype(scalar)
    floating = 'float' in name
    integer = 'int' in name and name not in _QUANTIZED
    return DType(
        name=name, as_datatype_enum=enum, kernel_name=kernel_name or name,
        as_numpy_dtype=array if name in _QUANTIZED else scalar, array=array,
        size=0 if array.kind == 'O' else array.itemsize,
        is_floating=floating, is_integer=integer, is_unsigned=integer and name.startswith('u'),
        is_complex=name in _REAL, is_bool=name == 'bool', is_quantized=name in _QUANTIZED,
        is_numpy_compatible=name not in _OPAQUE, is_trainable=name in _TRAINABLE,
        is_native=array.kind in 'fiu' and array.isbuiltin == 1,
    )


float32 = _define('float32', 1, np.float32, 'float')
float64 = _define('float64', 2, np.float64, 'double')
int32 = _define('int32', 3, np.int32)
uint8 = _define('uint8', 4, np.uint8)
int16 = _define('int16', 5, np.int16)
int8 = _define('int8', 6, np.int8)
string = _define('string', 7, object)
complex64 = _define('complex64', 8, np.complex64)
int64 = _define('int64', 9, np.int64)
bool = _define('bool', 10, np.bool_)
qint8 = _define('qint8', 11, None)
quint8 = _define('quint8', 12, None)
qint32 = _define('qint32', 13, None)
bfloat16 = _define('bfloat16', 14, ml_dtypes.bfloat16)
qint16 = _define('qint16', 15, None)
quint16 = _define('quint16', 16, None)
uint16 = _define('uint16', 17, np.uint16)
complex128 = _define('complex128', 18, np.complex128)
float16 = _define('float16', 19, np.float16, 'half')
resource = _define('resource', 20, object)
variant = _define('variant', 21, object)
uint32 = _define('uint32', 22, np.uint32)
uint64 = _define('uint64', 23, np.uint64)
float8_e5m2 = _define('float8_e5m2', 24, ml_dtypes.float8_e5m2)
float8_e4m3fn = _define('float8_e4m3fn', 25, ml_dtypes.float8_e4m3fn)
int4 = _define('int4', 29, ml_dtypes.int4)
uint4 = _define('uint4', 30, ml_dtypes.uint4)
half, double, bool_ = float16, float64, bool

ALL: tuple[DType, ...] = tuple(sorted(
    {id(v): v for v in list(globals().values()) if isinstance(v, DType)}.values(), key=lambda d: d.as_datatype_enum))
"""Every type, by number."""
_REFERENCES = tuple(replace(d, name=d.name + '_ref', as_datatype_enum=d.as_datatype_enum + _REFERENCE,
                            kernel_name=d.kernel_name + '_ref') for d in ALL if d.name not in _OPAQUE)
"""TensorFlow 1's reference types of variables, for old GraphDefs. No tensor here has one."""
_BY_NAME: dict[str, DType] = {d.name: d for d in (*ALL, *_REFERENCES)} | {
    'float': float32, 'double': float64, 'half': float16}
_BY_ARRAY: dict[Any, DType] = {d.array: d for d in ALL if d.is_numpy_compatible}
_BY_KEY: dict[Any, DType] = {
    **_BY_NAME,
    **{d.as_datatype_enum: d for d in (*ALL, *_REFERENCES)},
    **{d.as_numpy_dtype: d for d in ALL if d.is_numpy_compatible and not d.is_quantized},
    float: float32, builtins.bool: bool, object: string, np.str_: string, np.bytes_: string, np.object_: string,
}


def as_dtype(type_value: object) -> DType:
    """Convert a value to a type, by TensorFlow's rules.

    Args:
        type_value: A `DType`, its name (also 'float', 'double', 'half'), its proto number, a NumPy scalar type or dtype,
            anything whose `dtype` is a NumPy dtype, or the Python classes `float` (float32), `bool` and `object` (string).

    Raises:
        TypeError: It names no type; neither do Python's `int`, `str` and `complex`, as in TensorFlow.
    """
    if type(type_value) is DType:
        return type_value
    dtype: DType | None = None
    if isinstance(type_value, np.dtype):
        dtype = _of_array(type_value)
    else:
        try:
            dtype = _BY_KEY.get(type_value)
        except TypeError:  # not hashable
            dtype = None
        if dtype is None:
            array = getattr(type_value, 'dtype', None)
            if isinstance(array, np.dtype):
                dtype = _of_array(array)
            elif isinstance(type_value, type) and issubclass(type_value, np.number):
                dtype = _named_by_scalar_type(type_value)
    if dtype is None:
        raise TypeError(f'Cannot convert the argument `type_value`: {type_value!r} to a TensorFlow DType.')
    return dtype


def _named_by_scalar_type(scalar: type[np.number[Any]]) -> DType | None:
    # Abstract types, such as np.number, are not in the table; older NumPy converts them to float64, with a warning.
    return _BY_ARRAY.get(np.dtype(scalar)) if scalar in np.sctypeDict.values() else None


def _of_array(array: np.dtype[Any]) -> DType | None:
    if array.kind in 'SU':
        return string
    return _BY_ARRAY.get(array) or _BY_ARRAY.get(array.newbyteorder('='))


def of_value(value: Any) -> DType:
    """The type of an ndarray or NumPy scalar.

    Raises:
        TypeError: No tensor can have its type, such as float128, dates and records.
    """
    try:
        return _BY_ARRAY[value.dtype]
    except KeyError:
        dtype = _of_array(value.dtype)
        if dtype is None:
            names = ', '.join(d.name for d in ALL)
            raise TypeError(f'Unsupported numpy type: {value.dtype}. Tensors hold {names}.') from None
        return dtype
