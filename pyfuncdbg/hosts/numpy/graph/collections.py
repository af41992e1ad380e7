"""Collections: the named lists of a graph, where TensorFlow 1 programs find variables and losses."""
from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any


class Collections:
    """Collections of a graph: named lists. Its `_check_open` refuses changes to a finalized one."""

    _collections: dict[Any, list[Any]]

    def _check_open(self) -> None:
        raise NotImplementedError

    def add_to_collection(self, name: Any, value: Any) -> None:
        """Append to a named list."""
        self._check_open()
        self._collections.setdefault(name, []).append(value)

    def add_to_collections(self, names: Iterable[Any], value: Any) -> None:
        """Append to several lists; to a list that is named twice once."""
        for name in [names] if isinstance(names, str) else list(dict.fromkeys(names)):
            self.add_to_collection(name, value)

    def get_collection(self, name: Any, scope: str | None = None) -> list[Any]:
        """A copy of a named list, only names that match `scope` if given."""
        items = list(self._collections.get(name, ()))
        if scope is None:
            return items
        return [item for item in items if hasattr(item, 'name') and re.match(scope, item.name)]

    def get_collection_ref(self, name: Any) -> list[Any]:
        """The named list itself."""
        return self._collections.setdefault(name, [])

    def clear_collection(self, name: Any) -> None:
        """Forget a named list."""
        self._check_open()
        self._collections.pop(name, None)

    def get_all_collection_keys(self) -> list[Any]:
        """The names of collections; keys that are no strings are private."""
        return [key for key in self._collections if isinstance(key, str)]

    @property
    def collections(self) -> list[Any]:
        """The keys of all collections."""
        return list(self._collections)
