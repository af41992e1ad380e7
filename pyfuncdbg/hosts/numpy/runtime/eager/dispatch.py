"""Dispatch of op calls: `apply` makes each a node of a graph or a computed value."""
from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from pyfuncdbg.errors import InvalidArgumentError, OpError
from pyfuncdbg.hooks.call import CallSite
from pyfuncdbg.hooks.chain import current_call, hooks, invoke
from pyfuncdbg.hooks.output import numpy_errstate
from pyfuncdbg.hooks.own_files import outside_machinery
from pyfuncdbg.hooks.traits import op_traits
from pyfuncdbg.hosts.numpy.graph import context
from pyfuncdbg.hosts.numpy.graph.creation_stack import creation_stack
from pyfuncdbg.hosts.numpy.graph.definitions.registry import Attrs, OpDef, kernel_for, lookup
from pyfuncdbg.hosts.numpy.graph.graph import Graph, owner
from pyfuncdbg.hosts.numpy.graph.symbolic_tensor import SymbolicTensor
from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.graph.types.dtypes import resource, variant
from pyfuncdbg.hosts.numpy.runtime.eager import tape_recording
from pyfuncdbg.hosts.numpy.runtime.execution.eager_tensor import DEVICE, EagerTensor
from pyfuncdbg.hosts.numpy.runtime.execution.execution import eager_execution
from pyfuncdbg.hosts.numpy.runtime.execution.failure import kernel_text
from pyfuncdbg.hosts.numpy.runtime.execution.host import host

_NO_ATTRS: dict[str, Any] = {}


class VariableOrigin:
    """Provenance of an eager tensor from variables: op type, inputs and attrs. A graph of TensorFlow 1 with the tensor
    repeats it as nodes.

    A tensor has a pair (origin, output index). Stored only if nodes are made in eager mode.
    """

    __slots__ = ('attrs', 'inputs', 'name', 'type')

    def __init__(self, op_type: str, inputs: Sequence[Any], attrs: Attrs, name: str | None) -> None:
        self.type = op_type
        self.inputs = tuple(inputs)
        self.attrs = attrs
        self.name = name


def apply(op_type: str, inputs: Sequence[Tensor], attrs: Mapping[str, Any] | None = None, name: str | None = None) -> Any:
    """Call an op on tensors.

    Args:
        op_type: Its name in the registry.
        inputs: Eager or symbolic tensors.
        attrs: Static arguments.
        name: Name of the node.

    Returns:
        The output tensor; a list of them where the op has several or a varying number; the `Operation` of a node
        without outputs, None for such an op in eager mode.

    Raises:
        ValueError, TypeError: In a graph: shapes or dtypes are invalid.
        OpError: In eager mode: the kernel's error.
    """
    definition = lookup(op_type)
    graph = context.current_graph()
    if graph is None:
        graph = graph_of(inputs)
        if graph is None:
            return _compute(definition, inputs, attrs or _NO_ATTRS, name)
    elif not graph.building_function:
        for tensor in inputs:                   # a node belongs to the graph of its inputs, as in TensorFlow 1
            if isinstance(tensor, SymbolicTensor) and not tensor.graph.building_function:
                graph = owner(tensor)
                break
    op = graph.create_op(op_type, inputs, attrs, name)
    if tape_recording.active.recordings and tape_recording.is_tracked(inputs):
        tape_recording.record(tape_recording.TapedOp(definition, inputs, op.outputs, op.attrs, name=op.name, op=op))
    if definition.outputs == 1:
        return op.outputs[0]
    if definition.outputs == 0 or (definition.outputs < 0 and not op.outputs):
        return op
    return list(op.outputs)


def graph_of(inputs: Sequence[Any]) -> Graph | None:
    """The graph of symbolic inputs in eager mode: programs of TensorFlow 1 run without switching modes.

    Raises:
        TypeError: It is a function's graph, or this is eager code within a graph: the body of a wrapped function.
    """
    for tensor in inputs:
        if type(tensor) is not EagerTensor and isinstance(tensor, SymbolicTensor):
            if tensor.graph.building_function or context.state.graphs:
                raise out_of_scope(tensor)
            return owner(tensor)
    return None


def out_of_scope(tensor: SymbolicTensor) -> TypeError:
    """The error for eager code that needs the value of a graph's tensor."""
    return TypeError(f'{tensor!r} is out of scope and cannot be used here. Use return values, explicit Python locals or '
                     'TensorFlow collections to access it.\nPlease see https://www.tensorflow.org/guide/function'
                     '#all_outputs_of_a_tffunction_must_be_return_values for more information.\n\n'
                     f'{tensor!r} was defined here: {_creation_line(tensor)}')


def _creation_line(tensor: SymbolicTensor) -> str:
    stack = tensor.op.stack
    return f'{stack[-1].filename}:{stack[-1].line}' if stack else 'unknown'


def _compute(definition: OpDef, inputs: Sequence[Any], attrs: Attrs, name: str | None) -> Any:
    """Run the kernel of an eager op."""
    values = [tensor._value for tensor in inputs]
    keywords = {key: attrs[key] for key in definition.kernel_attrs if key in attrs}
    try:
        if definition.hidden and tape_recording.active.recordings and not (
                definition.sealed and not tape_recording.is_tracked(inputs)):
            return _run_recorded(definition, inputs, values, keywords, attrs, name)
        if definition.in_execution:
            result = _in_execution(definition, values, keywords)
        else:
            result = _pure(definition, inputs, values, keywords, attrs)
    except OpError as error:
        if not (error.located or definition.python or '[Op:' in error.message):
            error.locate(None, None, _eager_text(definition, attrs, error.message))
        raise
    except (ValueError, TypeError, IndexError, ArithmeticError, MemoryError) as error:
        raise _op_error(definition, inputs, attrs, error) from None
    if definition.outputs == 1:
        outputs: Any = box_value(result)
        everything: Sequence[Any] = (outputs,)
    elif result is None:
        return None
    else:
        outputs = everything = [box_value(value) for value in result]
    if context.process.mixed:
        _remember(definition, inputs, everything, attrs, name)
    if tape_recording.active.recordings and tape_recording.is_tracked(inputs):
        call = tape_recording.active.op_call if hooks.op and not definition.in_execution else 0
        tape_recording.record(tape_recording.TapedOp(definition, inputs, everything, attrs, call=call, name=name or ''))
    return outputs


def _remember(definition: OpDef, inputs: Sequence[Any], outputs: Sequence[Any], attrs: Attrs, name: str | None) -> None:
    """Store the origin of outputs that depend on a variable."""
    if any(tensor.dtype is resource or hasattr(tensor, 'origin') for tensor in inputs):
        origin = VariableOrigin(definition.name, inputs, attrs, name)
        for index, tensor in enumerate(outputs):
            tensor.origin = origin, index


def box_value(value: Any) -> EagerTensor:
    """A kernel's value as a tensor; opaque unless it is a NumPy value."""
    return EagerTensor(value) if isinstance(value, (np.ndarray, np.generic)) else EagerTensor(value, variant)


def _pure(definition: OpDef, inputs: Sequence[Any], values: Sequence[Any], keywords: dict[str, Any], attrs: Attrs) -> Any:
    """Run a kernel with NumPy's warnings off."""
    kernel = kernel_for(definition, getattr(values[0], 'dtype', None)) if values else definition.kernel
    before = numpy_errstate.state.set(numpy_errstate.IGNORE)
    try:
        return kernel(*values, **keywords) if not hooks.op else _run_hooked(definition, kernel, inputs, keywords, attrs)
    finally:
        numpy_errstate.state.reset(before)


def _in_execution(definition: OpDef, values: Sequence[Any], keywords: dict[str, Any]) -> Any:
    """Run a kernel with the execution as argument; the NumPy error state set by the user's function stays."""
    execution = eager_execution()
    execution.errstate = numpy_errstate.current_state()
    numpy_errstate.state.set(numpy_errstate.IGNORE)
    try:
        return definition.kernel(execution, *values, **keywords)
    finally:
        numpy_errstate.state.set(execution.errstate)


def _run_recorded(definition: OpDef, inputs: Sequence[Any], values: Sequence[Any], keywords: dict[str, Any], attrs: Attrs,
                  name: str | None) -> Any:
    """Run a kernel with hidden outputs for its gradient."""
    result = _in_execution(definition, values, {**keywords, 'record': True})
    outputs = [box_value(value) for value in result.outputs]
    if context.process.mixed:
        _remember(definition, inputs, outputs, attrs, name)
    everything = [*inputs, *result.captured]
    if tape_recording.is_tracked(everything):
        hidden = [box_value(value) for value in result.hidden]
        tape_recording.record(tape_recording.TapedOp(definition, everything, outputs, attrs, hidden, result.call,
                                                     name or ''))
    return outputs[0] if definition.outputs == 1 else outputs


def _op_error(definition: OpDef, inputs: Sequence[Any], attrs: Attrs, error: Exception) -> Exception:
    """The host's error for a kernel's exception; the shape rule has better texts than NumPy."""
    text = kernel_text(error)
    if text == str(error):
        from pyfuncdbg.hosts.numpy.graph.definitions.dtype_errors import fault  # takes 1 ms, and eager programs do without
        refused = fault(definition.name, inputs)
        if refused:
            return InvalidArgumentError(None, None, refused)
        try:
            definition.infer(inputs, attrs)
        except (ValueError, TypeError) as better:
            text = str(better)
    return InvalidArgumentError(None, None, _eager_text(definition, attrs, text))


def _eager_text(definition: OpDef, attrs: Attrs, text: str) -> str:
    """A kernel's message in the form of TensorFlow's eager mode."""
    count = ''.join([f'_{key}_{attrs[key]}' for key in ('N', 'num', 'num_split', 'num_partitions') if key in attrs])
    if 'output_types' in attrs and definition.outputs < 0:      # an op of datasets
        count += f'_output_types_{len(attrs["output_types"])}'
    if 'Targuments' in attrs:
        count += f'_Targuments_{len(attrs["Targuments"])}'
    return (f'{{{{function_node __wrapped__{definition.name}{count}_device_{DEVICE}}}}} {text} [Op:{definition.name}] '
            f'name: {definition.alias}')


# ---------------------------------------------------------------- eager ops as calls
_sites: dict[tuple[Any, ...], CallSite] = {}


def _run_hooked(definition: OpDef, kernel: Callable[..., Any], inputs: Sequence[Any], keywords: dict[str, Any],
                attrs: Attrs) -> Any:
    """One eager op as a call of kind 'op': its site is its line of the program."""
    site = eager_site(definition, attrs)

    def compute(*tensors: Any) -> Sequence[Any]:
        result = kernel(*[tensor._value for tensor in tensors], **keywords)
        tape_recording.active.op_call = current_call(site)
        values = (result,) if definition.outputs == 1 else result
        return [box_value(value) for value in values]

    tape_recording.active.op_call = 0
    outputs = invoke(site, compute, eager_execution().run, list(inputs))
    values = [tensor._value for tensor in outputs]
    return values[0] if definition.outputs == 1 else values


def eager_site(definition: OpDef, attrs: Attrs) -> CallSite:
    """The site of an eager op called from the user's current line."""
    frame = outside_machinery(sys._getframe(1)) or sys._getframe(1)
    # The kernel's attrs are part of the site, so that the op can be computed again.
    key = (definition.name, frame.f_code.co_filename, frame.f_lineno,
           *[str(attrs.get(name)) for name in definition.kernel_attrs])
    site = _sites.get(key)
    if site is None:
        data_attrs = {name: value for name, value in attrs.items() if not name.startswith('_py_')}
        site = _sites[key] = CallSite(definition.name, definition.name, 'op', host, stack=creation_stack(),
                                      attrs={**data_attrs, '_call': partial(computed_again, definition, data_attrs)},
                                      traits=op_traits(definition.name))
    recompute = attrs.get('_py_again')
    return site if recompute is None else _own_site(site, definition, recompute.args[1:], recompute.func, recompute.args[0])


def _own_site(place: CallSite, definition: OpDef, facts: Sequence[Any], recompute: Callable[..., Any],
              function: Callable[..., Any]) -> CallSite:
    """The site of an op that calls a user's function: not cached, for each call may have another function."""
    attrs = {**place.attrs, '_call': partial(computed_again, definition,
                                             {'_py_again': partial(recompute, function, *facts)}),
             '_remake': partial(_own_site, place, definition, facts, recompute)}
    return CallSite(place.name, place.op_type, 'op', host, function=function, stack=place.stack, attrs=attrs, same_as=place,
                    traits=place.traits)


def computed_again(definition: OpDef, attrs: Attrs, inputs: Sequence[Any]) -> Sequence[Any]:
    """The outputs of an op without effects, computed again: on tensors, values or arrays.

    Raises:
        ValueError: It is stateful or random.
    """
    recompute = attrs.get('_py_again')
    if recompute is not None:
        return recompute(inputs)  # type: ignore[no-any-return]
    if definition.in_execution:
        raise ValueError(f'{definition.name} depends on more than its inputs, or has an effect')
    values = [tensor._value if type(tensor) is EagerTensor else
              tensor[()] if isinstance(tensor, np.ndarray) and not tensor.ndim and not tensor.dtype.hasobject else tensor
              for tensor in inputs]
    keywords = {key: attrs[key] for key in definition.kernel_attrs if key in attrs}
    kernel = kernel_for(definition, getattr(values[0], 'dtype', None)) if values else definition.kernel
    before = numpy_errstate.state.set(numpy_errstate.IGNORE)
    try:
        result = kernel(*values, **keywords)
    finally:
        numpy_errstate.state.reset(before)
    return [result] if definition.outputs == 1 else list(result or ())
