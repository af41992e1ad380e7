"""Resources of executions: variables and random generators that ops share by key.

A session has its own, eager code those of the process. Ops use them on the thread that executes.
"""
from __future__ import annotations

from typing import Any

import numpy as np

UNFOLDED = 'unfolded'
"""A key among the resources of sessions that compute again in each run what depends on constants only."""
EAGER_RESOURCES: dict[Any, Any] = {}
"""The resources of eager code, by key."""


def saved(resource: Any) -> tuple[Any, Any]:
    """A resource with its content, where it has some that changes in place."""
    if isinstance(resource, np.random.Generator):
        return resource, resource.bit_generator.state
    return resource, list(resource) if isinstance(resource, list) else None
