"""Names of both versions, at top level of `tf`, that most programs do without. Loaded when one is asked for."""
from pyfuncdbg.hosts.numpy.ops.arrays.rearranging import (
    bitcast,
    dynamic_partition,
    guarantee_const,
    repeat,
    reverse_sequence,
    roll,
    unravel_index,
)
from pyfuncdbg.hosts.numpy.ops.checks.logger import get_logger
from pyfuncdbg.hosts.numpy.ops.checks.printing import print_v2 as print
from pyfuncdbg.hosts.numpy.ops.control.case import case
from pyfuncdbg.hosts.numpy.ops.control.cond import switch_case
from pyfuncdbg.hosts.numpy.ops.control.mapping import foldl, foldr, map_fn, scan, vectorized_map
from pyfuncdbg.hosts.numpy.ops.control.tensor_array import TensorArray
from pyfuncdbg.hosts.numpy.ops.definition.conversions import register_tensor_conversion_function
from pyfuncdbg.hosts.numpy.ops.elementwise.complex_numbers import complex
from pyfuncdbg.hosts.numpy.ops.graphs.custom_gradient import custom_gradient, grad_pass_through, recompute_grad
from pyfuncdbg.hosts.numpy.ops.graphs.graph_files import make_ndarray, make_tensor_proto
from pyfuncdbg.hosts.numpy.ops.graphs.graph_import import import_graph_def
from pyfuncdbg.hosts.numpy.ops.graphs.module import Module
from pyfuncdbg.hosts.numpy.ops.nn.normalization import scalar_mul
from pyfuncdbg.hosts.numpy.ops.strings.strings import as_string
from pyfuncdbg.hosts.numpy.ops.sums.counting import histogram_fixed_width, searchsorted
from pyfuncdbg.hosts.numpy.ops.sums.einsum import einsum
from pyfuncdbg.hosts.numpy.ops.sums.sorting import argsort, cumsum, sort, unique, unique_with_counts

__all__ = [
    'Module',
    'TensorArray',
    'argsort',
    'as_string',
    'bitcast',
    'case',
    'complex',
    'cumsum',
    'custom_gradient',
    'dynamic_partition',
    'einsum',
    'foldl',
    'foldr',
    'get_logger',
    'grad_pass_through',
    'guarantee_const',
    'histogram_fixed_width',
    'import_graph_def',
    'make_ndarray',
    'make_tensor_proto',
    'map_fn',
    'print',
    'recompute_grad',
    'register_tensor_conversion_function',
    'repeat',
    'reverse_sequence',
    'roll',
    'scalar_mul',
    'scan',
    'searchsorted',
    'sort',
    'switch_case',
    'unique',
    'unique_with_counts',
    'unravel_index',
    'vectorized_map',
]
