"""Settings for variables with copies on several machines. Accepted without effect: there is one copy here."""
from __future__ import annotations

from enum import Enum


class VariableSynchronization(Enum):
    """Times of synchronization of a distributed variable's copies."""

    AUTO = 0
    NONE = 1
    ON_WRITE = 2
    ON_READ = 3


class VariableAggregation(Enum):
    """Methods of aggregation of a distributed variable's values."""

    NONE = 0
    SUM = 1
    MEAN = 2
    ONLY_FIRST_REPLICA = 3
