"""Dictionary with weak keys, whose entries are removed by C code alone.

`weakref.WeakKeyDictionary` removes an entry in a Python function, which runs wherever the program drops the key, or in a
garbage collection: a Ctrl-C that comes just then is lost there, and a user who steps through the program would stop in it.
"""
from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, TypeVar
from weakref import ref

K = TypeVar('K')
V = TypeVar('V')


class WeakKeys(Generic[K, V]):
    """Weak-key dictionary of hashable objects. As safe on several threads as a dict."""

    __slots__ = ('__weakref__', '_entries')

    def __init__(self) -> None:
        self._entries: dict[ref[K], V] = {}

    def __contains__(self, key: object) -> bool:
        return ref(key) in self._entries

    def __getitem__(self, key: K) -> V:
        return self._entries[ref(key)]

    def __setitem__(self, key: K, value: V) -> None:
        self._entries[ref(key, self._entries.__delitem__)] = value

    def __delitem__(self, key: K) -> None:
        del self._entries[ref(key)]

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[K]:
        return iter([key for key, _ in self.items()])

    def get(self, key: K) -> V | None:
        """The value of a key, None where it has none."""
        return self._entries.get(ref(key))

    def setdefault(self, key: K, value: V) -> V:
        """The value of a key, which is set if it has none."""
        return self._entries.setdefault(ref(key, self._entries.__delitem__), value)

    def pop(self, key: K) -> V | None:
        """Remove a key, if it is there.

        Returns:
            Its value, None where it had none.
        """
        return self._entries.pop(ref(key), None)

    def items(self) -> list[tuple[K, V]]:
        """The keys that are alive, with their values."""
        entries = self._entries.copy()          # a list of its items would let the collector remove some meanwhile
        return [(key, value) for weak, value in entries.items() if (key := weak()) is not None]

    def clear(self) -> None:
        """Remove all keys."""
        self._entries.clear()
