"""The registry of operations: kernel, shape rule and gradient of each.

`ops` fills the table; graph, dispatch, plan and executor read it. Nothing else knows an op. Subpackages of `ops` that few
programs need are loaded when an op is not found, or for the whole table.
"""
from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from pyfuncdbg.errors import UnimplementedError, nearest
from pyfuncdbg.hosts.numpy.graph.definitions import lazy_ops
from pyfuncdbg.hosts.numpy.graph.types.dtypes import DType
from pyfuncdbg.hosts.numpy.graph.types.shapes import TensorShape

Attrs = Mapping[str, Any]
Kernel = Callable[..., Any]
Output = tuple[DType, TensorShape]
"""Static type of one output."""
INPUT, CONSTANT, CALL, PURE_CALL = 'Placeholder', 'Const', 'StatefulPartitionedCall', 'PartitionedCall'
"""The op types of inputs, constants and calls of functions."""
IF, STATELESS_IF, CASE, STATELESS_CASE, WHILE, STATELESS_WHILE = ('If', 'StatelessIf', 'Case', 'StatelessCase', 'While',
                                                                  'StatelessWhile')
"""The op types of conditionals and loops."""
NEXT, BELOW, BOTH = 'AddV2', 'Less', 'LogicalAnd'
"""The op types that count iterations in a loop of a GraphDef."""
SUM, ZEROS, ONES = 'AddN', 'ZerosLike', 'OnesLike'
"""The op types that every backward pass uses."""
SHAPE, FILL, GATE = 'Shape', 'Fill', 'NoOp'
"""The op types of seeds and gates of `tf.gradients`."""
CAST, CONCAT, SEGMENT_SUM, RANGE, READ = 'Cast', 'ConcatV2', 'UnsortedSegmentSum', 'Range', 'ReadVariableOp'
"""The op types that assemble slices of a tensor."""
IDENTITY, PACK, RESHAPE = 'Identity', 'Pack', 'Reshape'
"""The op types that pack results of functions and jacobians."""


class TypedInput(Protocol):
    """Interface of an input for shape rules."""

    @property
    def dtype(self) -> DType: ...
    @property
    def shape(self) -> TensorShape: ...


class Node(Protocol):
    """Interface of a differentiated node for gradient rules: an `Operation` of a graph or a node of a tape."""

    @property
    def type(self) -> str: ...
    @property
    def inputs(self) -> Sequence[Any]: ...
    @property
    def outputs(self) -> Sequence[Any]: ...
    @property
    def attrs(self) -> Attrs: ...
    @property
    def definition(self) -> OpDef: ...
    @property
    def hidden(self) -> Sequence[Any]: ...
    @property
    def name(self) -> str: ...

    def recorded(self) -> Sequence[Any]:
        """The hidden outputs; a node of a graph gets them now."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class OpDef:
    """Definition of one op.

    Attributes:
        name: TensorFlow's op type, such as 'AddV2'.
        kernel: `kernel(*values, **attrs)` with one NumPy value per input (ndarray, or NumPy scalar at rank 0; an
            object array of bytes for strings); returns one value, or a tuple when `outputs` is not 1. It must not
            write to its inputs, and returns new memory unless it is `free`. It runs with NumPy's floating-point warnings
            off.
        infer: `infer(inputs, attrs)` returns the static type of each output. Raises ValueError for invalid
            shapes and TypeError for invalid dtypes, with TensorFlow's text.
        gradient: `gradient(node, *output_gradients)` gives one gradient tensor or None per input, written in ops so
            that it can be differentiated again. None where the op has no derivative; `no_gradient` where it is
            known to be zero everywhere.
        selective: It has two inputs, and its gradient rule takes the keyword `needed`: for each whether its gradient is
            needed; the rule returns None where it is not.
        value_rules: The same for NumPy values, `rule(gradient, x, y)` for each of two inputs, bit for bit: of one shape and
            one of NumPy's real types. A pass that nothing watches makes no tensors then. () of most ops.
        sparse: The gradient rule takes None for an output without a gradient; other rules get zeros.
        slices: The gradient rule takes `IndexedSlices`; other rules get tensors.
        outputs: Number of outputs; -1 where attrs decide.
        infix: The Python operator with bit-identical results on NumPy scalars and arrays of real types.
        stateful: Has an effect or depends on one: never pruned in a function, folded or merged.
        kernel_attrs: The attrs the kernel takes as keywords; the others are for graph and display only.
        into: The kernel is a ufunc-like that takes `out=`.
        in_execution: The kernel's first argument is the `Execution` (run, resources) it is part of.
        hidden: Types of hidden outputs, which the op records for its gradient. With `record=True` its
            kernel returns them too, as a `Recorded`. The keyword `hidden_needed`, if among `kernel_attrs`, says of each
            whether it is used; the others may be None.
        python: It may call the user's Python functions, so a run can be paused after it, and its inputs and outputs are
            never overwritten. Kernel inputs that the run owns and that are used here for the last time are listed by
            position in the keyword `owned`; the kernel must protect the others from writes.
        sealed: A Python op that depends on its inputs only, which include the tensors that its functions capture.
        restore: `restore(inputs, attrs, functions)` gives the private attrs of a node that comes from a GraphDef, where
            `functions` finds a function of its library by name.
        retains: Its output may share memory with an input, which is never overwritten then.
        alias: Name that TensorFlow's function passes in eager mode, at the end of its messages.
        free: Returns its input or a view of it, without cost.
    """

    name: str
    kernel: Kernel
    infer: Callable[[Sequence[TypedInput], Attrs], Sequence[Output]]
    gradient: Callable[..., Sequence[Any]] | None = None
    outputs: int = 1
    infix: str | None = None
    stateful: bool = False
    kernel_attrs: tuple[str, ...] = ()
    into: bool = False
    in_execution: bool = False
    hidden: Callable[[Any], Sequence[Output]] | None = None
    python: bool = False
    free: bool = False
    sealed: bool = False
    selective: bool = False
    value_rules: tuple[Callable[..., Any], ...] = ()
    sparse: bool = False
    slices: bool = False
    retains: bool = False
    restore: Callable[[Sequence[Any], Attrs, Any], Attrs] | None = None
    alias: str = ''

    def __repr__(self) -> str:
        return f'<OpDef {self.name}>'


def apply_gradient(node: Node, grads: Sequence[Any], needed: Sequence[bool]) -> Sequence[Any]:
    """Apply the gradient rule of a node that has one.

    Args:
        node: The node.
        grads: A gradient for each output, the hidden ones last.
        needed: Whether the gradient of each input is needed.

    Returns:
        One gradient or None per input.
    """
    definition = node.definition
    rule = definition.gradient
    assert rule is not None
    if len(grads) == 1:                             # unpacking with a keyword costs 0.2 µs
        return rule(node, grads[0], needed=needed) if definition.selective else rule(node, grads[0])
    return rule(node, *grads, needed=needed) if definition.selective else rule(node, *grads)


def no_gradient(node: Node, *grads: Any) -> Sequence[None]:
    """The rule of ops whose derivative is zero wherever it exists, such as `Floor` and `Shape`."""
    return [None] * len(node.inputs)


_table: dict[str, OpDef] = {}


def _complete_table() -> dict[str, OpDef]:
    """The table with all subpackages of `ops` loaded."""
    lazy_ops.load(lazy_ops.VOCABULARY)
    return _table


def register(definition: OpDef) -> OpDef:
    """Add an op to the table; its name must be new."""
    if definition.name in _table:
        raise ValueError(f'op {definition.name!r} is registered already')
    _table[definition.name] = definition
    return definition


def lookup(name: str) -> OpDef:
    """The definition of an op type.

    Raises:
        UnimplementedError: There is no such op; the message has the nearest names.
    """
    try:
        return _table[name]
    except KeyError:
        if (definition := _complete_table().get(name)) is not None:
            return definition
        raise UnimplementedError(None, None, f'Op type not registered {name!r}.{nearest(name, _table)}') from None


def is_registered(name: str) -> bool:
    """Whether there is an op of this type."""
    return name in _table or name in _complete_table()


def registered_ops() -> tuple[OpDef, ...]:
    """All ops, by name: tests check each."""
    return tuple(definition for _, definition in sorted(_complete_table().items()))


_OPERATORS: dict[str, Kernel] = {
    '+': operator.add, '-': operator.sub, '*': operator.mul, '/': operator.truediv,
    '<': operator.lt, '<=': operator.le, '>': operator.gt, '>=': operator.ge,
}


def kernel_for(definition: OpDef, dtype: np.dtype[Any] | None) -> Kernel:
    """The one kernel that eager code, plan and executor use for inputs of this dtype.

    Python's operators are used for NumPy's real types only: complex products differ between scalars and arrays.
    """
    if definition.infix is not None and dtype is not None and dtype.kind in 'fiu' and dtype.isbuiltin == 1:
        return _OPERATORS[definition.infix]
    return definition.kernel
