"""`tf.compat.v1.Session` and `InteractiveSession`: how long a session is the default one, and when it ends."""
from __future__ import annotations

from typing import Any

from pyfuncdbg.hosts.numpy.graph.default_scope import DefaultScope
from pyfuncdbg.hosts.numpy.graph.graph import Graph
from pyfuncdbg.hosts.numpy.runtime.sessions.base_session import BaseSession


class Session(BaseSession):
    """A session. As a context it and its graph are the default ones, and it is closed at the end."""

    def __init__(self, target: str = '', graph: Graph | None = None, config: Any = None) -> None:
        super().__init__(target, graph, config)
        self._scopes: list[Any] = []

    def __enter__(self) -> Session:
        if self._scopes:
            raise RuntimeError('Session context managers are not re-entrant. Use `Session.as_default()` if you want to '
                               'enter a session multiple times.')
        self._scopes = [self._graph.as_default(), self.as_default()]
        for scope in self._scopes:
            scope.__enter__()
        return self

    def __exit__(self, *exception: Any) -> None:
        scopes, self._scopes = self._scopes, []
        if not scopes:
            raise AttributeError("'NoneType' object has no attribute '__exit__'")
        try:
            for scope in reversed(scopes):
                scope.__exit__(*exception)
        finally:
            self.close()


class InteractiveSession(BaseSession):
    """A session that is the default one until its `close`; its graph too, if one is given."""

    def __init__(self, target: str = '', graph: Graph | None = None, config: Any = None) -> None:
        super().__init__(target, graph, config)
        scopes = [self.as_default(), *([] if graph is None else [graph.as_default()])]
        self._scopes: list[DefaultScope] = scopes
        for scope in scopes:
            scope.enforce_nesting = False
            scope.__enter__()

    def close(self) -> None:
        """Stop being the default session and close."""
        super().close()
        scopes, self._scopes = self._scopes, []
        for scope in reversed(scopes):
            scope.__exit__(None, None, None)
