"""Nested results of a function as a flat list of outputs, and back. On the thread of the call."""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from pyfuncdbg.hosts.interception.result_list import ResultList, output_list
from pyfuncdbg.hosts.torch.python_calls.nested_containers import (
    LEAF_TYPES,
    attributes,
    container_kind,
    default_of,
    elements,
    items,
    make_dict,
    make_sequence,
)

_DEEPEST = 8
_MOST_LEAVES = 64
"""Outputs of a nested result; of one with more each element of a list is an output: a value costs 2 µs."""
_PLAIN = frozenset((int, float, bool, complex, str, bytes))
"""Types of elements that make a list within a result one output: a list of tokens is not 500 of them."""


def unfold(result: Any) -> ResultList:
    """The outputs that a result consists of: the values in its lists, tuples and mappings. None is no output.

    Args:
        result: Of a function, such as a sample {'image': tensor, 'label': 3} of a dataset, which is two outputs.
    """
    kind = type(result)
    if (kind is tuple or kind is list) and LEAF_TYPES.issuperset(map(type, result)):
        return output_list(result)
    if kind in LEAF_TYPES or not container_kind(kind):
        outputs = ResultList(() if result is None else (result,))
    else:
        outputs = ResultList(_taken_apart(result)[1])
    outputs.raw = result
    return outputs


def fold(outputs: Sequence[Any], like: Any) -> Any:
    """The result that outputs of a hook make up.

    Args:
        outputs: What a hook gives in place of the outputs of `like`.
        like: What the function has returned; None if it has not.

    Returns:
        A result in containers of the types of `like`; where that has another number of values, one output alone, none, or a
        tuple.
    """
    if container_kind(type(like)):
        structure, leaves = _taken_apart(like)
        if len(leaves) == len(outputs):
            return _filled(structure, iter(outputs))
    return outputs[0] if len(outputs) == 1 else tuple(outputs) if outputs else None


def _taken_apart(result: Any) -> tuple[Any, list[Any]]:
    """The structure of a result, and its leaves."""
    leaves: list[Any] = []
    structure = _part(result, leaves, _DEEPEST)
    if len(leaves) > _MOST_LEAVES:
        leaves = []
        structure = _part(result, leaves, 0 if container_kind(type(result)) == 'dict' else 1)
    return structure, leaves


def _part(value: Any, leaves: list[Any], depth: int) -> Any:
    """The structure of a value, None of a leaf; its leaves are added."""
    kind = container_kind(type(value))
    if not kind or not depth or (depth > 1 and len(leaves) > _MOST_LEAVES):
        leaves.append(value)
        return None
    if kind == 'dict':
        return value, tuple([(key, _part(part, leaves, depth - 1)) for key, part in items(value)])
    parts = elements(value)
    if depth < _DEEPEST and parts and _PLAIN.issuperset(map(type, parts)):
        leaves.append(value)
        return None
    return value, tuple([_part(part, leaves, depth - 1) for part in parts])


def _filled(structure: Any, outputs: Iterator[Any]) -> Any:
    if structure is None:
        return next(outputs)
    like, parts = structure
    kind = type(like)
    if container_kind(kind) == 'dict':
        return make_dict(kind, [(key, _filled(part, outputs)) for key, part in parts], attributes(like), default_of(like))
    return make_sequence(kind, [_filled(part, outputs) for part in parts], attributes(like))
