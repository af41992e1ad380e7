"""Leaks: entries of TensorFlow's registry of functions and cached tapes that are never used again.

Every eager `py_function` call adds an entry that lives as long as the process; so do functions of graphs that are gone. A
call under a tape, or of a graph that is differentiated, leaves its tape until a backward step takes it.

Memory that a function keeps alive is in its closure, defaults and bound object. It is asked for when facts are gathered, on
any thread; no attribute of the program's objects is computed.
"""
from __future__ import annotations

import contextlib
import sys
import weakref
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from types import FunctionType, MethodType
from typing import Any

import numpy as np

from pyfuncdbg.hooks.call import Frame
from pyfuncdbg.hooks.facts import Fact
from pyfuncdbg.hooks.locks import new_lock
from pyfuncdbg.hosts.interception.patching import Patches
from pyfuncdbg.hosts.interception.program_line import NOWHERE, program_line
from pyfuncdbg.hosts.tensorflow.nodes.op_types import EAGER, NUMPY, STATELESS
from pyfuncdbg.hosts.tensorflow.python_calls.captured_variables import closure_variables
from pyfuncdbg.hosts.tensorflow.python_calls.sites import MARK
from pyfuncdbg.hosts.tensorflow.python_calls.user_function import is_gradient, user_function
from pyfuncdbg.hosts.tensorflow.tensorflow_parts import TensorFlowParts


@dataclass(frozen=True, slots=True)
class _Entry:
    """Origin of a registry entry: a place, its function, and whether it is a backward step."""

    place: Frame
    op_type: str
    function: str
    backward: bool


class Leaks:
    """Origins of the registry's entries."""

    def __init__(self, parts: TensorFlowParts) -> None:
        self._parts = parts
        self._lock = new_lock()
        self._entries: dict[str, _Entry] = {}
        self._known: dict[_Entry, _Entry] = {}
        self._graphs: dict[str, weakref.ref[Any]] = {}
        self._made_counts: Counter[_Entry] = Counter()

    def install(self, patches: Patches) -> None:
        """Watch the registration of functions."""
        registry = self._parts.scripts.FuncRegistry
        patches.replace(registry, 'insert', self._replace_insert(registry.insert))

    def _replace_insert(self, original: Callable[[Any, Any], str]) -> Callable[[Any, Any], str]:
        internal = self._parts.scripts._internal_py_func.__code__

        def insert(registry: Any, func: Any) -> str:
            token = original(registry, func)
            frame = sys._getframe(1)
            stateful = frame.f_locals.get('stateful') if frame.f_code is internal else True
            with contextlib.suppress(Exception):        # an object of the program may raise anything
                self._note(token, func, bool(stateful))
            return token
        return insert

    def _note(self, token: str, registered: Any, stateful: bool) -> None:
        eager = isinstance(registered, self._parts.scripts.EagerFunc)
        backward = is_gradient(registered)
        function = None if backward else user_function(registered)
        name = str(getattr(function, '__qualname__', None) or type(function).__name__) if function is not None else ''
        place = program_line(sys._getframe(1)) or NOWHERE
        entry = _Entry(place, EAGER if eager else NUMPY if stateful else STATELESS, name, backward)
        with self._lock:
            entry = self._known.setdefault(entry, entry)
            self._entries[token] = entry
            self._made_counts[entry] += 1
            if not self._parts.context.executing_eagerly():
                self._graphs[token] = weakref.ref(self._parts.ops.get_default_graph())

    def place_of(self, token: str) -> Frame | None:
        """The place where the op with this token was made."""
        entry = self._entries.get(token)
        return entry.place if entry is not None else None

    def facts(self) -> Iterator[Fact]:
        """Entries and tapes that stay, by place."""
        registry = self._parts.scripts._py_funcs
        with self._lock:
            entries, graphs, counts = dict(self._entries), dict(self._graphs), Counter(self._made_counts)
        living: dict[_Entry, list[Any]] = {}
        eager: Counter[_Entry] = Counter()
        for token, entry in entries.items():
            graph = graphs.get(token)
            registered = registry.get(token) if graph is None or graph() is None else None
            if registered is not None:
                living.setdefault(entry, []).append(registered)
                eager[entry] += graph is None
        for entry, functions in living.items():
            yield self._fact('leak', entry, len(functions), counts[entry],
                             measure_holding(functions, self._parts.ops.EagerTensor),
                             eager=eager[entry], size=registry.size())
        yield from self._tapes(entries, counts)
        yield from self._uncalled(entries, graphs)

    def _uncalled(self, entries: dict[str, _Entry], graphs: dict[str, weakref.ref[Any]]) -> Iterator[Fact]:
        """Places whose nodes have never been called: a graph may have failed before it could run."""
        registry = self._parts.scripts._py_funcs
        called = {entry.place for token, entry in entries.items() if hasattr(registry.get(token), MARK)}
        newest = {entries[token].place: token for token in graphs if entries[token].function and not entries[token].backward}
        for place, token in newest.items():
            if place not in called:
                yield Fact('uncalled', 0, place.filename, place.line, {
                    'op_type': entries[token].op_type, 'function': entries[token].function,
                    'number': int(token.rpartition('_')[2] or 0)})

    def _tapes(self, entries: dict[str, _Entry], counts: Counter[_Entry]) -> Iterator[Fact]:
        values_by_entry: dict[_Entry, list[Any]] = {}
        cache = self._parts.scripts.tape_cache
        cached = list(cache.items())
        for token, cached_values in cached:
            entry = entries.get(token.decode(errors='replace'))
            if entry is not None:
                values_by_entry.setdefault(entry, []).append(tuple(cached_values[1:]))
        for entry, values in values_by_entry.items():
            yield self._fact('tape', entry, len(values), counts[entry], measure_holding(values, self._parts.ops.EagerTensor),
                             size=len(cached))

    @staticmethod
    def _fact(kind: str, entry: _Entry, count: int, calls: int, holding: Holding, **more: int) -> Fact:
        return Fact(kind, 0, entry.place.filename, entry.place.line, {
            'op_type': entry.op_type, 'function': entry.function, 'backward': entry.backward, 'entries': count,
            'calls': calls, 'arrays': holding.arrays, 'bytes': holding.nbytes, 'around': holding.container_bytes,
            'whole': holding.is_complete, **more})


@dataclass(frozen=True, slots=True)
class Holding:
    """Memory that several objects keep alive, each object counted once.

    Attributes:
        arrays: Arrays and tensors.
        nbytes: Of their elements.
        container_bytes: Bytes of the functions, cells and containers on the way there.
        is_complete: Whether everything was visited.
    """

    arrays: int
    nbytes: int
    container_bytes: int
    is_complete: bool


_MOST = 20_000
_DEEPEST = 8
_SIZED = frozenset((FunctionType, MethodType, partial, dict, list, tuple, set, frozenset))


def measure_holding(roots: Iterable[Any], tensor: type) -> Holding:
    """The memory that these objects keep alive.

    Args:
        roots: Registered functions, or tuples with tensors.
        tensor: The class of eager tensors.
    """
    seen_ids: set[int] = set()
    arrays = nbytes = container_bytes = 0
    pending: list[tuple[Any, int]] = [(root, 0) for root in roots]
    while pending and len(seen_ids) < _MOST:
        value, depth = pending.pop()
        if id(value) in seen_ids:
            continue
        seen_ids.add(id(value))
        kind = type(value)
        if isinstance(value, np.ndarray):
            base = value if value.base is None or not isinstance(value.base, np.ndarray) else value.base
            if base is value or id(base) not in seen_ids:
                seen_ids.add(id(base))
                arrays, nbytes = arrays + 1, nbytes + int(base.nbytes)
        elif issubclass(kind, tensor):
            arrays, nbytes = arrays + 1, nbytes + _size_of(value)
        elif depth < _DEEPEST:
            inner = _referents(value, kind)
            if inner is not None:
                container_bytes += sys.getsizeof(value, 0) if kind in _SIZED else 0
                pending += [(item, depth + 1) for item in inner]
    return Holding(arrays, nbytes, container_bytes, not pending)


_PLAIN = frozenset((int, float, complex, bool, str, bytes, type(None), type, type(sys)))


_ITEMS = 1_000


def _referents(value: Any, kind: type) -> list[Any] | None:
    """The objects that an object refers to; None for one that is not visited."""
    if kind in _PLAIN or isinstance(value, type):
        return None
    if kind is FunctionType:
        contents = [content for _, content in closure_variables(value)]
        return [*contents, *(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values()]
    if kind is MethodType:
        return [value.__self__, value.__func__]
    if kind is partial:
        return [value.func, *value.args, *value.keywords.values()]
    if kind is dict:
        return list(value.values())[:_ITEMS]
    if kind in (list, tuple, set, frozenset):
        return list(value)[:_ITEMS]
    try:
        contents = object.__getattribute__(value, '__dict__')
    except AttributeError:
        return None
    return list(contents.values())[:_ITEMS] if type(contents) is dict else None


def _size_of(tensor: Any) -> int:
    """Bytes of the elements of an eager tensor; strings and resources count as 0."""
    try:
        return int(np.prod(tuple(tensor._shape_tuple()), dtype=np.int64)) * int(tensor.dtype.size)
    except Exception:                           # a resource or variant has no size
        return 0
