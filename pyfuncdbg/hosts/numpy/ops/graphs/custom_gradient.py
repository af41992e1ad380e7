"""`tf.custom_gradient`: functions with the user's gradient.

Its results pass through an `IdentityN` together with its arguments and the variables it reads; the gradient of that node is
the user's function. So tapes, `tf.gradients` and traced functions treat it as any op.
"""
from __future__ import annotations

import functools
import inspect
import itertools
from collections.abc import Callable, Sequence
from typing import Any

from pyfuncdbg.hooks.public_function import hide_own_frames
from pyfuncdbg.hosts.numpy.graph import context
from pyfuncdbg.hosts.numpy.graph.definitions.registry import Node, no_gradient
from pyfuncdbg.hosts.numpy.graph.graph import owner
from pyfuncdbg.hosts.numpy.graph.operation import Operation
from pyfuncdbg.hosts.numpy.graph.symbolic_tensor import SymbolicTensor
from pyfuncdbg.hosts.numpy.graph.types import nest
from pyfuncdbg.hosts.numpy.graph.types.dtypes import resource
from pyfuncdbg.hosts.numpy.ops.definition.constant import convert_to_tensor
from pyfuncdbg.hosts.numpy.ops.variables.variable import TRAINABLE
from pyfuncdbg.hosts.numpy.runtime.backward.unconnected_gradient import UnconnectedGradients
from pyfuncdbg.hosts.numpy.runtime.differentiation.tape import GradientTape
from pyfuncdbg.hosts.numpy.runtime.eager import tape_recording
from pyfuncdbg.hosts.numpy.runtime.eager.dispatch import apply
from pyfuncdbg.hosts.numpy.runtime.execution.eager_tensor import EagerTensor

_numbers = itertools.count()


def custom_gradient(f: Any = None) -> Any:
    """Give a function a custom gradient; usable as a decorator.

    Args:
        f: `f(*tensors)` returns (result, grad_fn): `grad_fn(*output_gradients)` gives one gradient for each argument, and
            with
            `variables=` also a list with one for each variable that `f` reads.

    Returns:
        The function, with that gradient.
    """
    if f is None:
        return custom_gradient

    @hide_own_frames
    @functools.wraps(f)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        return _call_and_record(f, args, kwargs)
    return decorated


def _call_and_record(f: Callable[..., Any], args: Sequence[Any], kwargs: Any) -> Any:
    """Run `f` unrecorded, then record the node that represents it.

    Raises:
        TypeError: It reads variables that its gradient function does not take.
        ValueError: Keyword arguments in a graph.
    """
    if kwargs and context.current_graph() is not None:
        raise ValueError('The custom_gradient decorator currently supports keywords arguments only when eager execution is '
                         'enabled.')
    symbolic = _in_graph(nest.flatten(list(args)))
    leaves = [arg if _is_variable(arg) and not symbolic else convert_to_tensor(arg) for arg in nest.flatten(list(args))]
    inner = tape_recording.TapeRecording()
    with tape_recording.suspend_recordings(inner):
        result, gradient = f(*nest.pack_sequence_as(list(args), leaves), **kwargs)
    results = [convert_to_tensor(value) for value in nest.flatten(result)]
    variables = _variables(inner, results, leaves)
    if variables and not _takes_variables(gradient):
        raise TypeError("@tf.custom_gradient grad_fn must accept keyword argument 'variables', since function uses "
                        "variables: "
                        f'{variables}')
    if tape_recording.active.recordings:
        for variable in (*filter(_is_variable, leaves), *variables):
            if variable.trainable:
                tape_recording.read(variable.handle, variable)
    sources = [leaf.handle if _is_variable(leaf) else leaf for leaf in leaves]
    if symbolic or _in_graph(results):
        sources = [tensor if tensor.dtype is resource else apply('Identity', (tensor,)) for tensor in sources]
    attrs = {'_py_gradient': _rule(gradient, len(results), len(leaves), variables),
             '_py_again': functools.partial(_recompute_outputs, f, _form(args, leaves), kwargs, len(results), len(leaves)),
             '_gradient_op_type': f'CustomGradient-{next(_numbers)}'}
    outputs = apply('IdentityN', [*results, *sources, *(variable.handle for variable in variables)], attrs)
    return nest.pack_sequence_as(result, outputs[:len(results)])


def _is_variable(value: Any) -> bool:
    return hasattr(value, 'standing_on')


def _variables(inner: tape_recording.TapeRecording, results: Sequence[Any], leaves: Sequence[Any]) -> list[Any]:
    """The variables that results depend on besides the arguments: those that the function read, and in a graph those whose
    values it used, even if they were read outside of it."""
    argument_ids = [id(leaf) for leaf in leaves if _is_variable(leaf)]
    variables = {key: variable for key, variable in inner.variables.items() if id(variable) not in argument_ids}
    if _in_graph(results):
        variables.update((id(variable.handle), variable) for variable in _read_before(results, leaves))
        return sorted(variables.values(), key=lambda variable: str(variable.name))
    return list(variables.values())


def _read_before(results: Sequence[Any], leaves: Sequence[Any]) -> list[Any]:
    """The trainable variables that results in a graph depend on, except through the arguments."""
    stops = set(map(id, leaves))
    stack = [result for result in results if isinstance(result, SymbolicTensor)]
    graphs = {owner(result) for result in stack}
    variable_by_handle = {variable.handle.op: variable for graph in graphs if not graph.building_function
                          for variable in graph.get_collection(TRAINABLE) if _is_variable(variable)}
    visited, variables = set(), []
    while stack and variable_by_handle:
        tensor = stack.pop()
        op = tensor.op
        if id(tensor) in stops or op in visited:
            continue
        visited.add(op)
        if op in variable_by_handle:
            variables.append(variable_by_handle[op])
        elif op.definition.gradient not in (None, no_gradient):
            stack += op.inputs
    return variables


def _form(args: Sequence[Any], leaves: Sequence[Any]) -> list[Any]:
    """The structure of the arguments, without values."""
    return nest.pack_sequence_as(list(args), [leaf if _is_variable(leaf) else 0 for leaf in leaves])


def _recompute_outputs(f: Callable[..., Any], args: Sequence[Any], kwargs: Any, results: int, tensors: int,
                       values: Sequence[Any]) -> Sequence[Any]:
    """The node's outputs for other inputs, from a call of the function: for checks of its gradient."""
    sources = [value if isinstance(value, EagerTensor) else convert_to_tensor(value)
               for value in values[results:results + tensors]]
    leaves = [arg if _is_variable(arg) else source for arg, source in zip(nest.flatten(args), sources, strict=True)]
    graphs = context.state.graphs
    depth = len(graphs)
    graphs.append(None)                             # eager mode: the function's tensors have values here
    try:
        with tape_recording.suspend_recordings():
            result, _ = f(*nest.pack_sequence_as(args, leaves), **kwargs)
        return [*(convert_to_tensor(value) for value in nest.flatten(result)), *sources, *values[results + tensors:]]
    finally:
        del graphs[depth:]


def _in_graph(tensors: Sequence[Any]) -> bool:
    return context.current_graph() is not None or any(isinstance(t, SymbolicTensor) for t in tensors)


def _takes_variables(gradient: Callable[..., Any]) -> bool:
    try:
        parameters = inspect.signature(gradient).parameters.values()
    except (TypeError, ValueError):
        return True
    return any(p.name == 'variables' or p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters)


def _rule(gradient: Callable[..., Any], results: int, tensors: int, variables: Sequence[Any]) -> Callable[...,
                                                                                                          Sequence[Any]]:
    """The gradient of the node, from the user's function."""
    def rule(node: Node, *grads: Any) -> Sequence[Any]:
        if variables:
            grads_of_inputs, of_variables = gradient(*grads[:results], variables=list(variables))
            of_variables = list(of_variables)
            if len(of_variables) != len(variables):
                raise ValueError('Must return gradient for each variable from @custom_gradient grad_fn.')
        else:
            grads_of_inputs, of_variables = gradient(*grads[:results]), []
        flat = nest.flatten(grads_of_inputs)
        if len(flat) != tensors:
            if isinstance(node, Operation):
                raise ValueError(f'Num gradients {results + len(flat) + len(of_variables)} generated for op {node.node_def} '
                                 f'do not match num inputs {len(node.inputs)}')
            raise ValueError(f'custom_gradient function expected to return {tensors} gradients, but returned {len(flat)} '
                             f'instead.')
        converted = [None if value is None else convert_to_tensor(value) for value in (*flat, *of_variables)]
        return [*[None] * results, *converted]
    return rule


def recompute_grad(f: Callable[..., Any]) -> Callable[..., Any]:
    """`f` without stored intermediate values: its gradient runs it again."""
    @custom_gradient
    def inner(*args: Any, **kwargs: Any) -> Any:
        def gradient(*dys: Any, variables: Sequence[Any] = ()) -> Any:
            with GradientTape() as tape:
                fresh_args = nest.map_structure(lambda arg: apply('Identity', (convert_to_tensor(arg),)), list(args))
                tape.watch([fresh_args, *variables])
                result = f(*fresh_args, **kwargs)
            grads = tape.gradient(result, [fresh_args, list(variables)], dys[0] if len(dys) == 1 else list(dys),
                                  UnconnectedGradients.ZERO)
            return (grads[0], grads[1]) if variables else grads[0]
        return f(*args, **kwargs), gradient
    return functools.wraps(f)(inner)


def grad_pass_through(f: Callable[..., Any]) -> Callable[..., Any]:
    """`f` with the gradient of the identity."""
    @custom_gradient
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        def gradient(*dys: Any, variables: Sequence[Any] = ()) -> Any:
            grads = dys[0] if len(dys) == 1 else dys
            return (grads, [None] * len(variables)) if variables else grads
        return f(*args, **kwargs), gradient
    return functools.wraps(f)(wrapper)
