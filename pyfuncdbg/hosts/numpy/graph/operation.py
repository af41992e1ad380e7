"""One node of a graph."""
from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pyfuncdbg.errors import InvalidArgumentError
from pyfuncdbg.hooks.call import Frame
from pyfuncdbg.hooks.public_function import mark_unwrapped
from pyfuncdbg.hosts.numpy.graph.creation_stack import StackTrace
from pyfuncdbg.hosts.numpy.graph.definitions.attributes import displayed_attrs
from pyfuncdbg.hosts.numpy.graph.definitions.registry import OpDef, Output
from pyfuncdbg.hosts.numpy.graph.node_graph import NodeGraph
from pyfuncdbg.hosts.numpy.graph.symbolic_tensor import SymbolicTensor, evaluate
from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.graph.types.shapes import TensorShape


class Operation:
    """`tf.Operation`: one step of a graph. Made by `Graph.create_op` only.

    Attributes:
        attrs: Static arguments by TensorFlow's attr names.
        stack: The user's frames that made it, innermost last.
        serial: Position in the graph's order of creation, which is a valid order of execution.
        version: Version of the graph that added it.
        hidden: Hidden outputs, recorded for a gradient.
    """

    __slots__ = ('__weakref__', 'attrs', 'control_inputs', 'definition', 'device', 'graph', 'hidden', 'inputs',
                 'name', 'outputs', 'serial', 'stack', 'type', 'version')

    @mark_unwrapped
    def __init__(self, graph: NodeGraph, definition: OpDef, name: str, inputs: Sequence[Tensor], types: Sequence[Output],
                 attrs: Mapping[str, Any], control_inputs: Sequence[Operation], stack: tuple[Frame, ...],
                 serial: int) -> None:
        self.graph = graph
        self.definition = definition
        self.type = definition.name
        self.name = name
        self.inputs: tuple[Any, ...] = tuple(inputs)
        self.attrs: dict[str, Any] = dict(attrs)
        self.control_inputs = list(control_inputs)
        self.device = ''
        self.stack = stack
        self.serial = serial
        self.version = graph.version + 1
        self.outputs = [SymbolicTensor(self, i, dtype, shape) for i, (dtype, shape) in enumerate(types)]
        self.hidden: list[SymbolicTensor] = []

    def recorded(self) -> list[SymbolicTensor]:
        """The hidden outputs; adds them to the op if missing."""
        if not self.hidden and self.definition.hidden is not None:
            first = len(self.outputs)
            self.hidden = [SymbolicTensor(self, first + i, dtype, shape)
                           for i, (dtype, shape) in enumerate(self.definition.hidden(self))]
            self.graph.changed()
        return self.hidden

    def values(self) -> tuple[SymbolicTensor, ...]:
        """The outputs."""
        return tuple(self.outputs)

    @property
    def node_def(self) -> Any:
        """The node as TensorFlow's NodeDef would show it."""
        from pyfuncdbg.hosts.numpy.graph.proto.nodedef import node_def
        inputs = [t.name[:-2] if t.name.endswith(':0') else t.name for t in self.inputs]
        inputs += sorted(f'^{op.name}' for op in self.control_inputs)
        attrs = self.shown_attrs()
        for key in self.definition.kernel_attrs:        # our kernel depends on it, but TensorFlow's node has no such attr
            if key not in attrs and not key.startswith('_') and type(self.attrs.get(key)) in (int, bool, float, str) and (
                    self.attrs[key]):
                attrs[key] = self.attrs[key]
        return node_def(self.name, self.type, inputs, self.device, attrs)

    def shown_attrs(self) -> dict[str, Any]:
        """The attrs of TensorFlow's NodeDef."""
        return displayed_attrs(self.type, self.inputs, self.outputs, self.attrs)

    @property
    def op_def(self) -> Any:
        """TensorFlow's definition of the op type."""
        from pyfuncdbg.hosts.numpy.graph.proto.nodedef import op_def
        return op_def(self.type, self.definition.stateful)

    @property
    def traceback(self) -> StackTrace:
        """The user's frames that made it, innermost last, in the form of the module `traceback`."""
        return StackTrace.of(self.stack)

    def get_attr(self, name: str) -> Any:
        """One attr.

        Raises:
            ValueError: The op has no such attr.
        """
        value = self.shown_attrs().get(name)
        if isinstance(value, TensorShape) or hasattr(value, 'tobytes'):
            from pyfuncdbg.hosts.numpy.graph.proto.nodedef import attr_value
            message = attr_value(value)
            return message.shape if isinstance(value, TensorShape) else message.tensor
        if value is None:
            raise ValueError(f"Operation '{self.name}' has no attr named '{name}'.")
        return value.encode() if isinstance(value, str) else value

    # ------------------------------------------------------------------ changes that programs make by private names
    @property
    def _control_outputs(self) -> list[Operation]:
        """The ops with a control input from it."""
        return [op for op in self.graph.operations if self in op.control_inputs]

    def _add_control_inputs(self, ops: Iterable[Operation]) -> None:
        for op in ops:
            if not isinstance(op, Operation):
                raise TypeError(f'op must be an Operation: {op}')
            if op.graph is not self.graph:
                raise ValueError(f'{op!r} is not an element of this graph.')
            if op not in self.control_inputs:
                self.control_inputs.append(op)
        self.graph.changed()

    def _add_control_input(self, op: Operation) -> None:
        self._add_control_inputs([op])

    def _remove_all_control_inputs(self) -> None:
        self.control_inputs.clear()
        self.graph.changed()

    def _update_input(self, index: int, tensor: SymbolicTensor) -> None:
        """Replace an input."""
        if not isinstance(tensor, SymbolicTensor):
            raise TypeError(f'tensor must be a Tensor: {tensor}')
        if tensor.graph is not self.graph:
            raise ValueError(f'{tensor!r} must be from the same graph as {self!r}.')
        if not 0 <= index < len(self.inputs):
            raise IndexError(f'operation {self.name!r} has {len(self.inputs)} inputs, there is no number {index}')
        expected = self.inputs[index].dtype
        if tensor.dtype is not expected:
            raise InvalidArgumentError(None, None, f'Input {index} of node {self.name} was passed {tensor.dtype.name} from '
                                                   f'{tensor.name} incompatible with expected {expected.name}.')
        self.inputs = (*self.inputs[:index], tensor, *self.inputs[index + 1:])
        self.graph.sites.pop(self.serial, None)
        self.graph.changed()

    def _set_attr(self, attr_name: str, attr_value: Any) -> None:
        """Set an attr from an AttrValue."""
        from pyfuncdbg.hosts.numpy.graph.proto.nodedef import value_of
        self.attrs[attr_name] = value_of(attr_value)
        self.graph.changed()

    def _set_device(self, device: Any) -> None:
        self.device = str(device or '')
        self.graph.changed()

    def colocation_groups(self) -> list[bytes]:
        """Names of the ops it is colocated with."""
        return list(self.attrs.get('_class', [f'loc:@{self.name}'.encode()]))

    def run(self, feed_dict: Any = None, session: Any = None) -> None:
        """Run it in `session` or the default session.

        Raises:
            ValueError: There is no session.
        """
        evaluate(self, 'Cannot execute operation using `run()`', feed_dict, session)

    def __str__(self) -> str:
        return str(self.node_def)

    def __repr__(self) -> str:
        return f"<tf.Operation '{self.name}' type={self.type}>"
