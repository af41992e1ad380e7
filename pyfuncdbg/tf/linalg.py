"""`tf.linalg`."""
from pyfuncdbg.ops.clipping import global_norm
from pyfuncdbg.ops.decompositions import eigh, eigvalsh, matrix_rank, pinv, qr, svd
from pyfuncdbg.ops.einsum import einsum
from pyfuncdbg.ops.filling import eye
from pyfuncdbg.ops.linalg import matmul, matrix_transpose, matvec, norm, tensordot
from pyfuncdbg.ops.matrices import adjoint, cholesky, cholesky_solve, det, inv, logdet, slogdet, solve, triangular_solve
from pyfuncdbg.ops.matrix_parts import band_part, diag, diag_part, set_diag, tensor_diag, tensor_diag_part, trace
from pyfuncdbg.ops.nn import l2_normalize
from pyfuncdbg.ops.normalization import normalize

__all__ = [
    'adjoint',
    'band_part',
    'cholesky',
    'cholesky_solve',
    'det',
    'diag',
    'diag_part',
    'eigh',
    'eigvalsh',
    'einsum',
    'eye',
    'global_norm',
    'inv',
    'l2_normalize',
    'logdet',
    'matmul',
    'matrix_rank',
    'matrix_transpose',
    'matvec',
    'norm',
    'normalize',
    'pinv',
    'qr',
    'set_diag',
    'slogdet',
    'solve',
    'svd',
    'tensor_diag',
    'tensor_diag_part',
    'tensordot',
    'trace',
    'triangular_solve',
]
