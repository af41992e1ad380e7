"""Matrices as linear maps: inverse, determinant, systems of equations, Cholesky decomposition; by LAPACK through NumPy."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pyfuncdbg.hosts.numpy.graph.definitions.registry import Attrs, Node, OpDef, Output, TypedInput, register
from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.graph.types import dtypes
from pyfuncdbg.hosts.numpy.graph.types.shapes import UNKNOWN, TensorShape
from pyfuncdbg.hosts.numpy.ops.arrays.filling import eye
from pyfuncdbg.hosts.numpy.ops.arrays.reduction import reduce_sum
from pyfuncdbg.hosts.numpy.ops.definition.broadcast import sizes_of
from pyfuncdbg.hosts.numpy.ops.definition.constant import constant, convert_to_tensor
from pyfuncdbg.hosts.numpy.ops.definition.node_scope import call, scope
from pyfuncdbg.hosts.numpy.ops.definition.shape_rules import (
    Allowed,
    at_least_rank,
    broadcast_shapes,
    check_dtype,
    check_same_dtype,
    invalid,
    merged,
)
from pyfuncdbg.hosts.numpy.ops.elementwise.complex_numbers import real
from pyfuncdbg.hosts.numpy.ops.elementwise.unary import log
from pyfuncdbg.hosts.numpy.ops.linalg.diagonals import band_part, diag_part, set_diag
from pyfuncdbg.hosts.numpy.ops.linalg.products import matmul, matrix_transpose
from pyfuncdbg.hosts.numpy.runtime.eager.dispatch import apply

SOLVABLE: Allowed = (dtypes.float64, dtypes.float32, dtypes.float16, dtypes.complex64, dtypes.complex128)


# ---------------------------------------------------------------- shapes
def square(x: Any) -> None:
    """Refuse arrays that are no square matrices, in a kernel."""
    if x.ndim < 2:
        raise invalid(f'Input tensor 0 must have rank >= 2, got {x.ndim}')
    if x.shape[-1] != x.shape[-2]:
        raise invalid('Input matrix must be square.')


def square_shape(x: TypedInput) -> TensorShape:
    """The static shape of square matrices.

    Raises:
        ValueError: They are no square matrices.
    """
    shape = at_least_rank(x.shape, 2)
    if shape.sizes is None:
        return shape
    m, n = shape.sizes[-2:]
    if None not in (m, n) and m != n:
        raise ValueError(f'Dimensions must be equal, but are {m} and {n}')
    side = n if m is None else m
    return TensorShape.of((*shape.sizes[:-2], side, side))


def _square_rule(op: str) -> Callable[[Sequence[TypedInput], Attrs], Sequence[Output]]:
    def infer(inputs: Sequence[TypedInput], attrs: Attrs) -> list[Output]:
        check_dtype(op, 'input', inputs[0].dtype, SOLVABLE)
        return [(inputs[0].dtype, square_shape(inputs[0]))]
    return infer


def wide(x: Any) -> Any:
    """float16 as float32: LAPACK has no smaller floats."""
    return x.astype(np.float32) if x.dtype == np.float16 else x


def adjoint_of(x: Any) -> Any:
    """The conjugate transpose of arrays."""
    return np.conj(np.swapaxes(x, -1, -2))


def adjoint(matrix: Any, name: str | None = None) -> Tensor:
    """The conjugate transpose of matrices."""
    with scope(name, 'adjoint'):
        return matrix_transpose(convert_to_tensor(matrix), conjugate=True)


# ---------------------------------------------------------------- inverse, determinant
def _inverse(x: Any, adjoint: bool = False) -> Any:
    square(x)
    try:
        return np.linalg.inv(wide(adjoint_of(x) if adjoint else x)).astype(x.dtype)
    except np.linalg.LinAlgError:
        raise invalid('Input is not invertible.') from None


def _inverse_gradient(node: Node, grad: Tensor) -> Sequence[Any]:
    y, flipped = node.outputs[0], bool(node.attrs.get('adjoint'))
    inner = matmul(grad, y, adjoint_a=flipped, adjoint_b=not flipped)
    return [-matmul(y, inner, adjoint_a=not flipped)]


register(OpDef('MatrixInverse', _inverse, _square_rule('MatrixInverse'), _inverse_gradient, kernel_attrs=('adjoint',)))


def inv(input: Any, adjoint: bool = False, name: str | None = None) -> Tensor:
    """The inverse of square matrices (`adjoint`: of their conjugate transposes).

    Raises:
        InvalidArgumentError: A matrix is singular.
    """
    return call('MatrixInverse', {'input': input}, {'adjoint': adjoint}, name)


def _determinant(x: Any) -> Any:
    square(x)
    return np.linalg.det(wide(x)).astype(x.dtype)[()]


def _determinant_types(inputs: Sequence[TypedInput], attrs: Attrs) -> list[Output]:
    check_dtype('MatrixDeterminant', 'input', inputs[0].dtype, SOLVABLE)
    return [(inputs[0].dtype, square_shape(inputs[0])[:-2])]


def _as_factors(grad: Any) -> Any:
    """One number per matrix, with two axes of size 1 to multiply it by."""
    sizes = apply('ConcatV2', (sizes_of(grad), constant(np.array([1, 1], np.int32)), constant(np.int32(0))))
    return apply('Reshape', (grad, sizes))


def _determinant_gradient(node: Node, grad: Tensor) -> Sequence[Any]:
    return [_as_factors(grad * node.outputs[0]) * inv(node.inputs[0], adjoint=True)]


register(OpDef('MatrixDeterminant', _determinant, _determinant_types, _determinant_gradient))


def det(input: Any, name: str | None = None) -> Tensor:
    """The determinants of square matrices."""
    return call('MatrixDeterminant', {'input': input}, None, name)


def _log_determinant(x: Any) -> tuple[Any, Any]:
    square(x)
    sign, size = np.linalg.slogdet(wide(x))
    return np.asarray(sign).astype(x.dtype)[()], np.asarray(size).astype(x.dtype)[()]


def _log_determinant_types(inputs: Sequence[TypedInput], attrs: Attrs) -> list[Output]:
    check_dtype('LogMatrixDeterminant', 'input', inputs[0].dtype, SOLVABLE)
    outer = square_shape(inputs[0])[:-2]
    return [(inputs[0].dtype, outer), (inputs[0].dtype, outer)]


register(OpDef('LogMatrixDeterminant', _log_determinant, _log_determinant_types,
               lambda node, _, grad: [_as_factors(grad) * inv(node.inputs[0], adjoint=True)], outputs=2))


def slogdet(input: Any, name: str | None = None) -> tuple[Tensor, Tensor]:
    """The signs of the determinants, and the logarithms of their absolute values."""
    sign, size = call('LogMatrixDeterminant', {'input': input}, None, name)
    return sign, size


def logdet(matrix: Any, name: str | None = None) -> Tensor:
    """The logarithms of the determinants of positive definite matrices."""
    with scope(name, 'logdet'):
        chol = cholesky(matrix)
        return 2.0 * reduce_sum(log(real(diag_part(chol))), [-1])


# ---------------------------------------------------------------- systems of equations
def _solve(a: Any, b: Any, adjoint: bool = False) -> Any:
    square(a)
    _fit(a, b)
    try:
        return np.linalg.solve(wide(adjoint_of(a) if adjoint else a), wide(b)).astype(a.dtype)
    except np.linalg.LinAlgError:
        raise invalid('Input matrix is not invertible.') from None


def _fit(a: Any, b: Any) -> None:
    if a.ndim != b.ndim:
        raise invalid('All input tensors must have the same rank.')
    if b.ndim < 2 or a.shape[-1] != b.shape[-2]:
        raise invalid('Input matrix and rhs are incompatible.')


def _solve_types(op: str) -> Callable[[Sequence[TypedInput], Attrs], Sequence[Output]]:
    def infer(inputs: Sequence[TypedInput], attrs: Attrs) -> list[Output]:
        a, b = inputs
        check_dtype(op, 'matrix', a.dtype, (*SOLVABLE, dtypes.bfloat16) if op == 'MatrixTriangularSolve' else SOLVABLE)
        check_same_dtype(op, ('matrix', 'rhs'), inputs)
        matrix_shape, rhs_shape = square_shape(a), at_least_rank(b.shape, 2)
        if matrix_shape.sizes is None or rhs_shape.sizes is None:
            return [(a.dtype, UNKNOWN)]
        outer = (broadcast_shapes if op == 'MatrixTriangularSolve' else merged)(matrix_shape[:-2], rhs_shape[:-2])
        rows = merged(matrix_shape[-1:], rhs_shape[-2:-1])
        return [(a.dtype, outer.concatenate(rows).concatenate(rhs_shape[-1:]))]
    return infer


def _by_solution(node: Node, grad: Tensor, of_b: Any) -> Any:
    """The gradient by the matrix of a system, from the gradient by the right side."""
    x = node.outputs[0]
    return -matmul(x, of_b, adjoint_b=True) if node.attrs.get('adjoint') else -matmul(of_b, x, adjoint_b=True)


def _solve_gradient(node: Node, grad: Tensor) -> Sequence[Any]:
    of_b = solve(node.inputs[0], grad, adjoint=not node.attrs.get('adjoint'))
    return [_by_solution(node, grad, of_b), of_b]


register(OpDef('MatrixSolve', _solve, _solve_types('MatrixSolve'), _solve_gradient, kernel_attrs=('adjoint',)))


def solve(matrix: Any, rhs: Any, adjoint: bool = False, name: str | None = None) -> Tensor:
    """The solutions of `matrix @ x = rhs`.

    Raises:
        InvalidArgumentError: A matrix is singular.
    """
    return call('MatrixSolve', {'matrix': matrix, 'rhs': rhs}, {'adjoint': adjoint}, name)


def _triangular_solve(a: Any, b: Any, lower: bool = True, adjoint: bool = False) -> Any:
    square(a)
    _fit(a, b)
    outer = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    matrix, right = np.broadcast_to(_float32(a), (*outer, *a.shape[-2:])), _float32(b)
    if adjoint:
        matrix, lower = adjoint_of(matrix), not lower
    rows = range(a.shape[-1]) if lower else range(a.shape[-1] - 1, -1, -1)
    result = np.zeros((*matrix.shape[:-1], b.shape[-1]), matrix.dtype)
    for i in rows:          # a 0 on the diagonal gives inf and NaN, as in TensorFlow
        solved = slice(0, i) if lower else slice(i + 1, None)
        sums = (matrix[..., i:i + 1, solved] @ result[..., solved, :])[..., 0, :]
        result[..., i, :] = (right[..., i, :] - sums) / matrix[..., i, i, None]
    return result.astype(a.dtype)


def _float32(x: Any) -> Any:
    return x.astype(np.float32) if x.dtype.kind == 'V' or x.dtype.itemsize == 2 else x


def _triangular_gradient(node: Node, grad: Tensor) -> Sequence[Any]:
    a, b = node.inputs
    lower = node.attrs.get('lower', True)
    of_b = triangular_solve(a, grad, lower=lower, adjoint=not node.attrs.get('adjoint'))
    of_a = _by_solution(node, grad, of_b)
    of_a = band_part(of_a, -1, 0) if lower else band_part(of_a, 0, -1)
    if a.shape.sizes is not None and b.shape.sizes is not None and a.shape.sizes[:-2] == b.shape.sizes[:-2] and (
            None not in a.shape.sizes[:-2]):
        return [of_a, of_b]
    sizes = sizes_of(a), sizes_of(b)
    axes = apply('BroadcastGradientArgs', (sizes[0][:-2], sizes[1][:-2]))
    return [apply('Reshape', (apply('Sum', (g, axis), {'keep_dims': False}), size))
            for g, axis, size in zip((of_a, of_b), axes, sizes, strict=True)]


register(OpDef('MatrixTriangularSolve', _triangular_solve, _solve_types('MatrixTriangularSolve'), _triangular_gradient,
               kernel_attrs=('lower', 'adjoint')))


def triangular_solve(matrix: Any, rhs: Any, lower: bool = True, adjoint: bool = False, name: str | None = None) -> Tensor:
    """The solutions of `matrix @ x = rhs`, where only one triangle of the matrices is used."""
    return call('MatrixTriangularSolve', {'matrix': matrix, 'rhs': rhs}, {'lower': lower, 'adjoint': adjoint}, name)


# ---------------------------------------------------------------- Cholesky
def _cholesky(x: Any) -> Any:
    square(x)
    lower = np.tril(wide(x))
    diagonal = np.einsum('...ii->...i', lower)
    symmetric = lower + adjoint_of(lower)
    np.einsum('...ii->...i', symmetric)[...] = diagonal
    flat = symmetric.reshape(-1, *x.shape[-2:])
    return np.array([_one_cholesky(matrix) for matrix in flat], symmetric.dtype).reshape(x.shape).astype(x.dtype)


def _one_cholesky(matrix: Any) -> Any:
    try:
        return np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        return np.tril(np.full_like(matrix, np.nan))        # as in TensorFlow


def _cholesky_gradient(node: Node, grad: Tensor) -> Sequence[Any]:
    y = node.outputs[0]
    sizes = sizes_of(y)
    inverse = triangular_solve(y, eye(sizes[-1], batch_shape=sizes[:-2], dtype=y.dtype))
    middle = matmul(y, grad, adjoint_a=True)
    middle = band_part(set_diag(middle, 0.5 * diag_part(middle)), -1, 0)
    of_x = matmul(matmul(inverse, middle, adjoint_a=True), inverse)
    return [(of_x + adjoint(of_x)) * 0.5]


register(OpDef('Cholesky', _cholesky, _square_rule('Cholesky'), _cholesky_gradient))


def cholesky(input: Any, name: str | None = None) -> Tensor:
    """The lower triangles `L` with `L @ adjoint(L) = input`; only the lower triangle of the input is used.
    A matrix that is not positive definite gives NaN.
    """
    return call('Cholesky', {'input': input}, None, name)


def cholesky_solve(chol: Any, rhs: Any, name: str | None = None) -> Tensor:
    """The solutions of `A @ x = rhs` where `chol` is the Cholesky decomposition of A."""
    with scope(name, 'cholesky_solve'):
        return triangular_solve(chol, triangular_solve(chol, rhs), adjoint=True)
