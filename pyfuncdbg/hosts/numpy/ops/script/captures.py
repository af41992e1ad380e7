"""Variables that a function can reach: in its closure, the globals it names, and its bound object.

In a graph they become hidden inputs of the function's node, so that `tf.gradients` knows of them. Read when the node is
made, on that thread. Nothing of the user's is called: types are asked, not objects, which may be proxies of anything.
"""
from __future__ import annotations

import functools
from collections.abc import Iterator
from types import CodeType, FunctionType, GetSetDescriptorType, MethodType, ModuleType
from typing import Any

import numpy as np

from pyfuncdbg.hooks.patched_code import original_code
from pyfuncdbg.hosts.numpy.graph.graph import Graph
from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.ops.variables.variable import Variable

_MOST = 2000
"""Objects looked at; a model with more that is only reached by attribute must be passed in `inp`."""
_DEEPEST = 4
_ATOMS = (str, bytes, int, float, complex, np.ndarray, np.generic, Tensor, Graph, ModuleType, type, type(None))


def captured_variables(func: Any, graph: Graph) -> tuple[Variable, ...]:
    """Variables that `func` can reach and a node of `graph` can read: breadth first, at most 2,000 objects.

    Those that are not trainable only if they are nodes themselves, and so have no value outside of a run.
    """
    found: dict[int, Variable] = {}
    seen: set[int] = set()
    level = [func]
    for _ in range(_DEEPEST + 1):
        deeper: list[Any] = []
        for thing in level:
            kind = type(thing)
            if id(thing) in seen or issubclass(kind, _ATOMS):
                continue
            seen.add(id(thing))
            if issubclass(kind, Variable):
                if (_is_within(graph, thing._graph) if thing._graph is not None else thing.trainable):
                    found[id(thing)] = thing
            elif len(seen) > _MOST:
                return tuple(found.values())
            else:
                deeper.extend(_reached(thing, kind))
        level = deeper
    return tuple(found.values())


def _is_within(graph: Graph | None, outer: Graph) -> bool:
    while graph is not None and graph is not outer:
        graph = graph.outer if graph.building_function else None
    return graph is outer


def _reached(thing: Any, kind: type) -> Iterator[Any]:
    """Objects that one object refers to."""
    if kind is FunctionType:
        yield from _of_function(thing)
    elif kind is MethodType:
        yield from (thing.__self__, thing.__func__)
    elif kind is functools.partial:
        yield from (thing.func, *thing.args, *thing.keywords.values())
    elif issubclass(kind, dict):
        yield from dict.values(thing)
    else:
        for sequence in (list, tuple, set, frozenset):
            if issubclass(kind, sequence):
                yield from sequence.__iter__(thing)
        yield from _attributes(thing, kind)


def _of_function(func: FunctionType) -> Iterator[Any]:
    for cell in func.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:                      # not bound yet
            continue
    for name in _names(original_code(func.__code__)):
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


def _attributes(thing: Any, kind: type) -> Iterator[Any]:
    """Values that an object of a user's class holds, and its `__call__`."""
    for base in kind.__mro__:
        attributes = base.__dict__
        holder = attributes.get('__dict__')
        if type(holder) is GetSetDescriptorType:
            yield from holder.__get__(thing, kind).values()
        if type(attributes.get('__call__')) is FunctionType:
            yield attributes['__call__']
