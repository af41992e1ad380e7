"""Nested arguments of a function as a flat list of inputs, and back. On the thread of the call."""
from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from pyfuncdbg.hooks.argument_form import ArgumentForm, Part
from pyfuncdbg.hosts.torch.python_calls.nested_containers import (
    LEAF_TYPES,
    are_constants,
    attributes,
    container_kind,
    default_of,
    elements,
    items,
    make_dict,
    make_sequence,
)

_FORMS = frozenset((list, tuple, dict))
"""Types of containers that an `ArgumentForm` has."""
_DEEPEST = 8
_kinds: dict[type, str] = {}
"""Kind of an input of a type, one of `argument_form.INPUTS`."""
_forms: dict[tuple[type, ...], list[Any] | None] = {}
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

    def form(self) -> ArgumentForm | None:
        """Structure and types of the arguments; None if there is a container of the program's own type."""
        return self.structure() if all(map(_is_plain, (*self._positional, *self._keywords.values()))) else None

    def structure(self) -> ArgumentForm:
        """Structure of the arguments, with 'tuple' and 'dict' for types derived from them."""
        places = itertools.count()
        return ArgumentForm(tuple([_part(shape, places) for shape in self._positional]),
                            tuple([(name, _part(shape, places)) for name, shape in self._keywords.items()]))

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
    if not kwargs and (LEAF_TYPES.issuperset(map(type, args)) or not any(map(container_kind, map(type, args)))):
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
    layout = NestedArguments(tuple([_kind_of(type(value)) for value in args]), {
        name: _kind_of(type(value)) for name, value in kwargs.items()}, [*names, *kwargs])
    return layout, [*args, *kwargs.values()]


def _shape(value: Any, name: str, inputs: list[Any], names: list[str], depth: int) -> Any:
    """The structure of an argument; its leaves become inputs."""
    kind = type(value)
    container = container_kind(kind)
    more = attributes(value) if container and kind not in _FORMS else ()
    if not container or depth > _DEEPEST or len(inputs) > _MOST_LEAVES or (more and not are_constants(more)) or (
            kind not in _FORMS and default_of(value) is not None):
        inputs.append(value)
        names.append(name)
        return _kinds.get(kind) or _kind_of(kind)
    if container == 'dict':
        return kind, tuple([(key, _shape(part, f'{name}[{key!r}]', inputs, names, depth + 1))
                            for key, part in items(value)]), more
    return kind, tuple([_shape(part, f'{name}[{i}]', inputs, names, depth + 1)
                        for i, part in enumerate(elements(value))]), more


def _kind_of(kind: type) -> str:
    found = _kinds[kind] = 'number' if kind in (int, float, bool, complex) else (
        'array' if issubclass(kind, np.ndarray | np.generic) else 'input')
    return found


def _part(shape: Any, places: Iterator[int]) -> Part:
    if type(shape) is str:
        return Part(shape, next(places))
    kind, parts, _ = shape
    container = container_kind(kind)
    if container == 'dict':
        return Part(container, tuple([(key, _part(part, places)) for key, part in parts]))
    return Part(container, tuple([_part(part, places) for part in parts]))


def _is_plain(shape: Any) -> bool:
    """Whether all containers are of types that a form has."""
    if type(shape) is str:
        return True
    kind, parts, _ = shape
    return kind in _FORMS and all(_is_plain(part[1] if kind is dict else part) for part in parts)


def form_of_values(args: Sequence[Any]) -> list[Any] | None:
    """The form of arguments that are not nested, as plain data; None if each is a tensor or an object.

    Args:
        args: The arguments.
    """
    types = tuple(map(type, args))
    try:
        return _forms[types]
    except KeyError:
        if len(_forms) > _MOST_LEAVES:
            _forms.clear()
        form = _forms[types] = _form_of_kinds(tuple([_kind_of(kind) for kind in types]))
        return form


@functools.cache
def _form_of_kinds(kinds: Sequence[str]) -> list[Any] | None:
    """One list for the same kinds: it is told by its id."""
    if set(kinds) <= {'input'}:
        return None
    return ArgumentForm(tuple([Part(kind, place) for place, kind in enumerate(kinds)]), ()).plain()


def _filled(shape: Any, inputs: Iterator[Any]) -> Any:
    if type(shape) is str:
        return next(inputs)
    kind, parts, more = shape
    if container_kind(kind) == 'dict':
        return make_dict(kind, [(key, _filled(part, inputs)) for key, part in parts], more)
    return make_sequence(kind, [_filled(part, inputs) for part in parts], more)
