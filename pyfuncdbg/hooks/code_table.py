"""Table by code object that keeps none of them alive. Any thread.

By identity: equal code objects may belong to two functions, and hashing one costs 1 µs.
"""
from __future__ import annotations

import weakref
from functools import partial
from types import CodeType
from typing import Any, Generic, TypeVar

T = TypeVar('T')


class CodeTable(Generic[T]):
    """Values by code object.

    Attributes:
        entries: By id, the code object and its value.
    """

    __slots__ = ('entries',)

    def __init__(self) -> None:
        self.entries: dict[int, tuple[weakref.ref[CodeType], T]] = {}

    def get(self, code: CodeType) -> T | None:
        """The value of a code object, None if it has none."""
        entry = self.entries.get(id(code))
        return entry[1] if entry is not None and entry[0]() is code else None

    def put(self, code: CodeType, value: T) -> T:
        """Set the value of a code object, as long as it lives.

        Returns:
            The value.
        """
        # Bound here, not looked up: code objects die while Python shuts down, when globals are gone.
        self.entries[id(code)] = weakref.ref(code, partial(_forget, self.entries, id(code))), value
        return value


def _forget(entries: dict[int, Any], key: int, reference: Any) -> None:
    entries.pop(key, None)
