"""Arithmetic ops of two tensors with broadcasting. A Python value takes the dtype of the tensor beside it."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pyfuncdbg.hosts.numpy.graph.context import current_graph
from pyfuncdbg.hosts.numpy.graph.definitions.registry import Kernel, Node, OpDef, lookup, no_gradient, register
from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.graph.types import dtypes
from pyfuncdbg.hosts.numpy.graph.types.composite import overridable
from pyfuncdbg.hosts.numpy.ops.definition.broadcast import unbroadcast
from pyfuncdbg.hosts.numpy.ops.definition.constant import convert_to_tensor, convert_together
from pyfuncdbg.hosts.numpy.ops.definition.node_scope import graph_of_inputs, scope
from pyfuncdbg.hosts.numpy.ops.definition.shape_rules import (
    FIELD,
    FLOAT,
    INTEGER,
    NUMBER,
    REAL,
    Allowed,
    broadcast_rule,
    check_attr_type,
    check_eager,
    check_eager_types,
    invalid,
    merge_all_rule,
    permit,
    permits,
)
from pyfuncdbg.hosts.numpy.ops.elementwise.unary import conj, log, product, scalar, square
from pyfuncdbg.hosts.numpy.runtime.eager import fast_path
from pyfuncdbg.hosts.numpy.runtime.eager.dispatch import apply
from pyfuncdbg.hosts.numpy.runtime.execution.eager_tensor import EagerTensor

Binary = Callable[..., Tensor]
Part = Callable[[Tensor, Any, Any, Any], Any]
"""The gradient of one input of a binary op from (output gradient, x, y, output), before it is summed to its shape."""
Rule = tuple[Part, Part] | Callable[[Tensor, Any, Any, Any], tuple[Any, Any]]
"""Gradient rules of both inputs: one for each, so that only what is needed is computed, or one for both."""


_RULES_OF_VALUES: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    'AddV2': (lambda g, x, y: g, lambda g, x, y: g), 'Sub': (lambda g, x, y: g, lambda g, x, y: -g),
    'Mul': (lambda g, x, y: g * y, lambda g, x, y: g * x),
    'RealDiv': (lambda g, x, y: g / y, lambda g, x, y: g * ((-x / y) / y))}
"""The rules of the commonest ops for values: see `OpDef.value_rules`."""


def binary(name: str, op: str, kernel: Kernel, rule: Rule | None = None, allowed: Allowed = NUMBER, *,
           infix: str | None = None,
           default: str | None = None, names: tuple[str, str] = ('x', 'y'), refused: bool = False) -> Binary:
    """Define an elementwise op of two tensors.

    Args:
        name: Of the public function.
        op: TensorFlow's op type.
        kernel: A ufunc (which takes `out=`) or a function of two values.
        rule: Gradient; None where it is zero or there is none.
        allowed: Dtypes it takes.
        infix: Python's operator that computes the same on real types.
        default: Name of the node where it is not the op type.
        names: TensorFlow's names of the inputs.
        refused: Without a rule: whether differentiation is an error.

    Returns:
        The public function `(x, y, name=None)`.
    """
    gradient = _gradient(rule) if rule is not None else None if refused else no_gradient
    register(OpDef(op, kernel, broadcast_rule(op, allowed, names), gradient, infix=infix, into=isinstance(kernel, np.ufunc),
                   selective=rule is not None, value_rules=_RULES_OF_VALUES.get(op, ())))
    permit(op, allowed)

    quick = fast_path.binary(lookup(op), allowed, lambda x, y: elementwise(op, x, y, default, names), default)

    def function(x: Any, y: Any, name: str | None = None) -> Tensor:
        if type(x) is EagerTensor and not name:
            return quick(x, y)
        return elementwise(op, x, y, name or default, names)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f'TensorFlow\'s `{op}` of `x` and `y`, element by element, with broadcasting.'
    return function


def _gradient(rule: Rule) -> Callable[..., Sequence[Any]]:
    """The gradient rule of the op from those of its inputs."""
    if not isinstance(rule, tuple):
        both = rule

        def together(node: Node, grad: Tensor, needed: Sequence[bool]) -> Sequence[Any]:
            x, y = node.inputs
            gx, gy = both(grad, x, y, node.outputs[0])
            return unbroadcast(x, y, gx if needed[0] else None, gy if needed[1] else None)
        return together
    of_x, of_y = rule

    def gradient(node: Node, grad: Tensor, needed: Sequence[bool]) -> Sequence[Any]:
        x, y = node.inputs
        z = node.outputs[0]
        gx = of_x(grad, x, y, z) if needed[0] else None
        gy = of_y(grad, x, y, z) if needed[1] else None
        if type(x) is EagerTensor and type(y) is EagerTensor and x._value.shape == y._value.shape:
            return gx, gy
        return unbroadcast(x, y, gx, gy)
    return gradient


def elementwise(op: str, x: Any, y: Any, name: str | None = None, names: tuple[str, str] = ('x', 'y')) -> Tensor:
    """Apply a binary op to values; at least one of them decides the dtype.

    Raises:
        TypeError: In a graph: the dtypes differ, or the op does not take them.
        InvalidArgumentError: The same in eager mode.
    """
    if isinstance(x, Tensor) and isinstance(y, Tensor):
        if x.dtype is not y.dtype or not permits(op, x.dtype):
            _refuse_eagerly(op, x, y, name)
        return apply(op, (x, y), None, name)
    return _elementwise_of_values(op, x, y, name, names)


def _elementwise_of_values(op: str, x: Any, y: Any, name: str | None, names: tuple[str, str]) -> Tensor:
    for operand in (x, y):
        if hasattr(operand, 'combined'):            # a composite, which pairs its values with the other operand
            return operand.combined(lambda a, b: elementwise(op, a, b, name, names), x, y)
    if current_graph() is None:
        x, y = _alike(op, x, y, names)
        return elementwise(op, x, y, name, names)
    other = graph_of_inputs((x, y))
    if other is not None:
        with other.as_default():
            return elementwise(op, x, y, name, names)
    with scope(name, op) as full:               # a constant argument of `add` is `add/y`
        return apply(op, _alike(op, x, y, names), None, full)


def _refuse_eagerly(op: str, x: Tensor, y: Tensor, name: str | None) -> None:
    """Refuse operands of two dtypes in eager mode; in a graph the shape rule does."""
    if current_graph() is None:
        if op == 'AddV2' and x.dtype is dtypes.string:
            op = 'Add'
        if x.dtype is not y.dtype:
            check_eager_types(op, (x, y))
            dtype_x, dtype_y = x.dtype.kernel_name, y.dtype.kernel_name
            raise invalid(f'cannot compute {op} as input #1(zero-based) was expected to be a {dtype_x} tensor but is a '
                          f'{dtype_y} tensor [Op:{op}] name: ')
        check_eager(op, x)


_OF_BOOLS = ('LogicalAnd', 'LogicalOr')
_EACH = ('Add', 'AddV2', 'RealDiv')
"""Ops whose arguments TensorFlow converts separately."""


def _alike(op: str, x: Any, y: Any, names: tuple[str, str]) -> tuple[Any, Any]:
    """Both as tensors, of one dtype if possible; otherwise the op raises."""
    if isinstance(x, Tensor) and isinstance(y, Tensor):
        return x, y
    if op in _OF_BOOLS and current_graph() is None:
        return tuple(value if isinstance(value, Tensor) else convert_to_tensor(value, dtypes.bool)  # type: ignore[return-value]
                     for value in (x, y))
    try:
        x, y = convert_together([x, y], names=names)
        return x, y
    except TypeError:
        if op in _EACH or current_graph() is not None:
            return convert_to_tensor(x, name=names[0]), convert_to_tensor(y, name=names[1])
        raise


def _nonzero(x: Any, y: Any) -> None:
    if y.dtype.kind in 'iu' and x.size and not np.all(y):       # an empty `x` is never divided
        raise invalid('Integer division by zero')


def _floor_div(x: Any, y: Any) -> Any:
    if x.dtype.kind not in 'f':
        _nonzero(x, y)
        return np.floor_divide(x, y)
    return np.floor(np.divide(x, y))        # not floor_divide, which gives nan for inf // 2 where TensorFlow gives inf


def _floor_mod(x: Any, y: Any) -> Any:
    _nonzero(x, y)
    return np.remainder(x, y)


def _truncate_div(x: Any, y: Any) -> Any:
    if x.dtype.kind not in 'iu':
        return np.trunc(np.divide(x, y))
    _nonzero(x, y)
    quotient = np.floor_divide(x, y)
    return (quotient + ((quotient < 0) & (quotient * y != x)).astype(x.dtype)).astype(x.dtype)[()]


def _truncate_mod(x: Any, y: Any) -> Any:
    _nonzero(x, y)
    return np.fmod(x, y)


def _pow(x: Any, y: Any) -> Any:
    if y.dtype.kind == 'i' and np.any(y < 0):
        raise invalid('Integers to negative integer powers are not allowed')
    return np.power(x, y)


def _where_nonzero(function: Callable[[Any, Any], Any], by: int) -> Kernel:
    """A kernel that is 0 where its argument number `by` is 0, whatever the other is."""
    def kernel(x: Any, y: Any) -> Any:
        return scalar(np.where((x, y)[by] == 0, x.dtype.type(0), np.asarray(function(x, y), x.dtype)))
    return kernel


def _squared_difference(x: Any, y: Any) -> Any:
    difference = x - y
    return np.conj(difference) * difference if difference.dtype.kind == 'c' else difference * difference


def _pow_by_y(g: Tensor, x: Any, y: Any, z: Any) -> Any:
    # log(x) only where x > 0 (complex: x != 0): elsewhere the derivative by y is taken as 0, as TensorFlow does, so
    # that a NaN from the logarithm of an unused element does not reach the sum.
    cx, cz = conj(x), conj(z)
    ones, zeros = apply('OnesLike', (cx,)), apply('ZerosLike', (cx,))
    mask = elementwise('NotEqual', cx, 0) if x.dtype.is_complex else elementwise('Greater', cx, 0)
    logarithm = apply('SelectV2', (mask, log(apply('SelectV2', (mask, cx, ones))), zeros))
    return g * cz * logarithm


def _pow_by_x(g: Tensor, x: Any, y: Any, z: Any) -> Any:
    cy = conj(y)
    return g * cy * elementwise('Pow', conj(x), cy - 1)


def _choose(op: str) -> Rule:
    """The gradient of a maximum or minimum: to the chosen input, to `x` where they are equal."""
    def rule(g: Tensor, x: Any, y: Any, z: Any) -> tuple[Any, Any]:
        from_x, zeros = elementwise(op, x, y), apply('ZerosLike', (g,))
        return apply('SelectV2', (from_x, g, zeros)), apply('SelectV2', (from_x, zeros, g))
    return rule


def _difference_rule(g: Tensor, x: Any, y: Any, z: Any) -> tuple[Any, Any]:
    gx = 2 * g * (x - y)
    return gx, -gx


def _atan2_rule(g: Tensor, y: Any, x: Any, z: Any) -> tuple[Any, Any]:
    scaled = g / (square(x) + square(y))
    return x * scaled, -y * scaled


def _mul_by_y(g: Tensor, x: Any, y: Any, z: Any) -> Any:
    """The gradient by `x` of a product; where shapes are broadcast, TensorFlow swaps the factors."""
    if type(x) is EagerTensor and type(y) is EagerTensor:
        plain = x._value.shape == y._value.shape    # making a TensorShape takes longer than the product
    else:
        plain = x.shape.is_fully_defined() and x.shape == y.shape
    return product(g, conj(x)) if plain else product(conj(x), g)


add = binary('add', 'AddV2', np.add, (lambda g, x, y, z: g, lambda g, x, y, z: g), infix='+', default='Add')
subtract = binary('subtract', 'Sub', np.subtract, (lambda g, x, y, z: g, lambda g, x, y, z: -g), infix='-')
multiply = binary('multiply', 'Mul', np.multiply,
                  (lambda g, x, y, z: product(g, conj(y)), _mul_by_y), infix='*')
realdiv = binary('realdiv', 'RealDiv', np.divide,
                 (lambda g, x, y, z: g / conj(y), lambda g, x, y, z: g * ((-conj(x) / conj(y)) / conj(y))), FIELD, infix='/')
floordiv = binary('floordiv', 'FloorDiv', _floor_div, None, REAL, default='floordiv')
floormod = binary('floormod', 'FloorMod', _floor_mod,
                  (lambda g, x, y, z: g, lambda g, x, y, z: -g * floordiv(x, y)), REAL)
truncatediv = binary('truncatediv', 'TruncateDiv', _truncate_div, None, REAL)
truncatemod = binary('truncatemod', 'TruncateMod', _truncate_mod, None, REAL, refused=True)
pow = binary('pow', 'Pow', _pow, (_pow_by_x, _pow_by_y), NUMBER)
maximum = binary('maximum', 'Maximum', np.maximum, _choose('GreaterEqual'), REAL)
minimum = binary('minimum', 'Minimum', np.minimum, _choose('LessEqual'), REAL)
squared_difference = binary('squared_difference', 'SquaredDifference', _squared_difference, _difference_rule)
atan2 = binary('atan2', 'Atan2', np.arctan2, _atan2_rule, FLOAT, names=('y', 'x'))
_div_no_nan = binary('div_no_nan', 'DivNoNan', _where_nonzero(np.divide, 1),
                     (lambda g, x, y, z: div_no_nan(g, conj(y)),
                      lambda g, x, y, z: g * div_no_nan(div_no_nan(-conj(x), conj(y)), conj(y))), FIELD)
multiply_no_nan: Binary = binary('multiply_no_nan', 'MulNoNan', _where_nonzero(np.multiply, 1),
                         (lambda g, x, y, z: multiply_no_nan(g, y), lambda g, x, y, z: multiply_no_nan(x, g)), FIELD)
xlogy: Binary = binary('xlogy', 'Xlogy', _where_nonzero(lambda x, y: x * np.log(y), 0),
               (lambda g, x, y, z: g * xlogy(_is_nonzero(x), y), lambda g, x, y, z: g * xdivy(x, y)), FIELD, default='xlogy')
xdivy: Binary = binary('xdivy', 'Xdivy', _where_nonzero(np.divide, 0),
               (lambda g, x, y, z: g * xdivy(_is_nonzero(x), y), lambda g, x, y, z: g * xdivy(-x, square(y))),
                       FIELD, default='xdivy')
bitwise_and = binary('bitwise_and', 'BitwiseAnd', np.bitwise_and, None, INTEGER)
bitwise_or = binary('bitwise_or', 'BitwiseOr', np.bitwise_or, None, INTEGER)
bitwise_xor = binary('bitwise_xor', 'BitwiseXor', np.bitwise_xor, None, INTEGER)
left_shift = binary('left_shift', 'LeftShift', np.left_shift, None, INTEGER)
right_shift = binary('right_shift', 'RightShift', np.right_shift, None, INTEGER)


def _is_nonzero(x: Any) -> Tensor:
    """1 where `x` is not 0, else 0, in the dtype of `x`."""
    return apply('Cast', (elementwise('NotEqual', x, 0),), {'DstT': x.dtype})


def _concatenated(x: Any, y: Any) -> Any:
    return np.asarray(np.add(x, y), object)


permit('Add', (dtypes.string,))
register(OpDef('Add', _concatenated, broadcast_rule('Add', (dtypes.string,)), no_gradient))

# ---------------------------------------------------------------- sums of many
def _add_n(*values: Any) -> Any:
    if any(value.shape != values[0].shape for value in values):
        shapes = [f'[{",".join(map(str, value.shape))}]' for value in values]
        other = next(i for i, shape in enumerate(shapes) if shape != shapes[0])
        raise invalid('Inputs to operation AddN of type AddN must have the same size and shape.  '
                      f'Input 0: {shapes[0]} != input {other}: {shapes[other]}')
    total = values[0]
    for value in values[1:]:
        total = total + value
    return total


register(OpDef('AddN', _add_n, merge_all_rule('AddN', (*NUMBER, dtypes.variant)),
               lambda node, grad: [grad] * len(node.inputs)))


@overridable
def add_n(inputs: Any, name: str | None = None) -> Tensor:
    """The sum of tensors of one shape and dtype.

    Raises:
        ValueError: `inputs` is no list of at least one tensor.
    """
    inputs = list(inputs)
    if not inputs or any(value is None for value in inputs):
        raise ValueError('Inputs must be an iterable of at least one Tensor/IndexedSlices with the same dtype and shape.')
    labels = [f'inputs_{i}' for i in range(len(inputs))]
    if current_graph() is None:
        tensors = [convert_to_tensor(value) for value in inputs]
        refused = next((i for i, tensor in enumerate(tensors) if tensor.dtype is not tensors[0].dtype), None)
        if refused is not None:
            raise invalid(f'cannot compute AddN as input #{refused}(zero-based) was expected to be a '
                          f'{tensors[0].dtype.kernel_name} tensor but is a {tensors[refused].dtype.kernel_name} tensor '
                          '[Op:AddN] name: ')
        check_attr_type('AddN', 'T', tensors[0].dtype)
    else:
        tensors = convert_together(inputs, names=labels, op='AddN')
    return apply('Identity', tensors, None, name) if len(tensors) == 1 else apply('AddN', tensors, {'N': len(tensors)}, name)


# ---------------------------------------------------------------- division
_WIDE = {dtypes.uint8: dtypes.float32, dtypes.int8: dtypes.float32, dtypes.uint16: dtypes.float32,
         dtypes.int16: dtypes.float32, dtypes.int32: dtypes.float64, dtypes.int64: dtypes.float64,
         dtypes.uint32: dtypes.float64, dtypes.uint64: dtypes.float64}
"""Dtypes to which integers are cast before division."""


def truediv(x: Any, y: Any, name: str | None = None) -> Tensor:
    """`x / y`; integers up to 16 bits become float32 first, wider ones float64."""
    if hasattr(x, 'combined') or hasattr(y, 'combined'):
        return (x if hasattr(x, 'combined') else y).combined(truediv, x, y)
    if current_graph() is None:
        x, y = _widened(x, y)
        return elementwise('RealDiv', x, y, name)
    with scope(name, 'truediv') as full:
        x, y = _widened(x, y)
        return elementwise('RealDiv', x, y, full)


def _widened(x: Any, y: Any) -> tuple[Any, Any]:
    x, y = _alike('RealDiv', x, y, ('x', 'y'))
    if x.dtype is not y.dtype:
        raise TypeError(f'`x` and `y` must have the same dtype, got {x.dtype!r} != {y.dtype!r}.')
    if x.dtype.is_integer and x.dtype is y.dtype:
        wide = {'DstT': _WIDE[x.dtype]}
        return apply('Cast', (x,), wide), apply('Cast', (y,), wide)
    return x, y


def divide(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Python's `x / y`."""
    return truediv(x, y, name)


def div(x: Any, y: Any, name: str | None = None) -> Tensor:
    """TensorFlow 1's division: integers round to minus infinity."""
    x, y = convert_together([x, y], names=('x', 'y'), op=name or 'div')
    return apply('FloorDiv' if x.dtype.is_integer else 'RealDiv', (x, y), None, name or 'div')


def div_no_nan(x: Any, y: Any, name: str | None = None) -> Tensor:
    """`x / y`, but 0 where `y` is 0."""
    x, y = _widened(x, y)
    return _div_no_nan(x, y, name or 'div_no_nan')


divide_no_nan = div_no_nan
