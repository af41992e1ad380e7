"""Conversion of a wrapped function's results to runtime values: lenient for py_function, strict for numpy_function.

Called within the watched function, so a wrong result is an error of the call. The types are
declared by `Tout`, which is parsed once per public call, on the caller's thread.
"""
from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any, Literal, Protocol

import numpy as np

from pyfuncdbg.errors import InternalError, InvalidArgumentError
from pyfuncdbg.hooks.generator_end import GeneratorEnd
from pyfuncdbg.hosts.numpy.graph.types import dtypes
from pyfuncdbg.hosts.numpy.graph.types.composite import is_composite, is_composite_spec
from pyfuncdbg.hosts.numpy.graph.types.dtypes import DType, as_dtype, of_value
from pyfuncdbg.hosts.numpy.graph.types.nest import flatten
from pyfuncdbg.hosts.numpy.graph.types.shapes import TensorShape
from pyfuncdbg.hosts.numpy.graph.types.spec import TensorSpec
from pyfuncdbg.hosts.numpy.ops.definition.constant import convert_to_tensor
from pyfuncdbg.hosts.numpy.ops.script.errors import refusal
from pyfuncdbg.hosts.numpy.ops.script.structure import filled, is_keyed, is_row, leaves, matched
from pyfuncdbg.hosts.numpy.ops.variables.variable import Variable
from pyfuncdbg.hosts.numpy.runtime.execution.eager_tensor import EagerTensor

_UNKNOWN = TensorShape(None)


class OutputTypes:
    """Immutable output types that `Tout` declares.

    Attributes:
        dtypes: One per tensor.
        shapes: Their static shapes; unknown where `Tout` names only a dtype.
        form: 'one' tensor, a flat 'list' of them, 'nested' like `structure`, or 'composite': a list with
            composites in it, or a single composite.
        structure: `Tout` itself, for nested forms and composites.
        checked: Whether a shape must be checked after the call.
    """

    __slots__ = ('checked', 'dtypes', 'form', 'shapes', 'structure')

    def __init__(self, specs: Sequence[tuple[DType, TensorShape]], form: Literal['one', 'list', 'nested', 'composite'],
                 structure: Any = None) -> None:
        self.dtypes = tuple(dtype for dtype, _ in specs)
        self.shapes = tuple(shape for _, shape in specs)
        self.form = form
        self.structure = structure
        self.checked = any(shape.rank is not None for shape in self.shapes)

    def packed(self, tensors: Sequence[Any]) -> Any:
        """Tensors in the form that the public function returns."""
        if self.form == 'one':
            return tensors[0]
        if self.form == 'list':
            return list(tensors)
        structure = filled(self.structure, iter(tensors))
        return list(structure) if type(structure) is tuple and self.form == 'composite' else structure


    def with_composites(self, Tout: Any) -> OutputTypes:
        """These types for a function with composite arguments: its results are checked against `Tout`'s structure."""
        if self.form not in ('one', 'list'):
            return self
        return OutputTypes(list(zip(self.dtypes, self.shapes, strict=True)), 'composite', Tout)


_single: dict[DType, OutputTypes] = {dtype: OutputTypes([(dtype, _UNKNOWN)], 'one') for dtype in dtypes.ALL}
ANY = OutputTypes([], 'list')
"""Output types where `Tout` is not used."""


def output_types(Tout: Any) -> OutputTypes:
    """Parse `Tout`.

    Args:
        Tout: Anything that names a dtype, a `TensorSpec` or the spec of a composite, a list or tuple of those, or a mapping,
            dataclass or deeper nesting of those.

    Raises:
        TypeError: A part of it names no dtype.
    """
    if type(Tout) is DType:
        return _single[Tout]
    items = Tout if isinstance(Tout, (list, tuple)) else [Tout]
    if any(is_composite_spec(item) for item in items) and not any(is_row(item) for item in items):
        return OutputTypes([_spec(leaf) for leaf in leaves(Tout)], 'composite', Tout)
    if isinstance(Tout, (list, tuple)) and not any(is_row(item) for item in Tout):
        return OutputTypes([_spec(item) for item in Tout], 'list')
    if isinstance(Tout, (list, tuple)) or is_keyed(Tout):
        return OutputTypes([_spec(leaf) for leaf in leaves(Tout)], 'nested', Tout)
    return OutputTypes([_spec(Tout)], 'one')


def _spec(item: Any) -> tuple[DType, TensorShape]:
    if isinstance(item, TensorSpec):
        return item.dtype, item.shape
    return as_dtype(item), _UNKNOWN


_NUMPY_NAMES = {'M': 'NPY_DATETIME', 'm': 'NPY_TIMEDELTA', 'g': 'NPY_LONGDOUBLE', 'G': 'NPY_CLONGDOUBLE',
                'T': 'not a numpy type'}


class DeclaredFunction(Protocol):
    """The function whose results are converted, with its declared types; `function.PythonFunction` is one."""

    func: Any
    outputs: OutputTypes

    @property
    def token(self) -> str:
        """The name in messages."""


# ---------------------------------------------------------------- py_function
def as_tensors(function: DeclaredFunction, result: Any) -> list[EagerTensor]:
    """The tensors of a py_function's result: Python and NumPy values are cast to `Tout`, tensors must agree with it.

    Raises:
        OpError: Too few values, or one of another shape than `Tout` says.
        Exception: From the conversion, as if raised by the user's function.
    """
    types = function.outputs
    if types.form == 'one' and not isinstance(result, (list, tuple)) and result is not None:
        tensors = [_tensor(result, types.dtypes[0])]
    else:
        tensors = [_tensor(value, dtype) for value, dtype in zip(_values(function, result), types.dtypes, strict=False)]
        check_count(function, len(tensors))
    if types.checked:
        _check_shapes(function, tensors)
    return tensors


def _values(function: DeclaredFunction, result: Any) -> Sequence[Any]:
    """The values in a result. TensorFlow drops surplus items of a list."""
    if function.outputs.form == 'composite':
        return _of_composites(function, result)
    if function.outputs.form == 'nested':
        return matched(function.outputs.structure, result)
    if result is None:
        return ()
    if isinstance(result, (list, tuple)):
        return result
    if not function.outputs.dtypes:
        raise IndexError('list index out of range')
    return (result,)


def _of_composites(function: DeclaredFunction, result: Any) -> Sequence[Any]:
    """The tensors of a result that may contain composites.

    Raises:
        ValueError: One is a composite where `Tout` has none, or does not match its spec there.
    """
    structure = function.outputs.structure
    specs = list(structure) if isinstance(structure, (list, tuple)) else [structure]
    if not specs:
        return ()
    values = result if isinstance(result, (list, tuple)) else [result]
    components: list[Any] = []
    for value, expected in zip(values, specs, strict=False):
        if is_composite_spec(expected):
            if not expected.is_compatible_with(value):
                raise _mismatch(function, values, specs, f'{value!r} is not compatible with {expected!r}.')
            components += expected._to_components(value)
        elif is_composite(value):
            raise _mismatch(function, values, specs, f'{value!r} is not a Tensor.')
        else:
            components.append(value)
    return components


def _mismatch(function: DeclaredFunction, values: Sequence[Any], specs: Sequence[Any], why: str) -> ValueError:
    return ValueError(f'py_function: func={function.func} returned {values!r}, which did not match Tout={specs!r}.\n'
                      f'In particular, {why}')


def _tensor(value: Any, dtype: DType) -> EagerTensor:
    if type(value) is EagerTensor and value.dtype is dtype:
        return value
    if type(value) is dtype.as_numpy_dtype and dtype.is_native:
        return EagerTensor(value, dtype)
    if isinstance(value, Variable):
        raise RuntimeError(
            'Attempting to return a variable from an eagerly executed py_func. Only numeric data structures like Tensors or '
            'NumPy arrays should be returned; to return the value of a variable, make sure to obtain the Tensor backing it '
            f'by calling `.read_value()` on the variable in question: {value!r}')
    if type(value) is np.ndarray and _fits(value, dtype):
        return EagerTensor(owned_array(value), dtype)
    tensor: EagerTensor = convert_to_tensor(value, dtype)
    return tensor


def check_count(function: DeclaredFunction, count: int) -> None:
    """Refuse a number of values that differs from `Tout`."""
    expected = len(function.outputs.dtypes)
    if count != expected:
        raise refusal(InvalidArgumentError,
                      f'{function.token} returns {count} values, but expects to see {expected} values.')


def _check_shapes(function: DeclaredFunction, values: Sequence[Any]) -> None:
    for index, (value, shape) in enumerate(zip(values, function.outputs.shapes, strict=True)):
        if shape.rank is not None and not shape.is_compatible_with(value.shape):
            raise refusal(InvalidArgumentError, f'{index}-th value returned by {function.token} has shape '
                                                f'{TensorShape(value.shape)}, but Tout says {shape}')


# ---------------------------------------------------------------- numpy_function in a graph
def as_arrays(function: DeclaredFunction, result: Any) -> list[Any]:
    """The NumPy values of a numpy_function's result in a graph, which must match `Tout` exactly.

    Raises:
        OpError: The number of values or a dtype differs from `Tout`, or no tensor can have the dtype.
        Exception: From NumPy, as if raised by the user's function.
    """
    types = function.outputs
    if types.form == 'one' and not types.checked:
        dtype = types.dtypes[0]
        if type(result) is np.ndarray and _fits(result, dtype):
            return [owned_array(result)]
        if isinstance(result, np.generic) and type(result) is dtype.as_numpy_dtype:
            return [result]
    if type(result) is GeneratorEnd:
        return result
    if types.form == 'nested':
        values: Sequence[Any] = matched(types.structure, result)
    else:
        values = () if result is None else result if isinstance(result, (list, tuple)) else (result,)
    check_count(function, len(values))
    arrays = []
    for index, value in enumerate(values):
        array = as_array(value)
        actual = of_value(array)
        if actual is not types.dtypes[index]:
            raise refusal(InvalidArgumentError,
                          f'{index}-th value returned by {function.token} is {actual.kernel_name}, but '
                                                f'expects {types.dtypes[index].kernel_name}')
        arrays.append(array)
    if types.checked:
        _check_shapes(function, arrays)
    return arrays


def as_array(value: Any) -> Any:
    """One returned value as a value of the runtime, in NumPy's dtype for it: Python floats are float64."""
    if type(value) is EagerTensor:
        return value._value
    if isinstance(value, Variable):
        return value.read_value()._value
    if isinstance(value, (str, bytes)):
        return _strings(value, ())
    array = _native(np.asarray(value))
    if array.dtype.kind in 'OSU':
        return _string_array(value, array)
    if not array.ndim:
        return array[()]
    contiguous = np.ascontiguousarray(array)
    return owned_array(contiguous) if contiguous is value else contiguous if contiguous.base is None else contiguous.copy()


def _native(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The array as plain ndarray in the machine's byte order.

    Raises:
        OpError: No tensor can have its dtype.
    """
    kind, char = array.dtype.kind, array.dtype.char
    if kind == 'V' and array.dtype.names is not None:
        raise refusal(InternalError, 'Unsupported numpy data type')
    if char in _NUMPY_NAMES:
        raise refusal(InternalError, f'Unsupported numpy type: {_NUMPY_NAMES[char]}')
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder('='))
    return array


def _string_array(value: Any, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    if array.dtype.kind == 'O':
        return _encoded(array)
    if isinstance(value, (np.ndarray, np.generic)):
        return _encoded(array.astype(object))
    return _encoded(np.asarray(value, dtype=object))        # a list: NumPy would pad its strings with NULs and cut them


def _encoded(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    items = [_encoded_item(item) for item in array.flat]
    return _strings(items, array.shape)


def _encoded_item(item: Any) -> bytes:
    if isinstance(item, bytes):
        return bytes(item)
    if isinstance(item, str):
        return item.encode()
    raise refusal(InternalError, f'Unsupported object type {type(item).__name__}')


def _strings(value: Any, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    boxed = np.empty(shape, object)
    if shape:
        flat = np.empty(len(value), object)
        flat[:] = value
        return flat.reshape(shape)
    boxed[()] = _encoded_item(value[0] if isinstance(value, list) else value)
    return boxed


# ---------------------------------------------------------------- numpy_function in eager mode
def as_found(result: Any) -> list[Any]:
    """A numpy_function's result in eager mode: any structure, flattened, with None."""
    return [None if value is None else convert_to_tensor(value) for value in flatten(result)]


# ---------------------------------------------------------------- memory
_alone = 0
"""Reference count of an array that only the conversion holds, as `owned_array` counts; set by `calibrate`."""


def _fits(array: np.ndarray[Any, Any], dtype: DType) -> bool:
    """Whether an array can be a tensor's value without a copy."""
    return array.dtype == dtype.array and array.dtype.kind != 'O' and array.dtype.isnative and array.ndim > 0


def owned_array(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """A returned array in C order that no one else can write to: itself if it has no other reference, else a copy.

    Elements of a returned list have one reference more, so they are copied.
    """
    flags = array.flags
    if sys.getrefcount(array) <= _alone and array.base is None and flags.owndata and flags.c_contiguous and flags.writeable:
        return array
    return array.copy()


def calibrate(convert_fresh: Callable[[], tuple[int, Any]]) -> None:
    """Measure the reference count of a fresh array in `owned_array`, which differs between versions of Python.

    Args:
        convert_fresh: Converts the result of a function that returns a new array: (its id, the converted value).
    """
    global _alone
    for _alone in range(1, 12):
        identity, value = convert_fresh()
        if id(value) == identity:
            return
    _alone = 0                                  # the count is no evidence: always copy
