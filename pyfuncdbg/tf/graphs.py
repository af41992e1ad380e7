"""Names for building and running programs: graphs, sessions, functions, variables, gradients; the same in both versions."""
from pyfuncdbg.hosts.numpy.graph.context import default_session as get_default_session
from pyfuncdbg.hosts.numpy.graph.context import (
    disable_eager_execution,
    enable_eager_execution,
    executing_eagerly,
    executing_eagerly_outside_functions,
    get_default_graph,
    reset_default_graph,
)
from pyfuncdbg.hosts.numpy.graph.definitions.gradient_rules import RegisterGradient
from pyfuncdbg.hosts.numpy.graph.definitions.gradient_rules import no_gradient_for as no_gradient
from pyfuncdbg.hosts.numpy.graph.graph import Graph
from pyfuncdbg.hosts.numpy.graph.operation import Operation
from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.graph.types.dtypes import DType, as_dtype
from pyfuncdbg.hosts.numpy.graph.types.shapes import TensorShape
from pyfuncdbg.hosts.numpy.graph.types.spec import TensorSpec, TypeSpec
from pyfuncdbg.hosts.numpy.ops.definition.constant import constant, convert_to_tensor, get_static_value, is_tensor
from pyfuncdbg.hosts.numpy.ops.definition.public_scopes import control_dependencies, group, init_scope, inside_function
from pyfuncdbg.hosts.numpy.ops.definition.public_scopes import grouped_tuple as tuple
from pyfuncdbg.hosts.numpy.ops.variables.collections import (
    global_variables,
    global_variables_initializer,
    trainable_variables,
    variables_initializer,
)
from pyfuncdbg.hosts.numpy.ops.variables.distribution import VariableAggregation, VariableSynchronization
from pyfuncdbg.hosts.numpy.ops.variables.handles import no_op, placeholder, placeholder_with_default
from pyfuncdbg.hosts.numpy.ops.variables.variable import Variable
from pyfuncdbg.hosts.numpy.runtime.backward.indexed_slices import IndexedSlices
from pyfuncdbg.hosts.numpy.runtime.backward.unconnected_gradient import UnconnectedGradients
from pyfuncdbg.hosts.numpy.runtime.differentiation.symbolic_gradients import AggregationMethod
from pyfuncdbg.hosts.numpy.runtime.differentiation.tape import GradientTape
from pyfuncdbg.hosts.numpy.runtime.functions.function import function
from pyfuncdbg.hosts.numpy.runtime.sessions.session import InteractiveSession, Session

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
