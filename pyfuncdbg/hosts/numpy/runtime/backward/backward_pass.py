"""The backward pass: a reverse traversal of nodes, whose rules map output gradients to input gradients.

Tapes and `tf.gradients` share it; the rules are written in ops, so a gradient can be recorded and differentiated again.
"""
from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from typing import Any

import numpy as np

from pyfuncdbg.hooks.chain import hooks
from pyfuncdbg.hooks.output import numpy_errstate
from pyfuncdbg.hosts.numpy.graph.context import current_graph, process
from pyfuncdbg.hosts.numpy.graph.definitions.registry import ONES, SUM, ZEROS, Node, apply_gradient, no_gradient
from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.graph.types import dtypes
from pyfuncdbg.hosts.numpy.runtime.backward.indexed_slices import IndexedSlices, dense, join_slices
from pyfuncdbg.hosts.numpy.runtime.eager.dispatch import apply
from pyfuncdbg.hosts.numpy.runtime.eager.fast_path import ElementNode
from pyfuncdbg.hosts.numpy.runtime.eager.tape_recording import active
from pyfuncdbg.hosts.numpy.runtime.execution.eager_tensor import EagerTensor

_VALUES = np.ndarray, np.generic
_REAL = frozenset(map(id, (dtypes.float16, dtypes.float32, dtypes.float64)))
_set, _reset, _IGNORE = numpy_errstate.state.set, numpy_errstate.state.reset, numpy_errstate.IGNORE
Step = Callable[[Any, Sequence[Any], Sequence[int], Sequence[bool]], tuple[Sequence[Any], int]]
"""`step(node, output_gradients, sources, needed)` applies one rule: (input gradients, id of the gradient call it was or 0).
`sources` are the ids of the gradient calls whose results the output gradients sum; `needed` says which input gradients
lead to a source of the pass."""


class Gradients:
    """Accumulator of gradients in a backward pass.

    Attributes:
        parts: By id of a tensor, its partial gradients, tensors or NumPy values; summed on demand.
    """

    __slots__ = ('_sources', 'parts')

    def __init__(self) -> None:
        self.parts: dict[int, list[Any]] = {}
        self._sources: dict[int, list[int]] = {}

    def add(self, tensor: Tensor, gradient: Any) -> None:
        """Add a part of the gradient with respect to `tensor`."""
        self.parts.setdefault(id(tensor), []).append(gradient)

    def came_from(self, key: int, call: int) -> None:
        """Record that a gradient call returned a part for the tensor of this id."""
        self._sources.setdefault(key, []).append(call)

    def of(self, tensor: Tensor) -> Any:
        """The sum of the parts, None if there are none; `IndexedSlices` where all parts are."""
        parts = self.parts.get(id(tensor))
        if parts is None:
            return None
        for i, part in enumerate(parts):
            if isinstance(part, _VALUES):
                parts[i] = EagerTensor(part, tensor.dtype)
        if len(parts) > 1:
            parts[:] = [_sum(parts)]
        return parts[0]

    def sources(self, tensors: Iterable[Tensor]) -> Sequence[int]:
        """The gradient calls that returned parts of these tensors' gradients."""
        source_ids = self._sources
        return [source for tensor in tensors for source in source_ids.get(id(tensor), ())] if source_ids else ()


def _sum(parts: Sequence[Any]) -> Any:
    if all(isinstance(part, IndexedSlices) for part in parts):
        return join_slices(parts)
    return apply(SUM, tuple(map(dense, parts)))       # a tape keeps the tuple, so it must not change


def backward(nodes: Iterable[Any], reached: Container[int] | None, gradients: Gradients, step: Step) -> None:
    """Push gradients through nodes given in reverse order of execution.

    Args:
        nodes: Nodes between sources and targets.
        reached: Ids of the tensors that depend on a source: rules compute only their gradients. None: those of all inputs.
        gradients: Of the targets; those of all other tensors are added.
        step: Applies one rule.

    Raises:
        LookupError: One of the nodes has no gradient rule.
    """
    if step is not plain_step or active.recordings or hooks.op or process.mixed or current_graph() is not None:
        for node in nodes:
            _push(node, reached, gradients, step)
        return
    path = [*nodes]
    at = _push_values(path, 0, reached, gradients.parts)
    while at < len(path):
        _push(path[at], reached, gradients, step)
        at = _push_values(path, at + 1, reached, gradients.parts)


def _push_values(path: Sequence[Any], start: int, reached: Container[int] | None, parts: dict[int, list[Any]]) -> int:
    """Push gradients through nodes from a place on, as long as they have rules for values.

    Returns:
        The place of the first node that needs tensors.
    """
    before = _set(_IGNORE)
    try:
        for at in range(start, len(path)):
            node = path[at]
            rules = node.definition.value_rules
            if not rules or type(node) is not ElementNode:
                return at
            (output,) = node.outputs
            found = parts.get(id(output))
            if found is None:
                continue
            x, y = node.inputs
            gradient, u, v, w = found[0], x._value, y._value, output._value
            if type(gradient) is EagerTensor:
                gradient = gradient._value
            kind = type(w)
            if len(found) > 1 or type(gradient) is not kind or type(u) is not kind or type(v) is not kind or id(
                    output.dtype) not in _REAL:
                return at
            if kind is np.ndarray and not (gradient.shape == u.shape == v.shape == w.shape and gradient.dtype == w.dtype):
                return at                       # broadcast: the rule sums them; or a seed that is refused
            of_x, of_y = rules                  # both without a loop, which costs 0.3 µs
            key = id(x)
            if reached is None or key in reached:
                parts.setdefault(key, []).append(of_x(gradient, u, v))
            key = id(y)
            if reached is None or key in reached:
                parts.setdefault(key, []).append(of_y(gradient, u, v))
        return len(path)
    finally:
        _reset(before)


def _push(node: Any, reached: Container[int] | None, gradients: Gradients, step: Step) -> None:
    """Push gradients through a node."""
    outputs = node.outputs if not node.hidden else [*node.outputs, *node.hidden]
    incoming: Sequence[Any] = [gradients.of(output) for output in outputs]
    if all(gradient is None for gradient in incoming):
        return
    if len(outputs) > 1 and not node.definition.sparse:
        incoming = fill_with_zeros([*incoming], node.outputs)
    if not node.definition.slices and any(type(gradient) is IndexedSlices for gradient in incoming):
        incoming = [*map(dense, incoming)]
    if node.definition.gradient is None and is_end(node, reached):
        return
    inputs = node.inputs
    if reached is None or not node.definition.selective:
        needed = ALL_NEEDED
    else:
        first, second = inputs
        needed = id(first) in reached, id(second) in reached
    if step is plain_step:
        outgoing, call = apply_gradient(node, incoming, needed), 0
    else:
        outgoing, call = step(node, incoming, gradients.sources(outputs), needed)
    parts = gradients.parts
    for i, gradient in enumerate(outgoing):
        if gradient is not None:
            key = id(inputs[i])
            if key in parts:
                parts[key].append(gradient)
            else:
                parts[key] = [gradient]
            if call:
                gradients.came_from(key, call)


def begin_at_integers(path: Sequence[Any], reached: Container[int], targets: Iterable[Any], gradients: Gradients) -> None:
    """Let the nodes take part whose integer or bool outputs are targets, as in TensorFlow: other outputs get zeros.

    Args:
        path: The nodes between sources and targets.
        reached: Ids of the tensors that depend on a source.
        targets: The targets.
        gradients: Of the targets; zeros are added.

    Raises:
        LookupError: One of those nodes has no gradient rule.
    """
    integers = {id(target) for target in targets if isinstance(target, Tensor) and not target.dtype.is_trainable}
    for node in path if integers else ():
        if not any(id(output) in integers for output in node.outputs):
            continue
        if node.definition.gradient is None:
            is_end(node, reached)
        elif not (node.definition.gradient is no_gradient or node.definition.sparse):
            for output, gradient in zip(node.outputs, fill_with_zeros([*map(gradients.of, node.outputs)], node.outputs),
                                        strict=True):
                if gradient is not None and id(output) not in gradients.parts:
                    gradients.add(output, gradient)


def is_end(node: Any, reached: Container[int] | None) -> bool:
    """Whether a node without a rule ends the pass: its inputs are integers or depend on no source.

    Raises:
        LookupError: An input leads to a source.
    """
    if any(tensor.dtype.is_trainable and (reached is None or id(tensor) in reached) for tensor in node.inputs):
        raise LookupError(f'gradient registry has no entry for: {node.type}')
    return True


class _AllNeeded:
    """`needed` where every input's gradient is."""

    def __getitem__(self, index: int) -> bool:
        return True


ALL_NEEDED: Any = _AllNeeded()


def fill_with_zeros(incoming: list[Any], outputs: Sequence[Any]) -> list[Any]:
    """Gradients of a node's outputs, with zeros where an output has none."""
    for i, output in enumerate(outputs):
        if incoming[i] is None and output.dtype.is_trainable and output.dtype.is_numpy_compatible:
            incoming[i] = zeros_like(output)
    return incoming


def nodes_between(nodes: Iterable[Any], sources: Iterable[Tensor]) -> tuple[list[Any], set[int]]:
    """The nodes that depend on a source, in reverse order of execution, and the ids of all tensors that do."""
    reached = set(map(id, sources))
    path = []
    for node in nodes:
        for tensor in node.inputs:
            if id(tensor) in reached:
                for output in node.outputs:
                    reached.add(id(output))
                if node.hidden:
                    reached.update(map(id, node.hidden))
                path.append(node)
                break
    path.reverse()
    return path, reached


def plain_step(node: Node, incoming: Sequence[Any], sources: Sequence[int],
               needed: Sequence[bool]) -> tuple[Sequence[Any], int]:
    """Apply the rule without hooks."""
    return apply_gradient(node, incoming, needed), 0


def zeros_like(tensor: Tensor) -> Any:
    """Zeros of the tensor's shape and dtype."""
    return apply(ZEROS, (tensor,))


def ones_like(tensor: Tensor, name: str | None = None) -> Any:
    """Ones of the tensor's shape and dtype."""
    return apply(ONES, (tensor,), None, name)
