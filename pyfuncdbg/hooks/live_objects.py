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
    """Objects of exactly these types, also those that the program has frozen and that are in use.

    `gc.get_objects` leaves out what `gc.freeze` has frozen, in a server mostly all there is. To unfreeze it would undo what
    the program wanted, so it is found by following what refers to it: a few seconds for a million objects.
    """
    wanted = frozenset(map(id, kinds))
    selected = _filter_list(gc.get_objects, wanted.__contains__)
    if gc.get_freeze_count() < _BY_PYTHON:
        return selected
    # Tuples are left out of the roots: one that is complete is reached from the object that refers to it.
    pending = _filter_list(gc.get_objects, frozenset([id(tuple)]).__contains__, but=True)
    known = set(map(id, pending))
    # Up to Python 3.12.5 it lists freed objects as referents (python/cpython#122695); one that is taken and dropped is freed
    # twice, and every later collection loops for ever. What its dictionary refers to is found without it.
    known.add(id(asyncio := sys.modules.get('_asyncio')))
    pending = [thing for thing in pending if thing is not asyncio]
    referents = [vars(asyncio) if asyncio else None, *sys.modules.values()]
    while pending or referents:
        by_id = dict(zip(map(id, referents), referents, strict=True))
        for key in by_id.keys() - known:
            known.add(key)
            thing = by_id[key]
            if gc.is_tracked(thing):
                pending.append(thing)
                if id(type(thing)) in wanted:
                    selected.append(thing)
        referents = gc.get_referents(*pending[-_AT_ONCE:])
        del pending[-_AT_ONCE:]
    return selected


def class_and_subclasses(kind: type) -> Iterable[type[Any]]:
    """A class and all that derive from it; asked of `type`, not of metaclasses, which may be the program's."""
    kinds: dict[int, type[Any]] = {id(kind): kind}
    pending = [kind]
    while pending:
        derived: type[Any]
        for derived in type.__subclasses__(pending.pop()):
            if id(derived) not in kinds:
                kinds[id(derived)] = derived
                pending.append(derived)
    return kinds.values()


def referrers(thing: Any, kind: type[_T]) -> list[_T]:
    """Objects of exactly this type that refer to an object."""
    return _filter_list(partial(gc.get_referrers, thing), frozenset([id(kind)]).__contains__)


def _filter_list(listed: Callable[[], list[Any]], wanted: Callable[[int], bool], *, but: bool = False) -> list[Any]:
    """Filter a list of all objects by the `id` of their types, and drop it, without a step of the interpreter in between.

    Args:
        listed: Makes the list; C code, like `wanted`.
        wanted: Says of the `id` of a type whether objects of that type are meant.
        but: Whether all others are meant instead.
    """
    selected: list[Any] = []
    everything: list[Any] = []
    answers = map(wanted, map(id, map(type, everything)))
    lists: Iterator[list[Any]] = map(call, (listed,))
    steps: tuple[Callable[[], Any], ...] = (
        partial(everything.extend, chain.from_iterable(lists)),
        partial(selected.extend, compress(everything, map(not_, answers) if but else answers)),
        everything.clear)
    deque(map(call, steps), 0)
    return selected
