"""Values that a Python function has beside its inputs: closure, defaults, its object, global variables that it reads.

Encoded for the log where a cheap mark of them has changed. On the thread of a call.
"""
from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Iterator
from functools import partial
from types import FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from pyfuncdbg.hooks.call import CallSite
from pyfuncdbg.hooks.code_names import names_in
from pyfuncdbg.hooks.own_files import is_library, is_machinery
from pyfuncdbg.hooks.patched_code import original_code
from pyfuncdbg.observers.record.snapshots.value_encoding import ValueEncoder, attributes_of, is_plain_object
from pyfuncdbg.observers.record.snapshots.value_mark import FEW, MISSING, SMALL, has_values, mark_of

_MOST_FUNCTIONS, _MOST_GLOBALS = 50, 64
_NO_DATA = (FunctionType, MethodType, ModuleType, type, np.ufunc, type(len), type(np.dot))


class FunctionValues:
    """The values of the function of one site.

    Args:
        site: The site.

    Attributes:
        code: Of the function: another one at this site has values of its own.
        plain: A function without closure and defaults that reads no global data: there is nothing to compare.
    """

    __slots__ = ('_globals', '_read_tensor', 'code', 'plain')

    def __init__(self, site: CallSite) -> None:
        function = site.function
        self._read_tensor = site.host.to_numpy
        self.code = getattr(function, '__code__', None)
        self._globals = list(itertools.islice(read_globals(function), _MOST_GLOBALS))
        self.plain = not self._globals and type(function) is FunctionType and not function.__code__.co_freevars \
            and not has_values(function)

    def mark(self, function: Any) -> Any:
        """A mark of the values.

        Args:
            function: Of the site now.

        Returns:
            What compares equal as long as the content is the same.
        """
        return mark_of(function), [mark_of(space.get(name, MISSING)) for _, space, name in self._globals]

    def content(self, function: Any) -> list[Any]:
        """The values as plain data.

        Args:
            function: Of the site now.

        Returns:
            The function, [module, name, value] of each global variable, and names of those that `mark` does not look into.
        """
        encoder = ValueEncoder(self._read_tensor)
        present = [(module, name, space[name]) for module, space, name in self._globals if name in space]
        return [encoder.encode(function), [[module, name, encoder.encode(value)] for module, name, value in present],
                [name for _, name, value in present if not _is_compared(value)]]


def _is_compared(value: Any) -> bool:
    """Whether each call compares the content of a value with that of the call before."""
    if type(value) is np.ndarray:
        return value.nbytes <= SMALL
    return type(value) not in (list, tuple, dict) or len(value) <= FEW


# ---------------------------------------------------------------- what a function reads
def program_functions(function: Any) -> Iterator[FunctionType]:
    """A function of the program and those of the program that it can call by name: in its closure, its module, its class.

    Args:
        function: Of a site: a function, method, partial or an object that can be called.

    Yields:
        Each function once, at most 50.
    """
    queue: deque[Any] = deque([function])
    seen: set[int] = set()
    while queue and len(seen) < _MOST_FUNCTIONS:
        one = queue.popleft()
        if type(one) is partial:
            queue.extend((one.func, *(part for part in (*one.args, *one.keywords.values()) if callable(part))))
        elif type(one) is MethodType:
            queue.append(one.__func__)
            queue.extend(_methods(type(one.__self__), one.__func__))
        elif type(one) is FunctionType:
            filename = original_code(one.__code__).co_filename
            if id(one.__code__) in seen or is_library(filename) or is_machinery(filename):
                continue
            seen.add(id(one.__code__))
            yield one
            queue.extend(_cells(one))
            queue.extend(value for _, space, name in _global_names(one) if type(value := space.get(name)) is FunctionType)
        elif is_plain_object(one) and type(call := vars(type(one)).get('__call__')) is FunctionType:
            queue.extend((call, *_methods(type(one), call)))


def _cells(function: FunctionType) -> Iterator[Any]:
    for cell in function.__closure__ or ():
        try:
            if callable(content := cell.cell_contents) and not issubclass(type(content), type):
                yield content
        except ValueError:                      # not set yet
            continue


def _methods(owner: type, function: Any) -> Iterator[FunctionType]:
    """The methods of a class whose names a function of it reads."""
    if type(function) is not FunctionType:
        return
    names = {name for kind, name in names_in(function.__code__) if kind == 'attribute'}
    for base in owner.__mro__[:-1]:
        yield from (value for name, value in vars(base).items() if name in names and type(value) is FunctionType)


def _global_names(function: FunctionType) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Module, namespace and name of the globals that a function's code reads, also by way of the program's own modules."""
    names = list(dict.fromkeys(names_in(function.__code__)))
    attributes = [name for kind, name in names if kind == 'attribute']
    space = function.__globals__
    for kind, name in names:
        if kind != 'global' or name not in space:
            continue
        value = space[name]
        if not issubclass(type(value), ModuleType):
            yield str(space.get('__name__', '')), space, name
        elif (file := (inside := attributes_of(value)).get('__file__')) and not (is_library(file) or is_machinery(file)):
            module = str(inside.get('__name__', ''))
            yield from ((module, inside, attribute) for attribute in attributes if attribute in inside)


def read_globals(function: Any) -> Iterator[tuple[str, dict[str, Any], str]]:
    """The global variables with data that a function of the program reads, itself or in functions that it calls.

    Functions of the main module count too: a notebook or a script may define one of that name again.

    Args:
        function: As for `program_functions`.

    Yields:
        Name of the module, its namespace, and name of the variable.
    """
    seen: set[tuple[int, str]] = set()
    for one in program_functions(function):
        for module, space, name in _global_names(one):
            value = space[name]
            if (id(space), name) in seen or (issubclass(type(value), _NO_DATA) and not _may_be_defined_again(value, module)):
                continue
            seen.add((id(space), name))
            yield module, space, name


def _may_be_defined_again(value: Any, module: str) -> bool:
    return type(value) is FunctionType and module == '__main__' and value.__module__ == '__main__'
