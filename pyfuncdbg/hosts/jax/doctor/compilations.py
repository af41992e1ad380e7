"""Compilations of the program's functions, how often each is called, and what differs from one to the next.

On the threads that compile and call, while a program is examined.
"""
from __future__ import annotations

import functools
import itertools
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from types import CodeType, FrameType
from typing import Any, NamedTuple

from pyfuncdbg.hooks.facts import Fact
from pyfuncdbg.hooks.own_files import is_machinery
from pyfuncdbg.hooks.weak_keys import WeakKeys

_SOURCE = re.compile(r'^(.*) at (.*):(\d+)$')
_LEAST = 4
_MOST, _MOST_LISTED, _LONGEST, _DEEPEST = 1 << 12, 3, 40, 40
_MISS = 'cache_miss'
"""Name of the function of JAX's that C++ calls where it has no compiled program for a call."""
SHAPE, NUMBER, STATIC, FUNCTION, UNKNOWN = 'shape', 'number', 'static', 'function', 'unknown'
"""What differs: a shape or dtype, whether a number is Python's, a static argument, the function itself, something else."""

_Key = tuple[str, int, str]


class _Static(NamedTuple):
    """A static argument: a text that differs where the values do, and what to show of it."""

    name: str
    value: str
    shown: str


class Compilation(NamedTuple):
    """One compilation of a function.

    Attributes:
        names, types: Of its arrays.
        python_numbers: Which of them were numbers of Python.
        static: Its static arguments; None if unknown.
        function: Number of the function object; 0 if unknown.
    """

    names: Sequence[str]
    types: Sequence[str]
    python_numbers: Sequence[bool]
    static: Sequence[_Static] | None
    function: int


class Compilations:
    """The compilations and calls of one process. Any thread; the examination locks."""

    def __init__(self) -> None:
        self._last: dict[_Key, list[Compilation]] = {}
        self._counts: Counter[_Key] = Counter()
        self._calls: Counter[_Key] = Counter()
        self._numbers = itertools.count(1)
        self._functions: WeakKeys[Any, int] = WeakKeys()

    def on_lowered(self, closed_jaxpr: Any) -> None:
        """JAX compiles a program, on this stack."""
        key = _key(closed_jaxpr)
        if key is None or len(self._counts) >= _MOST:
            return
        debug_info = closed_jaxpr.jaxpr.debug_info
        function, static = self._call_of(sys._getframe())
        avals = closed_jaxpr.in_avals
        compilation = Compilation(debug_info.arg_names or (), [str(aval) for aval in avals],
                                   [bool(getattr(aval, 'weak_type', False)) for aval in avals], static, function)
        self._counts[key] += 1
        self._last[key] = [*self._last.get(key, ())[-1:], compilation]

    def on_called(self, function: Any) -> None:
        """C++ has called a compiled function."""
        code = _code_of(getattr(function, '_fun', None))
        if code is not None and len(self._calls) < _MOST:
            self._calls[code.co_filename, code.co_firstlineno, code.co_name] += 1

    def on_executed(self, closed_jaxpr: Any) -> None:
        """JAX executes a traced function as an op, as under `jax.vmap`."""
        key = _key(closed_jaxpr)
        if key is not None and len(self._calls) < _MOST:
            self._calls[key] += 1

    def facts(self) -> Iterator[Fact]:
        """Functions that were compiled several times, and what differed the last time."""
        for key, count in list(self._counts.items()):
            if count >= _LEAST:
                kind, changed = difference(*self._last[key])
                yield Fact('jax retraced', 0, key[0], key[1], {'function': key[2], 'kind': kind, 'changed': changed,
                                                               'count': count, 'calls': max(count, self._calls[key])})

    def _call_of(self, frame: FrameType | None) -> tuple[int, Sequence[_Static] | None]:
        """Number of the function object that is compiled for a call, and its static arguments."""
        for _ in range(_DEEPEST):
            if frame is None:
                return 0, None
            if frame.f_code.co_name == _MISS and is_machinery(frame.f_code.co_filename):
                values = frame.f_locals
                return self._number(values.get('fun')), static_arguments(values)
            frame = frame.f_back
        return 0, None

    def _number(self, function: Any) -> int:
        if function is None:
            return 0
        try:
            number = self._functions.get(function)
            if number is None:
                number = self._functions[function] = next(self._numbers)
        except TypeError:                       # it cannot be referred to weakly
            return 0
        return number


def _key(closed_jaxpr: Any) -> _Key | None:
    """File, line and name of the program's function that was traced; None of JAX's own."""
    debug_info = getattr(getattr(closed_jaxpr, 'jaxpr', None), 'debug_info', None)
    match = _SOURCE.match(str(getattr(debug_info, 'func_src_info', '') or ''))
    return (match[2], int(match[3]), match[1]) if match is not None and not is_machinery(match[2]) else None


def _code_of(function: Any) -> CodeType | None:
    """The code by whose place JAX names a function: that within wrappers such as `partial` and `jax.grad`."""
    for _ in range(_DEEPEST):
        inner = function.func if isinstance(function, functools.partial) else getattr(function, '__wrapped__', None)
        if inner is None:
            break
        function = inner
    code = getattr(function, '__code__', None)
    return code if isinstance(code, CodeType) else None


def static_arguments(values: Mapping[str, Any]) -> list[_Static] | None:
    """The static arguments of a call, by the variables of the function that compiles for it; None if these are others."""
    info, function, args, settings = (values.get(name) for name in ('jit_info', 'fun', 'args', 'kwargs'))
    numbers, names = (getattr(info, name, None) for name in ('static_argnums', 'static_argnames'))
    if not isinstance(numbers, tuple) or not isinstance(names, tuple) or not isinstance(args, tuple):
        return None
    code = getattr(function, '__code__', None)
    parameters = code.co_varnames[:code.co_argcount] if code is not None else ()
    by_name = {parameters[number] if number < len(parameters) else f'argument {number}': args[number]
               for number in [number % len(args) for number in numbers if -len(args) <= number < len(args)]}
    by_name.update({name: settings[name] for name in names if isinstance(settings, dict) and name in settings})
    return [_static(name, value) for name, value in by_name.items()]


def _static(name: str, value: Any) -> _Static:
    if _is_plain(value):
        text = repr(value)
        return _Static(name, text, text if len(text) <= _LONGEST else f'{text[:_LONGEST]}...')
    return _Static(name, f'{type(value).__name__} {id(value)}', f'an object of class {type(value).__name__}')


def _is_plain(value: Any) -> bool:
    """Whether to print a value calls no code of the program's."""
    return value is None or type(value) in (bool, int, float, complex, str) or (
        type(value) is tuple and all(map(_is_plain, value)))


def difference(before: Compilation, after: Compilation) -> tuple[str, str]:
    """What has changed from one compilation to the next: its kind, and in words."""
    if len(before.types) != len(after.types):
        return SHAPE, f'another number of arrays in its arguments: {len(before.types)}, then {len(after.types)}'
    types = [f'{name or "an argument"}: {one}, then {other}'
             for name, one, other in zip(after.names, before.types, after.types, strict=False) if one != other]
    if types:
        return SHAPE, '; '.join(types[:_MOST_LISTED])
    origins = zip(after.names, before.python_numbers, after.python_numbers, strict=False)
    numbers = [f'{name or "an argument"}: {_origin(one)}, then {_origin(other)} of the same dtype'
               for name, one, other in origins if one is not other]
    if numbers:
        return NUMBER, '; '.join(numbers[:_MOST_LISTED])
    known = {value.name: value for value in before.static or ()}
    static = [f'the static argument {value.name}: {_change(known[value.name].shown, value.shown)}'
              for value in after.static or () if value.name in known and known[value.name].value != value.value]
    if static:
        return STATIC, '; '.join(static[:_MOST_LISTED])
    if before.function and after.function and before.function != after.function:
        return FUNCTION, 'another function object: it is made anew'
    return UNKNOWN, 'a static argument, the function itself, which is made anew, or a setting of JAX'


def _change(before: str, after: str) -> str:
    return f'{before}, then {after}' if before != after else f'{before}, then another one'


def _origin(is_python: bool) -> str:
    return 'a number of Python' if is_python else 'an array'
