"""The backward pass: walk nodes in reverse and let each op's rule turn output gradients into input gradients.

Tapes and `tf.gradients` share it; the rules are written in ops, so a gradient can be recorded and differentiated again.
"""
from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from typing import Any

from pyfuncdbg.graph.registry import ONES, SUM, ZEROS, Node, differentiated
from pyfuncdbg.graph.tensor import Tensor
from pyfuncdbg.runtime.dispatch import apply

Step = Callable[[Any, Sequence[Any], Sequence[int], Sequence[bool]], tuple[Sequence[Any], int]]
"""`step(node, output_gradients, sources, wanted)` applies one rule: (input gradients, id of the gradient call it was or 0).
`sources` are the ids of the gradient calls whose results the output gradients sum; `wanted` says which input gradients
lead on to what is differentiated by."""


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


def backward(nodes: Iterable[Any], reached: Container[int] | None, gradients: Gradients, step: Step) -> None:
    """Push gradients through nodes given in reverse order of execution.

    Args:
        nodes: On the way from the sources.
        reached: Ids of the tensors that depend on a source: rules work out the gradients of no others. None: of all inputs.
        gradients: Those of the targets; gets those of all others.
        step: Applies one rule.

    Raises:
        LookupError: A node on the way has no gradient rule.
    """
    for node in nodes:
        outputs = node.outputs if not node.hidden else [*node.outputs, *node.hidden]
        incoming = [gradients.of(output) for output in outputs]
        if incoming.count(None) == len(incoming):
            continue
        definition = node.definition
        if definition.gradient is None:
            raise LookupError(_NO_RULE.format(node.name, node.type))
        if None in incoming and not definition.sparse:
            for i, output in enumerate(node.outputs):
                if incoming[i] is None and output.dtype.is_trainable and output.dtype.is_numpy_compatible:
                    incoming[i] = zeros_like(output)
        inputs = node.inputs
        wanted = [True] * len(inputs) if reached is None else [id(tensor) in reached for tensor in inputs]
        outgoing, call = step(node, incoming, gradients.sources(outputs), wanted)
        for tensor, gradient in zip(inputs, outgoing, strict=False):
            if gradient is not None:
                gradients.add(tensor, gradient, call)


_NO_RULE = (
    "No gradient defined for operation'{}' (op type: {}). In general every operation must have an associated "
    '`@tf.RegisterGradient` for correct autodiff, which this op is lacking. If you want to pretend this operation is a '
    'constant in your program, you may insert `tf.stop_gradient`. This can be useful to silence the error in cases where '
    'you know gradients are not needed, e.g. the forward pass of tf.custom_gradient. Please see more details in '
    'https://www.tensorflow.org/api_docs/python/tf/custom_gradient.')


def between(nodes: Iterable[Any], sources: Iterable[Tensor]) -> tuple[list[Any], set[int]]:
    """Of nodes in order of execution, those that depend on a source, in reverse; and the ids of all tensors that do."""
    reached = set(map(id, sources))
    found = []
    for node in nodes:
        if not reached.isdisjoint(map(id, node.inputs)):
            reached.update(map(id, node.outputs))
            if node.hidden:
                reached.update(map(id, node.hidden))
            found.append(node)
    found.reverse()
    return found, reached


def plain_step(node: Node, incoming: Sequence[Any], sources: Sequence[int],
               wanted: Sequence[bool]) -> tuple[Sequence[Any], int]:
    """Apply the rule, watched by nobody."""
    return differentiated(node, incoming, wanted), 0


def zeros_like(tensor: Tensor) -> Any:
    """Zeros of the tensor's shape and dtype."""
    return apply(ZEROS, (tensor,))


def ones_like(tensor: Tensor, name: str | None = None) -> Any:
    """Ones of the tensor's shape and dtype."""
    return apply(ONES, (tensor,), None, name)
