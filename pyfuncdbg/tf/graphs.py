"""Names for building and running programs: graphs, sessions, functions, variables, gradients; the same in both versions.

`tf` loads them at the first use of one: with plans and traces they take half as long as all of NumPy.
"""
from pyfuncdbg.hosts.numpy.graph.context import (
    default_session as _default_session,
    disable_eager_execution as disable_eager_execution,
    enable_eager_execution as enable_eager_execution,
    executing_eagerly as executing_eagerly,
    executing_eagerly_outside_functions as executing_eagerly_outside_functions,
    get_default_graph as get_default_graph,
    reset_default_graph as reset_default_graph,
)
from pyfuncdbg.hosts.numpy.graph.definitions.gradient_rules import (
    RegisterGradient as RegisterGradient,
    no_gradient_for as _no_gradient_for,
)
from pyfuncdbg.hosts.numpy.graph.graph import Graph as Graph
from pyfuncdbg.hosts.numpy.graph.operation import Operation as Operation
from pyfuncdbg.hosts.numpy.graph.types.spec import TensorSpec as TensorSpec, TypeSpec as TypeSpec
from pyfuncdbg.hosts.numpy.ops.definition.constant import (
    get_static_value as get_static_value,
    is_tensor as is_tensor,
)
from pyfuncdbg.hosts.numpy.ops.definition.public_scopes import (
    control_dependencies as control_dependencies,
    group as group,
    grouped_tuple as _grouped_tuple,
    init_scope as init_scope,
    inside_function as inside_function,
)
from pyfuncdbg.hosts.numpy.ops.script.calls import (
    numpy_function as numpy_function,
    py_func as py_func,
    py_function as py_function,
)
from pyfuncdbg.hosts.numpy.ops.variables import variable_scatter as _variable_scatter  # noqa: F401  methods of `Variable`
from pyfuncdbg.hosts.numpy.ops.variables.collections import (
    global_variables as global_variables,
    global_variables_initializer as global_variables_initializer,
    trainable_variables as trainable_variables,
    variables_initializer as variables_initializer,
)
from pyfuncdbg.hosts.numpy.ops.variables.handles import (
    no_op as no_op,
    placeholder as placeholder,
    placeholder_with_default as placeholder_with_default,
)
from pyfuncdbg.hosts.numpy.ops.variables.variable import (
    Variable as Variable,
    VariableAggregation as VariableAggregation,
    VariableSynchronization as VariableSynchronization,
)
from pyfuncdbg.hosts.numpy.runtime.backward.indexed_slices import IndexedSlices as IndexedSlices
from pyfuncdbg.hosts.numpy.runtime.backward.unconnected_gradient import UnconnectedGradients as UnconnectedGradients
from pyfuncdbg.hosts.numpy.runtime.differentiation.symbolic_gradients import AggregationMethod as AggregationMethod
from pyfuncdbg.hosts.numpy.runtime.differentiation.tape import GradientTape as GradientTape
from pyfuncdbg.hosts.numpy.runtime.functions.function import function as function
from pyfuncdbg.hosts.numpy.runtime.sessions.session import InteractiveSession as InteractiveSession, Session as Session

get_default_session = _default_session
no_gradient = _no_gradient_for
tuple = _grouped_tuple
