"""Placeholders, resource handles of variables, and reading and assigning them.

A variable's value is replaced, never written to: who read it before keeps what he read.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pyfuncdbg.errors import FailedPreconditionError, InvalidArgumentError
from pyfuncdbg.graph import dtypes
from pyfuncdbg.graph.registry import INPUT, Attrs, OpDef, Output, Typed, no_gradient, register
from pyfuncdbg.graph.shapes import TensorShape
from pyfuncdbg.runtime.dispatch import apply
from pyfuncdbg.runtime.eager import EagerTensor
from pyfuncdbg.runtime.execution import Execution


class Storage:
    """Where one variable's value is.

    Attributes:
        name: The variable's name, for messages.
        value: NumPy value, None until it is initialized.
        variable: Gives the `Variable`, for `watched_variables`.
    """

    __slots__ = ('name', 'value', 'variable')

    def __init__(self, name: str, value: Any = None, variable: Callable[[], Any] = lambda: None) -> None:
        self.name = name
        self.value = value
        self.variable = variable


def _unfed(*, dtype: Any, shape: Any, node: str = '') -> Any:
    sizes = '<unknown>' if shape.rank is None else '[' + ','.join('?' if n is None else str(n) for n in shape.as_list()) + ']'
    text = f"You must feed a value for placeholder tensor '{node}' with dtype {dtype.kernel_name}"
    raise InvalidArgumentError(None, None, text + ('' if shape.rank is None else f' and shape {sizes}'))


def _typed(inputs: Sequence[Typed], attrs: Attrs) -> Sequence[Output]:
    return [(attrs['dtype'], attrs['shape'])]


register(OpDef(INPUT, _unfed, _typed, stateful=True, kernel_attrs=('dtype', 'shape', 'node')))


def _handle(execution: Execution, *, shared_name: str) -> Any:
    return execution.resource(('variable', shared_name), lambda: Storage(shared_name))


def _read(execution: Execution, storage: Storage, *, dtype: Any) -> Any:
    if storage.value is None:
        raise FailedPreconditionError(
            None, None, f'Could not find variable {storage.name}. This could mean that the variable has been deleted. In TF1, it '
            'can also mean the variable is uninitialized. Debug info: container=localhost, status error message=Resource '
            f'localhost/{storage.name}/N10tensorflow3VarE does not exist.')
    return storage.value


def _resource(inputs: Sequence[Typed], attrs: Attrs) -> Sequence[Output]:
    return [(dtypes.resource, TensorShape([]))]


def _nothing(inputs: Sequence[Typed], attrs: Attrs) -> Sequence[Output]:
    return []


def _assign(execution: Execution, storage: Storage, value: Any) -> None:
    storage.value = value


def _updated(function: Callable[[Any, Any], Any]) -> Callable[[Execution, Storage, Any], None]:
    def update(execution: Execution, storage: Storage, value: Any) -> None:
        storage.value = function(_read(execution, storage, dtype=None), value)
    return update


def _initialized(execution: Execution, storage: Storage) -> Any:
    return np.bool_(storage.value is not None)


register(OpDef('VarHandleOp', _handle, _resource, stateful=True, kernel_attrs=('shared_name',), in_execution=True))
register(OpDef('ReadVariableOp', _read, _typed, lambda node, dy: [dy], stateful=True, kernel_attrs=('dtype',),
               in_execution=True))
register(OpDef('AssignVariableOp', _assign, _nothing, no_gradient, outputs=0, stateful=True, in_execution=True))
register(OpDef('AssignAddVariableOp', _updated(np.add), _nothing, no_gradient, outputs=0, stateful=True, in_execution=True))
register(OpDef('AssignSubVariableOp', _updated(np.subtract), _nothing, no_gradient, outputs=0, stateful=True,
               in_execution=True))
register(OpDef('VarIsInitializedOp', _initialized, lambda inputs, attrs: [(dtypes.bool, TensorShape([]))], no_gradient,
               stateful=True, in_execution=True))
register(OpDef('NoOp', lambda: None, _nothing, outputs=0, stateful=True))


def placeholder(dtype: Any, shape: Any = None, name: str | None = None) -> Any:
    """A tensor that is fed when the graph runs.

    In eager mode it is a node of the process's default graph: a program of TensorFlow 1 needs no switch.
    """
    from pyfuncdbg.graph import context
    attrs = {'dtype': dtypes.as_dtype(dtype), 'shape': TensorShape(shape)}
    graph = context.current_graph() or context.get_default_graph()
    return graph.create_op(INPUT, (), attrs, name or 'Placeholder').outputs[0]


def no_op(name: str | None = None) -> Any:
    """An operation that does nothing, for its control inputs."""
    return apply('NoOp', (), None, name or 'NoOp')


def group(*inputs: Any, name: str | None = None) -> Any:
    """An operation that is done when all inputs are.

    Args:
        *inputs: Tensors, operations, or structures of them; None in eager mode.
        name: Of the node.

    Raises:
        TypeError: Something else.
    """
    from pyfuncdbg.graph import context, nest
    items = [item for item in nest.flatten(list(inputs)) if item is not None]
    graph = context.current_graph() or next((item.graph for item in items if not isinstance(item, EagerTensor)
                                             and hasattr(item, 'graph')), None)
    if graph is None:
        return None
    for item in items:
        if not hasattr(item, 'graph'):
            raise TypeError(f"'inputs' should be zero or more (nested) Tensors. Received '{item}' with type '{type(item)}'.")
    with graph.control_dependencies([getattr(item, 'op', item) for item in items]):
        return graph.create_op('NoOp', (), None, name or 'group_deps')


