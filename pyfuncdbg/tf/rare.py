"""Names of both versions, at top level of `tf`, that few programs need. Loaded at the first use of one."""
from pyfuncdbg.hosts.numpy.ops.arrays.rearranging import (
    bitcast as bitcast,
    dynamic_partition as dynamic_partition,
    guarantee_const as guarantee_const,
    repeat as repeat,
    reverse_sequence as reverse_sequence,
    roll as roll,
    unravel_index as unravel_index,
)
from pyfuncdbg.hosts.numpy.ops.checks.logger import get_logger as get_logger
from pyfuncdbg.hosts.numpy.ops.checks.printing import print_v2 as _print_v2
from pyfuncdbg.hosts.numpy.ops.control.cond import case as case, switch_case as switch_case
from pyfuncdbg.hosts.numpy.ops.control.mapping import (
    foldl as foldl,
    foldr as foldr,
    map_fn as map_fn,
    scan as scan,
    vectorized_map as vectorized_map,
)
from pyfuncdbg.hosts.numpy.ops.control.tensor_array import TensorArray as TensorArray
from pyfuncdbg.hosts.numpy.ops.definition.constant import (
    register_tensor_conversion_function as register_tensor_conversion_function,
)
from pyfuncdbg.hosts.numpy.ops.elementwise.complex_numbers import complex as complex
from pyfuncdbg.hosts.numpy.ops.graphs.custom_gradient import (
    custom_gradient as custom_gradient,
    grad_pass_through as grad_pass_through,
    recompute_grad as recompute_grad,
)
from pyfuncdbg.hosts.numpy.ops.graphs.graph_files import (
    import_graph_def as import_graph_def,
    make_ndarray as make_ndarray,
    make_tensor_proto as make_tensor_proto,
)
from pyfuncdbg.hosts.numpy.ops.graphs.module import Module as Module
from pyfuncdbg.hosts.numpy.ops.nn.normalization import scalar_mul as scalar_mul
from pyfuncdbg.hosts.numpy.ops.strings.strings import as_string as as_string
from pyfuncdbg.hosts.numpy.ops.sums.counting import (
    histogram_fixed_width as histogram_fixed_width,
    searchsorted as searchsorted,
)
from pyfuncdbg.hosts.numpy.ops.sums.einsum import einsum as einsum
from pyfuncdbg.hosts.numpy.ops.sums.sorting import (
    argsort as argsort,
    cumsum as cumsum,
    sort as sort,
    unique as unique,
    unique_with_counts as unique_with_counts,
)

print = _print_v2
