"""Names of composites at top level of `tf`, in both versions."""
from pyfuncdbg.hosts.numpy.graph.types.spec import type_spec_from_value as type_spec_from_value
from pyfuncdbg.hosts.numpy.ops.definition.broadcast import (
    broadcast_dynamic_shape as broadcast_dynamic_shape,
    broadcast_static_shape as broadcast_static_shape,
)
from pyfuncdbg.hosts.numpy.ops.ragged.spec import RaggedTensorSpec as RaggedTensorSpec
from pyfuncdbg.hosts.numpy.ops.ragged.tensor import RaggedTensor as RaggedTensor
from pyfuncdbg.hosts.numpy.ops.ragged.value import RaggedTensorValue as RaggedTensorValue
from pyfuncdbg.hosts.numpy.ops.sparse.dense import (
    sparse_placeholder as sparse_placeholder,
    sparse_to_dense as sparse_to_dense,
)
from pyfuncdbg.hosts.numpy.ops.sparse.tensor import (
    SparseTensor as SparseTensor,
    SparseTensorSpec as SparseTensorSpec,
    SparseTensorValue as SparseTensorValue,
)
from pyfuncdbg.hosts.numpy.runtime.backward.indexed_slices import (
    IndexedSlices as IndexedSlices,
    IndexedSlicesSpec as IndexedSlicesSpec,
    IndexedSlicesValue as IndexedSlicesValue,
)
