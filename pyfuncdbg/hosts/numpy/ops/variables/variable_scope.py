"""`get_variable` and `variable_scope` of TensorFlow 1: variables shared by name.

Each graph has a store of its variables by name and a stack of scopes, kept among its collections as in TensorFlow.
"""
from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

from pyfuncdbg.hooks.public_function import context_hiding_own_frames
from pyfuncdbg.hosts.numpy.graph import context
from pyfuncdbg.hosts.numpy.graph.graph import Graph
from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.graph.types import dtypes
from pyfuncdbg.hosts.numpy.graph.types.shapes import TensorShape
from pyfuncdbg.hosts.numpy.ops.definition.constant import convert_to_tensor
from pyfuncdbg.hosts.numpy.ops.variables.collections import GraphKeys
from pyfuncdbg.hosts.numpy.ops.variables.initializers import (
    FACTORIES,
    Initializer,
    glorot_uniform_initializer,
    zeros_initializer,
)
from pyfuncdbg.hosts.numpy.ops.variables.variable import Variable

AUTO_REUSE = 'auto_reuse'
"""Create a missing variable, share an existing one."""


class VariableScope:
    """One scope: a prefix of names, and defaults for the variables made in it.

    Attributes:
        name: The prefix, without a '/' at the end.
        reuse: False to create variables, True to share them, `AUTO_REUSE` for either.
        initializer: Default for `get_variable`.
        original_name_scope: The name scope of the nodes made in it, with a '/' at the end.
    """

    def __init__(self, reuse: Any, name: str = '', initializer: Any = None, dtype: Any = dtypes.float32,
                 name_scope: str = '',
                 constraint: Any = None, custom_getter: Any = None, regularizer: Any = None) -> None:
        self.name = name
        self.reuse = reuse
        self.initializer = initializer
        self.dtype = dtype
        self.original_name_scope = name_scope
        self.constraint = constraint
        self.custom_getter = custom_getter
        self.regularizer = regularizer

    def reuse_variables(self) -> None:
        """Share variables from now on."""
        self.reuse = True

    def set_initializer(self, initializer: Any) -> None:
        """Change the default initializer."""
        self.initializer = initializer

    def set_regularizer(self, regularizer: Any) -> None:
        """Change the default regularizer."""
        self.regularizer = regularizer

    def global_variables(self) -> list[Any]:
        """The variables created in it."""
        return context.get_default_graph().get_collection('variables', self.name + '/' if self.name else '')

    def trainable_variables(self) -> list[Any]:
        """The trainable variables created in it."""
        return context.get_default_graph().get_collection('trainable_variables', self.name + '/' if self.name else '')


class _Store:
    """Variables and variable scopes of one graph, by name."""

    def __init__(self) -> None:
        self.variables: dict[str, Variable] = {}
        self.scopes: list[VariableScope] = [VariableScope(False)]
        self.opened: dict[str, int] = {}


def _store(graph: Graph) -> _Store:
    stores = graph.get_collection_ref(('variable store',))
    if not stores:
        stores.append(_Store())
    return stores[0]


def _home() -> Graph:
    """The graph of new variables: the current one, or that around the functions being traced."""
    graph = context.current_graph()
    while graph is not None and graph.building_function:
        graph = graph.outer
    return graph or context.get_default_graph()


def get_variable_scope() -> VariableScope:
    """The current scope."""
    return _store(_home()).scopes[-1]


@context_hiding_own_frames
def variable_scope(name_or_scope: Any, default_name: str | None = None, values: Any = None, initializer: Any = None,
                   regularizer: Any = None, caching_device: Any = None, partitioner: Any = None, custom_getter: Any = None,
                   reuse: Any = None, dtype: Any = None, use_resource: bool | None = None, constraint: Any = None,
                   auxiliary_name_scope: bool = True) -> Iterator[VariableScope]:
    """Prefix the names of variables of `get_variable`, and of nodes.

    Args:
        name_or_scope: A name below the current scope, or a scope to enter again; None to take `default_name`.
        default_name: Made unique.
        values: Accepted.
        initializer: Default for variables made inside.
        reuse: True to share variables, `AUTO_REUSE` to create or share; None inherits.
        auxiliary_name_scope: Whether to prefix the names of nodes too.

    Raises:
        TypeError: Neither a name nor a default name.
    """
    if name_or_scope is None and default_name is None:
        raise TypeError('If default_name is None then name_or_scope is required')
    if name_or_scope is not None and not isinstance(name_or_scope, (str, VariableScope)):
        raise TypeError('VariableScope: name_or_scope must be a string or VariableScope.')
    graph = _home()
    store = _store(graph)
    outer = store.scopes[-1]
    if reuse not in (None, False, True, AUTO_REUSE):
        raise ValueError('The reuse parameter must be True or False or None.')
    if isinstance(name_or_scope, VariableScope):
        base, full = name_or_scope, name_or_scope.name
        short = full.rpartition('/')[2]
    else:
        base = outer
        short = name_or_scope if name_or_scope is not None else _unique(store, outer.name, str(default_name))
        full = f'{outer.name}/{short}' if outer.name and short else outer.name or short
    count = store.opened.get(full, 0)
    store.opened[full] = count + 1
    with graph.name_scope(short) if auxiliary_name_scope and short else nullcontext('') as nodes:
        scope = VariableScope(
            reuse if reuse is not None and reuse is not False else base.reuse or outer.reuse, full,
            initializer if initializer is not None else base.initializer, dtype if dtype is not None else base.dtype,
            nodes or '',
            constraint if constraint is not None else base.constraint, custom_getter or base.custom_getter,
            regularizer if regularizer is not None else base.regularizer)
        store.scopes.append(scope)
        try:
            yield scope
        finally:
            store.scopes.pop()


def _unique(store: _Store, outer: str, name: str) -> str:
    prefix, count, candidate = f'{outer}/' if outer else '', 0, name
    while store.opened.get(prefix + candidate):
        count += 1
        candidate = f'{name}_{count}'
    return candidate


def get_variable(name: str, shape: Any = None, dtype: Any = None, initializer: Any = None, regularizer: Any = None,
                 trainable: bool | None = None, collections: Any = None, caching_device: Any = None, partitioner: Any = None,
                 validate_shape: bool = True, use_resource: bool | None = None, custom_getter: Any = None,
                 constraint: Any = None,
                 synchronization: Any = None, aggregation: Any = None) -> Any:
    """The variable of this name in the current scope: created or shared, by the scope's `reuse`.

    In eager mode it is a variable of the process's default graph.

    Raises:
        ValueError: It exists and may not be shared, or is missing and may not be created; shape or dtype differ; no shape.
    """
    graph = _home()
    if context.current_graph() is None:
        graph = context.graph_for_nodes()
    store = _store(graph)
    scope = store.scopes[-1]
    full = f'{scope.name}/{name}' if scope.name else name
    kind = None if dtype is None else dtypes.as_dtype(dtype)

    def getter(name: str, shape: Any = shape, dtype: Any = kind, initializer: Any = initializer, trainable: Any = trainable,
               collections: Any = collections, constraint: Any = constraint, **_: Any) -> Any:
        existing = store.variables.get(name)
        if existing is not None:
            return _shared(existing, scope, name, shape, dtype)
        if scope.reuse is True:
            raise ValueError(f'Variable {name} does not exist, or was not created with tf.get_variable(). Did you mean to '
                             f'set reuse=tf.AUTO_REUSE in VarScope?')
        value, typed = _initial_value(name, shape, dtype or dtypes.as_dtype(scope.dtype), initializer
                                      if initializer is not None else scope.initializer, dtype is not None)
        inside = context.current_graph() is None or context.current_graph() is graph
        with graph.as_default() if inside else nullcontext(), graph.name_scope(None):
            variable = Variable(value, trainable, name=name, dtype=typed, constraint=constraint or scope.constraint,
                                collections=collections)
        store.variables[name] = variable
        _regularize(graph, variable, name, regularizer if regularizer is not None else scope.regularizer)
        return variable

    custom = custom_getter or scope.custom_getter
    if custom is None:
        return getter(full)
    return custom(getter, full, shape=shape, dtype=kind, initializer=initializer, trainable=trainable,
                  collections=collections,
                  constraint=constraint)


def _regularize(graph: Graph, variable: Variable, name: str, regularizer: Any) -> None:
    """Add the regularization loss of a variable to the graph."""
    if regularizer is None:
        return
    with graph.as_default(), graph.name_scope(f'{name}/Regularizer/'):
        loss = regularizer(variable)
    if loss is not None:
        graph.add_to_collection(GraphKeys.REGULARIZATION_LOSSES, loss)


def get_local_variable(name: str, shape: Any = None, dtype: Any = None, initializer: Any = None, regularizer: Any = None,
                       trainable: bool = False, collections: Any = None, **settings: Any) -> Any:
    """`get_variable` for one that is neither saved nor trained."""
    names = [GraphKeys.LOCAL_VARIABLES, *(collections or ())]
    return get_variable(name, shape, dtype, initializer, regularizer, False, names, **settings)


def _shared(variable: Variable, scope: VariableScope, name: str, shape: Any, dtype: Any) -> Variable:
    if scope.reuse is False:
        raise ValueError(f'Variable {name} already exists, disallowed. Did you mean to set reuse=True or '
                         f'reuse=tf.AUTO_REUSE in VarScope?')
    if shape is not None and not TensorShape(shape).is_compatible_with(variable.shape):
        raise ValueError(f'Trying to share variable {name}, but specified shape {TensorShape(shape)} and found shape '
                         f'{variable.shape}.')
    if dtype is not None and dtype != variable.dtype:
        raise ValueError(f'Trying to share variable {name}, but specified dtype {dtype.name} and found dtype '
                         f'{variable.dtype.name}.')
    return variable


def _initial_value(name: str, shape: Any, dtype: Any, initializer: Any, requested: bool) -> tuple[Any, Any]:
    """The initial value of a variable: a value or a function, and its dtype (None: the value's)."""
    if initializer is None:
        if shape is None:
            raise ValueError(f'Variable {name} did not get an initializer, so its `shape` argument must be specified.')
        initializer = glorot_uniform_initializer() if dtype.is_floating else zeros_initializer()
    if isinstance(initializer, type) or (callable(initializer) and inspect.unwrap(initializer) in FACTORIES):
        initializer = initializer()             # an initializer class or function, passed without parentheses
    if isinstance(initializer, Tensor) or not callable(initializer):
        if shape is not None:
            raise ValueError('If initializer is a constant, do not specify shape.')
        value_dtype = convert_to_tensor(initializer).dtype if requested and not isinstance(initializer, Tensor) else dtype
        if value_dtype.is_numeric != dtype.is_numeric:
            raise ValueError(f"Initializer type '{value_dtype}' and explicit dtype '{dtype}' don't match.")
        return initializer, dtype if requested else None
    if shape is None:
        if isinstance(initializer, Initializer):
            raise ValueError('The initializer passed is not valid. It should be a callable with no arguments and the shape '
                             'should '
                             "not be provided or an instance of `tf.keras.initializers.*' and `shape` should be fully "
                             "defined.")
        return initializer, dtype if requested else None
    if not TensorShape(shape).is_fully_defined():
        raise ValueError('The initializer passed is not valid. It should be a callable with no arguments and the shape '
                         'should not '
                         "be provided or an instance of `tf.keras.initializers.*' and `shape` should be fully defined.")
    sizes = TensorShape(shape).as_list()
    return (lambda: initializer(sizes, dtype=dtype)), dtype
