"""Objects made of the values in a trace: numbers, arrays, containers, functions of the program with their closures.

A trace may be hostile: sizes, types and names are checked, and only constructors of NumPy and of containers are called. What
cannot be made is left out, and named where the replay misses it. On the thread of the command.
"""
from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import partial
from types import CellType, FunctionType, MethodType
from typing import Any

import numpy as np

from pyfuncdbg.errors import CommandError
from pyfuncdbg.hooks import random_states
from pyfuncdbg.observers.debug.replay.named_objects import object_named
from pyfuncdbg.observers.debug.replay.program_code import ProgramCode
from pyfuncdbg.observers.record.snapshots import value_encoding as tags

_DEEPEST = 3 * tags.DEEPEST
_LONGEST_INTEGER = 5_000
MISSING: Any = object()
"""Made of a value that was not kept."""


class ValueMaker:
    """Makes objects of encoded values.

    Args:
        code: Looks functions and classes up.
        make_tensor: Makes a tensor of the host.

    Attributes:
        missing: Why names have no value, by name: variables of closures, globals, attributes.
    """

    def __init__(self, code: ProgramCode, make_tensor: Callable[[np.ndarray], Any]) -> None:
        self._code = code
        self._make_tensor = make_tensor
        self.missing: dict[str, str] = {}
        self._functions: list[tuple[str, CellType]] = []
        """Functions that are being made, and where they will be: for those that are in their own closure."""

    def make(self, encoded: Any, name: str = '', depth: int = 0) -> Any:
        """Make an object.

        Args:
            encoded: A tag and plain data.
            name: Of the variable or attribute, for `missing`.
            depth: Of the containers around it.

        Returns:
            The object; `MISSING` if it was not kept.

        Raises:
            CommandError: It is damaged, or names code that is not here or not to be called.
        """
        try:
            return self._make(encoded, name, depth + 1)
        except (ValueError, TypeError, IndexError, KeyError, OverflowError, RecursionError, MemoryError) as error:
            raise CommandError(f'the recorded value of {name or "the function"} is damaged: {error}') from error

    def _make(self, encoded: Any, name: str, depth: int) -> Any:
        if not isinstance(encoded, list) or not encoded or depth > _DEEPEST:
            raise ValueError('no encoded value')
        tag, *parts = encoded
        if tag == tags.PLAIN:
            (value,) = parts
            if value is not None and type(value) not in (bool, int, float, str, bytes):
                raise ValueError('no plain value')
            return value
        if tag == tags.UNKNOWN:
            kind, why = parts
            self.missing[name] = f'{kind}: {why}' if kind else str(why)
            return MISSING
        simple = self._simple(tag, parts)
        return simple if simple is not MISSING else self._composite(tag, parts, name, depth)

    def _simple(self, tag: Any, parts: list[Any]) -> Any:
        if tag == tags.INTEGER:
            if not isinstance(parts[0], str) or len(parts[0]) > _LONGEST_INTEGER:
                raise ValueError('no integer')
            return int(parts[0])
        if tag == tags.COMPLEX:
            return complex(*map(float, parts))
        if tag in (tags.ARRAY, tags.SCALAR, tags.TENSOR):
            array = _array(*parts)
            return array if tag == tags.ARRAY else array[()] if tag == tags.SCALAR else self._make_tensor(array)
        if tag == tags.GENERATOR:
            return random_states.generator_in(parts[1], parts[0])
        return MISSING

    def _composite(self, tag: Any, parts: list[Any], name: str, depth: int) -> Any:
        if tag in _CONTAINERS:
            return _CONTAINERS[tag](self._all(parts[0], name, depth))
        if tag == tags.DICT:
            return dict([self._all(pair, name, depth) for pair in parts[0]])
        if tag == tags.NAMED:
            return object_named(self._code.modules, str(parts[0]), str(parts[1]))
        if tag == tags.OBJECT:
            return self._object(parts, depth)
        if tag == tags.FUNCTION:
            return self._function(parts, depth)
        if tag == tags.DECORATED:
            return self._decorated(*parts)
        if tag == tags.ITSELF:
            return next(cell for code_name, cell in reversed(self._functions) if code_name == parts[0])
        if tag == tags.METHOD:
            function, owner = self._all(parts, name, depth)
            return MethodType(function, owner)
        if tag == tags.PARTIAL:
            function, args, keywords = self._all(parts, name, depth)
            return partial(function, *args, **keywords)
        raise ValueError(f'unknown tag {tag!r}')

    def _all(self, encoded: Any, name: str, depth: int) -> list[Any]:
        if not isinstance(encoded, list):
            raise ValueError('no list of values')
        made = [self.make(part, name, depth) for part in encoded]
        if any(value is MISSING for value in made):
            raise CommandError(f'{name or "the function"} holds a value that the trace has not: {self.missing[name]}')
        return made

    def _object(self, parts: list[Any], depth: int) -> Any:
        module, qualified_name, attributes = parts
        if (module, qualified_name) in tags.NAMESPACES:
            instance: Any = getattr(importlib.import_module(module), qualified_name)()
        else:
            kind: Any = object_named(self._code.modules, str(module), str(qualified_name))
            if not isinstance(kind, type) or kind.__dict__.get('__new__', object.__new__) is not object.__new__:
                raise ValueError(f'{qualified_name} is no plain class any more')
            instance = object.__new__(kind)
        for name, part in attributes:
            value = self.make(part, str(name), depth)
            if value is not MISSING:
                vars(instance)[str(name)] = value
        return instance

    def _function(self, parts: list[Any], depth: int) -> Any:
        """The program's function of this name, with the recorded closure and defaults."""
        module, qualified_name, filename, line, code_name, cells, defaults, keyword_defaults = parts
        space = self._code.modules.namespace(str(module), str(filename))
        known = self._code.function_of_module(space, str(qualified_name), str(code_name)) \
            if '<' not in str(qualified_name) or '<' not in str(code_name) else None
        if known is not None and known.__code__.co_firstlineno != line and self._code.has_several(
                str(filename), str(code_name)):
            known = None                        # a script or notebook that has defined it again
        if known is not None and not (cells or defaults or keyword_defaults):
            return known
        code = known.__code__ if known is not None else self._code.code_in_file(str(filename), str(code_name), int(line))
        if (main := self._code.modules.main_of(space)) is not None:
            main.define(code)
        contents = dict(cells)
        own = CellType()
        self._functions.append((str(code_name), own))
        try:
            closure = tuple([self._cell(name, contents, depth) for name in code.co_freevars])
            function = FunctionType(code, vars(space), code.co_name, tuple(self._all(defaults, 'a default', depth)), closure)
        finally:
            self._functions.pop()
        own.cell_contents = function
        function.__kwdefaults__ = {str(name): self.make(part, str(name), depth) for name, part in keyword_defaults} or None
        return function

    def _decorated(self, module: Any, qualified_name: Any, wrapped: Any) -> Any:
        """What a decorator of a framework has made of the program's function: only the program can make it."""
        while wrapped[0] == tags.DECORATED:
            *_, wrapped = wrapped
        tag, _, _, filename, line, *_ = wrapped
        if tag != tags.FUNCTION:
            raise ValueError('no function below a decorator')
        return self._code.decorated(str(module), str(filename), str(qualified_name), int(line))

    def _cell(self, name: str, contents: dict[str, Any], depth: int) -> CellType:
        """A variable of a closure, empty if it was not kept."""
        if name not in contents:
            self.missing[name] = 'the function did not use it when it was recorded'
            return CellType()
        value = self.make(contents[name], name, depth)
        if isinstance(value, CellType):         # of a function that calls itself
            return value
        return CellType() if value is MISSING else CellType(value)


_CONTAINERS: dict[str, Callable[[list[Any]], Any]] = {
    tags.LIST: list, tags.TUPLE: tuple, tags.SET: set, tags.FROZENSET: frozenset}


def _array(dtype: Any, shape: Any, data: Any) -> np.ndarray:
    kind = np.dtype(str(dtype))
    if kind.hasobject or kind.kind == 'V' or not isinstance(data, bytes):
        raise ValueError(f'no array of {dtype}')
    return np.frombuffer(data, kind).reshape([int(size) for size in shape]).copy()
