"""State that a function holds beside its inputs and that a further call would use up: iterators, files, queues, sockets.

Asked before a call is made again, on the thread of the command. Random generators and deques are put back after it; of the
rest nothing can be put back, so that the call is refused. Nothing here calls the program's code. Modules that its code
reads, by chains of names such as `np.random.normal`, are read off the bytecode and looked up in their dictionaries.
"""
from __future__ import annotations

import builtins
import dis
import io
import random
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from types import BuiltinMethodType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from pyfuncdbg.hooks.call import CallSite
from pyfuncdbg.hooks.code_names import GLOBAL_LOADS, names_in
from pyfuncdbg.hooks.generator_end import SOURCE
from pyfuncdbg.hooks.own_files import is_library, is_machinery

_DEEPEST = 4
_MOST = 2_000
"""Objects that are examined at most."""
_ITEMS = 100
_PLAIN = (str, bytes, int, float, complex, type, np.ndarray, np.generic, CodeType, type(None))
_RANDOM = (np.random.Generator, np.random.RandomState, np.random.BitGenerator, random.Random)
_OF_NUMPY = ('ranf', 'sample', 'seed')
"""Functions of np.random that use its global generator and are no methods of that."""
_QUEUES = (('put', 'get', 'empty'), ('enqueue', 'dequeue'))
"""Methods by which queues are known, also those of processes, of asyncio and of frameworks."""
_RECEIVING = ('recv', 'getresponse')
"""Methods by which sockets, pipes of processes and connections are known."""
_WRITTEN = frozenset(('stdout', 'stderr', '__stdout__', '__stderr__'))
"""Streams of `sys` that a program writes to, whatever it has replaced them by."""
_NONE: Any = object()


def repeat_obstacle(site: CallSite) -> str:
    """The reason why a Python call cannot be repeated without using up what the program is to get; '' if it can."""
    source = site.attrs.get(SOURCE, '')
    if source:
        return element_refusal(source)
    for name, value in held_objects(site.function):
        what = _consumable_kind(value)
        if what:
            return (f'its function uses {name}, {what}: another call would consume its data. Debug the '
                    f'call itself: stop in it and step')
    return ''


def consumables(function: Any) -> tuple[str, ...]:
    """The consumable objects that a function holds, such as 'lines, an open file': a further call takes from where they
    are."""
    module_names = getattr(function, '__globals__', {})
    names: dict[str, str] = {}
    for name, value in held_objects(function):
        what = _consumable_kind(value)
        # What a module has, such as np.random, the function need not take: only the name is known to be in its code.
        first, dot, _ = name.partition('.')
        if _is(value, *_RANDOM) and not _is(module_names.get(first, sys.modules.get(first) if dot else None), ModuleType):
            what = 'a random generator'
        if what:
            names[name] = what
    return tuple(f'{name}, {what}' for name, what in (names | _module_generators(function)).items())


def _module_generators(function: Any) -> dict[str, str]:
    """The random generators of modules that a function's code reads, such as that of `np.random`: by `np.random.rand`,
    `random.random`, `config.rng`."""
    names: dict[str, str] = {}
    for _, one in (('', function), *held_objects(function, functions=True)):
        if not _is(one, FunctionType) or is_machinery(one.__code__.co_filename) or is_library(one.__code__.co_filename):
            continue
        for base, name, value in module_reads(one):
            if _is(value, *_RANDOM):
                names[name] = 'a random generator'
            elif _is(getattr(value, '__self__', None), *_RANDOM) or (
                    getattr(base, '__name__', '') == 'numpy.random' and name.rpartition('.')[2] in _OF_NUMPY):
                names[name] = 'of the global random generator'
    return names


def element_refusal(source: str) -> str:
    """The reason why a call that takes the next element of something cannot be repeated."""
    return (f'each call takes the next element from the {source}, and another call would consume one. '
            f'Debug the call itself: stop in it and step')


def _consumable_kind(value: Any) -> str:
    """The kind of a value that can be used up, '' for others."""
    kind = type(value)
    if _is(value, io.IOBase):
        try:
            return 'an open file' if not value.closed and value.readable() else ''
        except Exception:                       # of the program's own class
            return 'a file'
    if hasattr(kind, '__next__'):
        return f'an iterator ({kind.__name__})'
    if any(all(hasattr(kind, name) for name in names) for names in _QUEUES):
        return f'a queue ({kind.__name__})'
    if any(hasattr(kind, name) for name in _RECEIVING):
        return f'a connection ({kind.__name__})'
    return 'standard input' if value is builtins.input else ''


# ---------------------------------------------------------------- what can be put back
def keep_state(site: CallSite) -> Callable[[], None]:
    """Remember the states of random generators and deques that a site's function holds; gives what puts them back."""
    undo: list[Callable[[], None]] = []
    for _, value in held_objects(site.function):
        if _is(value, np.random.Generator):
            value = value.bit_generator
        if _is(value, np.random.BitGenerator):
            undo.append(partial(setattr, value, 'state', value.state))
        elif _is(value, np.random.RandomState):
            undo.append(partial(value.set_state, value.get_state()))
        elif _is(value, random.Random) and not _is(value, random.SystemRandom):
            undo.append(partial(value.setstate, value.getstate()))
        elif type(value) is deque:
            undo.append(partial(_refill, value, tuple(value)))

    def put_back() -> None:
        for action in undo:
            action()
    return put_back


def _refill(line: deque[Any], items: tuple[Any, ...]) -> None:
    if len(line) != len(items) or any(one is not other for one, other in zip(line, items, strict=True)):
        line.clear()
        line.extend(items)


# ---------------------------------------------------------------- what a function holds
def held_objects(function: Any, *, functions: bool = False) -> Iterator[tuple[str, Any]]:
    """The objects that a function can reach by its closure, globals, defaults and instance, with names, each once; functions
    among them if they are asked for."""
    queue: deque[tuple[str, Any, int]] = deque([('', function, 0)])
    seen: set[int] = set()
    while queue and len(seen) < _MOST:
        name, value, depth = queue.popleft()
        if id(value) in seen or (_is(value, *_PLAIN) and value is not builtins.input):
            continue
        seen.add(id(value))
        if depth and (not _is(value, FunctionType, MethodType, partial, ModuleType) or (
                functions and _is(value, FunctionType))):
            yield name, value
        if depth < _DEEPEST:
            queue.extend((inner, part, depth + 1) for inner, part in _parts(name, value))


def _is(value: Any, *kinds: type) -> bool:
    """By its real type: a proxy of the program's would answer `isinstance` with code of its own."""
    return issubclass(type(value), kinds)


def _parts(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    kind = type(value)
    if _is(value, FunctionType):
        yield from _of_function(value)
    elif _is(value, MethodType):
        yield repr(getattr(value.__func__, '__qualname__', 'a method')), value.__func__
        yield name or 'self', value.__self__
    elif _is(value, partial):
        yield name, value.func
        yield from ((f'argument {i}', part) for i, part in enumerate(value.args))
        yield from ((repr(key), part) for key, part in value.keywords.items())
    elif kind in (list, tuple, set, frozenset):
        yield from ((name, part) for part in list(value)[:_ITEMS])
    elif kind is dict:
        yield from ((name, part) for part in list(value.values())[:_ITEMS])
    elif _is(value, subprocess.Popen):
        yield from ((f'{name}.{pipe}', getattr(value, pipe, None)) for pipe in ('stdout', 'stderr'))
    elif not _is(value, ModuleType, *_RANDOM, io.IOBase) and _is_programs(kind):
        inside = f'{name}.' if name else ''
        attributes = list(vars(value).items())[:_ITEMS] if hasattr(value, '__dict__') else []
        yield from ((f'{inside}{key}', part) for key, part in attributes)
        if not name and isinstance(call := kind.__dict__.get('__call__'), FunctionType):
            yield from _of_function(call)


def _of_function(function: FunctionType) -> Iterator[tuple[str, Any]]:
    code = function.__code__
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=False):
        try:
            yield name, cell.cell_contents
        except ValueError:                      # not set yet
            continue
    defaults = (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values())
    yield from (('a default', value) for value in defaults)
    if is_machinery(code.co_filename) or is_library(code.co_filename):
        return
    names = list(dict.fromkeys(names_in(code)))
    attributes = [name for kind, name in names if kind == 'attribute']
    for kind, name in names:
        if kind == 'attribute':
            continue
        namespace = function.__globals__ if kind == 'global' else sys.modules
        if isinstance(value := namespace.get(name), ModuleType):
            yield from _of_module(name, value, attributes)
        elif name in namespace:
            yield name, value
        elif kind == 'global' and name == 'input':
            yield name, builtins.input


def _of_module(name: str, module: ModuleType, attributes: list[str]) -> Iterator[tuple[str, Any]]:
    """The objects that code takes from a module by one of these names, also by way of its packages."""
    for attribute in attributes:
        value = vars(module).get(attribute)
        if module is sys and attribute in _WRITTEN:
            continue
        if value is not None and _is(value, ModuleType):
            if value.__name__.startswith(f'{module.__name__}.'):
                yield from _of_module(f'{name}.{attribute}', value, attributes)
        elif value is not None:
            yield f'{name}.{attribute}', value


def _is_programs(kind: type) -> bool:
    """Whether a class is the program's own: objects of libraries are not taken apart."""
    file = getattr(sys.modules.get(kind.__module__), '__file__', None) or ''
    return kind.__module__ == '__main__' or bool(file and not is_library(file) and not is_machinery(file))


def module_reads(function: FunctionType) -> Iterator[tuple[ModuleType | None, str, Any]]:
    """Module, dotted name and value of what a function's code reads of modules, and that of functions written in it.

    Of a method that was imported by name the module is None.
    """
    cells: dict[str, Any] = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=False):
        try:
            cells[name] = cell.cell_contents
        except ValueError:                      # not set yet
            continue
    yield from _of_code(function.__code__, function.__globals__, cells)


_ATTRIBUTE = frozenset(('LOAD_ATTR', 'LOAD_METHOD'))


def _of_code(code: CodeType, names: Mapping[str, Any],
             cells: Mapping[str, Any]) -> Iterator[tuple[ModuleType | None, str, Any]]:
    local: dict[str, Any] = {}                  # modules that it imports, by the variable
    source: Any = _NONE                         # of `from`
    base: ModuleType | None = None
    text, value = '', _NONE
    for instruction in dis.get_instructions(code):
        kind, name = instruction.opname, str(instruction.argval)
        if kind in _ATTRIBUTE and isinstance(value, ModuleType):
            base, text, value = value, f'{text}.{name}', vars(value).get(name, _NONE)
            continue
        if value is not _NONE and not isinstance(value, ModuleType):
            yield base, text, value
        if kind.startswith('STORE_') and isinstance(value, ModuleType):
            local[name] = sys.modules.get(name, value) if text.partition('.')[0] == name else value     # import a.b
        if kind == 'IMPORT_NAME':
            base, text, value = None, name, sys.modules.get(name, _NONE)
            source = value
        elif kind == 'IMPORT_FROM' and isinstance(source, ModuleType):
            base, text, value = source, f'{source.__name__}.{name}', vars(source).get(name, _NONE)
        else:
            base, text, value = None, name, _named(kind, name, names, {**cells, **local})
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _of_code(constant, names, {**cells, **local})


_CELL = frozenset(('LOAD_DEREF', 'LOAD_CLASSDEREF', 'LOAD_FROM_DICT_OR_DEREF'))


def _named(kind: str, name: str, names: Mapping[str, Any], cells: Mapping[str, Any]) -> Any:
    """The value that an instruction loads by name, if it is a module, or was taken from one: a method of an object."""
    value = names.get(name, _NONE) if kind in GLOBAL_LOADS else (
        cells.get(name, _NONE) if kind in _CELL or kind.startswith('LOAD_FAST') else _NONE)
    return value if isinstance(value, ModuleType | BuiltinMethodType | MethodType) else _NONE
