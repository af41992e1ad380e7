"""Flat arguments of a callback: how they make up those of the function, and their names."""
from __future__ import annotations

import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from pyfuncdbg.hosts.jax.jax_parts import JaxParts
from pyfuncdbg.hosts.jax.programs.user_function import closure_variable

ArgumentValues = tuple[Sequence[Any], Mapping[str, Any]]
"""Positional ones, and those by name."""


class FlatArguments(NamedTuple):
    """Layout of the flat arguments that make up nested ones.

    Attributes:
        names: Of the flat arguments, such as 'samples[1][0]'.
        arguments: Makes the function's arguments of flat ones; None where those are variables, at a breakpoint.
    """

    names: tuple[str, ...]
    arguments: Callable[[Sequence[Any]], ArgumentValues] | None


def flat_arguments(parts: JaxParts, callback: Any, function: Any) -> FlatArguments | None:
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
    static = closure_variable(callback, 'static_args') or {}
    places = [place for place in range(tree.num_leaves) if place not in dict(static)]

    def arguments(values: Sequence[Any]) -> ArgumentValues:
        leaves: list[Any] = [None] * tree.num_leaves
        for place, value in dict(static).items():
            leaves[place] = value
        for place, value in zip(places, values, strict=False):
            leaves[place] = value
        return tools.tree_unflatten(tree, leaves)  # type: ignore[no-any-return]

    if function is None:
        return FlatArguments(_variable_names(parts, callback), None)
    positional, keywords = tools.tree_unflatten(tree, range(tree.num_leaves))
    if not keywords and not static and list(positional) == places:
        return None
    parameters = _parameters(function)
    names: dict[int, str] = {}
    for index, argument in enumerate(positional):
        name = parameters[index] if index < len(parameters) else f'args[{index}]'
        names.update(_leaf_names(tools, name, argument))
    for name, argument in keywords.items():
        names.update(_leaf_names(tools, name, argument))
    return FlatArguments(tuple([names.get(place, '') for place in places]), arguments)


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


def _parameters(function: Any) -> Sequence[str]:
    """Names of the parameters by position, as far as they are plain to see."""
    if isinstance(function, types.MethodType):
        return _parameters(function.__func__)[1:]
    code = getattr(function, '__code__', None)
    return code.co_varnames[:code.co_argcount] if isinstance(code, types.CodeType) else ()
