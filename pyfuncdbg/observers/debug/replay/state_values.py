"""Values in the state of a call, by place: global variables, closure, defaults, the function's object.

Encoded as in a trace. Random generators are compared apart: a function that draws from one changes it. Pure.
"""
from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pyfuncdbg.observers.record.snapshots import value_encoding as tags

Owner = Literal['global', 'closure', 'default', 'object', 'attribute', 'class']
"""What a value is of: the module, the function's closure or defaults, its object, the function itself, a class."""
_PREFIXES = {'closure': 'variable of the closure ', 'global': 'global ', 'default': 'default value '}
_LONGEST = 60
_DEEPEST = 3 * tags.DEEPEST
_CONTAINERS = (tags.LIST, tags.TUPLE, tags.SET, tags.FROZENSET, tags.DICT)


@dataclass(frozen=True, slots=True, order=True)
class StatePlace:
    """The place of a value.

    Attributes:
        owner: What it is of.
        name: 'train.scale' of a global, 'k' of a closure, 'self.calls' of an object.
    """

    owner: Owner
    name: str

    def __str__(self) -> str:
        return f'{_PREFIXES.get(self.owner, "")}{self.name}'


def values_by_place(function: Any, variables: Iterable[tuple[str, str, Any]]) -> dict[StatePlace, Any]:
    """The values of a state.

    Args:
        function: Encoded.
        variables: Module, name and encoded value of global variables.

    Returns:
        Encoded values; of an object one for each attribute.
    """
    values: dict[StatePlace, Any] = {}
    for module, name, value in variables:
        values.update(_parts('global', global_name(module, name), value, 0))
    if function is not None:
        values.update(_of_function(function, '', 0))
    return values


def global_name(module: str, name: str) -> str:
    """The name of a global variable, with that of its module if that is not the program itself."""
    return name if module in ('__main__', '__mp_main__', '') else f'{module}.{name}'


def changed_places(one: Mapping[StatePlace, Any], two: Mapping[StatePlace, Any]) -> Iterator[StatePlace]:
    """The places that have other values than before, random generators apart.

    Args:
        one, two: Of `values_by_place`.
    """
    for place in sorted({*one, *two}):
        before, after = one.get(place), two.get(place)
        if _with_generators(before, None) != _with_generators(after, None):
            yield place


def drawn_places(one: Mapping[StatePlace, Any], two: Mapping[StatePlace, Any]) -> Iterator[StatePlace]:
    """The places whose random generators are in another state than before.

    Args:
        one, two: Of `values_by_place`.
    """
    for place in sorted({*one} & {*two}):
        generators = list(_generators(one[place])), list(_generators(two[place]))
        if generators[0] != generators[1] and len(generators[0]) == len(generators[1]):
            yield place


def with_own_generators(value: Any, own: Any) -> Any:
    """An encoded value of another call with the random generators of a call.

    Args:
        value: Of the other call.
        own: Of the call.
    """
    return _with_generators(value, list(_generators(own)))


def has_unknown(value: Any) -> bool:
    """Whether a part of an encoded value was not kept.

    Args:
        value: Encoded.
    """
    return isinstance(value, list | tuple) and (value[:1] == [tags.UNKNOWN] or any(map(has_unknown, value)))


def is_generator(value: Any) -> bool:
    """Whether an encoded value is a random generator, or holds one.

    Args:
        value: Encoded.
    """
    return next(_generators(value), None) is not None


def value_text(value: Any) -> str:
    """A few words for an encoded value.

    Args:
        value: Encoded.
    """
    if not isinstance(value, list) or not value:
        return 'nothing'
    tag, *parts = value
    if tag == tags.PLAIN:
        text = repr(parts[0])
        return text if len(text) <= _LONGEST else text[:_LONGEST - 1] + '…'
    if tag == tags.INTEGER:
        return str(parts[0])[:_LONGEST]
    if tag in (tags.ARRAY, tags.SCALAR, tags.TENSOR):
        return f'{parts[0]}{parts[1]}'
    if tag in _CONTAINERS:
        kind = {tags.LIST: 'list', tags.TUPLE: 'tuple', tags.DICT: 'dict'}.get(tag, 'set')
        return f'{kind} of {len(parts[0])}'
    return str(parts[1]) if tag in (tags.OBJECT, tags.FUNCTION, tags.NAMED) else ''


def value_sides(one: Any, two: Any) -> tuple[str, str]:
    """A few words for two different encoded values: of containers for the first item that differs.

    Args:
        one, two: Encoded, or None where there is no value.

    Returns:
        Both sides; two empty texts where words do not tell them apart.
    """
    before, after = value_text(one), value_text(two)
    if before != after:
        return before, after
    if isinstance(one, list) and isinstance(two, list) and one[:1] == two[:1] and one[:1] in ([tags.DICT], [tags.LIST]):
        for place, (first, second) in enumerate(zip(one[1], two[1], strict=False)):
            if one[0] == tags.DICT and first[0] == second[0]:
                key, (first, second) = value_text(first[0]), (first[1], second[1])
            else:
                key = str(place)
            sides = value_sides(first, second)
            if any(sides):
                return f'[{key}] {sides[0]}', sides[1]
    return '', ''


def _of_function(encoded: Any, prefix: str, depth: int) -> Iterator[tuple[StatePlace, Any]]:
    if not isinstance(encoded, list) or not encoded or depth > _DEEPEST:
        return
    tag, *parts = encoded
    if tag == tags.FUNCTION:
        for name, value in parts[5]:
            yield from _parts('closure', prefix + str(name), value, depth)
        for number, value in enumerate(parts[6]):
            yield from _parts('default', f'{prefix}{number}', value, depth)
        for name, value in parts[7]:
            yield from _parts('default', prefix + str(name), value, depth)
    elif tag == tags.METHOD:
        yield from _of_function(parts[0], prefix, depth + 1)
        yield from _parts('object', f'{prefix}self', parts[1], depth)
    elif tag == tags.PARTIAL:
        yield from _of_function(parts[0], prefix, depth + 1)
        yield StatePlace('default', f'{prefix}arguments of partial'), parts[1:]
    elif tag == tags.OBJECT:
        yield from _parts('object', f'{prefix}self', encoded, depth)


def _parts(owner: Owner, name: str, value: Any, depth: int) -> Iterator[tuple[StatePlace, Any]]:
    if isinstance(value, list) and depth < _DEEPEST:
        if value[:1] == [tags.OBJECT]:
            for attribute, part in value[3]:
                yield from _parts(owner, f'{name}.{attribute}', part, depth + 1)
            return
        if value[:1] in ([tags.FUNCTION], [tags.METHOD], [tags.PARTIAL]):
            yield from _of_function(value, f'{name}.', depth + 1)
            return
    yield StatePlace(owner, name), value


def _generators(value: Any) -> Iterator[Any]:
    if isinstance(value, list | tuple):
        if value[:1] == [tags.GENERATOR]:
            yield value
        else:
            for part in value:
                yield from _generators(part)


def _with_generators(value: Any, others: list[Any] | None) -> Any:
    """A value with other generators, in order; without any if `others` is None."""
    if not isinstance(value, list | tuple):
        return _bits(value) if others is None else value
    if value[:1] == [tags.GENERATOR]:
        return None if others is None else others.pop(0) if others else value
    return [_with_generators(part, others) for part in value]


def _bits(value: Any) -> Any:
    """A float as its bits: NaN equals itself, and 0.0 is not -0.0."""
    return value.hex() if isinstance(value, float) else (type(value).__name__, value)
