"""`tf.Variable`: a named value that ops read and replace, in eager mode, in functions and in graphs.

A variable made in eager mode holds its storage; one made in a graph has a handle node, and each session its own storage.
"""
# long: one class, TensorFlow's `Variable`, and the settings that it takes
from __future__ import annotations

import copy as copies
import itertools
import threading
import weakref
from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Any

from pyfuncdbg.hooks.public_function import context_hiding_own_frames
from pyfuncdbg.hosts.numpy.graph import context
from pyfuncdbg.hosts.numpy.graph.graph import Graph
from pyfuncdbg.hosts.numpy.graph.symbolic_tensor import SymbolicTensor, evaluate, run_initializer
from pyfuncdbg.hosts.numpy.graph.tensor import Reference, Tensor
from pyfuncdbg.hosts.numpy.graph.types import dtypes
from pyfuncdbg.hosts.numpy.graph.types.shapes import TensorShape
from pyfuncdbg.hosts.numpy.ops.definition.constant import convert_to_tensor, holds_symbolic
from pyfuncdbg.hosts.numpy.ops.definition.public_scopes import eager_name
from pyfuncdbg.hosts.numpy.ops.operators import install
from pyfuncdbg.hosts.numpy.ops.variables.handles import Storage
from pyfuncdbg.hosts.numpy.runtime.eager import tape_recording
from pyfuncdbg.hosts.numpy.runtime.eager.dispatch import apply
from pyfuncdbg.hosts.numpy.runtime.execution.eager_tensor import EagerTensor
from pyfuncdbg.hosts.numpy.runtime.functions.early_values import lift_tensor, repeat_nodes


class VariableSynchronization(Enum):
    """Times of synchronization of a distributed variable's copies."""

    AUTO = 0
    NONE = 1
    ON_WRITE = 2
    ON_READ = 3


class VariableAggregation(Enum):
    """Methods of aggregation of a distributed variable's values."""

    NONE = 0
    SUM = 1
    MEAN = 2
    ONLY_FIRST_REPLICA = 3


GLOBAL, TRAINABLE = 'variables', 'trainable_variables'
"""Names of the collections that variables of a graph are in."""


class _BoundHandles(threading.local):
    def __init__(self) -> None:
        self.handles: dict[int, EagerTensor] = {}


_bindings = _BoundHandles()
_names = itertools.count()
_numbers = itertools.count()


@context_hiding_own_frames
def bind_handles(handles: Mapping[int, EagerTensor]) -> Iterator[None]:
    """Bind graph variables to storage handles for eager code of this thread; by id of the handle tensor."""
    before = _bindings.handles
    _bindings.handles = {**before, **handles}
    try:
        yield
    finally:
        _bindings.handles = before


class Variable:
    """A value that lives between runs.

    Args:
        initial_value: A value convertible to a tensor, or a function that returns one.
        trainable: Whether tapes watch it and optimizers change it.
        name: Its name; ':0' is added.
        dtype: Its dtype.
        shape: Its static shape, if wider than that of the initial value.
        collections: Graph collections to add it to.

    Raises:
        ValueError: No initial value.
    """

    __array_priority__ = 100
    _is_argument = False
    _origin: Variable | None = None

    def __init__(self, initial_value: Any = None, trainable: bool | None = None, validate_shape: bool = True,
                 caching_device: Any = None, name: str | None = None, variable_def: Any = None, dtype: Any = None,
                 import_scope: str | None = None, constraint: Any = None, synchronization: Any = None,
                 aggregation: Any = None,
                 shape: Any = None, collections: Any = None, use_resource: bool | None = None) -> None:
        if initial_value is None:
            raise ValueError('The `initial_value` arg to `tf.Variable` must be specified except when you are not providing '
                             'a `variable_def`. You provided neither.')
        self.number = next(_numbers)                # in the order in which variables are made
        read_only = synchronization is VariableSynchronization.ON_READ
        self._trainable = trainable is not False and not (read_only and trainable is None)
        self._parent_op: Any = None
        if constraint is not None and not callable(constraint):
            raise ValueError('Argument `constraint` must be None or a callable. a callable. Got a '
                             f'{type(constraint)}: {constraint}')
        self.constraint = constraint
        self.synchronization = VariableSynchronization.AUTO if synchronization is None else synchronization
        self.aggregation = VariableAggregation.NONE if aggregation is None else aggregation
        names = [GLOBAL] if collections is None else list(collections)
        self.collections = [*([TRAINABLE] if self._trainable and TRAINABLE not in names else []), *names]
        graph = context.current_graph()
        if graph is not None and graph.building_function:
            graph.make_variable()
            initial_value = in_function(initial_value, dtype)
        while graph is not None and graph.building_function:
            graph = graph.outer                     # a variable outlives the function that makes it
        if graph is None:
            self._make_eager(initial_value, name, dtype, shape)
        else:
            self._make_node(graph, initial_value, name, dtype, shape)
            for collection in self.collections:
                graph.add_to_collection(collection, self)

    def _make_eager(self, initial_value: Any, name: str | None, dtype: Any, shape: Any) -> None:
        static_shape = initial_value.shape if isinstance(initial_value, SymbolicTensor) else None
        initial_value = lift_tensor(initial_value) if isinstance(initial_value, SymbolicTensor) else initial_value
        with context.under(None):
            value = initial_tensor(initial_value, dtype)
        self._shape = declared_shape(shape, value.shape if static_shape is None else static_shape)
        self.dtype = value.dtype
        full = eager_name(name or 'Variable')
        self._name = f'{full}:0'
        self._shared_name = f'{full}_{next(_names)}'
        me = weakref.ref(self)
        self._storage: Storage | None = Storage(self._shared_name, value._value, me)
        self._handle: Any = EagerTensor(self._storage, dtypes.resource)
        self._initializer: Any = None
        self._graph: Graph | None = None

    def _make_node(self, graph: Graph, initial_value: Any, name: str | None, dtype: Any, shape: Any) -> None:
        with graph.as_default(), graph.control_dependencies(None), graph.name_scope(name or 'Variable') as scope:
            full = scope[:-1]
            group = [f'loc:@{full}'.encode()]
            with graph.name_scope('Initializer'), graph.device(None), graph.placing.grouped(group):
                if isinstance(initial_value, SymbolicTensor) and initial_value.graph is not graph:
                    initial_value = repeat_nodes(initial_value, graph)
                value = initial_tensor(initial_value, dtype)
                value = value if isinstance(value, SymbolicTensor) else graph.embed(value)
            self._shape = declared_shape(shape, value.shape)
            self.dtype = value.dtype
            self._name = f'{full}:0'
            self._shared_name = full
            self._storage = None
            self._graph = graph
            attrs = {'shared_name': full, 'debug_name': scope, 'dtype': self.dtype, 'shape': self._shape,
                     'container': graph.placing.container, '_class': group}
            self._handle = graph.create_op('VarHandleOp', (), attrs, scope).outputs[0]
            self._initial_value = value
            with graph.name_scope('IsInitialized'):
                graph.create_op('VarIsInitializedOp', (self._handle,))
            self._initializer = graph.create_op('AssignVariableOp', (self._handle, value), {'dtype': self.dtype}, 'Assign')
            with graph.name_scope('Read'):
                self._snapshot = self._read()

    # ------------------------------------------------------------------ what it is
    @property
    def handle(self) -> Any:
        """The resource tensor that represents the variable; what tapes and functions track."""
        if _bindings.handles and id(self._handle) in _bindings.handles:
            return _bindings.handles[id(self._handle)]
        return self._handle

    @property
    def name(self) -> str:
        """'w:0'."""
        return self._name

    @property
    def shape(self) -> TensorShape:
        """Its static shape."""
        return self._shape

    def get_shape(self) -> TensorShape:
        """Its static shape."""
        return self._shape

    @property
    def trainable(self) -> bool:
        """Whether tapes watch it."""
        return self._trainable

    @property
    def graph(self) -> Graph:
        """The graph it is a node of."""
        if self._graph is None:
            raise AttributeError('Tensor.graph is undefined when eager execution is enabled.')
        return self._graph

    @property
    def op(self) -> Any:
        """The node of its handle; for the result of `assign` in a graph, the assignment."""
        return self._parent_op if self._parent_op is not None else self._handle.op

    @property
    def device(self) -> str:
        """The device that it is on."""
        return str(self._handle.device)

    @property
    def initializer(self) -> Any:
        """The operation that initializes it; None in eager mode."""
        return self._initializer

    @property
    def initial_value(self) -> Any:
        """The tensor of its initial value.

        Raises:
            RuntimeError: In eager mode.
        """
        if self._graph is None:
            raise RuntimeError('This property is not supported when eager execution is enabled.')
        return self._initial_value

    def ref(self) -> Reference:
        """A hashable reference."""
        return Reference(self)

    experimental_ref = ref

    # ------------------------------------------------------------------ reading
    def _read(self) -> Any:
        handle = self.handle
        if self._trainable and tape_recording.active.recordings:
            tape_recording.read(handle, self)
        graph = context.current_graph()
        if graph is not None and graph.building_function and not self._is_argument:
            graph.note_variable(self)
        attrs = {'dtype': self.dtype, 'shape': self._shape}
        if self._parent_op is None:
            return apply('ReadVariableOp', (handle,), attrs)
        graph = self._parent_op.graph
        with graph.as_default(), graph.control_dependencies([self._parent_op]):
            return apply('ReadVariableOp', (handle,), attrs)

    def standing_on(self, handle: Any) -> Variable:
        """This variable with another handle, such as a function's argument."""
        other = copies.copy(self)
        other._handle, other._parent_op, other._is_argument, other._origin = handle, None, True, self
        return other

    def read_value(self) -> Any:
        """The current value, as a tensor."""
        return self._read()

    def value(self) -> Any:
        """The current value, as a tensor."""
        graph = context.current_graph()
        if graph is None:
            return self._read()
        with graph.placing.none():              # where the variable is
            return self._read()

    _as_tensor = value

    def _as_graph_element(self, graph: Graph) -> Any:
        """The tensor that a session fetches for the variable."""
        if self._parent_op is not None and self._parent_op.graph is not self._graph:
            return self._read()                 # assigned in a function: of a loop, say, in the graph of the variable
        if self._graph is not None:
            return self._snapshot
        handle = graph.admit(self._handle)
        read = graph.reads.get(id(handle))
        if read is None:
            with graph.as_default(), graph.outside_scopes():
                read = graph.reads[id(handle)] = apply('ReadVariableOp', (handle,),
                                                       {'dtype': self.dtype, 'shape': self._shape})
        return read

    def numpy(self) -> Any:
        """A copy of the current value.

        Raises:
            NotImplementedError: In a graph.
        """
        value = self._read()
        if not isinstance(value, EagerTensor):
            raise NotImplementedError('numpy() is only available when eager execution is enabled.')
        return value.numpy()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        value = self._read()
        return value.__array__(dtype)

    def eval(self, session: Any = None) -> Any:
        """Its value in a session.

        Raises:
            ValueError: There is no session.
            RuntimeError: In eager mode.
        """
        if self._graph is None:
            raise RuntimeError('This operation is not supported when eager execution is enabled.')
        return evaluate(self._snapshot, 'Cannot evaluate tensor using `eval()`', None, session)

    def initialized_value(self) -> Any:
        """Its current value, or the initial one if it is not initialized."""
        return self._initial_value if self._graph is not None else self._read()

    # ------------------------------------------------------------------ assigning
    def assign(self, value: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True) -> Any:
        """Replace the value; returns the variable, whose reads in a graph wait for the assignment.

        Raises:
            ValueError: The shape is incompatible.
        """
        return self._update('AssignVariableOp', value, name, read_value)

    def assign_add(self, delta: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True) -> Any:
        """Add to the value."""
        return self._update('AssignAddVariableOp', delta, name, read_value)

    def assign_sub(self, delta: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True) -> Any:
        """Subtract from the value."""
        return self._update('AssignSubVariableOp', delta, name, read_value)

    def _update(self, op_type: str, value: Any, name: str | None, read_value: bool) -> Any:
        tensor = convert_to_tensor(value, self.dtype)
        if op_type == 'AssignVariableOp' and not self._shape.is_compatible_with(tensor.shape):
            raise ValueError(f"Cannot assign value to variable ' {self._name}': Shape mismatch.The variable shape "
                             f'{self._shape}, and the assigned value shape {tensor.shape} are incompatible.')
        attrs: dict[str, Any] = {'dtype': self.dtype}
        if op_type == 'AssignVariableOp' and self._shape.is_fully_defined():
            attrs['validate_shape'] = True
        return self.after(apply(op_type, (self.handle, tensor), attrs, name), read_value)

    def after(self, op: Any, read_value: bool = True) -> Any:
        """The variable after an operation has changed it; without `read_value` the operation."""
        if not read_value:
            return op
        assigned = copies.copy(self)
        assigned._origin = self                     # kept alive by `assigned`
        assigned._name, assigned._parent_op = 'UnreadVariable:0' if op is None else f'{op.name}:0', op
        if self._graph is not None and op is not None and op.graph is self._graph:
            assigned._snapshot = assigned._read()   # now: a run adds no nodes
        return assigned

    def load(self, value: Any, session: Any = None) -> None:
        """Assign a value in a session."""
        if self._graph is None:
            self.assign(value)
        else:
            run_initializer(self._initializer, {self._initial_value: value}, session)

    def is_initialized(self, name: str | None = None) -> Any:
        """A bool tensor: whether it is initialized."""
        return apply('VarIsInitializedOp', (self.handle,), None, name)

    def __repr__(self) -> str:
        unread = self._parent_op is not None or self._name == 'UnreadVariable:0'
        name = self._name.removesuffix(':0') if unread else self._name
        kind = f"<tf.Variable '{name}' shape={self._shape} dtype={self.dtype.name}"
        if self._graph is None and context.executing_eagerly():
            return f'{kind}, numpy={self._read()._text(True)}>'
        return kind + '>'

    def __deepcopy__(self, memo: Any) -> Variable:
        if self._graph is not None:
            raise NotImplementedError('__deepcopy__() is only available when eager execution is enabled.')
        name = self._name.removesuffix(':0')
        copy = Variable(self.read_value(), self._trainable, name=name, dtype=self.dtype, shape=self._shape,
                        constraint=self.constraint, synchronization=self.synchronization, aggregation=self.aggregation)
        memo[id(self)] = copy
        return copy

    def __iter__(self) -> Iterator[Any]:
        return iter(self._read())

    def __bool__(self) -> bool:
        return bool(self._read())

    def __int__(self) -> int:
        return int(self._read())

    def __float__(self) -> float:
        return float(self._read())

    def __index__(self) -> int:
        return self._read().__index__()

    def _elementwise(self) -> bool:
        return self._graph is None and context.executing_eagerly_outside_functions()

    def __eq__(self, other: object) -> Any:
        return Tensor.compare['equal'](self, other) if self._elementwise() else self is other

    def __ne__(self, other: object) -> Any:
        return Tensor.compare['not_equal'](self, other) if self._elementwise() else self is not other

    def __hash__(self) -> int:
        if self._elementwise():
            raise TypeError(f'Variable is unhashable. Instead, use variable.ref() as the key. (Variable: {self!r})')
        return id(self)


install(Variable, Variable._as_tensor)


def declared_shape(shape: Any, value_shape: TensorShape) -> TensorShape:
    """The static shape of a variable: as declared, or that of the initial value.

    Raises:
        ValueError: They are not compatible.
    """
    if shape is None:
        return value_shape
    if not TensorShape(shape).is_compatible_with(value_shape):
        raise ValueError(f"In this `tf.Variable` creation, the initial value's shape ({value_shape}) is not compatible "
                         f'with the explicitly supplied `shape` argument ({shape}).')
    return TensorShape(shape)


def in_function(initial_value: Any, dtype: Any) -> Any:
    """The initial value of a variable made in a function: a tensor of the function where it depends on one."""
    if callable(initial_value) and not context.get_default_graph().outer_is_graph:
        initial_value = initial_value()
    if isinstance(initial_value, (list, tuple)) and holds_symbolic(initial_value):
        return initial_tensor(initial_value, dtype)
    return initial_value


def initial_tensor(initial_value: Any, dtype: Any) -> Any:
    """The initial value as a tensor; a function is called."""
    value = initial_value() if callable(initial_value) else initial_value
    return convert_to_tensor(value, None if dtype is None else dtypes.as_dtype(dtype), name='initial_value')
