"""A run that TensorFlow does in one go, and its values, known afterwards.

The session runs what the program asked for, and is asked for what nodes with state or effects gave beside it. Nodes without
are computed again, on what they had in the session; where that cannot be known they have no value. TensorFlow may run
several nodes fused, as one, whose kernel does not give exactly what its parts would (oneDNN's MatMul with Relu makes 0 of
NaN): so the recomputed value is compared with the session's. On the thread of the run.
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
from pyfuncdbg.hooks.unknown_value import UnknownValue
from pyfuncdbg.hosts.tensorflow.nodes import node_kernel
from pyfuncdbg.hosts.tensorflow.nodes.node_kernel import eager, eager_attr
from pyfuncdbg.hosts.tensorflow.nodes.op_types import SCRIPTS
from pyfuncdbg.hosts.tensorflow.sessions.ref_variable_order import AS_IS, RefVariableOrder, VariableAlias, written_slots
from pyfuncdbg.hosts.tensorflow.sessions.run_position import PendingRun
from pyfuncdbg.hosts.tensorflow.sessions.session_plan import Plan
from pyfuncdbg.hosts.tensorflow.sessions.session_variables import SessionRun, values_of, written
from pyfuncdbg.hosts.tensorflow.sessions.stepped_values import SteppedValues


class WholeRun:
    """One run.

    Args:
        plan: Of the run.
        values: Where what is known of its tensors is kept.
        host: Of the run.
        pending: The run's control while TensorFlow does it.
    """

    def __init__(self, plan: Plan, values: SteppedValues, host: Host, pending: PendingRun | None) -> None:
        self._plan = plan
        self._values = values
        self._host = host
        self._pending = pending
        self._references = plan.references
        self._python = {op: site.id for op, site in zip(plan.nodes, plan.sites, strict=True)
                        if op.type in SCRIPTS and op not in plan.units.flowing}
        self._given: dict[str, Any] = {}
        self._contents = VariableContents(self._references, {}, {})
        self._alone = True

    def run(self, session_run: SessionRun, again: SessionRun) -> list[Any]:
        """Let the session do it; the fetches.

        Args:
            session_run: Makes the run, as the program asked for it.
            again: Makes a further one.
        """
        plan, pending = self._plan, self._pending
        asked = {tensor.name for tensor in plan.fetches}
        beside = [tensor for unit in plan.units.all for tensor in unit.fetches
                  if plan.units.sorts[tensor.op] != 'pure' and tensor.name not in asked]
        feeds = {tensor.ref(): self._values.known[tensor.name] for tensor in plan.feeds}
        alone = pending is None or pending.alone
        before = values_of(self._references.read_before, again) if alone else {}
        given: dict[str, Any] = {}
        if pending is not None:
            pending.calls.given = given
        found = session_run(plan.targets, [*plan.fetches, *beside], feeds)
        results = found[:len(plan.fetches)]
        given |= {tensor.name: value for tensor, value in zip((*plan.fetches, *beside), found, strict=True)}
        if len(plan.going) == 1:                # no other run can have written to variables since
            given |= written(plan.nodes, lambda tensor: tensor.name not in given and plan.units.sorts.get(
                tensor.op) == 'pure', again)
        self._alone = pending is None or pending.alone      # another run that writes to variables may have begun
        self._given = {name: value for name, value in given.items()
                       if not self._shifts(name) or (self._alone and self._references.is_settled(name))}
        self._contents = VariableContents(self._references, before if self._alone else {}, self._given)
        return results

    # ------------------------------------------------------------------ a node's inputs
    def inputs(self, op: Any) -> list[Any]:
        """Inputs that a node was given; None for handles, and what only TensorFlow has."""
        python = self._python.get(op)
        given = self._pending.calls.inputs.get(python) if self._pending is not None and python is not None else None
        if given is not None and len(given) == len(op.inputs):
            return list(given)
        return [self._seen(tensor, op, value) if self._shifts(tensor.name) and not self._is_handle(tensor) else value
                for tensor, value in zip(op.inputs, self._values.inputs(op), strict=True)]

    def _is_handle(self, tensor: Any) -> bool:
        return self._plan.units.sorts.get(tensor.op) == 'handle'

    def _shifts(self, name: str) -> bool:
        """Whether a tensor lies in memory that may have been written to during the run."""
        alias = self._references.aliases.get(name)
        return alias is not None and (not self._alone or any(
            self._references.writers.get(variable) for variable in alias.variables))

    def _seen(self, tensor: Any, op: Any, value: Any) -> Any:
        """The content that a node found in a tensor that lies in a variable's memory; `value` was there when it was made."""
        alias = self._references.aliases[tensor.name]
        if not self._alone:
            return self._shifted(tensor, alias)
        if alias.exact:
            version = self._references.version(op, alias.variables[0])
            there = self._at(tensor, alias, version)
            return self._shifted(tensor, alias, version) if there is None else there
        for variable in alias.variables:
            version = self._references.version(op, variable)
            if version is None or version is not self._references.version(alias.op, variable):
                return self._shifted(tensor, alias)
        return value

    def _at(self, tensor: Any, alias: VariableAlias, version: Any) -> Any:
        """The value of a tensor in a variable's memory with a version of that; None if it is not known."""
        if version is None:
            return None
        if tensor.dtype._is_ref_dtype:
            return self._contents.of(alias.variables[0], version)
        op = tensor.op
        first = op.inputs[tensor.value_index if op.type == 'IdentityN' else 0]
        below = self._at(first, self._references.aliases[first.name], version)
        if below is None or op.type in AS_IS:
            return below
        others = self._values.inputs(op)[1:]
        return None if any(_is_missing(value) for value in others) else self._plan.kernel(op)(below, *others)[0]

    def _unknown(self, tensor: Any, why: str) -> UnknownValue:
        kind, shape = tensor.dtype.base_dtype.as_numpy_dtype, tensor.shape
        static = shape.is_fully_defined()
        return UnknownValue(np.dtype(kind if static else object), tuple(shape.as_list()) if static else (), why)

    def _shifted(self, tensor: Any, alias: VariableAlias, version: Any = None) -> UnknownValue:
        """In place of what was in a variable's memory."""
        variable = alias.variables[0]
        if not self._alone:
            why = f'another run wrote to variables while this one used {variable.name!r}'
        elif version is not None:
            why = (f'what variable {variable.name!r} held at first was not read' if version is variable else
                   f'what {version.name!r} wrote to variable {variable.name!r} was overwritten in this run')
        else:
            why = f'the graph does not say which assignment to variable {variable.name!r} came first'
        return self._unknown(tensor, why)

    # ------------------------------------------------------------------ what a node gave
    def can_be_seen(self, op: Any, inputs: Sequence[Any]) -> bool:
        """Whether there is anything to tell of a node: what a session kept for itself is not recorded."""
        sort = self._plan.units.sorts[op]
        if sort == 'pure':
            return node_kernel.NodeKernel.fits(op) and all(value is not None for value in inputs)
        return sort != 'handle' and (not op.outputs or any(
            tensor.name in self._given or (self._shifts(tensor.name) and op not in self._plan.units.flowing)
            for tensor in op.outputs))

    def outputs(self, op: Any, inputs: Sequence[Any]) -> list[Any] | None:
        """Outputs of a node; None if only TensorFlow has them."""
        sort = self._plan.units.sorts[op]
        if sort == 'handle':
            return self._values.name_handles(op)
        if self._alone and written_slots(op):
            self._contents.wrote(op, inputs)
        if sort != 'pure' and not (sort == 'read' and node_kernel.NodeKernel.fits(op) and any(
                self._shifts(tensor.name) for tensor in op.outputs)):
            return [self._had_there(tensor) if self._shifts(tensor.name) and op not in self._plan.units.flowing else
                    self._given.get(tensor.name)
                    for tensor in op.outputs]
        if any(value is None for value in inputs):
            return None
        why = next((value.reason for value in inputs if type(value) is UnknownValue), None)
        if why is not None:
            return [self._given[tensor.name] if tensor.name in self._given else
                    self._had_there(tensor) if self._shifts(tensor.name) else self._unknown(tensor, why)
                    for tensor in op.outputs]
        try:
            computed = self._plan.kernel(op)(*inputs)
        except Exception:                       # TensorFlow's: the session did not run it as it is here
            return None
        return self._had(op, computed, self._given)

    def _had_there(self, tensor: Any) -> Any:
        """The value of a tensor in a variable's memory when its node ran, or that all who take it found."""
        if tensor.name in self._given:
            return self._given[tensor.name]
        if tensor.op in self._python and self._pending is not None:
            made = self._pending.calls.outputs.get(self._python[tensor.op], ())
            if len(made) == len(tensor.op.outputs):
                return made[tensor.value_index]
        alias, references = self._references.aliases[tensor.name], self._references
        if not alias.exact or not self._alone:
            return self._shifted(tensor, alias)
        variable = alias.variables[0]
        version = references.version(alias.op, variable)
        if alias.op in references.writers.get(variable, ()):
            version = alias.op if version is not None else None
        elif version is None:
            version = references.used(tensor, variable)
        value = self._at(tensor, alias, version)
        return self._shifted(tensor, alias, version) if value is None else value

    def _had(self, op: Any, outputs: Sequence[Any], given: Mapping[str, Any]) -> list[Any]:
        """The outputs of a node as the session had them, where that is known; a remark where the node alone gives others."""
        read = self._host.to_numpy
        had = [given.get(tensor.name, value) for tensor, value in zip(op.outputs, outputs, strict=True)]
        if not all(one is other or agree(read(one), read(other)) for one, other in zip(had, outputs, strict=True)):
            remark()
        return had


def _is_missing(value: Any) -> bool:
    return value is None or type(value) is UnknownValue


OTHERWISE = 'otherwise'
"""The remark on a call whose outputs are the session's own, while the node alone gives others."""


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
    token = numpy_errstate.state.set(numpy_errstate.IGNORE)     # the program's would warn or raise in its name
    try:
        return _near(one, other)
    finally:
        numpy_errstate.state.reset(token)


def _near(one: np.ndarray, other: np.ndarray) -> bool:
    """The same of floating-point numbers."""
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
    """Of the type's arithmetic; the small floats are not NumPy's own."""
    return float(np.finfo(dtype).eps) if dtype.kind in 'fc' else 2.0 ** -7


def remark() -> None:
    """Note on the call that goes on here that its node alone gives something else."""
    call = current.get()
    if call is None or call.output is not None:
        return
    output = call.output = Output(call.started)
    output.open = True
    output.add('host', '', OTHERWISE)
    output.open = False


_TWINS = {'AssignAdd': 'AssignAddVariableOp', 'AssignSub': 'AssignSubVariableOp'}
"""Ops whose like for resources is not called 'Resource...'."""


class VariableContents:
    """Contents of v1 variables during one run, by variable and writing node.

    A version is read before the run, fetched with it, or worked out of the one before it.

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
