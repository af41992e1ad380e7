"""Names of TensorFlow 1 for variables, collections and settings. `tf` has them too, so that its programs run unchanged."""
from pyfuncdbg.ops.collections import (
    GraphKeys,
    add_to_collection,
    add_to_collections,
    assign,
    assign_add,
    assign_sub,
    get_collection,
    get_collection_ref,
    is_variable_initialized,
    local_variables,
    local_variables_initializer,
    model_variables,
    moving_average_variables,
    report_uninitialized_variables,
)
from pyfuncdbg.ops.collections import global_variables as all_variables
from pyfuncdbg.ops.collections import global_variables_initializer as initialize_all_variables
from pyfuncdbg.ops.control.version import (
    control_flow_v2_enabled,
    disable_control_flow_v2,
    disable_v2_behavior,
    enable_control_flow_v2,
    enable_v2_behavior,
)
from pyfuncdbg.ops.initializers import (
    constant_initializer,
    glorot_normal_initializer,
    glorot_uniform_initializer,
    ones_initializer,
    random_normal_initializer,
    random_uniform_initializer,
    truncated_normal_initializer,
    variance_scaling_initializer,
    zeros_initializer,
)
from pyfuncdbg.ops.scopes import colocate_with
from pyfuncdbg.ops.variable_scope import AUTO_REUSE, VariableScope, get_variable, get_variable_scope, variable_scope

__all__ = [
    'AUTO_REUSE', 'GraphKeys', 'VariableScope',
    'add_to_collection',
    'add_to_collections', 'all_variables', 'assign', 'assign_add', 'assign_sub', 'colocate_with', 'constant_initializer',
    'control_flow_v2_enabled', 'disable_control_flow_v2', 'disable_v2_behavior', 'enable_control_flow_v2',
    'enable_v2_behavior', 'get_collection', 'get_collection_ref', 'get_variable',
    'get_variable_scope',
    'glorot_normal_initializer', 'glorot_uniform_initializer', 'initialize_all_variables', 'is_variable_initialized',
    'local_variables', 'local_variables_initializer', 'model_variables', 'moving_average_variables',
    'ones_initializer', 'random_normal_initializer',
    'random_uniform_initializer', 'report_uninitialized_variables', 'truncated_normal_initializer', 'variable_scope',
    'variance_scaling_initializer', 'zeros_initializer',
]
