"""Names of composites at top level of `tf`, in both versions."""
from pyfuncdbg.graph.spec import type_spec_from_value
from pyfuncdbg.ops.broadcast import broadcast_dynamic_shape, broadcast_static_shape
from pyfuncdbg.ops.ragged.spec import RaggedTensorSpec
from pyfuncdbg.ops.ragged.tensor import RaggedTensor
from pyfuncdbg.ops.ragged.value import RaggedTensorValue
from pyfuncdbg.ops.sparse.dense import sparse_placeholder, sparse_to_dense
from pyfuncdbg.ops.sparse.tensor import SparseTensor, SparseTensorSpec, SparseTensorValue
from pyfuncdbg.runtime.indexed_slices import IndexedSlices, IndexedSlicesSpec, IndexedSlicesValue

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
