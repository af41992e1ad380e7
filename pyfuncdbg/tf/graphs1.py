"""Names of TensorFlow 1 for variables, collections and settings. `tf` has them too, so that its programs run unchanged."""
from pyfuncdbg.hosts.numpy.ops.control.version import (
    control_flow_v2_enabled as control_flow_v2_enabled,
    disable_control_flow_v2 as disable_control_flow_v2,
    disable_v2_behavior as disable_v2_behavior,
    enable_control_flow_v2 as enable_control_flow_v2,
    enable_v2_behavior as enable_v2_behavior,
)
from pyfuncdbg.hosts.numpy.ops.definition.public_scopes import colocate_with as colocate_with
from pyfuncdbg.hosts.numpy.ops.variables.collections import (
    GraphKeys as GraphKeys,
    add_to_collection as add_to_collection,
    add_to_collections as add_to_collections,
    assign as assign,
    assign_add as assign_add,
    assign_sub as assign_sub,
    get_collection as get_collection,
    get_collection_ref as get_collection_ref,
    global_variables as _global_variables,
    global_variables_initializer as _global_variables_initializer,
    is_variable_initialized as is_variable_initialized,
    local_variables as local_variables,
    local_variables_initializer as local_variables_initializer,
    model_variables as model_variables,
    moving_average_variables as moving_average_variables,
    report_uninitialized_variables as report_uninitialized_variables,
)
from pyfuncdbg.hosts.numpy.ops.variables.initializers import (
    constant_initializer as constant_initializer,
    glorot_normal_initializer as glorot_normal_initializer,
    glorot_uniform_initializer as glorot_uniform_initializer,
    ones_initializer as ones_initializer,
    orthogonal_initializer as orthogonal_initializer,
    random_normal_initializer as random_normal_initializer,
    random_uniform_initializer as random_uniform_initializer,
    truncated_normal_initializer as truncated_normal_initializer,
    variance_scaling_initializer as variance_scaling_initializer,
    zeros_initializer as zeros_initializer,
)
from pyfuncdbg.hosts.numpy.ops.variables.variable_scatter import (
    batch_scatter_update as batch_scatter_update,
    count_up_to as count_up_to,
    scatter_add as scatter_add,
    scatter_div as scatter_div,
    scatter_max as scatter_max,
    scatter_min as scatter_min,
    scatter_mul as scatter_mul,
    scatter_nd_add as scatter_nd_add,
    scatter_nd_sub as scatter_nd_sub,
    scatter_nd_update as scatter_nd_update,
    scatter_sub as scatter_sub,
    scatter_update as scatter_update,
)
from pyfuncdbg.hosts.numpy.ops.variables.variable_scope import (
    AUTO_REUSE as AUTO_REUSE,
    VariableScope as VariableScope,
    get_local_variable as get_local_variable,
    get_variable as get_variable,
    get_variable_scope as get_variable_scope,
    variable_scope as variable_scope,
)

all_variables = _global_variables
initialize_all_variables = _global_variables_initializer
