"""Names for building and running programs: graphs, sessions, functions, variables, gradients; the same in both versions."""
from pyfuncdbg.graph.context import default_session as get_default_session
from pyfuncdbg.graph.context import (
    disable_eager_execution,
    enable_eager_execution,
    executing_eagerly,
    executing_eagerly_outside_functions,
    get_default_graph,
    reset_default_graph,
)
from pyfuncdbg.graph.dtypes import DType, as_dtype
from pyfuncdbg.graph.gradient_rules import RegisterGradient
from pyfuncdbg.graph.gradient_rules import no_gradient_for as no_gradient
from pyfuncdbg.graph.graph import Graph
from pyfuncdbg.graph.operation import Operation
from pyfuncdbg.graph.shapes import TensorShape
from pyfuncdbg.graph.spec import TensorSpec, TypeSpec
from pyfuncdbg.graph.tensor import Tensor
from pyfuncdbg.ops.collections import (
    global_variables,
    global_variables_initializer,
    trainable_variables,
    variables_initializer,
)
from pyfuncdbg.ops.constant import constant, convert_to_tensor, get_static_value, is_tensor
from pyfuncdbg.ops.control.case import case
from pyfuncdbg.ops.control.cond import switch_case
from pyfuncdbg.ops.control.mapping import foldl, foldr, map_fn, scan, vectorized_map
from pyfuncdbg.ops.control.tensor_array import TensorArray
from pyfuncdbg.ops.custom_gradient import custom_gradient, grad_pass_through, recompute_grad
from pyfuncdbg.ops.graph_files import make_ndarray, make_tensor_proto
from pyfuncdbg.ops.graph_import import import_graph_def
from pyfuncdbg.ops.module import Module
from pyfuncdbg.ops.scopes import control_dependencies, group, init_scope, inside_function
from pyfuncdbg.ops.scopes import grouped_tuple as tuple
from pyfuncdbg.ops.state import no_op, placeholder, placeholder_with_default
from pyfuncdbg.ops.variables import Variable
from pyfuncdbg.runtime.function import function
from pyfuncdbg.runtime.indexed_slices import IndexedSlices
from pyfuncdbg.runtime.session import InteractiveSession, Session
from pyfuncdbg.runtime.tape import GradientTape
from pyfuncdbg.runtime.unconnected import UnconnectedGradients

__all__ = [
    'DType',
    'GradientTape',
    'Graph',
    'IndexedSlices',
    'InteractiveSession',
    'Module',
    'Operation',
    'RegisterGradient',
    'Session',
    'Tensor',
    'TensorArray',
    'TensorShape',
    'TensorSpec',
    'TypeSpec',
    'UnconnectedGradients',
    'Variable',
    'as_dtype',
    'case',
    'constant',
    'control_dependencies',
    'convert_to_tensor',
    'custom_gradient',
    'disable_eager_execution',
    'enable_eager_execution',
    'executing_eagerly',
    'executing_eagerly_outside_functions',
    'foldl',
    'foldr',
    'function',
    'get_default_graph',
    'get_default_session',
    'get_static_value',
    'global_variables',
    'global_variables_initializer',
    'grad_pass_through',
    'group',
    'import_graph_def',
    'init_scope',
    'inside_function',
    'is_tensor',
    'make_ndarray',
    'make_tensor_proto',
    'map_fn',
    'no_gradient', 'no_op',
    'placeholder',
    'placeholder_with_default',
    'recompute_grad',
    'reset_default_graph',
    'scan',
    'switch_case',
    'trainable_variables',
    'tuple',
    'variables_initializer',
    'vectorized_map',
]
