"""What variables say of how copies on several machines are kept one. There is one copy here: nothing follows from it."""
from __future__ import annotations

from enum import Enum


class VariableSynchronization(Enum):
    """When a distributed variable is made one again."""

    AUTO = 0
    NONE = 1
    ON_WRITE = 2
    ON_READ = 3


class VariableAggregation(Enum):
    """How values of a distributed variable become one."""

    NONE = 0
    SUM = 1
    MEAN = 2
    ONLY_FIRST_REPLICA = 3
