"""Result list for hooks, with the original object. That is handed on unless a hook changes the list."""
from __future__ import annotations

from typing import Any


class ResultList(list[Any]):
    """The values of a result. Made by `result_list`.

    Attributes:
        raw: The result itself.
    """

    __slots__ = ('raw',)

    raw: Any


def result_list(raw: Any) -> ResultList:
    """The values of a result; a function, for calling an `__init__` costs more."""
    values = ResultList(raw if isinstance(raw, (list, tuple)) else [raw])
    values.raw = raw
    return values
