"""Session run that TensorFlow executes as a whole, and its values afterwards.

The session also returns the outputs of nodes with state or effects. Nodes without are computed again, on their inputs in the
session; where these are unknown, the outputs are. A fused kernel differs from its parts: in oneDNN's, Relu makes 0 of NaN.
So a recomputed value is compared with the session's. On the thread of the run.
"""
from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pyfuncdbg.hooks.call import current
from pyfuncdbg.hooks.host import Host
from pyfuncdbg.hooks.output import numpy_errstate
from pyfuncdbg.hooks.output.output import Output
from pyfuncdbg.hooks.transparent_frames import transparent
from pyfuncdbg.hooks.value_placeholders import UnknownValue
from pyfuncdbg.hosts.tensorflow.nodes.node_kernel import eager_attr, to_eager
from pyfuncdbg.hosts.tensorflow.nodes.op_types import SCRIPTS
from pyfuncdbg.hosts.tensorflow.sessions.ref_variable_order import FORWARDING, RefVariableOrder, VariableAlias, written_slots
from pyfuncdbg.hosts.tensorflow.sessions.run_position import PendingRun
from pyfuncdbg.hosts.tensorflow.sessions.session_plan import SessionPlan
from pyfuncdbg.hosts.tensorflow.sessions.session_variables import SessionRun, read_variables, read_written
from pyfuncdbg.hosts.tensorflow.sessions.stepped_values import SteppedValues

DISAGREES = 'otherwise'
"""The remark on a call whose outputs are the session's own, while the node alone gives others."""


@transparent
class WholeRun:
    """A run that the session executes as a whole.

    Args:
        plan: Of the run.
        values: Receives the values of its tensors.
        host: Of the run.
        pending: The run's control meanwhile.

    Attributes:
        disagrees: Whether the node whose outputs were asked for last gives others alone.
    """

    def __init__(self, plan: SessionPlan, values: SteppedValues, host: Host, pending: PendingRun | None) -> None:
        self._plan = plan
        self._values = values
        self._host = host
        self._pending = pending
        self._variable_order = plan.variable_order
        self._python = {op: site.id for op, site in zip(plan.nodes, plan.sites, strict=True)
                        if op.type in SCRIPTS and op not in plan.units.control_flow}
        self._session_values: dict[str, Any] = {}
        self._contents = VariableContents(self._variable_order, {}, {})
        self._no_other_writer = True
        self.disagrees = False

    def run(self, session_run: SessionRun, run_again: SessionRun) -> list[Any]:
        """Let the session run everything, and return the fetches.

        Args:
            session_run: Makes the run, as the program asked for it.
            run_again: Makes a further one.
        """
        plan, pending = self._plan, self._pending
        fetch_names = {tensor.name for tensor in plan.fetches}
        extra = [tensor for unit in plan.units.all for tensor in unit.fetches
                 if plan.units.sorts[tensor.op] != 'pure' and tensor.name not in fetch_names]
        feeds = {tensor.ref(): self._values.by_name[tensor.name] for tensor in plan.feeds}
        alone = pending is None or pending.no_other_writer
        initial = read_variables(self._variable_order.read_before_run, run_again) if alone else {}
        session_values: dict[str, Any] = {}
        if pending is not None:
            pending.calls.session_values = session_values
        values = session_run(plan.targets, [*plan.fetches, *extra], feeds)
        results = values[:len(plan.fetches)]
        session_values |= {tensor.name: value for tensor, value in zip((*plan.fetches, *extra), values, strict=True)}
        if len(plan.active_runs) == 1 and plan.has_handles:                # no other run has written to variables since
            session_values |= read_written(plan.nodes,
                                           lambda tensor: tensor.name not in session_values and plan.units.sorts.get(
                tensor.op) == 'pure', run_again)
        self._no_other_writer = pending is None or pending.no_other_writer  # another run may have begun meanwhile
        self._session_values = {name: value for name, value in session_values.items()
                       if not self._may_change(name) or (self._no_other_writer and self._variable_order.is_settled(name))}
        self._contents = VariableContents(self._variable_order, initial if self._no_other_writer else {},
                                          self._session_values)
        return results

    # ------------------------------------------------------------------ a node's inputs
    def inputs(self, op: Any) -> list[Any]:
        """The inputs of a node; None for handles, and for values that only TensorFlow has."""
        python = self._python.get(op)
        call_inputs = self._pending.calls.inputs.get(python) if self._pending is not None and python is not None else None
        if call_inputs is not None and len(call_inputs) == len(op.inputs):
            return list(call_inputs)
        values = self._values.inputs(op)
        if not any(map(self._may_change, self._plan.names(op)[0])):
            return values
        return [self._value_at_node(tensor, op,
                                    value) if self._may_change(tensor.name) and not self._is_handle(tensor) else value
                for tensor, value in zip(op.inputs, values, strict=True)]

    def _is_handle(self, tensor: Any) -> bool:
        return self._plan.units.sorts.get(tensor.op) == 'handle'

    def _may_change(self, name: str) -> bool:
        """Whether a tensor lies in memory that may have been written to during the run."""
        alias = self._variable_order.aliases.get(name)
        return alias is not None and (not self._no_other_writer or any(
            self._variable_order.writers.get(variable) for variable in alias.variables))

    def _value_at_node(self, tensor: Any, op: Any, value: Any) -> Any:
        """The content of a tensor in a variable's memory when a node ran; `value` is that when the tensor was made."""
        alias = self._variable_order.aliases[tensor.name]
        if not self._no_other_writer:
            return self._unknown_content(tensor, alias)
        if alias.exact:
            version = self._variable_order.version(op, alias.variables[0])
            there = self._value_of_version(tensor, alias, version)
            return self._unknown_content(tensor, alias, version) if there is None else there
        for variable in alias.variables:
            version = self._variable_order.version(op, variable)
            if version is None or version is not self._variable_order.version(alias.op, variable):
                return self._unknown_content(tensor, alias)
        return value

    def _value_of_version(self, tensor: Any, alias: VariableAlias, version: Any) -> Any:
        """The value of a tensor in a variable's memory at a version of the variable; None if unknown."""
        if version is None:
            return None
        if tensor.dtype._is_ref_dtype:
            return self._contents.value_of(alias.variables[0], version)
        op = tensor.op
        first = op.inputs[tensor.value_index if op.type == 'IdentityN' else 0]
        content = self._value_of_version(first, self._variable_order.aliases[first.name], version)
        if content is None or op.type in FORWARDING:
            return content
        others = self._values.inputs(op)[1:]
        return None if any(_is_missing(value) for value in others) else self._plan.kernel(op)(content, *others)[0]

    def _unknown(self, tensor: Any, reason: str) -> UnknownValue:
        kind, shape = tensor.dtype.base_dtype.as_numpy_dtype, tensor.shape
        static = shape.is_fully_defined()
        return UnknownValue(np.dtype(kind if static else object), tuple(shape.as_list()) if static else (), reason)

    def _unknown_content(self, tensor: Any, alias: VariableAlias, version: Any = None) -> UnknownValue:
        """A placeholder for the unknown content of a variable's memory."""
        variable = alias.variables[0]
        if not self._no_other_writer:
            reason = f'another run wrote to variables while this one used {variable.name!r}'
        elif version is not None:
            reason = (f'the first value of variable {variable.name!r} was not read' if version is variable else
                      f'the value that {version.name!r} wrote to variable {variable.name!r} was overwritten in this run')
        else:
            reason = f'the graph does not say which assignment to variable {variable.name!r} came first'
        return self._unknown(tensor, reason)

    # ------------------------------------------------------------------ what a node gave
    def is_observable(self, op: Any, inputs: Sequence[Any]) -> bool:
        """Whether there is anything to record of a node: a value that the session keeps to itself is not recorded."""
        sort = self._plan.units.sorts[op]
        if sort == 'pure':
            return self._plan.fits(op) and all(value is not None for value in inputs)
        return sort != 'handle' and (not op.outputs or any(
            tensor.name in self._session_values or self._is_shared(tensor, op) for tensor in op.outputs))

    def _is_shared(self, tensor: Any, op: Any) -> bool:
        """Whether a tensor lies in a variable's memory that may change, and its node runs once."""
        return self._may_change(tensor.name) and op not in self._plan.units.control_flow

    def outputs(self, op: Any, inputs: Sequence[Any]) -> list[Any] | None:
        """The outputs of a node; None if only TensorFlow has them."""
        sort = self._plan.units.sorts[op]
        if sort == 'handle':
            return self._values.name_handles(op)
        self.disagrees = False
        if self._no_other_writer and op in self._plan.writers:
            self._contents.note_write(op, inputs)
        if sort != 'pure' and not (sort == 'read' and self._plan.fits(op) and any(
                self._may_change(tensor.name) for tensor in op.outputs)):
            return [self._variable_value(tensor) if self._is_shared(tensor, op) else self._session_values.get(tensor.name)
                    for tensor in op.outputs]
        if any(value is None for value in inputs):
            return None
        reason = next((value.reason for value in inputs if type(value) is UnknownValue), None)
        if reason is not None:
            return [self._session_values[tensor.name] if tensor.name in self._session_values else
                    self._variable_value(tensor) if self._may_change(tensor.name) else self._unknown(tensor, reason)
                    for tensor in op.outputs]
        try:
            computed = self._plan.kernel(op)(*inputs)
        except Exception:                       # TensorFlow's: the session ran it in another way
            return None
        return self._session_outputs(op, computed, self._session_values)

    def outputs_of_call(self, op: Any, inputs: Sequence[Any]) -> list[Any] | None:
        """As `outputs`; a remark is put on the present call if the node alone gives others."""
        outputs = self.outputs(op, inputs)
        if self.disagrees:
            note_disagreement()
        return outputs

    def _variable_value(self, tensor: Any) -> Any:
        """The value of a tensor in a variable's memory when its node ran, or that all its readers found."""
        if tensor.name in self._session_values:
            return self._session_values[tensor.name]
        if tensor.op in self._python and self._pending is not None:
            outputs = self._pending.calls.outputs.get(self._python[tensor.op], ())
            if len(outputs) == len(tensor.op.outputs):
                return outputs[tensor.value_index]
        alias, references = self._variable_order.aliases[tensor.name], self._variable_order
        if not alias.exact or not self._no_other_writer:
            return self._unknown_content(tensor, alias)
        variable = alias.variables[0]
        version = references.version(alias.op, variable)
        if alias.op in references.writers.get(variable, ()):
            version = alias.op if version is not None else None
        elif version is None:
            version = references.used_version(tensor, variable)
        value = self._value_of_version(tensor, alias, version)
        return self._unknown_content(tensor, alias, version) if value is None else value

    def _session_outputs(self, op: Any, outputs: Sequence[Any], session_values: Mapping[str, Any]) -> list[Any]:
        """The outputs of a node in the session, where known; notes if the node alone gives others."""
        read = self._host.to_numpy
        values = [session_values.get(name, value) for name, value in zip(self._plan.names(op)[1], outputs, strict=True)]
        if not all(one is other or agree(read(one), read(other)) for one, other in zip(values, outputs, strict=True)):
            self.disagrees = True
        return values


def _is_missing(value: Any) -> bool:
    return value is None or type(value) is UnknownValue


def agree(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether two values are the same up to rounding, NaN and infinities included."""
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    if one.dtype.hasobject:
        return bool(one.tolist() == other.tolist())
    if one.tobytes() == other.tobytes():
        return True
    if one.dtype.kind in 'biuSUM':
        return False
    token = numpy_errstate.state.set(numpy_errstate.IGNORE)     # the program's state could warn or raise
    try:
        return _near(one, other)
    finally:
        numpy_errstate.state.reset(token)


def _near(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether two floating-point values are the same up to rounding."""
    wide = np.complex128 if one.dtype.kind == 'c' else np.float64
    first, second = one.astype(wide), other.astype(wide)
    finite = np.isfinite(first)
    if not np.array_equal(finite, np.isfinite(second)):
        return False
    if not np.array_equal(first[~finite], second[~finite], equal_nan=True):
        return False
    first, second = np.abs(first[finite]), np.abs(first[finite] - second[finite])
    return not first.size or bool(second.max() <= _epsilon(one.dtype) ** 0.5 * max(first.max(), 1e-30))


def _epsilon(dtype: np.dtype) -> float:
    """The machine epsilon of a type; the small floats are not NumPy's own."""
    return float(np.finfo(dtype).eps) if dtype.kind in 'fc' else 2.0 ** -7


def note_disagreement() -> None:
    """Note on the present call that its node alone gives other outputs."""
    call = current.get()
    if call is None or call.output is not None:
        return
    output = call.output = Output(call.started)
    output.open = True
    output.add('host', '', DISAGREES)
    output.open = False


class VariableContents:
    """Contents of one run.

    Args:
        references: Variable order of its plan.
        initial: Values of variables before it.
        session_values: Values that the session returned, by name.
    """

    def __init__(self, references: RefVariableOrder, initial: Mapping[Any, Any], session_values: Mapping[str, Any]) -> None:
        self._variable_order = references
        self._session_values = session_values
        self._values: dict[tuple[Any, Any], Any] = {(variable, variable): value for variable, value in initial.items()}

    def value_of(self, variable: Any, version: Any) -> Any:
        """The value of a version; None if unknown."""
        value = self._values.get((variable, version))
        if value is None and version is not None and version is self._variable_order.last_version(variable):
            value = self._fetched_value(variable)
            if value is not None:
                self._values[variable, version] = value
        return value

    def _fetched_value(self, variable: Any) -> Any:
        """The value at the end of the run, if the session returned it."""
        return next((self._session_values[name] for name in self._variable_order.full_aliases.get(variable, ())
                     if name in self._session_values), None)

    def note_write(self, op: Any, inputs: Sequence[Any]) -> None:
        """Compute what variables hold after a node wrote to them.

        Args:
            op: The node.
            inputs: Its inputs; contents of variables are known here.
        """
        slots = written_slots(op)
        owners = [self._variable_order.aliases[op.inputs[slot].name].variables for slot in slots]
        if any(len(several) > 1 for several in owners):
            return
        variables = [several[0] for several in owners]
        if all(self.value_of(variable, op) is not None for variable in variables):
            return
        values: list[Any] = list(inputs)
        for slot, variable in zip(slots, variables, strict=True):
            values[slot] = self.value_of(variable, self._variable_order.version(op, variable))
        if op.type == 'Assign':
            results: Sequence[Any] = [values[1]]
        elif any(value is None for value in values):
            return
        else:
            results = compute_writes(op, slots, values)
        for variable, value in zip(variables, results, strict=False):
            if value is not None and type(value) is not UnknownValue:
                self._values.setdefault((variable, op), value)


_TWINS = {'AssignAdd': 'AssignAddVariableOp', 'AssignSub': 'AssignSubVariableOp'}
"""Ops whose twin for resources is not named 'Resource...'."""


def compute_writes(op: Any, slots: Sequence[int], inputs: Sequence[Any]) -> list[Any]:
    """Values that a node writes to v1 variables, computed by its twin for resources; [] if there is none.

    Args:
        op: The node.
        slots: Indices of the variables among its inputs.
        inputs: Values; of a variable the one before.
    """
    registry: Any = sys.modules['tensorflow.python.framework.op_def_registry']
    context: Any = sys.modules['tensorflow.python.eager.context']
    twin = registry.get(_TWINS.get(op.type, f'Resource{op.type}'))
    if twin is None or len(twin.input_arg) != len(inputs) or any(type(value) is UnknownValue for value in inputs):
        return []
    try:
        with context.eager_mode():
            return _execute_twin(twin, op, slots, inputs)
    except Exception:                           # TensorFlow's, of any kind: the content is unknown then
        return []


def _execute_twin(twin: Any, op: Any, slots: Sequence[int], inputs: Sequence[Any]) -> list[Any]:
    resources: Any = sys.modules['tensorflow.python.ops.gen_resource_variable_ops']
    context: Any = sys.modules['tensorflow.python.eager.context']
    execute: Any = sys.modules['tensorflow.python.eager.execute']
    values = [to_eager(value, tensor.dtype.base_dtype) for value, tensor in zip(inputs, op.inputs, strict=True)]
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
    arguments = [handles.get(slot, value) for slot, value in enumerate(values)]
    current = context.context()
    current.ensure_initialized()
    execute.quick_execute(twin.name, len(twin.output_arg), inputs=arguments, attrs=tuple(attrs), ctx=current)
    return [np.array(resources.read_variable_op(handles[slot], values[slot].dtype)) for slot in slots]
