"""State of the process that a function reaches by name, beside its inputs, before and after an execution.

Global variables, closure, defaults, object, attributes of functions and classes, settings of the process. On the thread of
the command.
"""
from __future__ import annotations

import dis
import os
import threading
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from types import CodeType, FunctionType, MethodType
from typing import Any

import numpy as np

from pyfuncdbg.hooks.code_names import names_in
from pyfuncdbg.hooks.own_files import is_library, is_machinery
from pyfuncdbg.observers.debug.replay.state_values import StatePlace, values_by_place
from pyfuncdbg.observers.debug.stepping.held_state import held_objects
from pyfuncdbg.observers.record.snapshots.function_values import program_functions, read_globals
from pyfuncdbg.observers.record.snapshots.value_encoding import ValueEncoder, is_plain_object

_LARGEST = 64 << 20
_STORES = frozenset(('STORE_GLOBAL', 'DELETE_GLOBAL'))
_ABSENT: Any = object()
_Named = tuple[StatePlace, Any, str]
"""A place, and the function or class whose attribute it is."""


class ReachableState:
    """The state that a function can reach.

    Args:
        function: The function.
        read_tensor: Gives the array of a host's tensor.
    """

    def __init__(self, function: Any, read_tensor: Callable[[Any], np.ndarray]) -> None:
        self._function = function
        self._read_tensor = read_tensor
        self._functions = list(program_functions(function))
        self._globals = {(module, name): space for module, space, name in read_globals(function)}
        for one in self._functions:
            module = str(one.__globals__.get('__name__', ''))
            self._globals.update({(module, name): one.__globals__ for name in _stored_names(one.__code__)})
        self._classes = dict.fromkeys([kind for kind in _classes(function, self._functions) if _is_program_class(kind)])

    def values(self) -> dict[StatePlace, Any]:
        """The values now.

        Returns:
            Encoded, by place.
        """
        encoder = ValueEncoder(self._read_tensor, _LARGEST)
        variables = [(module, name, encoder.encode(space[name])) for (module, name), space in self._globals.items()
                     if name in space]
        values = values_by_place(encoder.encode(self._function), variables)
        values.update((place, encoder.encode(getattr(owner, name))) for place, owner, name in self._attributes())
        values.update((StatePlace('global', name), encoder.encode(value)) for name, value in _settings())
        return values

    def _attributes(self) -> Iterator[_Named]:
        for one in self._functions:
            yield from ((StatePlace('attribute', f'{one.__qualname__}.{name}'), one, name)
                        for name in vars(one) if name != '__wrapped__')
        for kind in self._classes:
            yield from ((StatePlace('class', f'{kind.__qualname__}.{name}'), kind, name)
                        for name, value in list(vars(kind).items()) if _is_data(name, value))

    def names(self) -> frozenset[str]:
        """All names in the function's code, and in that of functions of the program that it names."""
        return frozenset([name for one in self._functions for name in _all_names(one.__code__)])

    def thread_locals(self) -> tuple[str, ...]:
        """Names of the function's variables that have another value on each thread."""
        return tuple([name for name, value in held_objects(self._function) if issubclass(type(value), threading.local)])

    def keep(self) -> Callable[[], None]:
        """Remember what a replay does not make anew: attributes of functions and classes, variables that are only written,
        the environment.

        Returns:
            Puts it back.
        """
        variables = [(space, name, space.get(name, _ABSENT)) for (_, name), space in self._globals.items()]
        attributes = [(owner, name, getattr(owner, name)) for _, owner, name in self._attributes()]
        contents = [content for *_, value in [*variables, *attributes] if (content := _content_of(value)) is not None]
        names = {id(owner): (owner, {name for _, one, name in self._attributes() if one is owner})
                 for owner in [*self._functions, *self._classes]}
        environment = dict(os.environ)

        def put_back() -> None:
            for _, owner, name in list(self._attributes()):
                if id(owner) in names and name not in names[id(owner)][1]:
                    delattr(owner, name)
            for owner, name, value in attributes:
                if getattr(owner, name, _ABSENT) is not value:
                    setattr(owner, name, value)
            for space, name, value in variables:
                if value is _ABSENT:
                    space.pop(name, None)
                else:
                    space[name] = value
            for restore in contents:
                restore()
            if dict(os.environ) != environment:
                os.environ.clear()
                os.environ.update(environment)
        return put_back


def _content_of(value: Any) -> Callable[[], None] | None:
    """What fills a container with its items again."""
    if type(value) is list:
        return partial(value.__setitem__, slice(None), list(value))
    if type(value) in (dict, set):
        return partial(_fill, value, value.copy())
    return None


def _fill(container: Any, items: Any) -> None:
    if container != items or list(container) != list(items):
        container.clear()
        container.update(items)


def _settings() -> Iterator[tuple[str, Any]]:
    """Settings of the process that programs change by functions."""
    yield "NumPy's error state", dict(np.geterr())
    yield 'the filters of warnings', [str(one) for one in warnings.filters]
    yield 'os.environ', dict(os.environ)
    try:
        yield 'the working folder', os.getcwd()
    except OSError:                             # it was removed
        yield 'the working folder', ''


def _all_names(code: CodeType) -> Iterator[str]:
    yield from (*code.co_names, *code.co_varnames, *code.co_freevars)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _all_names(constant)


def _stored_names(code: CodeType) -> Iterator[str]:
    for instruction in dis.get_instructions(code):
        if instruction.opname in _STORES:
            yield str(instruction.argval)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _stored_names(constant)


def _classes(function: Any, functions: list[FunctionType]) -> Iterator[type]:
    """The classes whose attributes a function can write: of its object, and those that it names."""
    while isinstance(function, partial):
        function = function.func
    owner = function.__self__ if isinstance(function, MethodType) else function
    if isinstance(owner, type):
        yield owner
    elif is_plain_object(owner):
        yield from type(owner).__mro__[:-1]
    for one in functions:
        yield from (value for kind, name in names_in(one.__code__)
                    if kind == 'global' and isinstance(value := one.__globals__.get(name), type))


def _is_program_class(kind: type) -> bool:
    codes = [value.__code__ for value in vars(kind).values() if type(value) is FunctionType]
    return kind.__module__ in ('__main__', '__mp_main__') or (bool(codes) and not any(
        is_library(code.co_filename) or is_machinery(code.co_filename) for code in codes))


def _is_data(name: str, value: Any) -> bool:
    is_special = name.startswith('__') and name.endswith('__')
    return not is_special and not callable(value) and not hasattr(type(value), '__get__')
