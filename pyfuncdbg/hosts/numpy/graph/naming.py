"""Names in a graph: scopes, and making names unique the way TensorFlow does (case-insensitively)."""
from __future__ import annotations

import re
import threading

_NODE = re.compile(r'^[A-Za-z0-9.][A-Za-z0-9_.\\/>-]*$')
_SCOPE = re.compile(r'^[A-Za-z0-9_.\\/>-]*$')


def is_node_name(name: str) -> bool:
    """Whether a name is valid for a node."""
    return _NODE.fullmatch(name) is not None


def _check_scope(name: str, around: str) -> None:
    if not (_SCOPE if around else _NODE).match(name):
        raise ValueError(f"'{name}' is not a valid root scope name. A root scope name has to match the following "
                         f'pattern: {_NODE.pattern}' if not around else
                         f"'{name}' is not a valid scope name. A scope name has to match the following pattern: "
                         f'{_SCOPE.pattern}')


class _NamingState(threading.local):
    """The scope of one thread."""

    def __init__(self) -> None:
        self.scope = ''


class GraphNames:
    """The names used in one graph, and its current scope ('a/b', '' at the top)."""

    __slots__ = ('_counts', '_state')

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._state = _NamingState()

    @property
    def scope(self) -> str:
        """The current scope of this thread."""
        return self._state.scope

    @scope.setter
    def scope(self, scope: str) -> None:
        self._state.scope = scope

    def unique(self, name: str, mark: bool = True) -> str:
        """`name` in the current scope, with '_1', '_2', ... if it is taken."""
        scope = self._state.scope
        if scope:
            name = f'{scope}/{name}'
        key = name.lower()
        count = self._counts.get(key, 0)
        if mark:
            self._counts[key] = count + 1
        if not count:
            return name
        stem = key
        while key in self._counts:
            key = f'{stem}_{count}'
            count += 1
        if mark:
            self._counts[key] = 1
        return f'{name}_{count - 1}'

    def node(self, name: str, constant: bool = False) -> str:
        """The full name of a new node; one that ends in '/' is used literally. Constants open no scope.

        Raises:
            ValueError: It is no node name.
        """
        exact = (constant or isinstance(name, str)) and name[-1:] == '/'
        bare = name[:-1] if exact else name
        if not exact and not constant:
            _check_scope(name, self._state.scope)
        full = bare if exact or not self._state.scope else f'{self._state.scope}/{bare}'
        if (exact or constant) and not _NODE.match(full):
            raise ValueError(f'`{full}` is not a valid node name. Accepted names conform to Regex /{_NODE}/')
        if exact:
            self._counts.setdefault(bare.lower(), 1)
            return bare
        return self.unique(name)

    def enter(self, name: str | None) -> tuple[str, str]:
        """Enter a scope; returns (the previous scope, the name of the new one with a trailing '/').

        Raises:
            ValueError: It is no scope name.
        """
        state = self._state
        before = state.scope
        if name:
            _check_scope(name, before)
            state.scope = scope = name[:-1] if name.endswith('/') else self.unique(name)
        else:
            state.scope = scope = ''
        return before, f'{scope}/' if scope else ''
