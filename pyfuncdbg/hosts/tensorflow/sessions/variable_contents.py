"""Contents of v1 variables during a run in one go, by variable and writing node.

A version is read before the run, fetched with it, or worked out of the one before it. Written by `AtOnce`, on the thread of
the run.
"""
from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pyfuncdbg.hooks.unknown_value import UnknownValue
from pyfuncdbg.hosts.tensorflow.nodes.node_kernel import eager, eager_attr
from pyfuncdbg.hosts.tensorflow.sessions.ref_variable_order import RefVariableOrder, written_slots

_TWINS = {'AssignAdd': 'AssignAddVariableOp', 'AssignSub': 'AssignSubVariableOp'}
"""Ops whose like for resources is not called 'Resource...'."""


class VariableContents:
    """Contents of one run.

    Args:
        references: Of its plan.
        before: Values that variables had before it.
        given: What the session gave, by name.
    """

    def __init__(self, references: RefVariableOrder, before: Mapping[Any, Any], given: Mapping[str, Any]) -> None:
        self._references = references
        self._given = given
        self._known: dict[tuple[Any, Any], Any] = {(variable, variable): value for variable, value in before.items()}

    def of(self, variable: Any, version: Any) -> Any:
        """The value of a version; None if it is not known."""
        known = self._known.get((variable, version))
        if known is None and version is not None and version is self._references.last(variable):
            known = self._fetched(variable)
            if known is not None:
                self._known[variable, version] = known
        return known

    def _fetched(self, variable: Any) -> Any:
        """The value at the end of the run, if the session gave it."""
        return next((self._given[name] for name in self._references.whole.get(variable, ()) if name in self._given), None)

    def wrote(self, op: Any, inputs: Sequence[Any]) -> None:
        """A node wrote to variables: remember what they held then.

        Args:
            op: The node.
            inputs: What it was given; what it found in the variables is known here.
        """
        slots = written_slots(op)
        owners = [self._references.aliases[op.inputs[slot].name].variables for slot in slots]
        if any(len(several) > 1 for several in owners):
            return
        variables = [several[0] for several in owners]
        if all(self.of(variable, op) is not None for variable in variables):
            return
        taken: list[Any] = list(inputs)
        for slot, variable in zip(slots, variables, strict=True):
            taken[slot] = self.of(variable, self._references.version(op, variable))
        if op.type == 'Assign':
            written: Sequence[Any] = [taken[1]]
        elif any(value is None for value in taken):
            return
        else:
            written = applied(op, slots, taken)
        for variable, value in zip(variables, written, strict=False):
            if value is not None and type(value) is not UnknownValue:
                self._known.setdefault((variable, op), value)


def applied(op: Any, slots: Sequence[int], inputs: Sequence[Any]) -> list[Any]:
    """Values that a node writes to v1 variables, computed by the op that does the same to resources; [] if there is none.

    Args:
        op: The node.
        slots: Places of the variables among its inputs.
        inputs: Values; of a variable the one before.
    """
    registry: Any = sys.modules['tensorflow.python.framework.op_def_registry']
    context: Any = sys.modules['tensorflow.python.eager.context']
    twin = registry.get(_TWINS.get(op.type, f'Resource{op.type}'))
    if twin is None or len(twin.input_arg) != len(inputs) or any(type(value) is UnknownValue for value in inputs):
        return []
    try:
        with context.eager_mode():
            return _applied(twin, op, slots, inputs)
    except Exception:                           # TensorFlow's, whatever it is: what was written is not known then
        return []


def _applied(twin: Any, op: Any, slots: Sequence[int], inputs: Sequence[Any]) -> list[Any]:
    resources: Any = sys.modules['tensorflow.python.ops.gen_resource_variable_ops']
    context: Any = sys.modules['tensorflow.python.eager.context']
    execute: Any = sys.modules['tensorflow.python.eager.execute']
    values = [eager(value, tensor.dtype.base_dtype) for value, tensor in zip(inputs, op.inputs, strict=True)]
    handles: dict[int, Any] = {}
    for slot in slots:
        handles[slot] = resources.var_handle_op(dtype=values[slot].dtype, shape=values[slot].shape,
                                                shared_name=context.anonymous_name())
        resources.assign_variable_op(handles[slot], values[slot])
    attrs: list[Any] = []
    own = {attr.name for attr in op.op_def.attr}
    for attr in twin.attr:
        source = attr.name if attr.name in own else 'T' if attr.name == 'dtype' else ''
        if source:
            attrs += [attr.name, eager_attr(attr.type, op.get_attr(source))]
    given = [handles.get(slot, value) for slot, value in enumerate(values)]
    current = context.context()
    current.ensure_initialized()
    execute.quick_execute(twin.name, len(twin.output_arg), inputs=given, attrs=tuple(attrs), ctx=current)
    return [np.array(resources.read_variable_op(handles[slot], values[slot].dtype)) for slot in slots]
