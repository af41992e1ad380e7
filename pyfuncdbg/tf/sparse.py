"""`tf.sparse`."""
from pyfuncdbg.hosts.numpy.ops.sparse.arithmetic import (
    add as add,
    maximum as maximum,
    minimum as minimum,
    reduce_max as reduce_max,
    reduce_sum as reduce_sum,
    sparse_dense_matmul as sparse_dense_matmul,
    to_indicator as to_indicator,
)
from pyfuncdbg.hosts.numpy.ops.sparse.arrangement import (
    concat as concat,
    expand_dims as expand_dims,
    fill_empty_rows as fill_empty_rows,
    map_values as map_values,
    mask as mask,
    reorder as reorder,
    reset_shape as reset_shape,
    reshape as reshape,
    retain as retain,
    slice as slice,
    softmax as softmax,
    split as split,
    transpose as transpose,
)
from pyfuncdbg.hosts.numpy.ops.sparse.dense import (
    eye as eye,
    from_dense as from_dense,
    sparse_placeholder as _sparse_placeholder,
    to_dense as to_dense,
)
from pyfuncdbg.hosts.numpy.ops.sparse.tensor import SparseTensor as SparseTensor
from pyfuncdbg.tf.public import publish as _publish

placeholder = _sparse_placeholder

_publish(globals())
