"""Constants, and the conversion of values to tensors, which every op applies to its arguments.

Constants are folded as in TensorFlow: nodes that depend on constants only are computed once, when they are made.

Objects of a program's own classes are converted by functions that it registers (`tf.register_tensor_conversion_function`).
The table is global.
"""
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from pyfuncdbg.hosts.numpy.graph import context
from pyfuncdbg.hosts.numpy.graph.definitions.registry import CONSTANT, INPUT, Attrs, OpDef, Output, TypedInput, register
from pyfuncdbg.hosts.numpy.graph.graph import Graph, owner
from pyfuncdbg.hosts.numpy.graph.known_value import captured_tensor, known_value
from pyfuncdbg.hosts.numpy.graph.symbolic_tensor import SymbolicTensor
from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.graph.types.convert import cast_array, to_array
from pyfuncdbg.hosts.numpy.graph.types.dtypes import DType, as_dtype, int32, of_value, string
from pyfuncdbg.hosts.numpy.graph.types.nest import flatten
from pyfuncdbg.hosts.numpy.graph.types.sequences import holds_tensor
from pyfuncdbg.hosts.numpy.graph.types.shapes import TensorShape
from pyfuncdbg.hosts.numpy.runtime.eager.dispatch import apply
from pyfuncdbg.hosts.numpy.runtime.execution.eager_tensor import EagerTensor

Conversion = Callable[..., Any]

registered: list[tuple[int, type | tuple[type, ...], Conversion]] = []


def register_tensor_conversion_function(base_type: Any, conversion_func: Conversion, priority: int = 100) -> None:
    """Convert objects of a class by a function `(value, dtype=None, name=None, as_ref=False)`.

    Args:
        base_type: The class, or a tuple of them.
        conversion_func: Gives a tensor, or NotImplemented to leave it to the next function.
        priority: Functions with lower numbers are called first; those with equal numbers in order of registration.

    Raises:
        TypeError: `base_type` is no class or one with a fixed conversion, or `conversion_func` is no function.
    """
    types = base_type if isinstance(base_type, tuple) else (base_type,)
    if not types or not all(isinstance(one, type) for one in types):
        raise TypeError(f'Argument `base_type` must be a type or a tuple of types. Obtained: {base_type}')
    if any(issubclass(one, (int, float)) for one in types):
        raise TypeError('Cannot register conversions for Python numeric types and NumPy scalars and arrays.')
    if not callable(conversion_func):
        raise TypeError(f'Argument `conversion_func` must be callable. Received {conversion_func}.')
    registered.append((priority, base_type, conversion_func))
    registered.sort(key=lambda row: row[0])


def converted(value: Any, dtype: Any, name: str | None) -> Any:
    """The result of the registered conversion function; NotImplemented if the object's class has none."""
    for _, types, function in registered:
        if isinstance(value, types):
            result = function(value, dtype=dtype, name=name, as_ref=False)
            if result is not NotImplemented:
                return result
    return NotImplemented


def _infer_constant(inputs: Sequence[TypedInput], attrs: Attrs) -> Sequence[Output]:
    return [(attrs['dtype'], TensorShape(getattr(attrs['value'], 'shape', ())))]


register(OpDef(CONSTANT, lambda *, value: _constant_array(value), _infer_constant, kernel_attrs=('value',)))


def _constant_array(value: Any) -> Any:
    """The array of a constant; one of equal elements is stored as a scalar."""
    return value if not isinstance(value, np.ndarray) or not value.ndim or any(value.strides) else value.copy()


_NUMBERS = frozenset((int, float, bool, np.float32, np.float64, np.int32, np.int64))


def convert_to_tensor(value: Any, dtype: Any = None, dtype_hint: Any = None, name: str | None = None) -> Any:
    """Convert a value to a tensor.

    Args:
        value: A tensor, variable, array, number, string, or nested sequence of these.
        dtype: The required dtype.
        dtype_hint: The preferred dtype.
        name: Of the constant node, in a graph.

    Raises:
        ValueError: It is a tensor of another dtype, or cannot be converted.
        TypeError: It cannot have `dtype`.
    """
    required = None if dtype is None else as_dtype(dtype)
    if isinstance(value, Tensor):
        return _of_dtype(value, required)
    if type(value) in _NUMBERS and dtype_hint is None and context.current_graph() is None:
        return EagerTensor(to_array(value, required))
    convert = getattr(value, '_as_tensor', None)
    if convert is not None:
        return _of_dtype(convert(), required)
    if registered:
        result = converted(value, required, name)
        if result is not NotImplemented:
            return result
    if isinstance(value, (list, tuple)) and holds_symbolic(value):
        return _packed(value, required, name)
    if required is None and dtype_hint is not None:
        try:
            return _constant_of(to_array(value, as_dtype(dtype_hint)), value, name)
        except (TypeError, ValueError):
            pass                                    # a hint is a preference only
    return _constant_of(array_of(value, required), value, name)


def _of_dtype(tensor: Tensor, required: DType | None) -> Tensor:
    if required is not None and tensor.dtype is not required and tensor.dtype != required:
        raise ValueError(f'Tensor conversion requested dtype {required.name} for Tensor with dtype {tensor.dtype.name}: '
                         f'{tensor!r}')
    return tensor


def holds_symbolic(value: Sequence[Any]) -> bool:
    """Whether a nested list has symbolic tensors in it (or variables, whose reading a tape must record)."""
    return any(isinstance(item, SymbolicTensor) or hasattr(item, '_as_tensor') or
               (isinstance(item, (list, tuple)) and holds_symbolic(item)) for item in value) or (
        context.current_graph() is not None and holds_tensor(value))


def _packed(value: Sequence[Any], dtype: DType | None, name: str | None) -> Any:
    first = next((item.dtype for item in flatten(list(value)) if hasattr(item, 'dtype') and hasattr(item, 'shape')), None)
    parts = [convert_to_tensor(item, dtype or first) for item in value]
    return apply('Pack', parts, {'axis': 0, 'N': len(parts)}, name or 'packed')


def _constant_of(array: Any, value: Any, name: str | None) -> Any:
    if isinstance(array, np.ndarray) and array.size and (array is value or np.may_share_memory(array, value)
                                                         if isinstance(value, np.ndarray) else hasattr(value, '__array__')):
        array = array.copy()                        # the user may write to the array later
    if context.current_graph() is None:
        return EagerTensor(array)
    return apply(CONSTANT, (), {'dtype': of_value(array), 'value': array}, name)


def convert_together(values: Sequence[Any], names: Sequence[str] = ('x', 'y'), op: str = '') -> list[Any]:
    """Convert values to tensors of one dtype: that of the first tensor, variable or array among them.

    Raises:
        TypeError: They have no common dtype; with TensorFlow's text.
    """
    first = next((v for v in values if isinstance(v, Tensor) or hasattr(v, '_as_tensor')), None)
    if first is None:
        lead = convert_to_tensor(values[0], name=names[0])
        return [lead, *(_converted(v, lead.dtype, name, op) for v, name in zip(values[1:], names[1:], strict=False))]
    return [_converted(value, first.dtype, name, op) for value, name in zip(values, names, strict=False)]


def _converted(value: Any, dtype: DType, name: str, op: str) -> Any:
    if isinstance(value, Tensor):
        return value
    convert = getattr(value, '_as_tensor', None)
    if convert is not None:
        return convert()
    try:
        return convert_to_tensor(value, dtype, name=name)
    except TypeError as error:
        if context.current_graph() is None:
            raise
        raise TypeError(f"Expected {dtype.name} passed to parameter '{name}' of op '{op}', got {value!r} of type "
                        f"'{type(value).__name__}' instead. Error: {error}") from None


def constant(value: Any, dtype: Any = None, shape: Any = None, name: str = 'Const') -> Any:
    """A tensor with this value.

    Args:
        value: Number, string, array or nested list.
        dtype: The dtype; by default that of the value.
        shape: The shape to give it; a single element fills it.
        name: Of the node, in a graph.

    Raises:
        TypeError: The value does not fit shape or dtype.
    """
    required = None if dtype is None else as_dtype(dtype)
    if type(value) in _NUMBERS and shape is None and context.current_graph() is None:
        return EagerTensor(to_array(value, required))
    if isinstance(value, SymbolicTensor):
        raise TypeError(f'Expected any non-tensor type, but got a tensor instead: {value!r}')
    if isinstance(value, EagerTensor) and required is not None and (required is string) != (value.dtype is string):
        raise TypeError(f'Expected tensor {value} with dtype {required!r}, but got dtype {value.dtype!r}.')
    array = array_of(value, required) if not isinstance(value, EagerTensor) else (
        value._value if required is None or value.dtype == required else cast_array(value._value, required))
    if shape is not None:
        array = _shaped(array, TensorShape(shape), value)
    return _constant_of(array, value if shape is None else None, name)


def in_every_place(number: Any, sizes: Sequence[int]) -> Any:
    """An array of equal elements; a node stores it as a scalar, so that a GraphDef has it once."""
    if context.current_graph() is None:
        return np.full(sizes, number.reshape(()) if isinstance(number, np.ndarray) else number, dtype=number.dtype)
    return np.broadcast_to(np.asarray(number).reshape(()), sizes)


def _shaped(array: Any, shape: TensorShape, value: Any) -> Any:
    sizes: Any = tuple(shape.as_list())
    if array.size == 1 and sizes != array.shape:
        filled = in_every_place(array, sizes)
        return filled if sizes or filled.dtype == object else filled[()]
    if array.size != shape.num_elements():
        if context.current_graph() is not None:
            raise TypeError(f"Expected Tensor's shape: {shape}, but got {TensorShape(array.shape)}.")
        raise TypeError(f'Eager execution of tf.constant with unsupported shape. Tensor {array} (converted from {value!r}) '
                        f'has {array.size} elements, but got `shape` {shape} with {shape.num_elements()} elements).')
    return array.reshape(sizes)


def constant_value(tensor: Any, partial: bool = False) -> Any:
    """The static value of a tensor as an ndarray, None if it is not known before the run."""
    if isinstance(tensor, EagerTensor):
        return np.asarray(tensor._value)
    array = known_value(tensor)
    if array is not None:
        return array
    op = getattr(tensor, 'op', None)
    if op is not None and op.type == 'Shape' and op.inputs[0].shape.is_fully_defined():
        return np.array(op.inputs[0].shape.as_list(), op.attrs.get('out_type', int32).array)
    return None


def get_static_value(tensor: Any, partial: bool = False) -> Any:
    """The value of a tensor as an ndarray if it is known before the run, else None; anything else unchanged."""
    return constant_value(tensor, partial) if isinstance(tensor, Tensor) else tensor


def is_tensor(x: Any) -> bool:
    """Whether `x` is a tensor or a variable."""
    return isinstance(x, Tensor) or hasattr(x, '_as_tensor')


def array_of(value: Any, dtype: DType | None) -> Any:
    """The array of a value, for a tensor of the current mode.

    Raises:
        TypeError, ValueError: It has none; with TensorFlow's text for the mode.
    """
    try:
        return to_array(value, dtype)
    except (TypeError, ValueError) as error:
        if context.current_graph() is None:
            raise
        raise _in_a_graph(value, dtype, error) from None


def _in_a_graph(value: Any, dtype: DType | None, error: Exception) -> Exception:
    if value is None:
        return ValueError('None values not supported.')
    if dtype is not None:
        for leaf in _leaves(value):
            try:
                to_array(leaf, dtype)
            except (TypeError, ValueError):
                return TypeError(f"Expected {dtype.name}, but got {leaf} of type '{type(leaf).__name__}'.")
    try:
        np.array(value)
    except ValueError as ragged:
        return ragged
    if 'unsupported type' in str(error):
        return TypeError(f'Failed to convert elements of {value} to Tensor. Consider casting elements to a supported type. '
                         'See https://www.tensorflow.org/api_docs/python/tf/dtypes for supported TF dtypes.')
    return error


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from _leaves(item)
    else:
        yield value


_DEFAULT = 'PlaceholderWithDefault'
_MOST = 1_000
"""Most nodes that are visited: a tensor that depends on more counts as no constant."""


def is_constant(tensor: Any) -> bool:
    """Whether a tensor of a graph is computed of constants only, by ops without effects.

    Captured tensors of functions included; in a branch if its selector is constant, and in no loop: TensorFlow inlines
    only functions and such branches.
    """
    waiting, ids = [tensor], {id(tensor)}
    while waiting and len(ids) < _MOST:
        one = waiting.pop()
        op = one.op
        if op.type == INPUT:
            outer = captured_tensor(one)
            if not isinstance(outer, SymbolicTensor) or not _runs_with(owner(one), owner(outer)):
                return False
            needed: Any = (outer,)
        elif op.type == CONSTANT or op.attrs.get('_py_constant'):
            continue
        elif op.definition.stateful or op.definition.in_execution or op.control_inputs or op.type == _DEFAULT:
            return False
        else:
            needed = op.inputs
            if not needed:
                return False
        waiting += [each for each in needed if id(each) not in ids]
        ids.update(map(id, needed))
    return not waiting


def _runs_with(graph: Graph | None, outer: Graph) -> bool:
    """Whether a graph runs exactly once in each run of an outer one."""
    while graph is not None and graph is not outer:
        if graph.place and not graph.certain:
            return False
        graph = graph.outer
    return True
