"""Nested arguments of a function as a flat list of inputs, and back. On the thread of the call."""
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from pyfuncdbg.hooks.argument_form import ArgumentForm

NESTED = frozenset((list, tuple, dict))
"""Types whose elements are inputs of their own."""
_DEEPEST = 8
_MOST_LEAVES = 512
"""Inputs of one call; of arguments with more leaves each is one input: a value costs 2 µs."""


class NestedArguments:
    """Structure of the arguments of a call, whose leaves are its inputs.

    Attributes:
        names: Of each input: 'samples[1][0]', 'scale' of a keyword.
    """

    __slots__ = ('_keywords', '_positional', 'names')

    def __init__(self, positional: tuple[Any, ...], keywords: Mapping[str, Any], names: Sequence[str]) -> None:
        self._positional, self._keywords = positional, keywords
        self.names = tuple(names)

    def arguments(self, inputs: Sequence[Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The positional arguments and the keywords that the inputs make up."""
        remaining = iter(inputs)
        return (tuple([_filled(shape, remaining) for shape in self._positional]),
                {name: _filled(shape, remaining) for name, shape in self._keywords.items()})

    def form(self) -> ArgumentForm:
        """Structure and types of the arguments."""
        places = iter([_Place(place) for place in range(len(self.names))])
        return ArgumentForm.of([_filled(shape, places) for shape in self._positional],
                               {name: _filled(shape, places) for name, shape in self._keywords.items()},
                               lambda value: value.place if type(value) is _Place else None)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NestedArguments) and self.names == other.names and (
            self._positional == other._positional and self._keywords == other._keywords)

    def __hash__(self) -> int:
        return hash(self.names)


def flatten(args: Sequence[Any], kwargs: Mapping[str, Any],
            parameters: Sequence[str]) -> tuple[NestedArguments | None, list[Any]]:
    """The inputs that arguments consist of, with their layout; None for arguments that are not nested.

    Args:
        args, kwargs: The arguments.
        parameters: Names of the positional parameters.
    """
    if not kwargs and NESTED.isdisjoint(map(type, args)):
        return None, list(args)
    inputs: list[Any] = []
    names: list[str] = []
    positional = tuple([_shape(value, parameters[i] if i < len(parameters) else f'in{i}', inputs, names, 0)
                        for i, value in enumerate(args)])
    keywords = {name: _shape(value, name, inputs, names, 0) for name, value in kwargs.items()}
    if len(inputs) > _MOST_LEAVES:
        return _whole_arguments(args, kwargs, parameters)
    return NestedArguments(positional, keywords, names), inputs


def _whole_arguments(args: Sequence[Any], kwargs: Mapping[str, Any],
                     parameters: Sequence[str]) -> tuple[NestedArguments | None, list[Any]]:
    """The arguments themselves as inputs."""
    if not kwargs:
        return None, list(args)
    names = [parameters[i] if i < len(parameters) else f'in{i}' for i in range(len(args))]
    layout = NestedArguments((_LEAF,) * len(args), dict.fromkeys(kwargs, _LEAF), [*names, *kwargs])
    return layout, [*args, *kwargs.values()]


_LEAF = None


class _Place(NamedTuple):
    """Stands for an input."""

    place: int


def _shape(value: Any, name: str, inputs: list[Any], names: list[str], depth: int) -> Any:
    """The structure of an argument; its leaves become inputs."""
    kind = type(value)
    if kind not in NESTED or depth > _DEEPEST or len(inputs) > _MOST_LEAVES:
        inputs.append(value)
        names.append(name)
        return _LEAF
    if kind is dict:
        return kind, tuple([(key, _shape(part, f'{name}[{key!r}]', inputs, names, depth + 1))
                            for key, part in value.items()])
    return kind, tuple([_shape(part, f'{name}[{i}]', inputs, names, depth + 1) for i, part in enumerate(value)])


def _filled(shape: Any, inputs: Iterator[Any]) -> Any:
    if shape is _LEAF:
        return next(inputs)
    kind, parts = shape
    if kind is dict:
        return {key: _filled(part, inputs) for key, part in parts}
    return kind([_filled(part, inputs) for part in parts])
