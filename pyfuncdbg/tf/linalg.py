"""`tf.linalg`."""
from pyfuncdbg.ops.clipping import global_norm
from pyfuncdbg.ops.einsum import einsum
from pyfuncdbg.ops.filling import eye
from pyfuncdbg.ops.linalg import matmul, matrix_transpose, matvec, norm, tensordot
from pyfuncdbg.ops.nn import l2_normalize

__all__ = [
    'einsum',
    'eye',
    'global_norm',
    'l2_normalize',
    'matmul',
    'matrix_transpose',
    'matvec',
    'norm',
    'tensordot',
]
