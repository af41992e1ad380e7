"""Names of composites at top level of `tf`, in both versions."""
from pyfuncdbg.hosts.numpy.graph.types.spec import type_spec_from_value
from pyfuncdbg.hosts.numpy.ops.definition.broadcast import broadcast_dynamic_shape, broadcast_static_shape
from pyfuncdbg.hosts.numpy.ops.ragged.spec import RaggedTensorSpec
from pyfuncdbg.hosts.numpy.ops.ragged.tensor import RaggedTensor
from pyfuncdbg.hosts.numpy.ops.ragged.value import RaggedTensorValue
from pyfuncdbg.hosts.numpy.ops.sparse.dense import sparse_placeholder, sparse_to_dense
from pyfuncdbg.hosts.numpy.ops.sparse.tensor import SparseTensor, SparseTensorSpec, SparseTensorValue
from pyfuncdbg.hosts.numpy.runtime.backward.indexed_slices import IndexedSlices, IndexedSlicesSpec, IndexedSlicesValue

__all__ = [
           'IndexedSlices',
           'IndexedSlicesSpec',
           'IndexedSlicesValue',
           'RaggedTensor',
           'RaggedTensorSpec',
           'RaggedTensorValue',
           'SparseTensor',
           'SparseTensorSpec',
           'SparseTensorValue',
           'broadcast_dynamic_shape',
           'broadcast_static_shape',
           'sparse_placeholder',
           'sparse_to_dense',
           'type_spec_from_value',
]
