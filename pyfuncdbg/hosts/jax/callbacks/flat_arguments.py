"""Flat arguments of a callback: how they make up those of the function, and their names."""
from __future__ import annotations

import types
from collections.abc import Mapping, Sequence
from typing import Any

from pyfuncdbg.hooks.argument_form import ArgumentForm, Arguments, Part
from pyfuncdbg.hosts.jax.jax_parts import JaxParts
from pyfuncdbg.hosts.jax.programs.user_function import closure_variable


class FlatArguments:
    """Layout of the flat arguments that make up nested ones.

    Attributes:
        names: Of the flat arguments, such as 'samples[1][0]'.
    """

    __slots__ = ('_static', '_tools', '_tree', 'names')

    def __init__(self, tools: Any, tree: Any, static: Mapping[int, Any], names: Sequence[str]) -> None:
        self._tools, self._tree, self._static = tools, tree, static
        self.names = tuple(names)

    def arguments(self, inputs: Sequence[Any]) -> Arguments:
        """The positional arguments and the keywords that the inputs make up."""
        remaining = iter(inputs)
        leaves = [self._static[place] if place in self._static else next(remaining, None)
                  for place in range(self._tree.num_leaves)]
        return self._tools.tree_unflatten(self._tree, leaves)  # type: ignore[no-any-return]

    def form(self) -> ArgumentForm | None:
        """Structure and types of the arguments."""
        try:
            positional, keywords = self.arguments([_Place(place) for place in range(len(self.names))])
        except Exception:                       # a class of the program that takes no other leaf
            return None
        return ArgumentForm.of(positional, keywords,
                               lambda value: Part('input', value.number) if type(value) is _Place else None)


class BreakpointVariables:
    """The flat arguments of a breakpoint: variables of the traced function, which no function gets.

    Attributes:
        names: Of the variables.
    """

    __slots__ = ('names',)

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)


class _Place:
    """Stand-in for an input."""

    __slots__ = ('number',)

    def __init__(self, number: int) -> None:
        self.number = number


def flat_arguments(parts: JaxParts, callback: Any, function: Any) -> FlatArguments | BreakpointVariables | None:
    """The layout of a callback's arguments; None where each flat argument is a positional one.

    Args:
        parts: Of JAX.
        callback: JAX's callable of flat arguments.
        function: The program's function.
    """
    tools = parts.tree
    tree = getattr(callback, 'in_tree', None) or closure_variable(callback, 'in_tree')
    if tree is None:
        return None
    static = dict(closure_variable(callback, 'static_args') or {})
    places = [place for place in range(tree.num_leaves) if place not in static]
    if function is None:
        return BreakpointVariables(_variable_names(parts, callback))
    positional, keywords = tools.tree_unflatten(tree, range(tree.num_leaves))
    if not keywords and not static and list(positional) == places:
        return None
    named = parameters(function)
    names: dict[int, str] = {}
    for index, argument in enumerate(positional):
        name = named[index] if index < len(named) else f'args[{index}]'
        names.update(_leaf_names(tools, name, argument))
    for name, argument in keywords.items():
        names.update(_leaf_names(tools, name, argument))
    return FlatArguments(tools, tree, static, [names.get(place, '') for place in places])


def _leaf_names(tools: Any, name: str, argument: Any) -> dict[int, str]:
    """Names of an argument's leaves, by their place among the flat arguments."""
    return {leaf: name + tools.keystr(path) for path, leaf in tools.tree_flatten_with_path(argument)[0]}


def _variable_names(parts: JaxParts, callback: Any) -> tuple[str, ...]:
    """Names of the variables that a breakpoint passes: those of the traced function, and of its callers."""
    tree = closure_variable(closure_variable(callback, 'callback'), 'frames_tree')
    if tree is None:
        return ()
    names: dict[int, str] = {}
    marks = [_Mark() for _ in range(tree.num_leaves)]
    places = {id(mark): place for place, mark in enumerate(marks)}
    for depth, frame in enumerate(parts.tree.tree_unflatten(tree, marks)):
        for name, value in frame.locals.items():
            for leaf in parts.tree.tree_leaves(value):
                if (place := places.get(id(leaf))) is not None:
                    names[place] = name if not depth else f'{name} (up {depth})'
    return tuple([names.get(place, '') for place in range(len(marks))])


class _Mark:
    """Stand-in for one leaf."""


def parameters(function: Any) -> Sequence[str]:
    """Names of a function's parameters by position, as far as they are plain to see.

    Args:
        function: Anything that can be called.
    """
    if isinstance(function, types.MethodType):
        return parameters(function.__func__)[1:]
    code = getattr(function, '__code__', None)
    return code.co_varnames[:code.co_argcount] if isinstance(code, types.CodeType) else ()
