"""`tf.gradients`: adds the nodes of a backward pass to a graph, in TensorFlow's order."""
from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

from pyfuncdbg.hooks.facts import fact_counter
from pyfuncdbg.hosts.numpy.graph import context
from pyfuncdbg.hosts.numpy.graph.definitions.gradient_rules import NO_RULE
from pyfuncdbg.hosts.numpy.graph.definitions.registry import CONSTANT, FILL, IDENTITY, INPUT, SHAPE, no_gradient
from pyfuncdbg.hosts.numpy.graph.graph import Graph, owner
from pyfuncdbg.hosts.numpy.graph.operation import Operation
from pyfuncdbg.hosts.numpy.graph.symbolic_tensor import SymbolicTensor
from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.graph.types.convert import to_array
from pyfuncdbg.hosts.numpy.graph.types.dtypes import int32, of_value
from pyfuncdbg.hosts.numpy.runtime.backward.backward_pass import ALL_NEEDED, Gradients, fill_with_zeros
from pyfuncdbg.hosts.numpy.runtime.backward.cut_gradients import count_lost, in_graph
from pyfuncdbg.hosts.numpy.runtime.backward.gradient_step import graph_step
from pyfuncdbg.hosts.numpy.runtime.backward.indexed_slices import IndexedSlices, dense
from pyfuncdbg.hosts.numpy.runtime.backward.unconnected_gradient import UnconnectedGradients, connected_or, zeros_of
from pyfuncdbg.hosts.numpy.runtime.eager.dispatch import apply
from pyfuncdbg.hosts.numpy.runtime.plans.plan import in_order


class AggregationMethod:
    """Methods of adding the parts of a gradient; all are equivalent here."""

    ADD_N = 0
    DEFAULT = ADD_N
    EXPERIMENTAL_TREE = 1
    EXPERIMENTAL_ACCUMULATE_N = 2


def gradients(ys: Any, xs: Any, grad_ys: Any = None, name: str | None = 'gradients', gate_gradients: bool = False,
              aggregation_method: Any = None, stop_gradients: Any = None,
              unconnected_gradients: Any = UnconnectedGradients.NONE) -> list[Any]:
    """Symbolic derivatives of the sum of `ys` with respect to each of `xs`.

    Args:
        ys: Tensor or list of tensors.
        xs: Tensor, variable, or list of them.
        grad_ys: Gradients of `ys`, in their shapes; None for ones.
        name: The name scope of the new nodes.
        gate_gradients: The gradients of one rule are used only when all are computed.
        aggregation_method: One of `AggregationMethod`; parts are always added.
        stop_gradients: Tensors treated as constants.
        unconnected_gradients: 'none' or 'zero'.

    Returns:
        One tensor (or `IndexedSlices`) for each of `xs`; None (or zeros) where `ys` do not depend on it.

    Raises:
        RuntimeError: In eager mode.
        LookupError: An op on a path has no gradient.
        ValueError: Unknown `unconnected_gradients`, or `grad_ys` differs in length.
    """
    return _gradients(ys, xs, grad_ys, name, gate_gradients, aggregation_method, stop_gradients, unconnected_gradients,
                      True)


def gradients_v1(ys: Any, xs: Any, grad_ys: Any = None, name: str | None = 'gradients',
                 colocate_gradients_with_ops: bool = False, gate_gradients: bool = False, aggregation_method: Any = None,
                 stop_gradients: Any = None, unconnected_gradients: Any = UnconnectedGradients.NONE) -> list[Any]:
    """`gradients` of TensorFlow 1.

    Args:
        colocate_gradients_with_ops: Colocate the nodes of each step with the differentiated node. Other arguments are
            those of `gradients`.
    """
    return _gradients(ys, xs, grad_ys, name, gate_gradients, aggregation_method, stop_gradients, unconnected_gradients,
                      colocate_gradients_with_ops)


def _gradients(ys: Any, xs: Any, grad_ys: Any, name: str | None, gated: bool, aggregation: Any, stops: Any,
               unconnected_gradients: Any, colocated: bool) -> list[Any]:
    targets, sources, stops = _as_list(ys), _as_list(xs), [] if stops is None else _as_list(stops)
    seeds = [None] * len(targets) if grad_ys is None else _as_list(grad_ys)
    graph = _graph_of([*targets, *sources, *stops, *seeds])
    if graph is None:
        raise RuntimeError('tf.gradients is not supported when eager execution is enabled. Use tf.GradientTape instead.')
    unconnected = connected_or(unconnected_gradients)
    if aggregation not in (None, 0, 1, 2):
        raise ValueError(f'Invalid `aggregation_method` specified {aggregation}. Accepted values are [0, 1, 2].')
    with graph.as_default():
        with graph.name_scope('gradients' if name is None else name):
            targets = [_in_graph(graph, y, f'y_{i}') for i, y in enumerate(targets)]
            inner = [_in_graph(graph, getattr(x, 'handle', x), f'x_{i}') for i, x in enumerate(sources)]
            if len(seeds) != len(targets):
                raise ValueError(f'Length mismatch. Passed {len(seeds)} grad_ys for {len(targets)} ys')
            seeds = [_make_seed(y, None if seed is None else _in_graph(graph, seed, f'grad_y_{i}'), i)
                     for i, (y, seed) in enumerate(zip(targets, seeds, strict=True))]
            gradients = _backward(graph, targets, inner, seeds, [_in_graph(graph, t, 'stop') for t in stops], gated,
                                  colocated)
        if fact_counter.on:
            count_lost(targets, sources, inner, gradients, in_graph(_Edges(inner).inputs))
        if unconnected == 'zero':
            gradients = [zeros_of(x) if g is None else g for x, g in zip(sources, gradients, strict=True)]
    return gradients


def _as_list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _graph_of(items: Sequence[Any]) -> Graph | None:
    """The graph for the new nodes: of the function being traced, of the tensors, or the current one.

    Raises:
        ValueError: The tensors are of two graphs.
    """
    current = context.current_graph()
    if current is not None and current.building_function:
        return current
    first: SymbolicTensor | None = None
    for item in items:
        if isinstance(item, SymbolicTensor):
            first = item if first is None else first
            if item.graph is not first.graph:
                raise ValueError(f'{item} must be from the same graph as {first} (graphs are {item.graph} and '
                                 f'{first.graph}).')
    return current if first is None else owner(first)


def _in_graph(graph: Graph, value: Any, name: str) -> Any:
    """The tensor in the graph, or in an outer one, for a tensor, variable or plain value."""
    if isinstance(value, SymbolicTensor) and graph.building_function:
        return value                                # an outer tensor: paths to it leave the function
    if isinstance(value, Tensor):
        return graph.admit(value)
    if value is None or isinstance(value, IndexedSlices):
        return value
    if hasattr(value, '_as_tensor'):
        return graph.admit(value._as_tensor())
    array = to_array(value)
    return apply(CONSTANT, (), {'dtype': of_value(array), 'value': array}, name)


def _make_seed(target: Any, grad: Any, number: int) -> Any:
    """The seed gradient of a target.

    Raises:
        TypeError: It has a wrong dtype, or is missing for a complex target.
    """
    dtype = target.dtype
    if grad is None:
        if dtype.is_complex:
            raise TypeError(f'Gradients of complex tensors ({target}) must set grad_ys (y.dtype = {dtype.name})')
        return _make_ones(target, f'grad_ys_{number}')
    kinds = [(kind.is_floating or kind.is_integer, kind.is_complex) for kind in (dtype, grad.dtype)]
    if kinds[0] != kinds[1] and any(kinds[0]):
        what, expected = ('complex-valued', 'real') if kinds[0][1] else ('real or integer-valued', 'real or integer')
        raise TypeError(f'Gradient type {grad.dtype.name} generated for {what} tensor {target} with type {dtype.name} must '
                        f'be {expected}')
    return grad if isinstance(grad, IndexedSlices) else apply(IDENTITY, (grad,), None, f'grad_ys_{number}')


def _make_ones(target: Any, name: str) -> Any:
    """Ones in the shape of a tensor, as the nodes that TensorFlow makes."""
    sizes = target.shape
    if sizes.is_fully_defined():
        shape = apply(CONSTANT, (), {'dtype': int32, 'value': to_array(sizes.as_list(), int32)}, SHAPE)
    else:
        shape = apply(SHAPE, (target,), {'out_type': int32})
    with target.graph.name_scope(name) as full:
        one = apply(CONSTANT, (), {'dtype': target.dtype, 'value': to_array(target.dtype.name == 'bool' or 1, target.dtype)})
        return apply(FILL, (shape, one), {'index_type': int32}, full)


def add_backward_pass(graph: Graph, targets: Sequence[Any], sources: Sequence[Any], seeds: Sequence[Any]) -> list[Any]:
    """Add the backward pass from targets to sources to the current `graph`; outer tensors that it needs are
    captured. Returns a tensor, `IndexedSlices` or None for each source."""
    return _backward(graph, targets, sources, seeds, (), False, False)


def _backward(graph: Graph, targets: Sequence[Any], sources: Sequence[Any], seeds: Sequence[Any], stops: Sequence[Any],
              gated: bool, colocated: bool) -> list[Any]:
    parts = Gradients()
    for target, seed in zip(targets, seeds, strict=True):
        if target.dtype.is_trainable:
            parts.add(target, seed)
    step = graph_step(graph, gated)
    edges = _Edges(sources)
    integers = {target.op for target in targets if not target.dtype.is_trainable}
    order, ends = _order(targets, sources, {t.op for t in stops}, edges)
    # Gradients of all inputs, as in TensorFlow, so that nodes have its names: a plan omits unused ones.
    for op in order:
        with graph.colocate_with(op) if colocated else nullcontext():
            incoming = [parts.of(output) for output in (*op.outputs, *op.hidden)]
            if op in ends or (all(gradient is None for gradient in incoming) and op not in integers):
                continue
            definition = op.definition
            if definition.gradient is None:
                raise LookupError(NO_RULE.format(op.name, op.type))
            if not definition.slices:
                incoming = [dense(gradient) for gradient in incoming]
            if not (definition.sparse or definition.gradient is no_gradient):       # zeros would be unused
                incoming = fill_with_zeros(incoming, op.outputs)
            if all(gradient is None for gradient in incoming):
                continue                            # a target of integers, without an output of another type
            outgoing, _ = step(op, incoming, (), ALL_NEEDED)
        for tensor, gradient in zip(edges.inputs(op), outgoing, strict=False):
            if gradient is not None:
                parts.add(tensor, gradient)
    return [parts.of(s) if s.dtype.is_trainable else None for s in sources]


class _Edges:
    """Dependencies of nodes: their inputs, and the outer tensor of a captured one, as in TensorFlow.

    Args:
        sources: Sources of the pass: captured ones among them end a path.
    """

    def __init__(self, sources: Sequence[Any]) -> None:
        self._sources = set(map(id, sources))
        self._captured: dict[Graph, dict[int, SymbolicTensor]] = {}

    def inputs(self, op: Operation) -> Sequence[SymbolicTensor]:
        """The tensors that a node depends on, in order of its inputs."""
        return [self._around(tensor) for tensor in op.inputs] if op.graph.building_function else op.inputs

    def _around(self, tensor: SymbolicTensor) -> SymbolicTensor:
        graph = owner(tensor)
        while graph.building_function and tensor.op.type == INPUT and id(tensor) not in self._sources:
            outer_by_inner = self._captured.get(graph)
            if outer_by_inner is None:
                outer_by_inner = self._captured[graph] = {id(inner): outer for outer, inner in graph.captures
                                                          if isinstance(outer, SymbolicTensor)}
            outer = outer_by_inner.get(id(tensor))
            if outer is None:
                break
            tensor, graph = outer, owner(outer)
        return tensor


def _order(targets: Sequence[Any], sources: Sequence[Any], stops: set[Operation],
           edges: _Edges) -> tuple[list[Operation], set[Operation]]:
    """The nodes on paths from targets to sources in the order of TensorFlow's backward pass: each when all its consumers
    on paths are done, in order of readiness; and the nodes where paths end."""
    roots = [t.op for t in targets]
    on_the_way = _reached_nodes({source.op for source in sources}, roots, edges)
    pending = dict.fromkeys(on_the_way, 0)
    for op in on_the_way:
        for tensor in edges.inputs(op):
            if tensor.op in pending:
                pending[tensor.op] += 1
    ends = stops | {s.op for s in sources if not any(pending.get(t.op, 0) for t in edges.inputs(s.op))}
    ready = deque(dict.fromkeys(op for op in roots if pending.get(op) == 0))
    order = []
    while ready:
        op = ready.popleft()
        order.append(op)
        for tensor in edges.inputs(op):
            if tensor.op in pending:
                pending[tensor.op] -= 1
                if not pending[tensor.op]:
                    ready.append(tensor.op)
    return order, ends


def _reached_nodes(sources: set[Operation], roots: Sequence[Operation], edges: _Edges) -> list[Operation]:
    """The nodes between roots and sources that depend on a source through tensors with gradients."""
    needed: set[Operation] = set()
    stack = list(roots)
    while stack:
        op = stack.pop()
        if op not in needed:
            needed.add(op)
            stack.extend(t.op for t in edges.inputs(op))
    reached: set[Operation] = set()
    for op in _outer_first(needed):
        if op in sources or any(t.op in reached and t.dtype.is_trainable for t in edges.inputs(op)):
            reached.add(op)
    between: dict[Operation, None] = {}
    stack = [op for op in roots if op in reached]
    while stack:
        op = stack.pop()
        if op not in between:
            between[op] = None
            stack.extend(t.op for t in edges.inputs(op) if t.op in reached)
    return list(between)


def _outer_first(ops: set[Operation]) -> list[Operation]:
    """The nodes in dependency order, those of a graph after those of outer graphs."""
    graphs: dict[Graph, set[Operation]] = {}
    for op in ops:
        graphs.setdefault(owner(op), set()).add(op)
    return [op for graph in sorted(graphs, key=_depth) for op in in_order(graphs[graph])]


def _depth(graph: Graph) -> int:
    """The number of graphs that contain a function's graph."""
    depth, around = 0, graph.outer if graph.building_function else None
    while around is not None:
        depth, around = depth + 1, around.outer if around.building_function else None
    return depth
