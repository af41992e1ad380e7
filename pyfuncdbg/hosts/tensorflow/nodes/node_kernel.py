"""Kernel of one stateless node: TensorFlow's own, run in eager mode outside of the graph.

Used by stepped runs: a session would make, and keep, an executor for each node. On the thread of the run.
"""
from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any


class NodeKernel:
    """Kernel of one node; keeps nothing of its graph alive."""

    __slots__ = ('_constant', 'attrs', 'dtypes', 'op_type', 'outputs')

    def __init__(self, op: Any) -> None:
        self.op_type: str = op.type
        self.outputs = len(op.outputs)
        self.dtypes = [tensor.dtype.base_dtype for tensor in op.inputs]
        self._constant = op.get_attr('value') if op.type == 'Const' else None
        attrs: list[Any] = []
        for attr in op.op_def.attr:
            attrs += [attr.name, eager_attr(attr.type, op.get_attr(attr.name))]
        self.attrs = tuple(attrs)

    @staticmethod
    def fits(op: Any) -> bool:
        """Whether a node can be computed so: it has neither state, nor effects, nor functions of its graph."""
        return (not op.op_def.is_stateful and op.type not in ('Placeholder', 'PlaceholderV2', 'NoOp', 'PyFuncStateless')
                and not any(attr.type in ('func', 'list(func)') for attr in op.op_def.attr)
                and not any(tensor.dtype._is_ref_dtype or tensor.dtype.name == 'resource'
                            for tensor in (*op.inputs, *op.outputs)))

    def __call__(self, *inputs: Any) -> list[Any]:
        """The outputs, as eager tensors.

        Args:
            inputs: Eager tensors or arrays.

        Raises:
            OpError: The kernel failed.
        """
        context: Any = sys.modules['tensorflow.python.eager.context']
        if context.executing_eagerly():
            return self._compute(inputs, context.context())
        with context.eager_mode():
            return self._compute(inputs, context.context())

    def _compute(self, inputs: Sequence[Any], context: Any) -> list[Any]:
        if self._constant is not None:
            protos: Any = sys.modules['tensorflow.python.framework.tensor_util']
            return [to_eager(protos.MakeNdarray(self._constant), None)]
        execute: Any = sys.modules['tensorflow.python.eager.execute']
        tensors = [to_eager(value, dtype) for value, dtype in zip(inputs, self.dtypes, strict=True)]
        context.ensure_initialized()
        outputs = execute.quick_execute(self.op_type, self.outputs, inputs=tensors, attrs=self.attrs, ctx=context)
        return list(outputs or ())

    def on_values(self, inputs: Sequence[Any]) -> Sequence[Any]:
        """The outputs for a list of inputs, as `Host.call_again` asks."""
        return self(*inputs)


def in_eager_mode() -> AbstractContextManager[None]:
    """A block in which many kernels are called: none enters eager mode by itself."""
    context: Any = sys.modules['tensorflow.python.eager.context']
    mode: AbstractContextManager[None] = context.eager_mode()
    return mode


def to_eager(value: Any, dtype: Any) -> Any:
    """A value as an eager tensor; in eager mode."""
    ops: Any = sys.modules['tensorflow.python.framework.ops']
    if isinstance(value, ops.EagerTensor):
        return value
    return ops.convert_to_tensor(value, dtype=dtype)


def is_constant(op: Any) -> bool:
    """Whether its value is known before a run; a constant with control inputs is an ordinary node."""
    return op.type == 'Const' and not op.control_inputs


def eager_attr(kind: str, value: Any) -> Any:
    if kind == 'type':
        return value.as_datatype_enum
    if kind == 'list(type)':
        return [each.as_datatype_enum for each in value]
    if kind == 'shape':
        return shape_list(value)
    if kind == 'list(shape)':
        return [shape_list(each) for each in value]
    return value


def shape_list(proto: Any) -> list[int] | None:
    """Sizes of a shape, -1 for unknown ones; None if nothing is known."""
    return None if proto.unknown_rank else [size.size for size in proto.dim]
