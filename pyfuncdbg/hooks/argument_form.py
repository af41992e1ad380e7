"""Form of nested arguments: how the inputs of a call make up the arguments of its function. Plain data, for traces."""
from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import update_wrapper
from typing import Any, NamedTuple, Protocol

import numpy as np

_MOST_INPUTS = 4096
_DEEPEST = 32
_LONGEST_TEXT = 4096
ARGUMENT_FORM = 'argument_form'
"""The attribute of a site, also in traces, that has the form as plain data; an empty list if it is not known."""
INPUTS = 'input', 'number', 'array'
_CONTAINERS = {'list': list, 'tuple': tuple}
Arguments = tuple[Sequence[Any], Mapping[str, Any]]
"""Positional ones, and those by name."""


class NestedLayout(Protocol):
    """A host's layout of nested arguments: the attribute '_arguments' of a site."""

    def arguments(self, inputs: Sequence[Any]) -> Arguments:
        """Make arguments of inputs.

        Args:
            inputs: Of the call.

        Returns:
            The arguments.
        """

    def form(self) -> ArgumentForm | None:
        """Describe the arguments.

        Returns:
            Their form; None if it is not known.
        """


class Part(NamedTuple):
    """An argument, or an element of one.

    Attributes:
        kind: 'input', as its framework has it; 'number' of Python, or 'array' of NumPy, as an input; 'constant'; 'list',
            'tuple', 'dict'; 'unknown' of any other type.
        content: Place of the input; value of the constant; parts; pairs of a key and a part; name of the type.
    """

    kind: str
    content: Any


@dataclass(frozen=True)
class ArgumentForm:
    """The arguments of a function, with places of inputs for leaves.

    Attributes:
        positional: The positional arguments.
        keywords: Names and arguments.
    """

    positional: tuple[Part, ...]
    keywords: tuple[tuple[str, Part], ...]

    @staticmethod
    def of(positional: Sequence[Any], keywords: Mapping[str, Any], input_of: Callable[[Any], Part | None]) -> ArgumentForm:
        """The form of arguments.

        Args:
            positional, keywords: With a stand-in for each input.
            input_of: The part that a value stands for, an input for example; None of any other value.

        Returns:
            The form.
        """
        return ArgumentForm(tuple([_part(value, input_of, 0) for value in positional]),
                            tuple([(name, _part(value, input_of, 0)) for name, value in keywords.items()]))

    def plain(self) -> list[Any]:
        """Describe it for a log.

        Returns:
            Lists and constants, for `read`.
        """
        return [[_plain(part) for part in self.positional], [[name, _plain(part)] for name, part in self.keywords]]

    @staticmethod
    def read(data: Any) -> ArgumentForm | None:
        """Read a form of a trace.

        Args:
            data: A result of `plain`.

        Returns:
            The form; None if it is damaged.
        """
        try:
            positional, keywords = data
            form = ArgumentForm(tuple([_read(part, 0) for part in positional]),
                                tuple([(_name(name), _read(part, 0)) for name, part in keywords]))
            places = sorted(part.content for top in form._parts() for part in _input_parts(top))
            return form if places == list(range(len(places))) else None
        except (TypeError, ValueError):
            return None

    @property
    def kinds(self) -> list[str]:
        """The kind of each input, one of `INPUTS`."""
        found = sorted((part.content, part.kind) for top in self._parts() for part in _input_parts(top))
        return [kind for _, kind in found]

    def expressions(self, parameters: Sequence[str]) -> list[str]:
        """Name the inputs by the parameters that they are passed in.

        Args:
            parameters: Names of the positional parameters.

        Returns:
            Of each input an expression, such as "samples[1]['x']"; '' where no parameter takes it.
        """
        found: dict[int, str] = {}
        for i, part in enumerate(self.positional):
            _name_inputs(part, parameters[i] if i < len(parameters) else '', found)
        for name, part in self.keywords:
            _name_inputs(part, name, found)
        return [found[place] for place in sorted(found)]

    @property
    def inputs(self) -> int:
        """How many inputs the arguments consist of."""
        return sum(_inputs(part) for part in self._parts())

    @property
    def unknown(self) -> str:
        """The first type that a trace cannot describe, '' if there is none."""
        return next((name for part in self._parts() if (name := _unknown(part))), '')

    def arguments(self, inputs: Sequence[Any]) -> tuple[list[Any], dict[str, Any]]:
        """Make the arguments.

        Args:
            inputs: Of the call.

        Returns:
            The positional ones, and those by name.

        Raises:
            ValueError: They are more or less than the form has, or a type is not known.
        """
        if len(inputs) != self.inputs:
            raise ValueError(f'{len(inputs)} inputs, and the arguments have {self.inputs}')
        return ([_filled(part, inputs) for part in self.positional],
                {name: _filled(part, inputs) for name, part in self.keywords})

    def bind(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Let a function be called with inputs.

        Args:
            function: Called with the arguments.

        Returns:
            A function of the inputs.
        """
        def called(*inputs: Any) -> Any:
            positional, keywords = self.arguments(inputs)
            return function(*positional, **keywords)
        return update_wrapper(called, function, updated=())

    def inputs_of(self, arguments: Mapping[str, Any]) -> list[Any]:
        """Take arguments apart.

        Args:
            arguments: The arguments in order, by any names.

        Returns:
            The inputs.

        Raises:
            ValueError: They have another form; the message says where.
        """
        found: dict[int, Any] = {}
        for part, (name, value) in zip(self._parts(), arguments.items(), strict=True):
            _collect(part, value, name, found)
        return [found[place] for place in sorted(found)]

    def text(self, inputs: Sequence[str]) -> str:
        """Write the arguments of a call in Python.

        Args:
            inputs: An expression for each input.

        Returns:
            What stands between the parentheses.
        """
        return ', '.join([*[_text(part, inputs) for part in self.positional],
                          *[f'{name}={_text(part, inputs)}' for name, part in self.keywords]])

    def beginning(self, inputs: int) -> ArgumentForm:
        """Leave out what comes after the first inputs: a smaller batch.

        Args:
            inputs: How many inputs are left.

        Returns:
            The form of these.
        """
        cut = [(name, one) for name, part in self.keywords if (one := _beginning(part, inputs)) is not None]
        return ArgumentForm(tuple([one for part in self.positional if (one := _beginning(part, inputs)) is not None]),
                            tuple(cut))

    def _parts(self) -> list[Part]:
        return [*self.positional, *[part for _, part in self.keywords]]


def _part(value: Any, input_of: Callable[[Any], Part | None], depth: int) -> Part:
    one = input_of(value)
    if one is not None:
        is_beyond = one.kind == 'input' and one.content >= _MOST_INPUTS
        return Part('unknown', f'value after {_MOST_INPUTS:,} others') if is_beyond else one
    kind = type(value)
    if _is_constant(value):
        return Part('constant', value)
    if kind in (list, tuple) and depth < _DEEPEST:
        return Part(kind.__name__, tuple([_part(one, input_of, depth + 1) for one in value]))
    if kind is dict and depth < _DEEPEST and all(map(_is_constant, value)):
        return Part('dict', tuple([(key, _part(one, input_of, depth + 1)) for key, one in value.items()]))
    return Part('unknown', f'{kind.__module__}.{kind.__qualname__}')


def _is_constant(value: Any) -> bool:
    """Whether a log can hold a value as it is."""
    kind = type(value)
    return value is None or kind in (bool, float) or (kind is int and -1 << 63 <= value < 1 << 63) or (
        kind is str and len(value) <= _LONGEST_TEXT)


def _plain(part: Part) -> list[Any]:
    if part.kind in _CONTAINERS:
        return [part.kind, [_plain(one) for one in part.content]]
    if part.kind == 'dict':
        return [part.kind, [[key, _plain(one)] for key, one in part.content]]
    return [part.kind, part.content]


def _read(data: Any, depth: int) -> Part:
    kind, content = data
    if depth > _DEEPEST + 1:
        raise ValueError('nested too deeply')
    if kind in _CONTAINERS:
        return Part(kind, tuple([_read(one, depth + 1) for one in content]))
    if kind == 'dict':
        if not all(_is_constant(key) for key, _ in content):
            raise ValueError('a key that is no constant')
        return Part(kind, tuple([(key, _read(one, depth + 1)) for key, one in content]))
    if (kind in INPUTS and type(content) is int and content >= 0) or (kind == 'constant' and _is_constant(content)) \
            or (kind == 'unknown' and isinstance(content, str)):
        return Part(kind, content)
    raise ValueError(f'a part of kind {kind!r}')


def _name(name: Any) -> str:
    if not (isinstance(name, str) and name.isidentifier()):
        raise ValueError('a keyword that is no name')
    return name


def _elements(part: Part) -> Sequence[Part]:
    if part.kind in _CONTAINERS:
        return part.content  # type: ignore[no-any-return]
    return [one for _, one in part.content] if part.kind == 'dict' else ()


def _input_parts(part: Part) -> Iterator[Part]:
    if part.kind in INPUTS:
        yield part
    for one in _elements(part):
        yield from _input_parts(one)


def _name_inputs(part: Part, name: str, found: dict[int, str]) -> None:
    if part.kind in INPUTS:
        found[part.content] = name
        return
    keys = [key for key, _ in part.content] if part.kind == 'dict' else itertools.count()
    for key, one in zip(keys, _elements(part), strict=False):
        _name_inputs(one, f'{name}[{key!r}]' if name else '', found)


def _inputs(part: Part) -> int:
    return 1 if part.kind in INPUTS else sum(map(_inputs, _elements(part)))


def _unknown(part: Part) -> str:
    return part.content if part.kind == 'unknown' else next(filter(None, map(_unknown, _elements(part))), '')


def _filled(part: Part, inputs: Sequence[Any]) -> Any:
    if part.kind in INPUTS:
        value = inputs[part.content]
        return value if part.kind == 'input' else value.item() if part.kind == 'number' else np.asarray(value)[()]
    if part.kind == 'constant':
        return part.content
    if part.kind == 'dict':
        return {key: _filled(one, inputs) for key, one in part.content}
    if part.kind == 'unknown':
        raise ValueError(f'the form of a {part.content} is not known')
    return _CONTAINERS[part.kind]([_filled(one, inputs) for one in part.content])


def _collect(part: Part, value: Any, where: str, found: dict[int, Any]) -> None:
    if part.kind in INPUTS:
        found[part.content] = value
        return
    elements = _elements(part)
    if not elements:
        return
    if type(value).__name__ != part.kind or len(value) != len(elements):
        now = f'{type(value).__name__} of {len(value)}' if hasattr(value, '__len__') else type(value).__name__
        raise ValueError(f'{where} was a {part.kind} of {len(elements)}, and is now {now}')
    keys = [key for key, _ in part.content] if part.kind == 'dict' else range(len(elements))
    for key, one in zip(keys, elements, strict=True):
        if part.kind == 'dict' and key not in value:
            raise ValueError(f'{where} has no {key!r} any more')
        _collect(one, value[key], f'{where}[{key!r}]', found)


def _text(part: Part, inputs: Sequence[str]) -> str:
    if part.kind in INPUTS:
        return str(inputs[part.content])
    if part.kind == 'dict':
        return '{' + ', '.join([f'{_constant(key)}: {_text(one, inputs)}' for key, one in part.content]) + '}'
    if part.kind in _CONTAINERS:
        inner = ', '.join([_text(one, inputs) for one in part.content])
        return f'[{inner}]' if part.kind == 'list' else f'({inner}{"," * (len(part.content) == 1)})'
    return _constant(part.content)


def _constant(value: Any) -> str:
    """A constant in Python; inf and nan have no literal."""
    return f"float('{value}')" if isinstance(value, float) and repr(value).lstrip('-') in ('inf', 'nan') else repr(value)


def _beginning(part: Part, inputs: int) -> Part | None:
    """None of a part that consists of later inputs alone."""
    if part.kind in INPUTS:
        return part if part.content < inputs else None
    if not _inputs(part):
        return part
    if part.kind == 'dict':
        pairs = tuple([(key, cut) for key, one in part.content if (cut := _beginning(one, inputs)) is not None])
        return Part(part.kind, pairs) if pairs else None
    elements = tuple([cut for one in part.content if (cut := _beginning(one, inputs)) is not None])
    return Part(part.kind, elements) if elements else None
