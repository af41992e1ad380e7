"""Complex tensors: their parts, absolute value and angle."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pyfuncdbg.hosts.numpy.graph.definitions.registry import Attrs, Kernel, Node, OpDef, Output, TypedInput, register
from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.graph.types import dtypes
from pyfuncdbg.hosts.numpy.ops.definition.broadcast import unbroadcast
from pyfuncdbg.hosts.numpy.ops.definition.constant import convert_to_tensor
from pyfuncdbg.hosts.numpy.ops.definition.shape_rules import COMPLEX, FLOAT, broadcast_rule, check_dtype
from pyfuncdbg.hosts.numpy.ops.elementwise.binary import div_no_nan
from pyfuncdbg.hosts.numpy.ops.elementwise.unary import reciprocal, scalar
from pyfuncdbg.hosts.numpy.runtime.eager.dispatch import apply

_COMPLEX = {dtypes.float32: dtypes.complex64, dtypes.float64: dtypes.complex128}


def _part(op: str, kernel: Kernel, gradient: Callable[[Tensor, Any, Any], Tensor]) -> None:
    """Define an op that gives a real tensor for a complex one."""
    def infer(inputs: Sequence[TypedInput], attrs: Attrs) -> list[Output]:
        check_dtype(op, 'input', inputs[0].dtype, COMPLEX)
        return [(inputs[0].dtype.real_dtype, inputs[0].shape)]
    register(OpDef(op, kernel, infer, lambda node, grad: [gradient(grad, node.inputs[0], node.outputs[0])]))


def _zeros(x: Tensor) -> Any:
    return apply('ZerosLike', (x,))


_part('Real', lambda x: x.real, lambda g, x, y: complex(g, _zeros(g)))
_part('Imag', lambda x: x.imag, lambda g, x, y: complex(_zeros(g), g))
_part('Angle', np.angle, lambda g, x, y: -complex(g, _zeros(g)) * reciprocal(complex(imag(x), real(x))))
_part('ComplexAbs', np.abs, lambda g, x, y: div_no_nan(complex(g, _zeros(g)), complex(y, _zeros(y))) * x)


def _complex(x: Any, y: Any) -> Any:
    # Not x + 1j * y, which makes NaNs of infinities.
    result = np.empty(np.broadcast_shapes(x.shape, y.shape), np.complex64 if x.dtype == np.float32 else np.complex128)
    result.real, result.imag = x, y
    return scalar(result)


def _complex_types(inputs: Sequence[TypedInput], attrs: Attrs) -> list[Output]:
    ((dtype, shape),) = broadcast_rule('Complex', FLOAT[2:], ('real', 'imag'))(inputs, attrs)
    return [(_COMPLEX[dtype], shape)]


def _complex_gradient(node: Node, grad: Tensor) -> Sequence[Any]:
    x, y = node.inputs
    return unbroadcast(x, y, real(grad), imag(grad))


register(OpDef('Complex', _complex, _complex_types, _complex_gradient))


def complex(real: Any, imag: Any, name: str | None = None) -> Tensor:
    """A complex tensor from its parts, both float32 or both float64.

    Raises:
        TypeError: Other dtypes.
    """
    real, imag = convert_to_tensor(real), convert_to_tensor(imag)
    if real.dtype is not imag.dtype or real.dtype not in _COMPLEX:
        raise TypeError(f'The `real` and `imag` components have incorrect types: {real.dtype.name} {imag.dtype.name}. '
                        f'They must be consistent, and one of {list(_COMPLEX)}')
    return apply('Complex', (real, imag), None, name)


def real(input: Any, name: str | None = None) -> Tensor:
    """The real part; a real tensor is returned as it is."""
    x = convert_to_tensor(input)
    if not x.dtype.is_numeric:
        raise TypeError(f'input must be a numeric tensor, but got tensor with dtype {x.dtype}')
    return apply('Real', (x,), None, name) if x.dtype.is_complex else x


def imag(input: Any, name: str | None = None) -> Tensor:
    """The imaginary part; zeros for a real tensor."""
    x = convert_to_tensor(input)
    return apply('Imag', (x,), None, name) if x.dtype.is_complex else _zeros(x)


def angle(input: Any, name: str | None = None) -> Tensor:
    """The argument of each element in radians; of a real tensor 0 or pi."""
    x = convert_to_tensor(input)
    if x.dtype.is_complex:
        return apply('Angle', (x,), None, name)
    return apply('SelectV2', (x < 0, np.pi * apply('OnesLike', (x,)), _zeros(x)), None, name)
