"""`tf.linalg`."""
from pyfuncdbg.hosts.numpy.ops.arrays.filling import eye
from pyfuncdbg.hosts.numpy.ops.linalg.decompositions import eigh, eigvalsh, matrix_rank, pinv, qr, svd
from pyfuncdbg.hosts.numpy.ops.linalg.diagonals import (
    band_part,
    diag,
    diag_part,
    set_diag,
    tensor_diag,
    tensor_diag_part,
    trace,
)
from pyfuncdbg.hosts.numpy.ops.linalg.products import matmul, matrix_transpose, matvec, norm, tensordot
from pyfuncdbg.hosts.numpy.ops.linalg.solving import (
    adjoint,
    cholesky,
    cholesky_solve,
    det,
    inv,
    logdet,
    slogdet,
    solve,
    triangular_solve,
)
from pyfuncdbg.hosts.numpy.ops.nn.layers import l2_normalize
from pyfuncdbg.hosts.numpy.ops.nn.normalization import normalize
from pyfuncdbg.hosts.numpy.ops.sums.einsum import einsum
from pyfuncdbg.hosts.numpy.ops.training.clipping import global_norm
from pyfuncdbg.tf.public import publish as _publish

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

_publish(globals())
