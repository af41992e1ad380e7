"""Resources of executions: variables and random generators that ops share by key.

Each session has its own, eager code those of the process. Ops use them on the thread that executes. Where a call is repeated
for inspection (`Host.restored_state`), those that it may change are saved and restored on that thread.
"""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from pyfuncdbg.hooks import random_states
from pyfuncdbg.hooks.host import ListChanges
from pyfuncdbg.hooks.weak_keys import WeakKeys

UNFOLDED = 'unfolded'
"""Resource key of sessions without constant folding: each run computes nodes that depend on constants only."""
EAGER_RESOURCES: dict[Any, Any] = {}
"""The resources of eager code, by key."""
RANDOM = 'random'
"""First element of the keys of generators of random ops: then the op, its dtype, two seeds and the stream; or 'seeds'."""


class EagerSeed:
    """The global seed of eager random ops; None without one."""

    def __init__(self) -> None:
        self.value: int | None = None


eager_seed = EagerSeed()
_states: dict[Any, Any] = {}
"""States in which ops will make their generators, by key."""


def op_generators() -> Sequence[tuple[str, Any]]:
    """The global seed (under '') and the generators of eager random ops, by name; () where there are none."""
    keys = [key for key in list(EAGER_RESOURCES) if type(key) is tuple and key[0] == RANDOM]
    if not keys and eager_seed.value is None:
        return ()
    return [('', eager_seed.value), *((' '.join(map(str, key[1:])), EAGER_RESOURCES[key]) for key in keys)]


def restore_op_generators(states: Sequence[tuple[str, Any]]) -> None:
    """Let eager random ops draw from generators in these states, which they make at their next number; see `op_generators`.

    Raises:
        ValueError: They are damaged.
    """
    states_to_come: dict[Any, Any] = {}
    seed: int | None = None
    for name, state in states:
        if not name:
            if state is not None and type(state) is not int:
                raise ValueError('the seed of eager ops is damaged')
            seed = state
            continue
        op, *rest = name.split(' ')
        if rest and len(rest) != 4:
            raise ValueError(f'no generator of eager ops: {name!r}')
        key = (RANDOM, op, rest[0], *map(int, rest[1:])) if rest else (RANDOM, op)
        random_states.generator_in(state, 'Generator')      # checks it
        states_to_come[key] = state
    for key in [key for key in EAGER_RESOURCES if type(key) is tuple and key[0] == RANDOM]:
        del EAGER_RESOURCES[key]
    _states.clear()
    _states.update(states_to_come)
    eager_seed.value = seed


def in_restored_state(key: Any, generator: np.random.Generator) -> np.random.Generator:
    """A generator that an op has made for its first number, in the state that was restored for it, if any."""
    if (state := _states.pop(key, None)) is not None:
        random_states.restore(generator, state)
    return generator


def save_content(resource: Any) -> tuple[Any, Any]:
    """A resource with a copy of its content if that changes in place."""
    if isinstance(resource, np.random.Generator):
        return resource, resource.bit_generator.state
    return resource, list(resource) if isinstance(resource, list) else None


storages: WeakKeys[Any, None] = WeakKeys()
"""Storages of variables' values, registered by `variables.handles`. A value is replaced, never written to."""


@contextmanager
def restored_state(host: Any) -> Iterator[ListChanges]:
    """Restore variables and random states after the block; yields a function that names the changed variables."""
    values_before = [(storage, storage.value) for storage in list(storages)]
    rng = host.rng_state()
    generators = {key: (resource, resource.bit_generator.state) for key, resource in list(EAGER_RESOURCES.items())
                  if isinstance(resource, np.random.Generator)}

    def changed() -> Sequence[str]:
        return [storage.name for storage, value in values_before if storage.value is not value]

    try:
        yield changed
    finally:
        for storage, value in values_before:
            storage.value = value
        host.set_rng_state(rng)
        for key, resource in list(EAGER_RESOURCES.items()):
            if not isinstance(resource, np.random.Generator):
                continue
            if key not in generators:
                del EAGER_RESOURCES[key]        # made by the call: it is made again on demand
        for key, (resource, state) in generators.items():
            resource.bit_generator.state = state
            EAGER_RESOURCES[key] = resource
