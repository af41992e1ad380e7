"""The rows of a ragged tensor as `repr` shows them: lists, with NumPy's own text for each element."""
from __future__ import annotations

from typing import Any

import numpy as np


def listed(value: Any) -> str:
    """An array, whose elements may be arrays, as nested lists."""
    if not isinstance(value, np.ndarray):
        return str(value)
    if value.size == 0:
        return '[]' if value.ndim < 2 else str(value.tolist())
    return np.array2string(value, separator=', ', formatter={'all': listed})
