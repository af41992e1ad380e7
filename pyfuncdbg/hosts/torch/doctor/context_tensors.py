"""Tensors that an `autograd.Function` keeps as attributes of its `ctx`, outside of `save_for_backward`.

On the thread of the call, when the function has returned.
"""
from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

OUTPUT, INPUT, OUTPUT_VIEW, INPUT_VIEW, OTHER = 'output', 'input', 'output view', 'input view', 'other'
"""What a tensor is to the call, what does most harm first."""
_RANKS = {role: rank for rank, role in enumerate((OUTPUT, INPUT, OUTPUT_VIEW, INPUT_VIEW, OTHER))}
_DEEPEST, _MOST = 4, 256


class ContextTensor(NamedTuple):
    """A tensor that an attribute holds: the one that does most harm, where the attribute is a container of several.

    Attributes:
        attribute: Name of the attribute.
        within: '' for the tensor itself; else how it is found in the container: '[0]', "['mask']".
        container: 'list', 'tuple' or 'dict'; '' for the tensor itself.
        role: What it is to the call.
    """

    attribute: str
    within: str
    container: str
    role: str


def context_tensors(context: Any, tensor: type, inputs: Sequence[Any], outputs: Sequence[Any],
                    memory: Callable[[Any], int]) -> Iterator[ContextTensor]:
    """The attributes of a `ctx` that hold tensors, directly or in lists, tuples and dicts.

    Args:
        context: The `ctx`, which is the backward node. What `save_for_backward` has got is no attribute of it.
        tensor: The class of tensors.
        inputs, outputs: Of the call.
        memory: Address of a tensor's elements; 0 if it has none.
    """
    flat = [(one, role) for values, role in ((outputs, OUTPUT), (inputs, INPUT)) for one, _ in _tensors(values, tensor)]
    views = {address: f'{role} view' for one, role in reversed(flat) if (address := memory(one))}

    def role_of(value: Any) -> str:
        return next((role for one, role in flat if one is value), views.get(memory(value), OTHER))
    for name, value in list(vars(context).items()):
        kept = [(_RANKS[role], role, within) for one, within in _tensors(value, tensor) for role in [role_of(one)]]
        if kept:
            _, role, within = min(kept, key=lambda entry: entry[0])
            yield ContextTensor(name, within, type(value).__name__ if within else '', role)


def _tensors(value: Any, tensor: type) -> list[tuple[Any, str]]:
    """The tensors in a value, each with how it is found there."""
    tensors: list[tuple[Any, str]] = []
    _collect(value, '', tensor, tensors, 0)
    return tensors


def _collect(value: Any, within: str, tensor: type, tensors: list[tuple[Any, str]], depth: int) -> None:
    if isinstance(value, tensor):
        tensors.append((value, within))
    elif depth < _DEEPEST and len(tensors) < _MOST and isinstance(value, (list, tuple, dict)):
        parts = value.items() if isinstance(value, Mapping) else enumerate(value)
        for key, part in list(parts)[:_MOST]:
            _collect(part, f'{within}[{key!r}]' if type(key) in (int, str) else f'{within}[...]', tensor, tensors, depth + 1)
