"""`tf.linalg`."""
from pyfuncdbg.ops.filling import eye
from pyfuncdbg.ops.linalg import matmul, matrix_transpose, matvec, norm, tensordot
from pyfuncdbg.ops.nn import l2_normalize

__all__ = [
    'eye', 'l2_normalize', 'matmul', 'matrix_transpose', 'matvec', 'norm', 'tensordot',
]
