"""Text of a ragged tensor for `repr`: lists, with NumPy's own text for each element."""
from __future__ import annotations

from typing import Any

import numpy as np


def shown(rows: Any, summarize: int) -> str:
    """Nested lists as `tf.print` shows them: the first and last items of each, floats with six digits."""
    if not isinstance(rows, list):
        return repr(rows.decode('utf-8', 'replace')) if isinstance(rows, bytes) else (
            f'{rows:.6f}' if isinstance(rows, float) else str(rows))
    items = [shown(row, summarize) for row in rows]
    if len(items) > 2 * summarize:
        items = [*items[:summarize], '...', *items[-summarize:]]
    return f'[{", ".join(items)}]'


def listed(value: Any) -> str:
    """An array, whose elements may be arrays, as nested lists."""
    if not isinstance(value, np.ndarray):
        return str(value)
    if value.size == 0:
        return '[]' if value.ndim < 2 else str(value.tolist())
    return np.array2string(value, separator=', ', formatter={'all': listed})
