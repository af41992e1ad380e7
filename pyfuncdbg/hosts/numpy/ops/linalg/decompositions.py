"""Decompositions of matrices: QR, singular values, eigenvalues of symmetric ones; rank and pseudo-inverse."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pyfuncdbg.errors import UnimplementedError
from pyfuncdbg.hosts.numpy.graph.definitions.registry import Attrs, Node, OpDef, Output, TypedInput, register
from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.graph.types import dtypes
from pyfuncdbg.hosts.numpy.graph.types.shapes import UNKNOWN, TensorShape
from pyfuncdbg.hosts.numpy.ops.arrays.filling import zeros_like
from pyfuncdbg.hosts.numpy.ops.arrays.joining import concat
from pyfuncdbg.hosts.numpy.ops.arrays.reduction import reduce_max, reduce_sum
from pyfuncdbg.hosts.numpy.ops.arrays.shaping import expand_dims
from pyfuncdbg.hosts.numpy.ops.definition.cast import cast
from pyfuncdbg.hosts.numpy.ops.definition.constant import convert_to_tensor
from pyfuncdbg.hosts.numpy.ops.definition.node_scope import call, scope
from pyfuncdbg.hosts.numpy.ops.definition.shape_rules import at_least_rank, check_dtype, invalid
from pyfuncdbg.hosts.numpy.ops.elementwise.comparison import where
from pyfuncdbg.hosts.numpy.ops.elementwise.unary import reciprocal
from pyfuncdbg.hosts.numpy.ops.linalg.diagonals import band_part, diag, diag_part, set_diag
from pyfuncdbg.hosts.numpy.ops.linalg.products import matmul
from pyfuncdbg.hosts.numpy.ops.linalg.solving import SOLVABLE, adjoint, square, square_shape, triangular_solve, wide
from pyfuncdbg.hosts.numpy.runtime.eager.dispatch import apply

_SMALL = 1e-20
"""TensorFlow's regularization for equal singular values or eigenvalues."""


def _matrix(x: Any) -> None:
    if x.ndim < 2:
        raise invalid(f'Input tensor 0 must have rank >= 2, got {x.ndim}')


def _sides(x: TypedInput) -> tuple[TensorShape | None, int | None, int | None]:
    """The batch shape, rows and columns."""
    sizes = at_least_rank(x.shape, 2).sizes
    return (None, None, None) if sizes is None else (TensorShape.of(sizes[:-2]), sizes[-2], sizes[-1])


def _least(m: int | None, n: int | None) -> int | None:
    return None if m is None or n is None else min(m, n)


def _safe_reciprocal(x: Any) -> Any:
    return x * reciprocal(x * x + _SMALL)


def _gaps(x: Any) -> Any:
    """The matrices of 1 / (x_j - x_i), 0 on the diagonal."""
    return set_diag(_safe_reciprocal(expand_dims(x, -2) - expand_dims(x, -1)), zeros_like(x))


# ---------------------------------------------------------------- QR
def _qr(x: Any, full_matrices: bool = False) -> tuple[Any, Any]:
    _matrix(x)
    q, r = np.linalg.qr(wide(x), 'complete' if full_matrices else 'reduced')
    return q.astype(x.dtype), r.astype(x.dtype)


def _qr_types(inputs: Sequence[TypedInput], attrs: Attrs) -> list[Output]:
    x = inputs[0]
    check_dtype('Qr', 'input', x.dtype, SOLVABLE)
    outer, m, n = _sides(x)
    if outer is None:
        return [(x.dtype, UNKNOWN), (x.dtype, UNKNOWN)]
    inner = m if attrs.get('full_matrices') else _least(m, n)
    return [(x.dtype, outer.concatenate(TensorShape.of(sizes))) for sizes in ((m, inner), (inner, n))]


def _qr_gradient(node: Node, dq: Tensor, dr: Tensor) -> Sequence[Any]:
    """https://arxiv.org/abs/2009.10071, as in TensorFlow."""
    q, r = node.outputs
    rows, columns = (r.shape.sizes or (None, None))[-2:]
    if rows is None or columns is None:
        raise NotImplementedError(f'QrGrad not implemented with dynamic shapes. Received r.shape: {r.shape}')
    if rows > columns and q.shape[-2] == q.shape[-1]:
        raise NotImplementedError('QrGrad not implemented when nrows > ncols and full_matrices is true. Received r.shape='
                                  f'{r.shape} with nrows={rows}and ncols={columns}.')
    m = q.shape[-2]
    if m is None or m >= columns:
        return [_deep_qr_gradient(q, r, dq, dr)]
    y = node.inputs[0][..., :, m:]
    dv = dr[..., :, m:]
    of_x = _deep_qr_gradient(q, r[..., :, :m], dq + matmul(y, dv, adjoint_b=True), dr[..., :, :m])
    return [concat([of_x, matmul(q, dv)], -1)]


def _deep_qr_gradient(q: Any, r: Any, dq: Any, dr: Any) -> Any:
    def divided(x: Any) -> Any:
        return adjoint(triangular_solve(r, adjoint(x), lower=False))
    qdq, rdr = matmul(q, dq, adjoint_a=True), matmul(r, dr, adjoint_b=True)
    low = band_part(qdq - adjoint(qdq) + rdr - adjoint(rdr), -1, 0)
    of_x = matmul(q, dr + divided(low)) + divided(dq - matmul(q, qdq))
    if q.dtype.is_complex:
        m = rdr - adjoint(qdq)
        skew = set_diag(zeros_like(m), diag_part(m))
        correction = skew - cast(apply('Real', (skew,)), q.dtype)
        of_x = of_x + divided(matmul(q, adjoint(correction)))
    return of_x


register(OpDef('Qr', _qr, _qr_types, _qr_gradient, outputs=2, kernel_attrs=('full_matrices',)))


def qr(input: Any, full_matrices: bool = False, name: str | None = None) -> tuple[Tensor, Tensor]:
    """The orthogonal and the upper triangular factors of matrices."""
    q, r = call('Qr', {'input': input}, {'full_matrices': full_matrices}, name)
    return q, r


# ---------------------------------------------------------------- singular values
def _svd(x: Any, compute_uv: bool = True, full_matrices: bool = False) -> tuple[Any, Any, Any]:
    _matrix(x)
    real = wide(x).real.dtype
    empty = np.zeros(0, x.dtype)
    if not compute_uv:
        return np.linalg.svd(wide(x), compute_uv=False).astype(real).astype(x.dtype), empty, empty
    u, s, vh = np.linalg.svd(wide(x), full_matrices)
    return s.astype(x.dtype), u.astype(x.dtype), np.ascontiguousarray(np.conj(np.swapaxes(vh, -1, -2))).astype(x.dtype)


def _svd_types(inputs: Sequence[TypedInput], attrs: Attrs) -> list[Output]:
    x = inputs[0]
    check_dtype('Svd', 'input', x.dtype, SOLVABLE)
    outer, m, n = _sides(x)
    if outer is None:
        return [(x.dtype, UNKNOWN)] * 3
    inner = _least(m, n)
    s = (x.dtype, outer.concatenate(TensorShape.of((inner,))))
    if not attrs.get('compute_uv', True):
        return [s, (x.dtype, TensorShape.of((0,))), (x.dtype, TensorShape.of((0,)))]
    full = attrs.get('full_matrices')
    return [s, (x.dtype, outer.concatenate(TensorShape.of((m, m if full else inner)))),
            (x.dtype, outer.concatenate(TensorShape.of((n, n if full else inner))))]


def _svd_gradient(node: Node, of_s: Tensor, of_u: Tensor, of_v: Tensor) -> Sequence[Any]:
    """Giles' and Townsend's formulas, as in TensorFlow."""
    a = node.inputs[0]
    middle = diag(of_s)
    if not node.attrs.get('compute_uv', True):
        _, u, v = apply('Svd', (a,), {'compute_uv': True, 'full_matrices': False})
        return [matmul(u, matmul(middle, v, adjoint_b=True))]
    m, n = (a.shape.sizes or (None, None))[-2:]
    if m is None or n is None:
        raise NotImplementedError('SVD gradient has not been implemented for input with unknown inner matrix shape.')
    if node.attrs.get('full_matrices') and abs(m - n) > 1:
        raise NotImplementedError('svd gradient is not implemented for abs(m - n) > 1 when full_matrices is True. Received: '
                                  f'm={m} and n={n} from op input={a} with shape={a.shape}.')
    s, u, v = node.outputs
    if m <= n:
        return [_wide_svd_gradient(node, s, u, v, middle, of_u, of_v, m, n)]
    return [adjoint(_wide_svd_gradient(node, s, v, u, middle, of_v, of_u, n, m))]


def _wide_svd_gradient(node: Node, s: Any, u: Any, v: Any, of_s: Any, of_u: Any, of_v: Any, m: int, n: int) -> Any:
    """For matrices with at most as many rows as columns."""
    f = _gaps(s * s)
    inverse = diag(_safe_reciprocal(s))
    v1, of_v1 = v[..., :, :m], of_v[..., :, :m]
    by_v = matmul(v1, of_v1, adjoint_a=True)
    f_u, f_v = f * matmul(u, of_u, adjoint_a=True), f * by_v
    sizes = diag(s)
    inner = of_s + matmul(f_u + adjoint(f_u), sizes) + matmul(sizes, f_v + adjoint(f_v))
    of_x = matmul(u, matmul(inner, v1, adjoint_b=True))
    if m != n:
        back = adjoint(of_v1)
        rest = back - matmul(matmul(back, v1), v1, adjoint_b=True)
        if node.attrs.get('full_matrices'):
            v2, of_v2 = v[..., :, m:n], of_v[..., :, m:n]
            rest = rest - matmul(matmul(v1, of_v2, adjoint_a=True), v2, adjoint_b=True)
        of_x = of_x + matmul(matmul(u, inverse), rest)
    if u.dtype.is_complex:
        turn = set_diag(zeros_like(by_v), diag_part(by_v))
        of_x = of_x + 0.5 * matmul(u, matmul(matmul(inverse, adjoint(turn) - turn), v1, adjoint_b=True))
    return of_x


register(OpDef('Svd', _svd, _svd_types, _svd_gradient, outputs=3, kernel_attrs=('compute_uv', 'full_matrices')))


def svd(tensor: Any, full_matrices: bool = False, compute_uv: bool = True, name: str | None = None) -> Any:
    """The singular values of matrices, largest first, and (`compute_uv`) the left and right singular vectors."""
    x = convert_to_tensor(tensor)
    s, u, v = call('Svd', {'input': x}, {'compute_uv': compute_uv, 'full_matrices': full_matrices}, name)
    s = apply('Real', (s,), {'Tout': s.dtype.real_dtype}) if s.dtype.is_complex else s
    return (s, u, v) if compute_uv else s


# ---------------------------------------------------------------- eigenvalues
def _eigh(x: Any, compute_v: bool = True) -> tuple[Any, Any]:
    square(x)
    if not compute_v:
        return np.linalg.eigvalsh(wide(x)).astype(x.dtype), np.zeros(0, x.dtype)
    e, v = np.linalg.eigh(wide(x))
    return e.astype(x.dtype), v.astype(x.dtype)


def _eigh_types(inputs: Sequence[TypedInput], attrs: Attrs) -> list[Output]:
    x = inputs[0]
    check_dtype('SelfAdjointEigV2', 'input', x.dtype, SOLVABLE)
    shape = square_shape(x)
    vectors = shape if attrs.get('compute_v', True) else TensorShape.of((0,))
    return [(x.dtype, shape[:-1] if shape.sizes is not None else UNKNOWN), (x.dtype, vectors)]


def _eigh_gradient(node: Node, of_e: Tensor, of_v: Tensor) -> Sequence[Any]:
    e, v = node.outputs
    inner = diag(of_e)
    if node.attrs.get('compute_v', True):
        inner = inner + _gaps(e) * matmul(v, of_v, adjoint_a=True)
    else:
        v = apply('SelfAdjointEigV2', (node.inputs[0],), {'compute_v': True})[1]
    of_x = matmul(v, matmul(inner, v, adjoint_b=True))
    low = band_part(of_x + adjoint(of_x), -1, 0)         # only the lower triangle is used
    return [set_diag(low, 0.5 * diag_part(low))]


register(OpDef('SelfAdjointEigV2', _eigh, _eigh_types, _eigh_gradient, outputs=2, kernel_attrs=('compute_v',)))


def eigh(tensor: Any, name: str | None = None) -> tuple[Tensor, Tensor]:
    """The eigenvalues of symmetric (complex: Hermitian) matrices in rising order, and the eigenvectors as columns."""
    e, v = call('SelfAdjointEigV2', {'input': tensor}, {'compute_v': True}, name)
    return (apply('Real', (e,), {'Tout': e.dtype.real_dtype}) if e.dtype.is_complex else e), v


def eigvalsh(tensor: Any, name: str | None = None) -> Tensor:
    """The eigenvalues of symmetric (complex: Hermitian) matrices in rising order."""
    e, _ = call('SelfAdjointEigV2', {'input': tensor}, {'compute_v': False}, name)
    return apply('Real', (e,), {'Tout': e.dtype.real_dtype}) if e.dtype.is_complex else e


# ---------------------------------------------------------------- by singular values
def matrix_rank(a: Any, tol: Any = None, validate_args: bool = False, name: str | None = None) -> Tensor:
    """The number of singular values above `tol` (by default TensorFlow's, from the dtype and the sizes), int32."""
    with scope(name, 'matrix_rank'):
        x = convert_to_tensor(a)
        s = svd(x, compute_uv=False)
        return reduce_sum(cast(s > (_tolerance(x, s) if tol is None else tol), dtypes.int32), -1)


def _tolerance(x: Any, s: Any) -> Any:
    if x.shape.sizes is None or None in x.shape.sizes[-2:]:
        raise UnimplementedError(None, None, 'the default tolerance needs matrices of known sizes')
    epsilon = float(np.finfo(x.dtype.as_numpy_dtype).eps)
    return epsilon * max(x.shape.sizes[-2:]) * reduce_max(s, -1, keepdims=True)


def pinv(a: Any, rcond: Any = None, validate_args: bool = False, name: str | None = None) -> Tensor:
    """The pseudo-inverses of matrices; singular values up to `rcond` times the largest count as 0."""
    with scope(name, 'pinv'):
        x = convert_to_tensor(a)
        if rcond is None:
            rcond = 10.0 * max(x.shape[-2], x.shape[-1]) * float(np.finfo(x.dtype.as_numpy_dtype).eps)
        s, u, v = svd(x)
        cutoff = convert_to_tensor(rcond, s.dtype) * reduce_max(s, -1, keepdims=True)
        s = where(s > cutoff, s, convert_to_tensor(np.inf, s.dtype))
        return matmul(v / expand_dims(cast(s, x.dtype), -2), u, adjoint_b=True)
