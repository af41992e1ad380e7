"""Result list for hooks, with the original object. That is handed on unless a hook changes the list."""
from __future__ import annotations

from typing import Any


class Listed(list[Any]):
    """The values of a result. Made by `listed`.

    Attributes:
        raw: The result itself.
    """

    __slots__ = ('raw',)

    raw: Any


def listed(raw: Any) -> Listed:
    """The values of a result; a function, for calling an `__init__` costs more."""
    values = Listed(raw if isinstance(raw, (list, tuple)) else [raw])
    values.raw = raw
    return values
