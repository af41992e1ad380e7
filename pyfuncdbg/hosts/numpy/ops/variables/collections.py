"""Variables of the default graph, and operations that initialize, test and assign them in TensorFlow 1's style."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyfuncdbg.hosts.numpy.graph import context
from pyfuncdbg.hosts.numpy.ops.definition.constant import convert_to_tensor
from pyfuncdbg.hosts.numpy.ops.definition.public_scopes import group
from pyfuncdbg.hosts.numpy.ops.variables.variable import GLOBAL, TRAINABLE
from pyfuncdbg.hosts.numpy.runtime.eager.dispatch import apply

LOCAL = 'local_variables'


class GraphKeys:
    """Names of collections."""

    GLOBAL_VARIABLES = GLOBAL
    LOCAL_VARIABLES = LOCAL
    MODEL_VARIABLES = 'model_variables'
    TRAINABLE_VARIABLES = TRAINABLE
    SUMMARIES = 'summaries'
    QUEUE_RUNNERS = 'queue_runners'
    TABLE_INITIALIZERS = 'table_initializer'
    ASSET_FILEPATHS = 'asset_filepaths'
    MOVING_AVERAGE_VARIABLES = 'moving_average_variables'
    REGULARIZATION_LOSSES = 'regularization_losses'
    CONCATENATED_VARIABLES = 'concatenated_variables'
    SAVERS = 'savers'
    WEIGHTS = 'weights'
    BIASES = 'biases'
    ACTIVATIONS = 'activations'
    UPDATE_OPS = 'update_ops'
    VARIABLES = GLOBAL
    METRIC_VARIABLES = 'metric_variables'
    EVAL_STEP = 'eval_step'
    TRAINABLE_RESOURCE_VARIABLES = 'trainable_resource_variables'
    LOSSES = 'losses'
    SAVEABLE_OBJECTS = 'saveable_objects'
    RESOURCES = 'resources'
    LOCAL_RESOURCES = 'local_resources'
    INIT_OP = 'init_op'
    LOCAL_INIT_OP = 'local_init_op'
    READY_OP = 'ready_op'
    READY_FOR_LOCAL_INIT_OP = 'ready_for_local_init_op'
    SUMMARY_OP = 'summary_op'
    GLOBAL_STEP = 'global_step'
    TRAIN_OP = 'train_op'
    COND_CONTEXT = 'cond_context'
    WHILE_CONTEXT = 'while_context'


def add_to_collection(name: Any, value: Any) -> None:
    """Append to a collection of the default graph."""
    context.get_default_graph().add_to_collection(name, value)


def add_to_collections(names: Any, value: Any) -> None:
    """Append to several collections of the default graph."""
    for name in dict.fromkeys([names] if isinstance(names, str) else names):
        add_to_collection(name, value)


def get_collection(key: Any, scope: str | None = None) -> list[Any]:
    """A copy of a collection of the default graph."""
    return context.get_default_graph().get_collection(key, scope)


def get_collection_ref(key: Any) -> list[Any]:
    """A collection of the default graph itself."""
    return context.get_default_graph().get_collection_ref(key)


def global_variables(scope: str | None = None) -> list[Any]:
    """The variables of the default graph."""
    return get_collection(GLOBAL, scope)


def local_variables(scope: str | None = None) -> list[Any]:
    """The variables of the default graph that are not saved."""
    return get_collection(LOCAL, scope)


def model_variables(scope: str | None = None) -> list[Any]:
    """The model variables of the default graph."""
    return get_collection(GraphKeys.MODEL_VARIABLES, scope)


def moving_average_variables(scope: str | None = None) -> list[Any]:
    """The variables of the default graph that have moving averages."""
    return get_collection(GraphKeys.MOVING_AVERAGE_VARIABLES, scope)


def trainable_variables(scope: str | None = None) -> list[Any]:
    """The trainable variables of the default graph."""
    return get_collection(TRAINABLE, scope)


def variables_initializer(var_list: Sequence[Any], name: str = 'init') -> Any:
    """An operation that gives variables their initial values; eager variables are initialized already."""
    initializers = [variable.initializer for variable in var_list if variable.initializer is not None]
    if initializers:
        return group(*initializers, name=name)
    return context.graph_for_nodes().create_op('NoOp', (), None, name)


def global_variables_initializer() -> Any:
    """An operation that gives all variables of the default graph their initial values."""
    return variables_initializer(global_variables())


def local_variables_initializer() -> Any:
    """An operation that gives the local variables of the default graph their initial values."""
    return variables_initializer(local_variables())


def is_variable_initialized(variable: Any) -> Any:
    """A bool tensor: whether the variable has a value."""
    return variable.is_initialized()


def report_uninitialized_variables(var_list: Sequence[Any] | None = None,
                                   name: str = 'report_uninitialized_variables') -> Any:
    """A string tensor with the names of the variables that have no value yet."""
    variables = list(var_list) if var_list is not None else [*global_variables(), *local_variables()]
    if not variables:
        return convert_to_tensor([], 'string')
    graph = context.graph_for_nodes()
    with graph.as_default(), graph.name_scope(name):
        flags = apply('Pack', [variable.is_initialized() for variable in variables], {'axis': 0, 'N': len(variables)})
        places = apply('Where', (apply('LogicalNot', (flags,)),))
        names = convert_to_tensor([variable.name.removesuffix(':0') for variable in variables])
        return apply('GatherNd', (names, places), {'batch_dims': 0})


def assign(ref: Any, value: Any, validate_shape: bool | None = None, use_locking: bool | None = None,
           name: str | None = None) -> Any:
    """Replace the value of a variable."""
    return ref.assign(value, name=name)


def assign_add(ref: Any, value: Any, use_locking: bool | None = None, name: str | None = None) -> Any:
    """Add to the value of a variable."""
    return ref.assign_add(value, name=name)


def assign_sub(ref: Any, value: Any, use_locking: bool | None = None, name: str | None = None) -> Any:
    """Subtract from the value of a variable."""
    return ref.assign_sub(value, name=name)
