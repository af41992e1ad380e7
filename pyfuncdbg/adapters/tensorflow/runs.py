"""Which run a call belongs to: a `Session.run`, the eager code of a thread, or the graphs that TensorFlow runs elsewhere.

TensorFlow does not tell its threads for whom they work. A call in the graph of a session that runs is that run's; calls of
traced functions and datasets are one run together.
"""
from __future__ import annotations

import threading
from collections.abc import Callable
from time import perf_counter_ns
from typing import Any

from pyfuncdbg.adapters.tensorflow.host import TensorFlowHost
from pyfuncdbg.adapters.tensorflow.parts import Parts
from pyfuncdbg.adapters.tensorflow.patching import Patches
from pyfuncdbg.adapters.tensorflow.sites import Entry
from pyfuncdbg.hooks import cell
from pyfuncdbg.hooks.call import Run
from pyfuncdbg.hooks.chain import hooks


class Runs:
    """The runs that go on."""

    def __init__(self, host: TensorFlowHost) -> None:
        self._host = host
        self._thread = threading.local()
        self._graphs = self._endless('functions and datasets')
        self._sessions: dict[int, list[Run]] = {}
        self._lock = threading.Lock()
        cell.follow(self._begin_eager)

    def _endless(self, label: str) -> Run:
        return Run(label, self._host, perf_counter_ns(), endless=True)

    def eager(self) -> Run:
        """That of the program's own code on this thread."""
        run: Run | None = getattr(self._thread, 'run', None)
        return run if run is not None else self._begin_eager()

    def _begin_eager(self) -> Run:
        where = f' in {cell.label}' if cell.label else ''
        self._thread.run = run = self._endless(f'eager code of {threading.current_thread().name}{where}')
        return run

    def of(self, entry: Entry) -> Run:
        """That of a call."""
        if entry.eager:
            return self.eager()
        going = self._sessions.get(entry.root)
        if going:
            try:
                return going[-1]
            except IndexError:                  # it has ended meanwhile
                return self._graphs
        return self._graphs

    # ------------------------------------------------------------------ sessions
    def install(self, parts: Parts, patches: Patches) -> None:
        """Notice each `Session.run`."""
        patches.replace(parts.session.BaseSession, 'run', self._session_run(parts.session.BaseSession.run))

    def _begin(self, session: Any, fetches: Any, feeds: Any) -> Run:
        going = Run('Session.run', self._host, perf_counter_ns(), feeds=_names(list(feeds or ())), fetches=_names(fetches))
        with self._lock:
            self._sessions.setdefault(id(session.graph), []).append(going)
        return going

    def _end(self, graph: int, going: Run) -> None:
        with self._lock:
            rest = [one for one in self._sessions.get(graph, ()) if one is not going]
            if rest:
                self._sessions[graph] = rest
            else:
                self._sessions.pop(graph, None)

    def _session_run(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def run(session: Any, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None) -> Any:
            going = self._begin(session, fetches, feed_dict) if hooks.python else None
            try:
                return original(session, fetches, feed_dict, options, run_metadata)
            except BaseException as error:
                if error.__traceback__ is not None:     # without this frame
                    error.__traceback__ = error.__traceback__.tb_next
                raise
            finally:
                if going is not None:
                    self._end(id(session.graph), going)
        return run


def _names(structure: Any) -> list[str]:
    """Names of the tensors in fetches or feeds."""
    if isinstance(structure, dict):
        return [name for part in structure.values() for name in _names(part)]
    if isinstance(structure, (list, tuple)):
        return [name for part in structure for name in _names(part)]
    name = structure if isinstance(structure, str) else getattr(structure, 'name', '')
    return [name] if isinstance(name, str) and name else []
