"""A result as the list that hooks see, with the object that it is: that is handed on as long as no hook changes it."""
from __future__ import annotations

from typing import Any


class Listed(list[Any]):
    """The values of a result.

    Attributes:
        raw: The result itself.
    """

    __slots__ = ('raw',)

    def __init__(self, raw: Any) -> None:
        super().__init__(raw if isinstance(raw, (list, tuple)) else [raw])
        self.raw = raw
