"""The variables that a function can reach: in its closure, the globals it names, and the object it is a method of.

In a graph they become hidden inputs of the function's node, so that `tf.gradients` knows of them. Read when the node is
made, on that thread; nothing is called and no property is read.
"""
from __future__ import annotations

import functools
from collections.abc import Iterator
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from pyfuncdbg.graph.tensor import Tensor
from pyfuncdbg.ops.variables import Variable

_MOST = 2000
"""Objects looked at; a model with more that is only reached by attribute must be passed in `inp`."""
_DEEPEST = 4
_ATOMS = (str, bytes, int, float, complex, Tensor, ModuleType, type, type(None))


def captured_variables(func: Any) -> tuple[Variable, ...]:
    """Trainable variables that `func` can reach, in order of discovery: breadth first, at most 2,000 objects."""
    found: dict[int, Variable] = {}
    seen: set[int] = set()
    level = [func]
    for _ in range(_DEEPEST + 1):
        deeper: list[Any] = []
        for thing in level:
            if id(thing) in seen or isinstance(thing, _ATOMS):
                continue
            seen.add(id(thing))
            if isinstance(thing, Variable):
                if thing.trainable:
                    found[id(thing)] = thing
            elif len(seen) > _MOST:
                return tuple(found.values())
            else:
                deeper.extend(_reached(thing))
        level = deeper
    return tuple(found.values())


def _reached(thing: Any) -> Iterator[Any]:
    """What one object leads to."""
    if isinstance(thing, FunctionType):
        yield from _of_function(thing)
    elif isinstance(thing, MethodType):
        yield from (thing.__self__, thing.__func__)
    elif isinstance(thing, functools.partial):
        yield from (thing.func, *thing.args, *thing.keywords.values())
    elif isinstance(thing, (list, tuple, set, frozenset)):
        yield from thing
    elif isinstance(thing, dict):
        yield from thing.values()
    else:
        yield from _attributes(thing)


def _of_function(func: FunctionType) -> Iterator[Any]:
    for cell in func.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:                      # not bound yet
            continue
    for name in _names(func.__code__):
        if name in func.__globals__:
            yield func.__globals__[name]
    yield from func.__defaults__ or ()
    yield from (func.__kwdefaults__ or {}).values()


def _names(code: CodeType) -> Iterator[str]:
    """The globals that a function and those defined in it name (attribute names too: they do no harm)."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _attributes(thing: Any) -> Iterator[Any]:
    """What an object of a user's class holds, and its `__call__`."""
    if type(thing).__module__ in ('builtins', 'numpy'):
        return
    held = getattr(thing, '__dict__', None)
    if isinstance(held, dict):
        yield from held.values()
    call = type(thing).__dict__.get('__call__')
    if isinstance(call, FunctionType):
        yield call
