"""Position of a session run, seen from one of its Python calls, and a request to pause it.

Asked on the thread of the call, which is one of TensorFlow's.
"""
from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pyfuncdbg.hooks.call import CallSite, current
from pyfuncdbg.hooks.host import RunView
from pyfuncdbg.hooks.run_cursor import NodeState
from pyfuncdbg.hosts.tensorflow.sessions.session_plan import Plan


class RunCalls:
    """Python calls that a run's threads are in.

    Attributes:
        given: What the session gave them, by the names of tensors; None if it is not needed.
        inputs, outputs: What each site was given and gave in its first call, by its id.
    """

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._sites: dict[int, int] = {}
        self.given: dict[str, Any] | None = None
        self.inputs: dict[int, list[Any]] = {}
        self.outputs: dict[int, list[Any]] = {}

    def began(self, site: CallSite, inputs: Sequence[Any] = ()) -> None:
        """This thread begins a call."""
        self._sites[threading.get_ident()] = site.id
        if self.given is not None:
            copies = _copied(inputs)
            if copies:
                self.inputs.setdefault(site.id, copies)
            for name, value in zip(site.inputs, copies, strict=False):
                self.given.setdefault(name, value)

    def ended(self, site: CallSite, outputs: Sequence[Any]) -> None:
        """A call has given what may be what it was given."""
        if self.given is not None:
            self.outputs.setdefault(site.id, _copied(outputs))

    def place(self) -> int | None:
        """The position in the run of this thread's call; None on a thread that makes none."""
        known = self._sites.get(threading.get_ident())
        return next((place for place, site in enumerate(self._plan.sites) if site.id == known), None)


def _copied(values: Sequence[Any]) -> list[Any]:
    """Values of their own: the function may write to them, and the memory may be a variable's."""
    return [value.copy() if isinstance(value, np.ndarray) else
            value.numpy() if hasattr(value, '_numpy_internal') and value.dtype.name not in ('resource', 'variant') else value
            for value in values]


class PendingRun:
    """A run that has not begun, or that TensorFlow does in one go: `Pausable`. Requests take effect after that.

    Attributes:
        paused: Whether a pause is requested.
        on_pause: What is called then.
        place: Before which node.
        known: What is known of it meanwhile.
        calls: In which Python calls its threads are.
        alone: Whether no other run of the graph that writes to v1 variables has gone on meanwhile.
    """

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self.alone = True
        self.paused = False
        self.on_pause: Callable[[], None] | None = None
        self.place = 0
        self.known: NodeState | None = None
        self.calls = RunCalls(plan)

    def pause(self, on_pause: Callable[[], None]) -> None:
        """Call `on_pause` before the first node, or the one after the Python call that this is said in."""
        place = self.calls.place()
        self.paused, self.on_pause = True, on_pause
        self.place = 0 if place is None else place + 1

    def resume(self) -> None:
        """Pause no more."""
        self.paused, self.on_pause = False, None

    def mark(self) -> None:
        """Nothing is to be kept."""

    def look(self) -> RunView | None:
        """The position during a Python call, as far as it is known."""
        return None if self.known is None else RunPosition(self.known, self.calls.place())


class RunPosition:
    """Position of a run in one of its Python calls: a `RunView`."""

    repeats = False
    within: Sequence[CallSite] = ()

    def __init__(self, walk: NodeState, place: int | None) -> None:
        self._walk = walk
        self.position = walk.position if place is None else place

    @property
    def sites(self) -> Sequence[CallSite]:
        """The run's sites."""
        return self._walk.sites

    @property
    def feeds(self) -> Sequence[str]:
        """Names of the tensors that were given."""
        return self._walk.feeds

    def holds(self, tensor: str) -> bool:
        """Whether a value is there: also those that the call was given."""
        return tensor in self._given() or self._walk.holds(tensor)

    def value(self, tensor: str) -> Any:
        """The value of a tensor.

        Raises:
            KeyError: As `Walk.value`.
        """
        given = self._given()
        return given[tensor] if tensor in given else self._walk.value(tensor)

    def obstacle(self, position: int) -> str:
        """The reason why the run cannot go back."""
        return self._walk.obstacle(position)

    def _given(self) -> dict[str, Any]:
        call = current.get()
        return {} if call is None or call.site.kind != 'python' else dict(zip(call.site.inputs, call.inputs, strict=False))
