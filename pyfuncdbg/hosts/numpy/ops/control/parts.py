"""A program's functions as parts of a graph: conversion of their results to tensors and back.

A TensorArray passes through parts as its flow tensor.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from pyfuncdbg.hosts.numpy.graph import context
from pyfuncdbg.hosts.numpy.graph.definitions.registry import IDENTITY
from pyfuncdbg.hosts.numpy.graph.graph import Graph, owner
from pyfuncdbg.hosts.numpy.graph.operation import Operation
from pyfuncdbg.hosts.numpy.graph.symbolic_tensor import SymbolicTensor
from pyfuncdbg.hosts.numpy.graph.types import nest
from pyfuncdbg.hosts.numpy.graph.types.composite import is_composite
from pyfuncdbg.hosts.numpy.graph.types.shapes import TensorShape
from pyfuncdbg.hosts.numpy.ops.definition.constant import convert_to_tensor
from pyfuncdbg.hosts.numpy.runtime.eager.dispatch import apply
from pyfuncdbg.hosts.numpy.runtime.traces.traced_function import TracedFunction


def graph_around(values: Iterable[Any]) -> Graph | None:
    """The graph that control flow over these values is part of: the current one, or that of a symbolic value."""
    return context.current_graph() or next((owner(v) for v in values if isinstance(v, SymbolicTensor)), None)


def entered(graph: Graph) -> AbstractContextManager[Any]:
    """Make the graph current, if it is not."""
    return nullcontext() if context.current_graph() is graph else graph.as_default()


def scalar_condition(value: Any) -> Any:
    """A condition as a tensor of rank 0, where its rank is static."""
    tensor = convert_to_tensor(value)
    return tensor if tensor.shape.rank == 0 else apply('Squeeze', (tensor,))


def is_array(value: Any) -> bool:
    """Whether a value is a TensorArray."""
    return hasattr(value, '_with_flow')


def tensors_of(leaf: Any) -> list[Any]:
    """The tensors that represent a leaf of a structure: the flow of a TensorArray, the components of a composite, itself."""
    if is_array(leaf):
        return [leaf.flow]
    return leaf._type_spec._to_components(leaf) if is_composite(leaf) else [convert_to_tensor(leaf)]


def flat_tensors(structure: Any) -> list[Any]:
    """The tensors that represent all leaves."""
    return [tensor for leaf in nest.flatten(structure) for tensor in tensors_of(leaf)]


def packed(structure: Any, tensors: Iterable[Any]) -> Any:
    """Tensors in a structure, packed into TensorArrays and composites like its own; None stays None."""
    remaining = iter(tensors)
    return nest.pack_sequence_as(structure, [_rebuilt(leaf, remaining) for leaf in nest.flatten(structure)])


def _rebuilt(leaf: Any, tensors: Iterator[Any]) -> Any:
    if leaf is None:
        return None
    if is_composite(leaf):
        spec = leaf._type_spec
        return spec._from_components([next(tensors) for _ in spec._component_specs])
    return leaf._with_flow(next(tensors)) if is_array(leaf) else next(tensors)


class PartResult:
    """Return value of a part of a graph: structure and tensors (None stays None)."""

    def __init__(self, function: Callable[[], Any], end_node: Callable[[], Any]) -> None:
        self.structure = function()
        self.tensors = [tensor for leaf in nest.flatten(self.structure) if leaf is not None
                        for tensor in self._tensors(leaf, end_node, function)]

    @staticmethod
    def _tensors(leaf: Any, end_node: Callable[[], Any], function: Callable[[], Any]) -> list[Any]:
        if isinstance(leaf, Operation):
            graph = context.get_default_graph()
            with graph.control_dependencies([leaf]):
                return [apply(IDENTITY, (end_node(),))]
        try:
            return tensors_of(leaf)
        except (TypeError, ValueError) as error:
            raise TypeError('To be compatible with tf.function, Python functions must return zero or more Tensors or '
                            f'ExtensionTypes or None values; in compilation of {function}, found return value of type '
                            f'{type(leaf).__name__}, which is not a Tensor or ExtensionType.') from error

    def structure_of_tensors(self) -> Any:
        """The structure with the tensors, for messages."""
        return packed(self.structure, self.tensors)

    def pack(self, tensors: Sequence[Any]) -> Any:
        """Other tensors in the same structure."""
        return packed(self.structure, tensors)


def waited_for(parts: Sequence[TracedFunction]) -> list[Any]:
    """The outer ops that nodes inside the parts wait for."""
    return list(dict.fromkeys(op for part in parts for op in part.graph.waits))


def inner_shape(shape: Any) -> TensorShape:
    """A shape, in any form, as `TensorShape`."""
    return shape if isinstance(shape, TensorShape) else TensorShape(shape)
