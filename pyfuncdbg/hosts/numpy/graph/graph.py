"""A dataflow graph: operations in order of creation, their names, and current scopes.

A graph with an `outer` is the body of a function being traced: outer tensors become captured inputs.
"""
# long: TensorFlow's class `Graph`; its base class and the objects it holds are modules of their own
from __future__ import annotations

import re
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

from pyfuncdbg.errors import NotFoundError
from pyfuncdbg.hooks.call import CallSite
from pyfuncdbg.hooks.locks import new_rlock
from pyfuncdbg.hooks.public_function import context_hiding_own_frames, mark_unwrapped
from pyfuncdbg.hosts.numpy.graph import thread_state
from pyfuncdbg.hosts.numpy.graph.creation_stack import creation_stack
from pyfuncdbg.hosts.numpy.graph.definitions.gradient_rules import with_rule
from pyfuncdbg.hosts.numpy.graph.definitions.registry import CONSTANT, INPUT, is_registered, lookup
from pyfuncdbg.hosts.numpy.graph.definitions.shape_errors import complete_shape_error
from pyfuncdbg.hosts.numpy.graph.element_lookup import element, is_repeated
from pyfuncdbg.hosts.numpy.graph.naming import GraphNames
from pyfuncdbg.hosts.numpy.graph.node_scopes import ControlStack, DeviceScopes
from pyfuncdbg.hosts.numpy.graph.operation import Operation
from pyfuncdbg.hosts.numpy.graph.symbolic_tensor import SymbolicTensor
from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.graph.thread_state import DefaultScope


class Collections:
    """Collections of a graph: named lists. Its `_check_open` refuses changes to a finalized one."""

    _collections: dict[Any, list[Any]]

    def _check_open(self) -> None:
        raise NotImplementedError

    def add_to_collection(self, name: Any, value: Any) -> None:
        """Append to a named list."""
        self._check_open()
        self._collections.setdefault(name, []).append(value)

    def add_to_collections(self, names: Iterable[Any], value: Any) -> None:
        """Append to several lists, once to each."""
        for name in [names] if isinstance(names, str) else list(dict.fromkeys(names)):
            self.add_to_collection(name, value)

    def get_collection(self, name: Any, scope: str | None = None) -> list[Any]:
        """A copy of a named list, only names that match `scope` if given."""
        items = list(self._collections.get(name, ()))
        if scope is None:
            return items
        return [item for item in items if hasattr(item, 'name') and re.match(scope, item.name)]

    def get_collection_ref(self, name: Any) -> list[Any]:
        """The named list itself."""
        return self._collections.setdefault(name, [])

    def clear_collection(self, name: Any) -> None:
        """Remove a named list."""
        self._check_open()
        self._collections.pop(name, None)

    def get_all_collection_keys(self) -> list[Any]:
        """The names of collections; keys that are no strings are private."""
        return [key for key in self._collections if isinstance(key, str)]

    @property
    def collections(self) -> list[Any]:
        """The keys of all collections."""
        return list(self._collections)


class Graph(Collections):
    """`tf.Graph`.

    Attributes:
        outer: For the graph of a function: the graph it is traced in; None if traced in eager code.
        forward: For the graph of a backward function: the graph of the differentiated function.
        building_function: Whether it is the body of a function.
        version: Grows with every change; key of cached plans.
        captures: For a function's graph: (outer tensor, its placeholder here) in order of capture.
        embedded: Outer tensors that are constants here: (tensor, constant).
        resources: Objects that live as long as the graph, such as the functions its Python ops call.
        gradient_steps: The backward steps that gradients added here, in order.
        sites: The call sites of nodes, by serial number.
        seed: Graph-level random seed, None if not set.
        reads: By id of a handle here, the tensor with the value of an eager variable, for fetches.
        variables: The variables that the function of this graph reads, in order, by id of the handle.
        automatic: Whether nodes with effects run without being fetched: in functions, not in graphs of TensorFlow 1.
        place: For a part of another graph: the name of its node there, with a trailing '/'.
        repeats: Whether it is a part of a loop.
        certain: Whether it is a branch with a constant selector.
        waits: Outer ops that nodes of this function wait for.
        tasks: For a function that a task of a cluster runs with other tasks: the tasks of its nodes.
        variables_made: Number of variables that the function of this graph has made; None where it must not make any.
        returned: For the graph of a traced function: its result.
        arguments: While a function is traced that may make variables: its placeholders, with the values of the first call.
    """

    def __init__(self, *, name: str = '', outer: Graph | None = None, building_function: bool = False) -> None:
        self.name, self.outer = name, outer
        self.forward: Graph | None = None
        self.building_function = building_function
        self.version = 0
        self.captures: list[tuple[Tensor, SymbolicTensor]] = []
        self.embedded: list[tuple[Tensor, SymbolicTensor]] = []
        self.resources: list[Any] = []
        self.seed: int | None = None
        self.sites: dict[int, CallSite] = {}
        self.gradient_steps: list[Any] = []
        self.reads: dict[int, SymbolicTensor] = {}
        self.variables: dict[int, weakref.ref[Any]] = {}
        self.variables_made: int | None = None
        self.arguments: tuple[tuple[Any, Any], ...] = ()
        self.returned: tuple[Tensor, ...] = ()
        self.waits: list[Operation] = []
        self.tasks: Any = None
        self.automatic, self.finalized = building_function, False
        self.place, self.repeats, self.certain = '', False, False
        self.unfeedable: set[int] = set()
        self.unfetchable: set[Operation] = set()
        self.shown_of: Any = None                   # the function it is of, once a program has requested the graph from it
        self._captured: dict[int, SymbolicTensor] = {}
        self._repeated: dict[int, Operation] = {}
        self._ops: list[Operation] = []
        self._by_name: dict[str, Operation] = {}
        self._names, self._control, self.placing = GraphNames(), ControlStack(), DeviceScopes()
        self._collections: dict[Any, list[Any]] = {}
        self._overrides: dict[str, str] = {}
        self._lock = new_rlock()

    # ------------------------------------------------------------------ building
    def create_op(self, op_type: str, inputs: Sequence[Tensor], arguments: Any = None, name: str | None = None,
                  **settings: Any) -> Operation:
        """Add a node whose inputs are of this graph.

        Args:
            op_type: Its name in the registry.
inputs: Its inputs.
            arguments: Its attrs; or, as in TensorFlow, the dtypes of its outputs, which follow from the op and the inputs.
            name: Of the node.
            **settings: TensorFlow's further arguments; only `attrs` (messages by name) has an effect here.

        Raises:
            RuntimeError: The graph is finalized, or there is no such op.
            ValueError: Shapes, dtypes or the name are invalid, or an input is of another graph.
            TypeError: An input is no tensor.
        """
        if settings or type(arguments) in (list, tuple):
            inputs, arguments = outside_call(op_type, inputs, settings)
        definition = lookup(op_type)
        attrs = arguments or {}
        rule = self._overrides.get(op_type) if self._overrides else None
        if rule is not None:
            definition, attrs = with_rule(definition, rule), {**attrs, '_gradient_op_type': rule.encode()}
        with self._lock:
            self._check_open()
            admitted = [self.admit(tensor, inputs) for tensor in inputs]
            full = self._names.node(op_type if name is None else name, op_type == CONSTANT)
            if full in self._by_name:
                if name is not None and name.endswith('/'):
                    raise ValueError(f'Duplicate node name in graph: {full!r}')
                full = self._names.unique(full)
            control = self._control.control_inputs({tensor.op for tensor in admitted})
            try:
                types = definition.infer(admitted, attrs)
            except ValueError as error:
                raise complete_shape_error(error, op_type, full, admitted, control, attrs) from None
            op = Operation(self, definition, full, admitted, types, attrs, control, creation_stack(), len(self._ops))
            self.placing.apply(op)
            self._control.add(op)
            self._ops.append(op)
            self._by_name[full] = op
            self.version += 1
        return op

    @mark_unwrapped
    def admit(self, tensor: Tensor, beside: Sequence[Tensor] = ()) -> SymbolicTensor:
        """`tensor` as an input of a node of this graph: itself, or the tensor that represents it here.

        Raises:
            ValueError: It is of a graph that this one is not nested in.
        """
        if isinstance(tensor, SymbolicTensor) and tensor.op.graph is self:
            return tensor
        if self.building_function:
            return self.capture(tensor)
        if isinstance(tensor, SymbolicTensor):
            member = next((x for x in beside if isinstance(x, SymbolicTensor) and x.op.graph is self), None)
            if member is not None:
                raise ValueError(f'{tensor} must be from the same graph as {member} (graphs are {tensor.graph} and {self}).')
            raise ValueError(f'Tensor {tensor!r} must be from the same graph as the graph that the op is added to '
                             f'(graph of the tensor: {tensor.graph}, this graph: {self}).')
        return self.embed(tensor)

    def capture(self, tensor: Tensor) -> SymbolicTensor:
        """The placeholder of an outer tensor in this function."""
        placeholder = self._captured.get(id(tensor))
        if placeholder is None:
            node_arguments = ((CONSTANT, (), tensor.op.attrs, 'Const') if is_repeated(self.forward, tensor) else  # type: ignore[attr-defined]
                              (INPUT, (), {'dtype': tensor.dtype, 'shape': tensor.shape}, 'captured'))
            with self.outside_scopes():
                placeholder = self._captured[id(tensor)] = self.create_op(*node_arguments).outputs[0]
            (self.captures if node_arguments[0] == INPUT else self.embedded).append((tensor, placeholder))
        return placeholder

    def embed(self, tensor: Tensor) -> SymbolicTensor:
        """The node output with the value of an eager tensor: a constant, a variable's handle, or the repeated computation
        of the tensor if it depends on a variable. One per tensor."""
        placeholder = self._captured.get(id(tensor))
        if placeholder is None:
            with self.outside_scopes():
                placeholder = self._captured[id(tensor)] = self._stand_in(tensor)
            self.embedded.append((tensor, placeholder))
        return placeholder

    def _stand_in(self, tensor: Any) -> SymbolicTensor:
        origin, index = getattr(tensor, 'origin', (None, 0))
        if origin is not None:
            op = self._repeated.get(id(origin))
            if op is None:
                op = self._repeated[id(origin)] = self.create_op(origin.type, origin.inputs, origin.attrs, origin.name)
            return op.outputs[index]
        enter = getattr(tensor._value, 'enter', None)
        if enter is not None:
            return enter(self)  # type: ignore[no-any-return]
        return self.create_op(CONSTANT, (), {'dtype': tensor.dtype, 'value': tensor._value}, 'Const').outputs[0]

    def make_variable(self) -> None:
        """Count a variable made in the function of this graph.

        Raises:
            ValueError: It is not the function's first trace.
        """
        if self.variables_made is None:
            raise ValueError('tf.function only supports singleton tf.Variables created on the first call. Make sure the '
                             'tf.Variable is only created once or created outside tf.function. See '
                             'https://www.tensorflow.org/guide/function#creating_tfvariables for more information.')
        self.variables_made += 1

    def note_variable(self, variable: Any) -> None:
        """Record that the function of this graph reads an outer variable."""
        self.variables.setdefault(id(variable.handle), weakref.ref(variable))

    def dismantle(self) -> None:
        """Release all nodes: the trace that owned this graph is gone, so it cannot run any more."""
        for op in self._ops:
            op.inputs, op.attrs, op.control_inputs = (), {}, []
        for collection in (self._ops, self._by_name, self._captured, self._repeated, self.captures, self.embedded,
                           self.resources,
                           self.reads, self.gradient_steps, self.sites, self._collections, self.waits):
            collection.clear()

    def standing_for(self, tensor: Tensor) -> SymbolicTensor | None:
        """The tensor here that represents an outer one; itself for one of this graph, None for one that is not captured."""
        if isinstance(tensor, SymbolicTensor) and tensor.op.graph is self:
            return tensor
        return self._captured.get(id(tensor))

    def changed(self) -> None:
        """Invalidate compiled plans."""
        self.version += 1

    def prevent_feeding(self, tensor: Tensor) -> None:
        """Refuse feeds of this tensor."""
        self.unfeedable.add(id(tensor))
        self.changed()

    def prevent_fetching(self, op: Operation) -> None:
        """Refuse fetches of this op."""
        self.unfetchable.add(op)
        self.changed()

    def is_feedable(self, tensor: Tensor) -> bool:
        """Whether the tensor may be fed."""
        return id(tensor) not in self.unfeedable

    def is_fetchable(self, element: Any) -> bool:
        """Whether a tensor's or operation's value may be fetched."""
        return getattr(element, 'op', element) not in self.unfetchable

    def finalize(self) -> None:
        """Refuse further nodes."""
        self.finalized = True

    def _check_open(self) -> None:
        if self.finalized:
            raise RuntimeError('Graph is finalized and cannot be modified.')

    # ------------------------------------------------------------------ scopes
    def as_default(self) -> DefaultScope:
        """Make this graph the one that ops are added to, in this thread."""
        return DefaultScope(thread_state.state.graphs, self)

    @context_hiding_own_frames
    def name_scope(self, name: str | None) -> Iterator[str]:
        """Prefix the names of new nodes; yields the scope's full name with a trailing '/'."""
        before, full = self._names.enter(name)
        try:
            yield full
        finally:
            self._names.scope = before

    def control_dependencies(self, control_inputs: Iterable[Any] | None) -> AbstractContextManager[None]:
        """New nodes run after these ops; None clears enclosing scopes.

        Raises:
            ValueError: An op is of another graph.
            TypeError: An item is no op or tensor.
            KeyError: The graph has no op of this name.
        """
        ops = None if control_inputs is None else [self._as_op(item) for item in control_inputs if not self._waits(item)]
        for op in ops or ():
            op.attrs['_has_manual_control_dependencies'] = True
        return self._control.entered(ops)

    @context_hiding_own_frames
    def gradient_override_map(self, op_type_map: Mapping[str, str]) -> Iterator[None]:
        """Use registered gradient rules for new nodes, by op type.

        Raises:
            TypeError: The map is no dict of strings.
        """
        if not isinstance(op_type_map, dict) or not all(
                isinstance(text, str) for pair in op_type_map.items() for text in pair):
            raise TypeError('op_type_map must be a dictionary mapping strings to strings')
        before, self._overrides = self._overrides, {**self._overrides, **op_type_map}
        try:
            yield
        finally:
            self._overrides = before

    def device(self, device: Any) -> AbstractContextManager[None]:
        """Put new nodes on a device: a name or spec, a function of the operation, or None to clear."""
        return self.placing.on(device)

    def colocate_with(self, op: Any, ignore_existing: bool = False) -> AbstractContextManager[None]:
        """Colocate new nodes with `op`."""
        target = getattr(op, 'op', op)
        return self.placing.beside(self._as_op(target) if isinstance(target, str) else target, ignore_existing)

    def container(self, container_name: str) -> AbstractContextManager[str]:
        """Keep new variables in a container."""
        return self.placing.within(container_name)

    @context_hiding_own_frames
    def outside_scopes(self) -> Iterator[None]:
        """Leave the current name scope, control dependencies and devices."""
        scope, self._names.scope = self._names.scope, ''
        try:
            with self._control.entered(None), self.placing.none():
                yield
        finally:
            self._names.scope = scope

    def unique_name(self, name: str, mark_as_used: bool = True) -> str:
        """A free node or scope name in the current scope."""
        return self._names.unique(name, mark_as_used)

    def get_name_scope(self) -> str:
        """The current scope, without a trailing '/'."""
        return self._names.scope

    def _waits(self, item: Any) -> bool:
        """Whether an item is an outer op, for which the whole function then waits."""
        op = getattr(item, 'op', item)
        if not self.building_function or not isinstance(op, Operation) or op.graph is self:
            return False
        self.waits.append(op)
        return True

    def _as_op(self, item: Any) -> Operation:
        element = self.as_graph_element(item)
        return element if isinstance(element, Operation) else element.op

    # ------------------------------------------------------------------ looking
    @property
    def operations(self) -> list[Operation]:
        """All nodes in order of creation."""
        return list(self._ops)

    def tensors(self) -> list[SymbolicTensor]:
        """All outputs of all nodes."""
        return [tensor for op in self._ops for tensor in op.outputs]

    def get_operations(self) -> list[Operation]:
        """All nodes in order of creation."""
        return list(self._ops)

    @property
    def graph_def_versions(self) -> Any:
        """The producer version of a GraphDef of this graph, as a VersionDef."""
        from pyfuncdbg.hosts.numpy.graph.proto.graphdef import versions
        return versions()

    def as_graph_def(self, from_version: int | None = None, add_shapes: bool = False) -> Any:
        """The nodes made since `from_version`, and the functions they call, as a GraphDef."""
        from pyfuncdbg.hosts.numpy.graph.proto.graphdef import graph_def
        return graph_def(self, from_version, add_shapes)

    @property
    def root(self) -> Graph:
        """The outermost graph that contains this one."""
        return self if self.outer is None else self.outer.root

    @property
    def outer_is_graph(self) -> bool:
        """Whether the root is a graph, not a function traced in eager code."""
        graph: Graph | None = self
        while graph is not None and graph.building_function:
            graph = graph.outer
        return graph is not None

    def as_graph_element(self, obj: Any, allow_tensor: bool = True, allow_operation: bool = True) -> Any:
        """The tensor or operation for `obj`: itself, a name, a variable.

        Raises:
            ValueError: A malformed name or a tensor of another graph.
            KeyError: No such tensor or operation.
            TypeError: Something else.
        """
        return element(self, self._by_name, obj, allow_tensor, allow_operation)

    def find(self, name: str) -> Operation | None:
        """The node of this name, if there is one."""
        return self._by_name.get(name)

    def get_tensor_by_name(self, name: str) -> SymbolicTensor:
        """The tensor 'node:slot'."""
        if not isinstance(name, str):
            raise TypeError(f'Tensor names are strings (or similar), not {type(name).__name__}.')
        return self.as_graph_element(name, allow_operation=False)  # type: ignore[no-any-return]

    def get_operation_by_name(self, name: str) -> Operation:
        """The node of this name."""
        if not isinstance(name, str):
            raise TypeError(f'Operation names are strings (or similar), not {type(name).__name__}.')
        return self.as_graph_element(name, allow_tensor=False)  # type: ignore[no-any-return]


def outside_call(op_type: str, inputs: Sequence[Any], settings: Mapping[str, Any]) -> tuple[list[Tensor], dict[str, Any]]:
    """The inputs and the attrs of a node.

    Raises:
        RuntimeError: There is no such op.
        TypeError: An input is no tensor.
    """
    from pyfuncdbg.hosts.numpy.graph.proto.nodedef import value_of
    inputs = list(inputs)
    for place, value in enumerate(inputs):
        if not isinstance(value, Tensor):
            raise TypeError(f'Input #{place} is not a tensor: {value}')
    if not is_registered(op_type):
        from pyfuncdbg.hosts.numpy.graph.proto.graphdef_checks import check_known  # the protobuf library takes 60 ms to load
        try:
            check_known(op_type)
        except NotFoundError as error:
            raise RuntimeError(error.message) from None
    return inputs, {name: value_of(value) for name, value in (settings.get('attrs') or {}).items()}


def owner(element: Operation | SymbolicTensor) -> Graph:
    """The graph that a node or a tensor is part of."""
    graph: Any = element.graph
    return graph  # type: ignore[no-any-return]
