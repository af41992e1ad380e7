"""Resources of executions: variables and random generators that ops share by key.

A session has its own, eager code those of the process. Ops use them on the thread that executes. Where a call is made once
more for inspection (`Host.restored_state`), what it may change of them is saved, and restored on that thread.
"""
from __future__ import annotations

import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from pyfuncdbg.hooks.host import ListChanges

UNFOLDED = 'unfolded'
"""A key among the resources of sessions that compute again in each run what depends on constants only."""
EAGER_RESOURCES: dict[Any, Any] = {}
"""The resources of eager code, by key."""


def save_content(resource: Any) -> tuple[Any, Any]:
    """A resource with its content, where it has some that changes in place."""
    if isinstance(resource, np.random.Generator):
        return resource, resource.bit_generator.state
    return resource, list(resource) if isinstance(resource, list) else None


storages: weakref.WeakSet[Any] = weakref.WeakSet()
"""Storages of variables' values; `variables.handles` puts each in. A value is replaced, never written to."""


@contextmanager
def restored_state(host: Any) -> Iterator[ListChanges]:
    """Keep variables and random states while the block runs; gives a function that names what was changed so far."""
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
                del EAGER_RESOURCES[key]        # made by the call: it is made again when it is needed
        for key, (resource, state) in generators.items():
            resource.bit_generator.state = state
            EAGER_RESOURCES[key] = resource
