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
from pyfuncdbg.ops.distribution import VariableAggregation, VariableSynchronization
from pyfuncdbg.ops.scopes import control_dependencies, group, init_scope, inside_function
from pyfuncdbg.ops.scopes import grouped_tuple as tuple
from pyfuncdbg.ops.state import no_op, placeholder, placeholder_with_default
from pyfuncdbg.ops.variables import Variable
from pyfuncdbg.runtime.function import function
from pyfuncdbg.runtime.gradients import AggregationMethod
from pyfuncdbg.runtime.indexed_slices import IndexedSlices
from pyfuncdbg.runtime.session import InteractiveSession, Session
from pyfuncdbg.runtime.tape import GradientTape
from pyfuncdbg.runtime.unconnected import UnconnectedGradients

__all__ = [
    'AggregationMethod',
    'DType',
    'GradientTape',
    'Graph',
    'IndexedSlices',
    'InteractiveSession',
    'Operation',
    'RegisterGradient',
    'Session',
    'Tensor',
    'TensorShape',
    'TensorSpec',
    'TypeSpec',
    'UnconnectedGradients',
    'Variable',
    'VariableAggregation',
    'VariableSynchronization',
    'as_dtype',
    'constant',
    'control_dependencies',
    'convert_to_tensor',
    'disable_eager_execution',
    'enable_eager_execution',
    'executing_eagerly',
    'executing_eagerly_outside_functions',
    'function',
    'get_default_graph',
    'get_default_session',
    'get_static_value',
    'global_variables',
    'global_variables_initializer',
    'group',
    'init_scope',
    'inside_function',
    'is_tensor',
    'no_gradient', 'no_op',
    'placeholder',
    'placeholder_with_default',
    'reset_default_graph',
    'trainable_variables',
    'tuple',
    'variables_initializer',
]
