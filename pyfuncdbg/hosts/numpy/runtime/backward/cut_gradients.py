"""Gradients that are None because of a Python function without a gradient, counted for `doctor`.

Called at the end of `tf.gradients` and of a tape's pass, on that thread.
"""
from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from pyfuncdbg.hooks.call import Frame
from pyfuncdbg.hooks.facts import fact_counter
from pyfuncdbg.hooks.own_files import outside_machinery
from pyfuncdbg.hosts.numpy.graph.creation_stack import creation_stack
from pyfuncdbg.hosts.numpy.graph.definitions.registry import no_gradient
from pyfuncdbg.hosts.numpy.graph.operation import Operation
from pyfuncdbg.hosts.numpy.runtime.execution.eager_tensor import EagerTensor

GRADIENT_REQUESTED, GRADIENT_LOST = 'gradient asked', 'gradient lost'
"""Kinds of facts: each source of a pass, and each whose gradient is lost."""


class BackwardTraversal(NamedTuple):
    """Backward traversal of a graph or tape: from a tensor to its operation's inputs.

    Attributes:
        producer: The operation or tape node that computed a tensor; None for a source.
        inputs: The tensors that a node depends on, in order of its inputs.
    """

    producer: Callable[[Any], Any]
    inputs: Callable[[Any], Sequence[Any]]


def in_graph(inputs: Callable[[Any], Sequence[Any]]) -> BackwardTraversal:
    """Backward traversal of operations."""
    return BackwardTraversal(lambda tensor: getattr(tensor, 'op', None), inputs)


def in_tape(nodes: Sequence[Any]) -> BackwardTraversal:
    """Backward traversal of the nodes of a tape."""
    node_by_output: Mapping[int, Any] = {id(output): node for node in nodes for output in node.outputs}
    return BackwardTraversal(lambda tensor: node_by_output.get(id(tensor)), lambda node: node.inputs)


def count_lost(targets: Sequence[Any], things: Sequence[Any], sources: Sequence[Any], gradients: Sequence[Any],
               ways: BackwardTraversal) -> None:
    """Count the sources of a pass, and those whose gradient is None because of a Python function.

    Args:
        targets: Tensors.
        things: The sources as passed by the program,
        sources: as tensors,
        gradients: and their gradients.
        ways: From targets to sources.
    """
    caller = (creation_stack() or (Frame('', 0, ''),))[-1]
    for thing, source, gradient in zip(things, sources, gradients, strict=True):
        name = _name(thing)
        fact_counter.add(GRADIENT_REQUESTED, caller.filename, caller.line, source=name)
        culprit = _culprit(targets, source, ways) if gradient is None and _is_differentiable(source) else None
        if culprit is not None:
            place = culprit.stack[-1] if culprit.stack else Frame('', 0, '')
            function = getattr(culprit.attrs.get('_py_function'), 'func', None)
            fact_counter.add(GRADIENT_LOST, place.filename, place.line, source=name, asked_filename=caller.filename,
                             asked_line=caller.line,
                             function=str(getattr(function, '__name__', None) or type(function).__name__))


def _is_differentiable(source: Any) -> bool:
    return source is not None and source.dtype.is_trainable


def _culprit(targets: Sequence[Any], source: Any, ways: BackwardTraversal) -> Operation | None:
    """The node of the Python function that cuts the path to a source; None if another op does, or there is no path."""
    for node, place in _way(targets, source, ways):
        trace = node.attrs.get('_py_trace')
        if _is_python(node):
            return node if isinstance(node, Operation) else node.op
        if trace is not None:                   # a function call: the search continues in it
            inner = [*trace.inputs, *(inside for _, inside in trace.graph.captures)]
            culprit = _culprit(trace.outputs, inner[place], in_graph(lambda op: op.inputs)) if place < len(inner) else None
            if culprit is not None:
                return culprit
    return None


def _is_python(node: Any) -> bool:
    """Whether it calls a Python function without a gradient."""
    return node.definition.python and node.definition.gradient is no_gradient


def _leads_on(node: Any) -> bool:
    """Whether a gradient passes through a node, apart from its Python function."""
    return _is_python(node) or (node.definition.gradient not in (None, no_gradient) and any(
        map(_is_differentiable, node.outputs)))


def _way(targets: Sequence[Any], source: Any, ways: BackwardTraversal) -> list[tuple[Any, int]]:
    """The nodes on a shortest path from a source to a target, without ops that cut gradients by design, such as
    stop_gradient; each with the index of its input on the path."""
    back: dict[int, tuple[Any, int, Any]] = {}      # by tensor: the node that uses it, index, output
    waiting = deque(targets)
    visited = {id(target) for target in targets}
    while waiting and id(source) not in visited:
        tensor = waiting.popleft()
        node = ways.producer(tensor)
        for place, input_tensor in enumerate(ways.inputs(node) if node is not None and _leads_on(node) else ()):
            if id(input_tensor) not in visited:
                visited.add(id(input_tensor))
                back[id(input_tensor)] = node, place, tensor
                waiting.append(input_tensor)
    way: list[tuple[Any, int]] = []
    while id(source) in back:
        node, place, source = back[id(source)]
        way.append((node, place))
    return way


def _name(thing: Any) -> str:
    """The name of a variable or symbolic tensor; for another its name on the program's line."""
    own_name = None if isinstance(thing, EagerTensor) else getattr(thing, 'name', None)
    if isinstance(own_name, str) and own_name:
        return own_name.removesuffix(':0')
    frame = outside_machinery(sys._getframe(1)) or sys._getframe(1)
    names = (*frame.f_locals.items(), *frame.f_globals.items())
    return next((name for name, value in names if value is thing and not name.startswith('_')), 'a tensor')
