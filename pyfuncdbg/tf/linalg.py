"""`tf.linalg`."""
from pyfuncdbg.hosts.numpy.ops.arrays.filling import eye as eye
from pyfuncdbg.hosts.numpy.ops.linalg.decompositions import (
    eigh as eigh,
    eigvalsh as eigvalsh,
    matrix_rank as matrix_rank,
    pinv as pinv,
    qr as qr,
    svd as svd,
)
from pyfuncdbg.hosts.numpy.ops.linalg.diagonals import (
    band_part as band_part,
    diag as diag,
    diag_part as diag_part,
    set_diag as set_diag,
    tensor_diag as tensor_diag,
    tensor_diag_part as tensor_diag_part,
    trace as trace,
)
from pyfuncdbg.hosts.numpy.ops.linalg.products import (
    matmul as matmul,
    matrix_transpose as matrix_transpose,
    matvec as matvec,
    norm as norm,
    tensordot as tensordot,
)
from pyfuncdbg.hosts.numpy.ops.linalg.solving import (
    adjoint as adjoint,
    cholesky as cholesky,
    cholesky_solve as cholesky_solve,
    det as det,
    inv as inv,
    logdet as logdet,
    slogdet as slogdet,
    solve as solve,
    triangular_solve as triangular_solve,
)
from pyfuncdbg.hosts.numpy.ops.nn.layers import l2_normalize as l2_normalize
from pyfuncdbg.hosts.numpy.ops.nn.normalization import normalize as normalize
from pyfuncdbg.hosts.numpy.ops.sums.einsum import einsum as einsum
from pyfuncdbg.hosts.numpy.ops.training.clipping import global_norm as global_norm
from pyfuncdbg.tf.public import publish as _publish

_publish(globals())
