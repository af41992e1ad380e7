"""Search for the program's objects of some types among all that the garbage collector knows. Any thread.

A list of all objects refers to tuples that other threads are filling: their `tuple(generator)` would end in a SystemError,
because Python resizes a tuple only while there is one reference to it. So lists of all objects are made, filtered and
dropped within a single call of C code, in which no other thread runs.
"""
from __future__ import annotations

import gc
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain, compress
from operator import call, not_
from typing import Any, TypeVar

_T = TypeVar('_T')
_AT_ONCE = 1000
# `gc.freeze` takes all there is, thousands in an empty program; Python 3.12 freezes 375 objects at its start.
_BY_PYTHON = 1000


def find_objects(*kinds: type) -> list[Any]:
    """The objects of exactly these types (`kinds`), also those that the program has frozen.

    `gc.get_objects` leaves out what `gc.freeze` has frozen, in a server nearly everything. Unfreezing would undo what the
    program wanted, so frozen objects are found through those that refer to them: a few seconds for a million.
    """
    type_ids = frozenset(map(id, kinds))
    matches = _filter_list(gc.get_objects, type_ids.__contains__)
    if gc.get_freeze_count() < _BY_PYTHON:
        return matches
    # Tuples are left out of the roots: one that is complete is reached from the object that refers to it.
    pending = _filter_list(gc.get_objects, frozenset([id(tuple)]).__contains__, invert=True)
    known_ids = set(map(id, pending))
    # Up to Python 3.12.5 it lists freed objects as referents (python/cpython#122695); one that is taken and dropped is freed
    # twice, and every later collection loops for ever. What its dictionary refers to is found without it.
    known_ids.add(id(asyncio := sys.modules.get('_asyncio')))
    pending = [item for item in pending if item is not asyncio]
    referents = [vars(asyncio) if asyncio else None, *sys.modules.values()]
    while pending or referents:
        by_id = dict(zip(map(id, referents), referents, strict=True))
        for key in by_id.keys() - known_ids:
            known_ids.add(key)
            item = by_id[key]
            if gc.is_tracked(item):
                pending.append(item)
                if id(type(item)) in type_ids:
                    matches.append(item)
        referents = gc.get_referents(*pending[-_AT_ONCE:])
        del pending[-_AT_ONCE:]
    return matches


def class_and_subclasses(kind: type) -> Iterable[type[Any]]:
    """The class `kind` and its subclasses at any depth; asked of `type`, since a metaclass may be the program's."""
    kinds: dict[int, type[Any]] = {id(kind): kind}
    pending = [kind]
    while pending:
        derived: type[Any]
        for derived in type.__subclasses__(pending.pop()):
            if id(derived) not in kinds:
                kinds[id(derived)] = derived
                pending.append(derived)
    return kinds.values()


def referrers(target: Any, kind: type[_T]) -> list[_T]:
    """The objects of exactly the type `kind` that refer to `target`."""
    return _filter_list(partial(gc.get_referrers, target), frozenset([id(kind)]).__contains__)


def _filter_list(list_objects: Callable[[], list[Any]], is_wanted: Callable[[int], bool], *,
                 invert: bool = False) -> list[Any]:
    """Filter a list of all objects by the `id` of their types, and drop it, without a step of the interpreter in between.

    Args:
        list_objects: Makes the list; C code, like `is_wanted`.
        is_wanted: Tests the `id` of a type.
        invert: Select the objects of all other types instead.
    """
    matches: list[Any] = []
    everything: list[Any] = []
    answers = map(is_wanted, map(id, map(type, everything)))
    lists: Iterator[list[Any]] = map(call, (list_objects,))
    steps: tuple[Callable[[], Any], ...] = (
        partial(everything.extend, chain.from_iterable(lists)),
        partial(matches.extend, compress(everything, map(not_, answers) if invert else answers)),
        everything.clear)
    deque(map(call, steps), 0)
    return matches
