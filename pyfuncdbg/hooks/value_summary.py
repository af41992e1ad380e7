"""Summary of a value in a foreign process or graph: type, shape and counts, computed where the value is.

Hosts put it into a call where every hook is content with it; the recorder keeps it. On the thread of the call.
"""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, slots=True)
class ValueSummary:
    """One tensor by numbers. The counts are of elements; all 0 for a type that the host does not count."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    nan: int = 0
    neg_inf: int = 0
    neg: int = 0
    zero: int = 0
    pos: int = 0
    pos_inf: int = 0

    @property
    def size(self) -> int:
        """The number of elements."""
        count = 1
        for length in self.shape:
            count *= length
        return count
