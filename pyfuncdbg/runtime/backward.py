"""The backward pass: walk nodes in reverse and let each op's rule turn output gradients into input gradients.

Tapes and `tf.gradients` share it; the rules are written in ops, so a gradient can be recorded and differentiated again.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from pyfuncdbg.graph.registry import ONES, SUM, ZEROS, Node
from pyfuncdbg.graph.tensor import Tensor
from pyfuncdbg.runtime.dispatch import apply

Step = Callable[[Any, Sequence[Any], Sequence[int]], tuple[Sequence[Any], int]]
"""`step(node, output_gradients, sources)` applies one rule: (input gradients, id of the gradient call it was or 0).
`sources` are the ids of the gradient calls whose results the output gradients sum."""


class Gradients:
    """Gradients on their way: per tensor the parts that have come in, and which gradient calls gave them."""

    __slots__ = ('_parts', '_sources')

    def __init__(self) -> None:
        self._parts: dict[int, list[Any]] = {}
        self._sources: dict[int, list[int]] = {}

    def add(self, tensor: Tensor, gradient: Any, source: int = 0) -> None:
        """One more part of the gradient with respect to `tensor`."""
        self._parts.setdefault(id(tensor), []).append(gradient)
        if source:
            self._sources.setdefault(id(tensor), []).append(source)

    def of(self, tensor: Tensor) -> Any:
        """The sum of the parts, None if there are none."""
        parts = self._parts.get(id(tensor))
        if not parts:
            return None
        if len(parts) > 1:
            parts[:] = [apply(SUM, tuple(parts))]     # a tape keeps the tuple: it must not change
        return parts[0]

    def sources(self, tensors: Iterable[Tensor]) -> list[int]:
        """The gradient calls that gave parts of these tensors' gradients."""
        return [source for tensor in tensors for source in self._sources.get(id(tensor), ())]


def backward(nodes: Iterable[Any], gradients: Gradients, step: Step) -> None:
    """Push gradients through nodes given in reverse order of execution.

    Raises:
        LookupError: A node on the way has no gradient rule.
    """
    for node in nodes:
        outputs = [*node.outputs, *node.hidden]
        incoming = [gradients.of(output) for output in outputs]
        if all(gradient is None for gradient in incoming):
            continue
        if node.definition.gradient is None:
            raise LookupError(
                f"No gradient defined for operation'{node.name}' (op type: {node.type}). In general every operation must "
                f"have an "
                'associated `@tf.RegisterGradient` for correct autodiff, which this op is lacking. If you want to pretend '
                'this '
                'operation is a constant in your program, you may insert `tf.stop_gradient`. This can be useful to silence '
                'the '
                'error in cases where you know gradients are not needed, e.g. the forward pass of tf.custom_gradient. '
                'Please see '
                'more details in https://www.tensorflow.org/api_docs/python/tf/custom_gradient.')
        for i, output in enumerate(node.outputs):
            if incoming[i] is None and output.dtype.is_trainable and output.dtype.is_numpy_compatible:
                incoming[i] = zeros_like(output)
        outgoing, call = step(node, incoming, gradients.sources(outputs))
        for tensor, gradient in zip(node.inputs, outgoing, strict=False):
            if gradient is not None:
                gradients.add(tensor, gradient, call)


def between(nodes: Sequence[Any], sources: Iterable[Tensor]) -> list[Any]:
    """Of nodes in order of execution, those that depend on a source; in reverse."""
    reached = {id(tensor) for tensor in sources}
    found = []
    for node in nodes:
        if any(id(tensor) in reached for tensor in node.inputs):
            reached.update(map(id, node.outputs))
            reached.update(map(id, node.hidden))
            found.append(node)
    found.reverse()
    return found


def plain_step(node: Node, incoming: Sequence[Any], sources: Sequence[int]) -> tuple[Sequence[Any], int]:
    """Apply the rule, watched by nobody."""
    return node.definition.gradient(node, *incoming), 0  # type: ignore[misc]


def zeros_like(tensor: Tensor) -> Any:
    """Zeros of the tensor's shape and dtype."""
    return apply(ZEROS, (tensor,))


def ones_like(tensor: Tensor, name: str | None = None) -> Any:
    """Ones of the tensor's shape and dtype."""
    return apply(ONES, (tensor,), None, name)
