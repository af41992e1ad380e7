"""A result as the list that hooks see, with the object that it is: that is handed on as long as no hook changes it."""
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
