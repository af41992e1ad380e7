"""Placeholders, resource handles of variables, and reading and assigning them.

A variable's value is replaced, never written to: values read before stay.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pyfuncdbg.errors import FailedPreconditionError, InvalidArgumentError, NotFoundError
from pyfuncdbg.hosts.numpy.graph import context
from pyfuncdbg.hosts.numpy.graph.definitions.registry import INPUT, Attrs, OpDef, Output, TypedInput, no_gradient, register
from pyfuncdbg.hosts.numpy.graph.graph import Graph
from pyfuncdbg.hosts.numpy.graph.symbolic_tensor import SymbolicTensor
from pyfuncdbg.hosts.numpy.graph.types import dtypes
from pyfuncdbg.hosts.numpy.graph.types.shapes import TensorShape
from pyfuncdbg.hosts.numpy.ops.definition.shape_rules import merged
from pyfuncdbg.hosts.numpy.runtime.eager.dispatch import apply
from pyfuncdbg.hosts.numpy.runtime.execution.execution import Execution
from pyfuncdbg.hosts.numpy.runtime.execution.resources import storages

_SUMMARISED = 1 << 22
"""Largest number of elements for which `repr` shows the range."""


class Storage:
    """Storage of one variable's value.

    Attributes:
        name: The variable's name, for messages.
        container: Its container; '' for the default one.
        value: NumPy value, None until it is initialized.
        variable: Returns its `Variable`, None if that is gone.
    """

    __slots__ = ('__weakref__', 'container', 'name', 'value', 'variable')

    def __init__(self, name: str, value: Any = None, variable: Callable[[], Any] = lambda: None,
                 container: str = '') -> None:
        self.name = name
        self.container = container
        self.value = value
        self.variable = variable
        storages[self] = None

    def __repr__(self) -> str:
        """The display of a handle in a debugger: the variable's name, and its present value by type, shape and range."""
        variable = self.variable()
        name = variable.name.removesuffix(':0') if variable is not None else self.name
        if self.value is None:
            return f'<variable {name!r}, not initialized>'
        array = np.asarray(self.value)
        text = f'<variable {name!r} {array.dtype}{list(array.shape)}'
        if array.dtype.kind not in 'fiub' or not 0 < array.size <= _SUMMARISED:
            return text + '>'
        low, high = array.min().item(), array.max().item()
        low, high = (f'{low:.6g}', f'{high:.6g}') if array.dtype.kind == 'f' else (low, high)
        return f'{text} = {low}>' if array.size == 1 else f'{text}, {low} .. {high}>'

    def enter(self, graph: Graph) -> Any:
        """The handle of this storage as a node of a graph, where a program uses an eager variable in a graph."""
        variable = self.variable()
        attrs: dict[str, Any] = {'shared_name': self.name, '_py_storage': self}
        if variable is not None:
            attrs.update(dtype=variable.dtype, shape=variable.shape)
            for collection in variable.collections:
                graph.add_to_collection(collection, variable)
        return graph.create_op('VarHandleOp', (), attrs,
                               variable.name.removesuffix(':0') if variable is not None else None).outputs[0]


def _unfed(*, dtype: Any, shape: Any, node: str = '') -> Any:
    sizes = '<unknown>' if shape.rank is None else '[' + ','.join('?' if n is None else str(n)
                                                                  for n in shape.as_list()) + ']'
    text = f"You must feed a value for placeholder tensor '{node}' with dtype {dtype.kernel_name}"
    raise InvalidArgumentError(None, None, text + ('' if not shape.rank else f' and shape {sizes}'))


def _typed(inputs: Sequence[TypedInput], attrs: Attrs) -> Sequence[Output]:
    return [(attrs['dtype'], attrs['shape'])]


register(OpDef(INPUT, _unfed, _typed, stateful=True, kernel_attrs=('dtype', 'shape', 'node')))


def _handle(execution: Execution, *, shared_name: Any, container: Any = '', device: str = '', node: str = '',
            _py_storage: Storage | None = None) -> Any:
    if _py_storage is not None:
        return _py_storage
    name, box = _text(shared_name) or node, _text(container)
    resources = execution.resources
    key = ('variable', box, name) if type(resources) is dict else resources.variable(device, box, name)  # type: ignore[attr-defined]
    return execution.resource(key, lambda: Storage(name, container=box))


def _text(name: Any) -> str:
    """A name as text: a node from a GraphDef has bytes."""
    return name.decode() if isinstance(name, bytes) else name


def stored(execution: Execution, storage: Storage) -> Any:
    """The value of a variable.

    Raises:
        FailedPreconditionError: It is not initialized.
    """
    if storage.value is None:
        box = storage.container or 'localhost'
        status = _absence(execution, storage)
        raise FailedPreconditionError(
            None, None, f'Could not find variable {storage.name}. This could mean that the variable has been deleted. In '
                        f'TF1, it '
            f'can also mean the variable is uninitialized. Debug info: container={box}, status error message={status}')
    return storage.value


def present(execution: Execution, storage: Storage) -> Any:
    """The value of a variable, for an update.

    Raises:
        NotFoundError: It is not initialized.
    """
    if storage.value is None:
        raise NotFoundError(None, None, _absence(execution, storage))
    return storage.value


def _absence(execution: Execution, storage: Storage) -> str:
    others = any(isinstance(resource, Storage) and resource.value is not None for resource in execution.resources.values())
    box = storage.container or 'localhost'
    return (f'Resource {box}/{storage.name}/N10tensorflow3VarE does not exist.' if others else
            f'Container {box} does not exist. (Could not find resource: {box}/{storage.name})')


def _read(execution: Execution, storage: Storage, *, dtype: Any) -> Any:
    return stored(execution, storage)


def _shape_of_handle(inputs: Sequence[Any], attrs: Attrs, functions: Any) -> Attrs:
    """The shape of a read value comes from the variable: a NodeDef of the read has none."""
    return {'shape': inputs[0].op.attrs.get('shape') if inputs[0].op.type == 'VarHandleOp' else TensorShape(None)}


def _resource(inputs: Sequence[TypedInput], attrs: Attrs) -> Sequence[Output]:
    return [(dtypes.resource, TensorShape([]))]


def _no_outputs(inputs: Sequence[TypedInput], attrs: Attrs) -> Sequence[Output]:
    return []


def _assign(execution: Execution, storage: Storage, value: Any) -> None:
    storage.value = value


def shape_of_variable(handle: Any) -> TensorShape:
    """The shape of the variable of a handle node; unknown for any other handle."""
    op = getattr(handle, 'op', None) if isinstance(handle, SymbolicTensor) else None
    return TensorShape(op.attrs.get('shape')) if op is not None and op.type == 'VarHandleOp' else TensorShape(None)


def _of_its_shape(inputs: Sequence[TypedInput], attrs: Attrs) -> Sequence[Output]:
    merged(shape_of_variable(inputs[0]), inputs[1].shape)
    return []


def _updated(op: str, function: Callable[[Any, Any], Any]) -> Callable[[Execution, Storage, Any], None]:
    def update(execution: Execution, storage: Storage, value: Any) -> None:
        before = present(execution, storage)
        if before.dtype.kind in 'Ob':
            dtype = dtypes.of_value(before).proto_name
            raise InvalidArgumentError(None, None, (
                f"No OpKernel was registered to support Op '{op}' used by {{{{node {op}}}}} with "
                f'these attrs: [dtype={dtype}]\n\t [[{op}]] [Op:{op}] name: '))
        if before.shape != value.shape:
            sizes = ['[' + ','.join(map(str, x.shape)) + ']' for x in (before, value)]
            raise InvalidArgumentError(None, None, f'Cannot update variable with shape {sizes[0]} using a Tensor with shape '
                                                   f'{sizes[1]}, shapes must be equal.')
        storage.value = function(before, value)
    return update


def _initialized(execution: Execution, storage: Storage) -> Any:
    return np.bool_(storage.value is not None)


register(OpDef('VarHandleOp', _handle, _resource, stateful=True, in_execution=True,
               kernel_attrs=('shared_name', 'container', 'device', 'node', '_py_storage')))
register(OpDef('ReadVariableOp', _read, _typed, lambda node, dy: [dy], stateful=True, slices=True, kernel_attrs=('dtype',),
               in_execution=True, restore=_shape_of_handle))
register(OpDef('AssignVariableOp', _assign, _no_outputs, no_gradient, outputs=0, stateful=True, in_execution=True))
for _op, _function in (('AssignAddVariableOp', np.add), ('AssignSubVariableOp', np.subtract)):
    register(OpDef(_op, _updated(_op, _function), _of_its_shape, no_gradient, outputs=0, stateful=True, in_execution=True))
register(OpDef('VarIsInitializedOp', _initialized, lambda inputs, attrs: [(dtypes.bool, TensorShape([]))], no_gradient,
               stateful=True, in_execution=True))
register(OpDef('NoOp', lambda: None, _no_outputs, outputs=0, stateful=True))


register(OpDef('PlaceholderWithDefault', lambda x: x, lambda inputs,
               attrs: [(inputs[0].dtype, _default_shape(inputs, attrs))],
               lambda node, dy: [dy], free=True))


def _default_shape(inputs: Sequence[TypedInput], attrs: Attrs) -> TensorShape:
    shape, default = attrs['shape'], inputs[0].shape
    if shape.rank is not None and default.rank is not None and shape.rank != default.rank:
        raise ValueError(f'Shapes must be equal rank, but are {default.rank} and {shape.rank}')
    if not shape.is_compatible_with(default):
        raise ValueError(f'Shapes {default} and {shape} are not compatible')
    return shape


def placeholder(dtype: Any, shape: Any = None, name: str | None = None) -> Any:
    """A tensor that is fed when the graph runs.

    In eager mode it is a node of the process's default graph: a program of TensorFlow 1 needs no switch. From then on
    eager computations on variables are recorded, so that they can be repeated in that graph.

    Raises:
        TypeError: `dtype` is no dtype, or `shape` no shape.
    """
    try:
        kind = dtypes.as_dtype(dtype)
    except TypeError:
        raise TypeError(f"Expected DataType for argument 'dtype' not {dtype!r}.") from None
    try:
        attrs = {'dtype': kind, 'shape': TensorShape(shape)}
    except TypeError as error:
        raise TypeError(f'Error converting shape to a TensorShape: {error}.') from None
    return context.graph_for_nodes().create_op(INPUT, (), attrs, name or 'Placeholder').outputs[0]


def placeholder_with_default(input: Any, shape: Any, name: str | None = None) -> Any:
    """A tensor that has the value of `input` unless it is fed."""
    from pyfuncdbg.hosts.numpy.ops.definition.constant import convert_to_tensor
    graph = context.graph_for_nodes()
    with graph.as_default():
        with graph.name_scope(name or 'PlaceholderWithDefault') as full:
            default = convert_to_tensor(input, name='input')
        return graph.create_op('PlaceholderWithDefault', (default,), {'shape': TensorShape(shape)}, full).outputs[0]


def no_op(name: str | None = None) -> Any:
    """An operation without effect, for its control inputs."""
    return apply('NoOp', (), None, name or 'NoOp')
