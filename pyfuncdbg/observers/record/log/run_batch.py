"""Many runs as one record, by column: number, plan, start, and the element of a dataset that each works on.

Up to version 3 of the format a record was a list of runs, which took the reader of a million of them seconds.
"""
from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np

from pyfuncdbg.observers.record.log import columns
from pyfuncdbg.observers.record.log.columns import MOST_ROWS, Packed

NO_ELEMENT = -1 << 63
"""Element of a run that works on none of a dataset."""
_COLUMNS = 4


def encode(runs: Sequence[tuple[int, ...]]) -> list[int | Packed]:
    """Encode runs as one record.

    Args:
        runs: At most `MOST_ROWS`: (number, plan, start) of each, and the element if it works on one.

    Returns:
        The content of the record.
    """
    return [len(runs), *map(columns.pack, zip(*((*run, NO_ELEMENT)[:_COLUMNS] for run in runs), strict=True))]


def decode(content: Any) -> tuple[int, list[Packed]]:
    """Decode a record of runs, of any version.

    Args:
        content: Decoded from msgpack.

    Returns:
        The number of runs, and their numbers, plans, starts and elements (`NO_ELEMENT` for none).

    Raises:
        ValueError: It is no record of runs.
    """
    if not isinstance(content, list) or not content:
        raise ValueError('expected runs')
    if isinstance(content[0], list):
        return len(content), _packed_rows(content)
    count, *packed = content
    if type(count) is not int or not 0 < count <= MOST_ROWS or len(packed) != _COLUMNS:
        raise ValueError('expected runs')
    return count, [columns.check(column, count) for column in packed]


def _packed_rows(rows: list[Any]) -> list[Packed]:
    if set(map(type, rows)) != {list} or min(map(len, rows)) < _COLUMNS - 1:
        raise ValueError('expected runs')
    numbers = list(chain.from_iterable((*row, NO_ELEMENT)[:_COLUMNS] for row in rows))
    if set(map(type, numbers)) != {int}:
        raise ValueError('expected numbers')
    return [columns.pack(column) for column in np.array(numbers, np.int64).reshape(-1, _COLUMNS).T]
