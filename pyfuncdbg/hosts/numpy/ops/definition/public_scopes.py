"""Scopes and dependencies of new nodes: `tf.name_scope`, `control_dependencies`, `device`, `init_scope`, `group`, `tuple`.

In eager mode most of it does nothing, as in TensorFlow.
"""
from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from pyfuncdbg.errors import InvalidArgumentError
from pyfuncdbg.hooks.public_function import context_hiding_own_frames
from pyfuncdbg.hosts.numpy.graph import context
from pyfuncdbg.hosts.numpy.graph.device import canonical, parse_device
from pyfuncdbg.hosts.numpy.graph.graph import Graph, owner
from pyfuncdbg.hosts.numpy.graph.operation import Operation
from pyfuncdbg.hosts.numpy.graph.symbolic_tensor import SymbolicTensor
from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.graph.types import nest
from pyfuncdbg.hosts.numpy.ops.definition.constant import convert_to_tensor
from pyfuncdbg.hosts.numpy.runtime.cluster import devices
from pyfuncdbg.hosts.numpy.runtime.cluster.placement import LOCAL, Devices, device_for
from pyfuncdbg.hosts.numpy.runtime.eager.dispatch import apply
from pyfuncdbg.hosts.numpy.runtime.execution.eager_tensor import EagerTensor


class _EagerScope(threading.local):
    def __init__(self) -> None:
        self.name = ''


_eager = _EagerScope()


@context_hiding_own_frames
def _eager_scope(name: str | None) -> Iterator[str]:
    """Name scope of eager mode, where only variables use it."""
    before = _eager.name
    _eager.name = '' if not name else name if name.endswith('/') else f'{before}{name}/'
    try:
        yield _eager.name
    finally:
        _eager.name = before


def eager_scope_name() -> str:
    """The name scope in eager mode, with a '/' at the end; '' outside of any."""
    return _eager.name


def eager_name(name: str) -> str:
    """The full name of a variable in eager mode.

    Raises:
        ValueError: `name` is no string.
    """
    if not isinstance(name, str):
        raise ValueError('name for name_scope must be a string.')
    return _eager.name + name


def name_scope(name: str) -> AbstractContextManager[str]:
    """Prefix the names of new nodes and variables. Yields the full prefix with a '/' at the end.

    Raises:
        ValueError: `name` is no string.
    """
    if not isinstance(name, str):
        raise ValueError('name for name_scope must be a string.')
    return _entered(name, ())


def name_scope_v1(name: str | None, default_name: str | None = None,
                  values: Sequence[Any] | None = None) -> AbstractContextManager[str]:
    """`name_scope` of TensorFlow 1: `default_name` where `name` is None; None for both leaves all scopes.

    Raises:
        TypeError: `default_name` is no string.
    """
    if default_name is not None and not isinstance(default_name, str):
        raise TypeError(f'`default_name` type ({type(default_name)}) is not a string type. You likely meant to pass this '
                        f'into the `values` kwarg.')
    if name is None and default_name is None and values is not None:
        raise ValueError('At least one of name (None) and default_name (None) must be provided.')
    return _entered(default_name if name is None else name, values or ())


def _entered(name: str | None, values: Sequence[Any]) -> AbstractContextManager[str]:
    graph = context.current_graph() or next((owner(v) for v in values if isinstance(v, SymbolicTensor)), None)
    if graph is None and context.process.mixed:
        graph = context.get_default_graph()
        return _node_and_variable_scope(graph, name)
    return _eager_scope(name) if graph is None else graph.name_scope(name)


@context_hiding_own_frames
def _node_and_variable_scope(graph: Graph, name: str | None) -> Iterator[str]:
    """The scope of nodes and of variables, in a program that makes nodes in eager mode."""
    with graph.name_scope(name) as full, _eager_scope(full):
        yield full


def control_dependencies(control_inputs: Any) -> AbstractContextManager[Any]:
    """Run new ops after these; None clears the outer ones. In eager mode everything runs in order anyway.

    Raises:
        TypeError, ValueError: An item is no tensor or operation of the graph.
    """
    graph = context.current_graph()
    items = None if control_inputs is None else list(control_inputs)
    if graph is None:
        graph = next((owner(item) for item in items or () if isinstance(item, (SymbolicTensor, Operation))), None)
    if graph is None:
        for item in items or ():
            if callable(item):
                item()
        return nullcontext()
    return graph.control_dependencies(
        None if items is None else [item for item in items if not isinstance(item, EagerTensor)])


def device(device_name: Any) -> AbstractContextManager[None]:
    """Set the device of new nodes; all run on this machine's CPU.

    Raises:
        RuntimeError: The device is a function.
        ValueError: It is no device name.
        InvalidArgumentError: In eager mode: there is no such device.
    """
    if callable(device_name):
        raise RuntimeError('tf.device does not support functions.')
    return device_v1(device_name)


def device_v1(device_name_or_function: Any) -> AbstractContextManager[None]:
    """`device` of TensorFlow 1, which also takes a function of the operation."""
    graph = context.current_graph()
    if graph is None and context.process.mixed:
        graph = context.get_default_graph()
    return eager_device(device_name_or_function) if graph is None else graph.device(device_name_or_function)


def colocate_with(op: Any, ignore_existing: bool = False) -> AbstractContextManager[None]:
    """Colocate new nodes with `op`."""
    graph = context.current_graph()
    return nullcontext() if graph is None else graph.colocate_with(op, ignore_existing)


def container(container_name: str) -> AbstractContextManager[str]:
    """Put new variables in a container of their server."""
    return context.graph_for_nodes().container(container_name)


@context_hiding_own_frames
def init_scope() -> Iterator[None]:
    """Leave the functions that are being traced, and control dependencies: into eager mode, or the graph around."""
    graph = context.current_graph()
    scope = (eager_scope_name() if graph is None else graph.get_name_scope()).rstrip('/')
    while graph is not None and graph.building_function:
        graph = graph.outer
    with context.under(graph):
        if graph is None:
            with _eager_scope(f'{scope}/' if scope else None):
                yield
        else:
            with graph.control_dependencies(None), graph.name_scope(f'{scope}/' if scope else None):
                yield


def inside_function() -> bool:
    """Whether a function is being traced."""
    graph = context.current_graph()
    return graph is not None and graph.building_function


# ---------------------------------------------------------------- group and tuple
def group(*inputs: Any, name: str | None = None) -> Any:
    """An operation that depends on all inputs.

    Args:
        *inputs: Tensors, variables, operations, or structures of them.
        name: Of the node.

    Returns:
        The operation; None in eager mode.

    Raises:
        TypeError: An input is none of these.
    """
    items = nest.flatten(list(inputs))
    graph = context.current_graph() or _graph_of(items)
    if graph is None:
        return None
    for item in items:
        if not isinstance(item, (Tensor, Operation)) and not hasattr(item, '_as_graph_element'):
            raise TypeError(f"'inputs' should be zero or more (nested) Tensors. Received '{item}' with type '{type(item)}'.")
    ops = [item if isinstance(item, Operation) else item.op for item in items
           if not isinstance(getattr(item, 'handle', item), EagerTensor)]
    if ops and not graph.building_function and not ops[0].graph.building_function:
        graph = owner(ops[0])                            # that of its inputs, as for other nodes
    with graph.as_default():
        return _joined(graph, ops, name or 'group_deps')


def _joined(graph: Graph, ops: Sequence[Operation], name: str) -> Operation:
    """A node that waits for all ops; where they are on several devices, for one node on each."""
    by_device: dict[str, list[Operation]] = {}
    for op in ops:
        by_device.setdefault(op.device, []).append(op)
    if len(by_device) > 1:
        with graph.name_scope(name) as scope:
            gates = []
            for device in sorted(by_device):
                with graph.control_dependencies(by_device[device]), graph.device(device) if device else nullcontext():
                    gates.append(graph.create_op('NoOp', ()))
            ops, name = gates, scope
    with graph.control_dependencies(ops):
        return graph.create_op('NoOp', (), None, name)


def _graph_of(items: Sequence[Any]) -> Graph | None:
    for item in items:
        thing = getattr(item, '_handle', item)
        if isinstance(thing, (SymbolicTensor, Operation)):
            return owner(thing)
    return None


def grouped_tuple(tensors: Sequence[Any], name: str | None = None, control_inputs: Sequence[Any] | None = None) -> list[Any]:
    """The tensors, each available only when all are (`tf.tuple`)."""
    if isinstance(control_inputs, str) or not isinstance(name, (str, type(None))):
        name, control_inputs = control_inputs, name           # as TensorFlow 2 orders them
    if context.current_graph() is None and (not isinstance(tensors, (list, tuple)) or _graph_of(tensors) is None):
        return tensors  # type: ignore[return-value]
    if all(t is None for t in tensors):
        raise ValueError(f"'tensors' must have at least one Tensor. Received: {list(tensors)}.")
    with _entered(name or 'tuple', tensors):
        gate = group(*[t for t in tensors if t is not None], *(control_inputs or ()))
        with control_dependencies([gate]):
            results: list[Any] = []
            for t in tensors:
                with nullcontext() if t is None else colocate_with(t):
                    results.append(t if t is None else apply('Identity', (convert_to_tensor(t),), None,
                                                             'control_dependency'))
            return results


class _Thread(threading.local):
    def __init__(self) -> None:
        self.device = LOCAL


_thread = _Thread()


@context_hiding_own_frames
def eager_device(device: Any) -> Iterator[None]:
    """On a device: a name or spec, completed by that of the scope around; None for this program's own.

    Raises:
        RuntimeError: The device is a function.
        ValueError: It is no device name.
        InvalidArgumentError: A device that is not there.
    """
    if callable(device):
        raise RuntimeError('tf.device does not support functions when eager execution is enabled.')
    if device is not None and not isinstance(device, (str, bytes)) and not hasattr(device, 'make_merged_spec'):
        raise ValueError(f'Expecting a string device name. Got {type(device)}({device})')
    before = _thread.device
    named = before if device is None else before.make_merged_spec(parse_device(canonical(device)))
    _check(named)
    _thread.device = LOCAL if device is None else named
    try:
        yield
    finally:
        _thread.device = before


def _check(named: Any) -> None:
    soft = devices.get_soft_device_placement()
    if device_for(named.to_string(), Devices(), soft) is not None:
        return
    if (named.job, named.replica, named.task) != (LOCAL.job, LOCAL.replica, LOCAL.task):
        raise InvalidArgumentError(None, None, f'{named.to_string()} unknown device.')
    raise InvalidArgumentError(
        None, None, f"Could not satisfy device specification '{named.to_string()}'. enable_soft_placement={int(soft)}. "
                    f'Supported device types [CPU]. All available devices [{LOCAL.to_string()}].')
