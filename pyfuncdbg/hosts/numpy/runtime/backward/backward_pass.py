"""The backward pass: a reverse traversal of nodes, whose rules map output gradients to input gradients.

Tapes and `tf.gradients` share it; the rules are written in ops, so a gradient can be recorded and differentiated again.
"""
from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from typing import Any

from pyfuncdbg.hosts.numpy.graph.definitions.registry import ONES, SUM, ZEROS, Node, apply_gradient
from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.runtime.backward.indexed_slices import IndexedSlices, dense, join_slices
from pyfuncdbg.hosts.numpy.runtime.eager.dispatch import apply

Step = Callable[[Any, Sequence[Any], Sequence[int], Sequence[bool]], tuple[Sequence[Any], int]]
"""`step(node, output_gradients, sources, needed)` applies one rule: (input gradients, id of the gradient call it was or 0).
`sources` are the ids of the gradient calls whose results the output gradients sum; `needed` says which input gradients
lead to a source of the pass."""


class Gradients:
    """Accumulator of gradients in a backward pass.

    Attributes:
        parts: By id of a tensor, its partial gradients; summed on demand.
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
    parts = gradients.parts
    plain = step is plain_step
    for node in nodes:
        outputs = node.outputs if not node.hidden else [*node.outputs, *node.hidden]
        if len(outputs) == 1:
            parts_of_output = parts.get(id(outputs[0]))
            if parts_of_output is None:
                continue
            incoming: Sequence[Any] = parts_of_output if len(parts_of_output) == 1 else (gradients.of(outputs[0]),)
            sliced = type(incoming[0]) is IndexedSlices
        else:
            of_outputs = [gradients.of(output) for output in outputs]
            if all(gradient is None for gradient in of_outputs):
                continue
            incoming = of_outputs if node.definition.sparse else fill_with_zeros(of_outputs, node.outputs)
            sliced = any(type(gradient) is IndexedSlices for gradient in incoming)
        if sliced and not node.definition.slices:
            incoming = [*map(dense, incoming)]
        if node.definition.gradient is None and is_end(node, reached):
            continue
        inputs = node.inputs
        if reached is None or not node.definition.selective:
            needed = ALL_NEEDED
        else:
            first, second = inputs
            needed = id(first) in reached, id(second) in reached
        if plain:
            outgoing, call = apply_gradient(node, incoming, needed), 0
        else:
            outgoing, call = step(node, incoming, gradients.sources(outputs), needed)
        for i, gradient in enumerate(outgoing):
            if gradient is not None:
                key = id(inputs[i])
                if key in parts:
                    parts[key].append(gradient)
                else:
                    parts[key] = [gradient]
                if call:
                    gradients.came_from(key, call)


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
