"""`tf.gradients`: adds the nodes of a backward pass to a graph."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyfuncdbg.graph import context, nest
from pyfuncdbg.graph.graph import Graph
from pyfuncdbg.graph.operation import Operation
from pyfuncdbg.graph.tensor import SymbolicTensor
from pyfuncdbg.runtime.backward import Gradients, backward, between, ones_like
from pyfuncdbg.runtime.gradient_step import graph_step
from pyfuncdbg.runtime.plan import in_order
from pyfuncdbg.runtime.unconnected import connected_or, zeros_of


def gradients(ys: Any, xs: Any, grad_ys: Any = None, name: str = 'gradients', gate_gradients: bool = False,
              aggregation_method: Any = None, stop_gradients: Any = None, unconnected_gradients: Any = 'none') -> list[Any]:
    """Symbolic derivatives of the sum of `ys` with respect to each of `xs`.

    Args:
        ys: Tensor or list of tensors.
        xs: Tensor, variable, or list of them.
        grad_ys: Gradients of `ys`, in their shapes; None for ones.
        name: The name scope of the new nodes.
        gate_gradients: Accepted; the order of execution is fixed anyway.
        aggregation_method: Accepted; parts are always added.
        stop_gradients: Tensors behind which nothing is differentiated.
        unconnected_gradients: 'none' or 'zero'.

    Returns:
        One tensor for each of `xs`, in its shape and dtype; None (or zeros) where `ys` do not depend on it.

    Raises:
        RuntimeError: In eager mode.
        LookupError: An op on the way has no gradient.
        ValueError: Unknown `unconnected_gradients`, or `grad_ys` of another length.
    """
    targets = nest.flatten(ys)
    graph = context.current_graph() or next((t.graph for t in targets if isinstance(t, SymbolicTensor)), None)
    if graph is None:
        raise RuntimeError('tf.gradients is not supported when eager execution is enabled. Use tf.GradientTape instead.')
    unconnected = connected_or(unconnected_gradients)
    sources = xs if isinstance(xs, (list, tuple)) else [xs]
    seeds = [None] * len(targets) if grad_ys is None else nest.flatten(grad_ys)
    if len(seeds) != len(targets):
        raise ValueError(f'Length mismatch. Passed {len(seeds)} grad_ys for {len(targets)} ys')
    with graph.as_default(), graph.name_scope(name or 'gradients'):
        found = backpropagated(graph, [graph.admit(t) for t in targets], [_tensor_in(graph, x) for x in sources], seeds,
                               [] if stop_gradients is None else nest.flatten(stop_gradients))
        if unconnected == 'zero':
            found = [zeros_of(x) if g is None else g for x, g in zip(sources, found, strict=True)]
    return found


def _tensor_in(graph: Graph, x: Any) -> Any:
    """The tensor of the graph that stands for a source."""
    handle = getattr(x, 'handle', x)
    if not hasattr(handle, 'dtype'):
        handle = graph.as_graph_element(x, allow_operation=False)
    return graph.admit(handle)


def backpropagated(graph: Graph, targets: Sequence[Any], sources: Sequence[Any], seeds: Sequence[Any],
                   stops: Sequence[Any] = ()) -> list[Any]:
    """Add the backward pass from targets to sources to `graph`, which is current; what it needs of an outer graph is
    captured."""
    gradients_of = Gradients()
    for i, (target, seed) in enumerate(zip(targets, seeds, strict=True)):
        if target.dtype.is_trainable:
            gradients_of.add(target, ones_like(target, f'grad_ys_{i}') if seed is None else seed)
    # All inputs of every rule, as in TensorFlow, so that nodes have its names: a plan leaves out what nobody needs.
    backward(_path(targets, sources, stops), None, gradients_of, graph_step(graph))
    return [gradients_of.of(s) if s.dtype.is_trainable else None for s in sources]


def _path(targets: Sequence[Any], sources: Sequence[Any], stops: Sequence[Any]) -> list[Any]:
    """The nodes on the way from sources to targets, in reverse order of execution."""
    stopped = {id(t) for t in stops}
    seen: set[Operation] = set()
    stack = [t.op for t in targets if id(t) not in stopped]
    while stack:
        op = stack.pop()
        if op not in seen:
            seen.add(op)
            stack.extend(t.op for t in op.inputs if id(t) not in stopped)
    return between([op for op in in_order(seen) if not all(id(t) in stopped for t in op.outputs)], sources)[0]
