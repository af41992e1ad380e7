"""Fetches of `Session.run`: structures of tensors, operations and names, and their results in the same structure."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pyfuncdbg.errors import InaccessibleTensorError
from pyfuncdbg.hosts.numpy.graph.graph import Graph
from pyfuncdbg.hosts.numpy.graph.operation import Operation
from pyfuncdbg.hosts.numpy.graph.symbolic_tensor import SymbolicTensor
from pyfuncdbg.hosts.numpy.graph.types import nest
from pyfuncdbg.hosts.numpy.graph.types.composite import ABSENT

Pack = Callable[[Sequence[Any]], Any]


class Fetches:
    """A resolved fetch structure.

    Args:
        graph: The graph.
        fetches: The structure.
        elements: Resolved parts by id, each with the part itself; extended here.

    Attributes:
        tensors: The distinct tensors to compute, in order.
        targets: Operations to run for their effect.
        pack: Packs the values of `tensors` in the user's structure; None for operations.
    """

    __slots__ = ('pack', 'targets', 'tensors')

    def __init__(self, graph: Graph, fetches: Any, elements: dict[int, tuple[Any, Any]] | None = None) -> None:
        self.tensors: list[SymbolicTensor] = []
        self.targets: list[Operation] = []
        places: list[int] = []
        place_by_id: dict[int, int] = {}
        fetches = _expand_composites(fetches)
        leaves = nest.flatten(fetches) if _is_structure(fetches) else [fetches]
        for leaf in leaves:
            if leaf is ABSENT:
                places.append(-1)
                continue
            known_as = elements.get(id(leaf)) if elements is not None else None
            element = _element(graph, leaf) if known_as is None else known_as[1]
            if elements is not None:
                elements[id(leaf)] = leaf, element          # with the leaf, so that its id stays unique
            if isinstance(element, Operation):
                self.targets.append(element)
                places.append(-1)
            else:
                if id(element) not in place_by_id:
                    place_by_id[id(element)] = len(self.tensors)
                    self.tensors.append(element)
                places.append(place_by_id[id(element)])
        self.pack = _packer(fetches, places)


def bytes_at_rank_0(value: Any) -> Any:
    """A fetched value for the caller: a string of rank 0 as bytes."""
    return value[()] if isinstance(value, np.ndarray) and not value.ndim and value.dtype.hasobject else value


def fetch_key(fetches: Any) -> Any:
    """A hashable key: fetches with equal keys have equal plans and results of one structure.

    Raises:
        TypeError: A leaf or a key of a mapping is unhashable.
    """
    if isinstance(fetches, (list, tuple)):
        return type(fetches), *map(fetch_key, fetches)
    if isinstance(fetches, dict):
        return type(fetches), tuple(fetches), *map(fetch_key, fetches.values())
    if hasattr(fetches, 'standing_on'):
        return 'variable', id(fetches)
    hash(fetches)
    return fetches


def _is_structure(fetches: Any) -> bool:
    return not isinstance(fetches, (str, bytes, SymbolicTensor, Operation)) and nest.is_nested(fetches)


def _expand_composites(fetches: Any) -> Any:
    """The structure with composites, such as `IndexedSlices`, replaced by their fetched form."""
    if not _is_structure(fetches):
        return fetches.fetched() if hasattr(fetches, 'fetched') else fetches
    if any(hasattr(leaf, 'fetched') for leaf in nest.flatten(fetches)):
        return nest.map_structure(_expand_composites, fetches)
    return fetches


def _packer(fetches: Any, places: list[int]) -> Pack:
    """The function from values to the result; common structures have a fast path."""
    if not _is_structure(fetches):
        return (lambda values: values[0]) if places[0] >= 0 else (lambda values: None)
    if type(fetches) is list:
        if places == list(range(len(fetches))) and not any(_is_structure(f) for f in fetches):
            return list
        if not any(_is_structure(f) for f in fetches):
            return lambda values: [values[i] if i >= 0 else None for i in places]
    return lambda values: nest.pack_sequence_as(fetches, [values[i] if i >= 0 else None for i in places])


def _element(graph: Graph, fetch: Any) -> Any:
    """The tensor or operation of a fetch.

    Raises:
        TypeError: It has a type that cannot be fetched.
        ValueError: There is no such element in this graph.
    """
    if fetch is None:
        raise TypeError('Argument `fetch` = None has invalid type "NoneType". Cannot be None')
    try:
        element = graph.as_graph_element(fetch)
        op = getattr(element, 'op', element)
        if op in graph.unfetchable:
            raise InaccessibleTensorError(
                f'Operation {op.name} has been marked as not fetchable. Typically this happens when it is defined in '
                f'another '
                'function or code block. Use return values, explicit Python locals or TensorFlow collections to access it.')
        return element
    except InaccessibleTensorError:
        raise
    except TypeError as error:
        raise TypeError(f'Argument `fetch` = {fetch} has invalid type "{type(fetch).__name__}" must be a string or Tensor. '
                        f'({error})') from None
    except ValueError as error:
        raise ValueError(f'Argument `fetch` = {fetch} cannot be interpreted as a Tensor. ({error})') from None
    except KeyError as error:                  # whose text is a repr
        raise ValueError(f'Argument `fetch` = {fetch} cannot be interpreted as a Tensor. ({error})') from None
