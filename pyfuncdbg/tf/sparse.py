"""`tf.sparse`."""
from pyfuncdbg.hosts.numpy.ops.sparse.arithmetic import (
    add,
    maximum,
    minimum,
    reduce_max,
    reduce_sum,
    sparse_dense_matmul,
    to_indicator,
)
from pyfuncdbg.hosts.numpy.ops.sparse.arrangement import (
    concat,
    expand_dims,
    fill_empty_rows,
    map_values,
    mask,
    reorder,
    reset_shape,
    reshape,
    retain,
    slice,
    softmax,
    split,
    transpose,
)
from pyfuncdbg.hosts.numpy.ops.sparse.dense import eye, from_dense, to_dense
from pyfuncdbg.hosts.numpy.ops.sparse.dense import sparse_placeholder as placeholder
from pyfuncdbg.hosts.numpy.ops.sparse.tensor import SparseTensor
from pyfuncdbg.tf.public import publish as _publish

__all__ = ['SparseTensor', 'add', 'concat', 'expand_dims', 'eye', 'fill_empty_rows', 'from_dense', 'map_values', 'mask',
           'maximum', 'minimum', 'placeholder', 'reduce_max', 'reduce_sum', 'reorder', 'reset_shape', 'reshape', 'retain',
           'slice', 'softmax', 'sparse_dense_matmul', 'split', 'to_dense', 'to_indicator', 'transpose']

_publish(globals())
