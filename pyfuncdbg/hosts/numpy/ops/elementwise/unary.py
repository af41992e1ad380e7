"""Ops of one tensor, element by element."""
from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pyfuncdbg.hosts.numpy.graph.context import current_graph
from pyfuncdbg.hosts.numpy.graph.definitions.registry import Kernel, Node, OpDef, lookup, no_gradient, register
from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.graph.types import dtypes
from pyfuncdbg.hosts.numpy.graph.types.dtypes import DType
from pyfuncdbg.hosts.numpy.ops.definition.constant import constant, convert_to_tensor
from pyfuncdbg.hosts.numpy.ops.definition.shape_rules import (
    BOOL,
    COMPLEX,
    FIELD,
    FLOAT,
    INTEGER,
    NUMBER,
    REAL,
    Allowed,
    check_eager,
    check_eager_types,
    merge_rule,
    permit,
    same_rule,
)
from pyfuncdbg.hosts.numpy.runtime.eager import fast_path
from pyfuncdbg.hosts.numpy.runtime.eager.dispatch import apply
from pyfuncdbg.hosts.numpy.runtime.execution.eager_tensor import EagerTensor

Unary = Callable[..., Tensor]
Rule = Callable[[Tensor, Any, Any], Any]
"""Gradient of a unary op from (output gradient, input, output)."""

ZERO = no_gradient


def unary(name: str, op: str, kernel: Kernel, rule: Rule | None = None, allowed: Allowed | None = FIELD, *,
          dtype: DType | None = None, parameter: str = 'x') -> Unary:
    """Define an elementwise op.

    Args:
        name: Of the public function.
        op: TensorFlow's op type, which is the default node name too.
        kernel: A ufunc (which takes `out=`) or a function of one value.
        rule: Gradient; None where it is zero, or does not exist: of a test of each element.
        allowed: Dtypes it takes.
        dtype: Of the result, if it is not the input's.
        parameter: What error messages call the input.

    Returns:
        The public function `(x, name=None)`.
    """
    def gradient(node: Node, grad: Tensor) -> Sequence[Any]:
        assert rule is not None
        return [rule(grad, node.inputs[0], node.outputs[0])]

    without = None if dtype is dtypes.bool else ZERO
    register(OpDef(op, kernel, same_rule(op, allowed, parameter, dtype), gradient if rule else without,
                   into=isinstance(kernel, np.ufunc)))

    permit(op, allowed)
    only_bool = allowed is BOOL

    def general(x: Any) -> Tensor:
        check_eager(op, x)
        return apply(op, (x,))

    quick = fast_path.unary(lookup(op), NUMBER if allowed is None else allowed, general, None) if dtype is None else general

    def function(x: Any, name: str | None = None) -> Tensor:
        if type(x) is EagerTensor and not name:
            return quick(x)
        if hasattr(x, 'map_values'):                    # a composite: the op of its values
            return x.map_values(function)
        loose = only_bool and not isinstance(x, Tensor) and current_graph() is None
        x = convert_to_tensor(x, dtypes.bool if loose else None)
        check_eager(op, x)
        return apply(op, (x,), None, name)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f'TensorFlow\'s `{op}` of each element of `x`.'
    return function


def fused(op: str, kernel: Kernel, gradient: Callable[[Tensor, Any, Any], Sequence[Any]], names: tuple[str, str],
          attrs: tuple[str, ...] = ()) -> None:
    """Define the backward step of a unary op as one op of two tensors of one shape, itself differentiable."""
    def rule(node: Node, grad: Tensor) -> Sequence[Any]:
        return gradient(grad, *node.inputs)

    register(OpDef(op, kernel, merge_rule(op, FIELD, names), rule, kernel_attrs=attrs))


def conj(x: Any, name: str | None = None) -> Tensor:
    """The complex conjugate; a real tensor is returned as it is."""
    if type(x) is EagerTensor and x._value.dtype.kind in 'fiu':     # the backward step of every product calls this
        return x
    if isinstance(x, Tensor) and not x.dtype.is_complex:
        return x
    x = convert_to_tensor(x)
    return apply('Conj', (x,), None, name) if x.dtype.is_complex else x


def _conj_of(x: Any) -> Any:
    return np.conj(x) if x.dtype.kind == 'c' else x


def _like(x: Any, result: Any) -> Any:
    """`result` in the dtype of `x`: NumPy promotes bfloat16 scalars with Python numbers to wider types."""
    return result if result.dtype == x.dtype else result.astype(x.dtype)


def _zeros(grad: Tensor, x: Tensor, y: Tensor) -> Tensor:
    return apply('ZerosLike', (x,))


def product(x: Any, y: Any) -> Any:
    """`x * y`; its node is named after the op, as in TensorFlow's gradient rules."""
    return x * y if current_graph() is None else apply('Mul', (x, y))


def _square_rule(grad: Tensor, x: Any, y: Any) -> Tensor:
    two = constant(2, x.dtype)
    return product(grad, product(conj(x), two))


# ---------------------------------------------------------------- signs and powers
negative = unary('negative', 'Neg', np.negative, lambda g, x, y: -g, NUMBER)
sign = unary('sign', 'Sign', np.sign, _zeros, NUMBER)
square = unary('square', 'Square', np.square, _square_rule, NUMBER)
sqrt = unary('sqrt', 'Sqrt', np.sqrt, lambda g, x, y: apply('SqrtGrad', (y, g)))
rsqrt = unary('rsqrt', 'Rsqrt', lambda x: _like(x, 1 / np.sqrt(x)), lambda g, x, y: apply('RsqrtGrad', (y, g)))
reciprocal = unary('reciprocal', 'Reciprocal', lambda x: _like(x, 1 / x), lambda g, x, y: apply('ReciprocalGrad', (y, g)))
_abs = unary('abs', 'Abs', np.abs, lambda g, x, y: g * sign(x), REAL)

def _where_something(compute: Callable[[Any, Any], Any]) -> Kernel:
    """A backward step that is 0 for an output gradient of 0, whatever the slope, as in TensorFlow's kernels."""
    def kernel(y: Any, dy: Any) -> Any:
        result, nothing = _like(y, compute(y, dy)), dy == 0
        return np.where(nothing, y.dtype.type(0), result)[()] if np.any(nothing) else result
    return kernel


fused('SqrtGrad', _where_something(lambda y, dy: 0.5 * dy / _conj_of(y)),
      lambda g, y, dy: [-conj(g / y) * apply('SqrtGrad', (y, dy)), 0.5 * (g / y)], ('y', 'dy'))
fused('RsqrtGrad', _where_something(lambda y, dy: -0.5 * dy * _conj_of(y) ** 3),
      lambda g, y, dy: [-1.5 * conj(g) * dy * square(conj(y)), apply('RsqrtGrad', (conj(y), g))], ('y', 'dy'))
fused('ReciprocalGrad', _where_something(lambda y, dy: -dy * np.square(_conj_of(y))),
      lambda g, y, dy: [conj(g) * -2 * dy * conj(y), apply('ReciprocalGrad', (conj(y), g))], ('y', 'dy'))

# ---------------------------------------------------------------- exponentials
exp = unary('exp', 'Exp', np.exp, lambda g, x, y: g * conj(y))
expm1 = unary('expm1', 'Expm1', np.expm1, lambda g, x, y: g * conj(exp(x)))
log = unary('log', 'Log', np.log, lambda g, x, y: g * reciprocal(conj(x)))
log1p = unary('log1p', 'Log1p', np.log1p, lambda g, x, y: g * reciprocal(1 + conj(x)))

# ---------------------------------------------------------------- trigonometry
sin: Unary = unary('sin', 'Sin', np.sin, lambda g, x, y: g * cos(conj(x)))
cos: Unary = unary('cos', 'Cos', np.cos, lambda g, x, y: -g * sin(conj(x)))
tan = unary('tan', 'Tan', np.tan, lambda g, x, y: g * square(reciprocal(cos(conj(x)))))
asin = unary('asin', 'Asin', np.arcsin, lambda g, x, y: g * reciprocal(sqrt(1 - square(conj(x)))))
acos = unary('acos', 'Acos', np.arccos, lambda g, x, y: -g * reciprocal(sqrt(1 - square(conj(x)))))
atan = unary('atan', 'Atan', np.arctan, lambda g, x, y: g * reciprocal(1 + square(conj(x))))
sinh: Unary = unary('sinh', 'Sinh', np.sinh, lambda g, x, y: g * cosh(conj(x)))
cosh: Unary = unary('cosh', 'Cosh', np.cosh, lambda g, x, y: g * sinh(conj(x)))
tanh = unary('tanh', 'Tanh', np.tanh, lambda g, x, y: apply('TanhGrad', (conj(y), g)))
asinh = unary('asinh', 'Asinh', np.arcsinh, lambda g, x, y: g / cosh(conj(y)))
acosh = unary('acosh', 'Acosh', np.arccosh, lambda g, x, y: g / sinh(conj(y)))
atanh = unary('atanh', 'Atanh', np.arctanh, lambda g, x, y: g * reciprocal(1 - square(conj(x))))

fused('TanhGrad', lambda y, dy: _like(y, dy * (1 - y * y)),
      lambda g, y, dy: [g * -2 * conj(dy) * conj(y), apply('TanhGrad', (conj(y), g))], ('y', 'dy'))

# ---------------------------------------------------------------- activations
sigmoid = unary('sigmoid', 'Sigmoid', lambda x: _like(x, 1 / (1 + np.exp(-x))),
                lambda g, x, y: apply('SigmoidGrad', (conj(y), g)))
fused('SigmoidGrad', lambda y, dy: _like(y, dy * y * (1 - y)),
      lambda g, y, dy: [g * conj(dy) * (1 - 2 * conj(y)), apply('SigmoidGrad', (conj(y), g))], ('y', 'dy'))

softplus = unary('softplus', 'Softplus', lambda x: _like(x, np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))),
                 lambda g, x, y: apply('SoftplusGrad', (g, x)), FLOAT, parameter='features')
fused('SoftplusGrad', lambda dy, x: _like(x, dy / (1 + np.exp(-x))),
      lambda g, dy, x: [apply('SoftplusGrad', (g, x)), g * dy * apply('SigmoidGrad', (sigmoid(x), apply('OnesLike', (x,))))],
      ('gradients', 'features'))

relu = unary('relu', 'Relu', lambda x: _like(x, np.maximum(x, 0)), lambda g, x, y: apply('ReluGrad', (g, y)), REAL,
             parameter='features')
fused('ReluGrad', lambda dy, y: _like(y, (y > 0).astype(dy.dtype) * dy),
      lambda g, dy, y: [apply('ReluGrad', (g, y)), apply('ZerosLike', (y,))], ('gradients', 'features'))

relu6 = unary('relu6', 'Relu6', lambda x: _like(x, np.minimum(np.maximum(x, 0), 6)),
              lambda g, x, y: apply('Relu6Grad', (g, y)), REAL, parameter='features')
fused('Relu6Grad', lambda dy, y: _like(y, dy * ((y > 0) & (y < 6))),
      lambda g, dy, y: [apply('Relu6Grad', (g, y)), apply('ZerosLike', (y,))], ('gradients', 'features'))

elu = unary('elu', 'Elu', lambda x: _like(x, scalar(np.where(x < 0, np.expm1(x), x))),
            lambda g, x, y: apply('EluGrad', (g, y)), FLOAT, parameter='features')
fused('EluGrad', lambda dy, y: _like(y, scalar(np.where(y < 0, dy * (y + 1), dy))),
      lambda g, dy, y: [apply('EluGrad', (g, y)), apply('SelectV2', (y < 0, g * dy, apply('ZerosLike', (y,))))],
      ('gradients', 'outputs'))

_SELU_SCALE, _SELU_SCALE_ALPHA = 1.0507009873554804934193349852946, 1.7580993408473768599402175208123
selu = unary('selu', 'Selu', lambda x: _like(x, scalar(np.where(x < 0, _SELU_SCALE_ALPHA * np.expm1(x), _SELU_SCALE * x))),
             lambda g, x, y: apply('SeluGrad', (g, y)), FLOAT, parameter='features')
fused('SeluGrad', lambda dy, y: _like(y, scalar(np.where(y < 0, dy * (y + _SELU_SCALE_ALPHA), dy * _SELU_SCALE))),
      lambda g, dy, y: [apply('SeluGrad', (g, y)), apply('SelectV2', (y < 0, g * dy, apply('ZerosLike', (y,))))],
      ('gradients', 'outputs'))


def scalar(value: Any) -> Any:
    """The NumPy scalar for an array of rank 0 (not of strings), otherwise the array."""
    return value if value.ndim or value.dtype.hasobject else value[()]


register(OpDef('LeakyRelu', lambda x, alpha=0.2: _like(x, scalar(np.where(x > 0, x, x * alpha))),
               same_rule('LeakyRelu', FLOAT, 'features'),
               lambda node, grad: [apply('LeakyReluGrad', (grad, node.inputs[0]), {'alpha': node.attrs['alpha']})],
               kernel_attrs=('alpha',)))
register(OpDef('LeakyReluGrad', lambda dy, x, alpha=0.2: _like(x, scalar(np.where(x > 0, dy, dy * alpha))),
               merge_rule('LeakyReluGrad', FLOAT, ('gradients', 'features')),
               lambda node, grad: [apply('LeakyReluGrad', (grad, node.inputs[1]), {'alpha': node.attrs['alpha']}),
                                   apply('ZerosLike', (node.inputs[1],))],
               kernel_attrs=('alpha',)))


def leaky_relu(features: Any, alpha: float = 0.2, name: str | None = None) -> Tensor:
    """`features` where they are positive, else `alpha` times them."""
    features = convert_to_tensor(features)
    if features.dtype.is_integer:
        features = apply('Cast', (features,), {'DstT': dtypes.float32})
    check_eager_types('LeakyRelu', (features,))
    if isinstance(alpha, str):
        raise TypeError(f"Expected float for argument 'alpha' not {alpha!r}.")
    return apply('LeakyRelu', (features,), {'alpha': float(alpha)}, name)


def silu(features: Any, beta: Any = 1.0) -> Tensor:
    """`features * sigmoid(beta * features)`."""
    features = convert_to_tensor(features)
    if features.dtype is dtypes.string:
        apply('Cast', (constant(float(beta)),), {'SrcT': dtypes.float32, 'DstT': features.dtype})   # refuses it
    return features * sigmoid(features * beta)


def gelu(features: Any, approximate: bool = False, name: str | None = None) -> Tensor:
    """`features` times the normal distribution function of them, by `erf` or (approximate) `tanh`."""
    x = convert_to_tensor(features)
    if not x.dtype.is_floating:
        raise ValueError(f'`features.dtype` must be a floating point tensor.Received:features.dtype={x.dtype}')
    if approximate:
        return 0.5 * x * (1 + tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)))
    return 0.5 * x * (1 + erf(x / math.sqrt(2)))


# ---------------------------------------------------------------- error function
def _by_element(function: Callable[[float], float]) -> Kernel:
    compute = np.frompyfunc(function, 1, 1)

    def kernel(x: Any) -> Any:
        return scalar(np.asarray(compute(np.asarray(x, np.float64))).astype(x.dtype))
    return kernel


erf = unary('erf', 'Erf', _by_element(math.erf), lambda g, x, y: g * (2 / math.sqrt(math.pi)) * exp(-square(x)), FLOAT)
erfc = unary('erfc', 'Erfc', _by_element(math.erfc), lambda g, x, y: g * (-2 / math.sqrt(math.pi)) * exp(-square(x)), FLOAT)

# ---------------------------------------------------------------- rounding and tests
def _round(x: Any) -> Any:
    return x.copy() if x.dtype.kind in 'iu' else np.rint(x)     # a copy: only `free` ops return their input


floor = unary('floor', 'Floor', np.floor, None, FLOAT)
ceil = unary('ceil', 'Ceil', np.ceil, None, FLOAT)
rint = unary('rint', 'Rint', np.rint, None, FLOAT)
round = unary('round', 'Round', _round, None, NUMBER)
is_nan = unary('is_nan', 'IsNan', np.isnan, None, FLOAT, dtype=dtypes.bool)
is_inf = unary('is_inf', 'IsInf', np.isinf, None, FLOAT, dtype=dtypes.bool)
is_finite = unary('is_finite', 'IsFinite', np.isfinite, None, FLOAT, dtype=dtypes.bool)
logical_not = unary('logical_not', 'LogicalNot', np.logical_not, None, BOOL, dtype=dtypes.bool)

# ---------------------------------------------------------------- complex numbers
unary('conj', 'Conj', np.conj, lambda g, x, y: conj(g), COMPLEX, parameter='input')


def abs(x: Any, name: str | None = None) -> Tensor:
    """The absolute value; of complex numbers a real tensor."""
    if hasattr(x, 'map_values'):                        # a composite: the op of its values
        return x.map_values(abs)
    x = convert_to_tensor(x)
    if not x.dtype.is_complex:
        check_eager_types('Abs', (x,))
    return apply('ComplexAbs' if x.dtype.is_complex else 'Abs', (x,), None, name or 'Abs')

# ---------------------------------------------------------------- bits
invert = unary('invert', 'Invert', np.invert, None, INTEGER)
