"""Position of a session run, seen from one of its Python calls, and a request to pause it.

Called on the thread of the call, which is one of TensorFlow's.
"""
from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pyfuncdbg.hooks.call import CallSite, current
from pyfuncdbg.hooks.host import RunView
from pyfuncdbg.hooks.run_cursor import NodeState
from pyfuncdbg.hosts.tensorflow.sessions.session_plan import SessionPlan


class RunCalls:
    """Active Python calls of a run's threads.

    Attributes:
        session_values: Their inputs from the session, by the names of tensors; None if not needed.
        inputs, outputs: Of each site's first call, by the site's id.
    """

    def __init__(self, plan: SessionPlan) -> None:
        self._plan = plan
        self._sites: dict[int, int] = {}
        self.session_values: dict[str, Any] | None = None
        self.inputs: dict[int, list[Any]] = {}
        self.outputs: dict[int, list[Any]] = {}

    def begin_call(self, site: CallSite, inputs: Sequence[Any] = ()) -> None:
        """This thread begins a call."""
        self._sites[threading.get_ident()] = site.id
        if self.session_values is not None:
            copies = _copy_values(inputs)
            if copies:
                self.inputs.setdefault(site.id, copies)
            for name, value in zip(site.inputs, copies, strict=False):
                self.session_values.setdefault(name, value)

    def end_call(self, site: CallSite, outputs: Sequence[Any]) -> None:
        """A call has ended; its outputs may share memory with its inputs."""
        if self.session_values is not None:
            self.outputs.setdefault(site.id, _copy_values(outputs))

    def position(self) -> int | None:
        """The position in the run of this thread's call; None on a thread without one."""
        site_id = self._sites.get(threading.get_ident())
        return next((place for place, site in enumerate(self._plan.sites) if site.id == site_id), None)


def _copy_values(values: Sequence[Any]) -> list[Any]:
    """Copies of values: the function may write to them, and the memory may be a variable's."""
    return [value.copy() if isinstance(value, np.ndarray) else
            value.numpy() if hasattr(value, '_numpy_internal') and value.dtype.name not in ('resource', 'variant') else value
            for value in values]


class PendingRun:
    """A run that has not begun, or that the session executes as a whole: `Pausable`. Requests take effect after that.

    Attributes:
        paused: Whether a pause is requested.
        on_pause: The callback of that pause.
        pause_position: The node before which it is.
        state: The known state of the run.
        calls: The Python calls of its threads.
        no_other_writer: Whether no other run of the graph that writes to v1 variables was active meanwhile.
    """

    def __init__(self, plan: SessionPlan) -> None:
        self._plan = plan
        self.no_other_writer = True
        self.paused = False
        self.on_pause: Callable[[], None] | None = None
        self.pause_position = 0
        self.state: NodeState | None = None
        self.calls = RunCalls(plan)

    def pause(self, on_pause: Callable[[], None]) -> None:
        """Call `on_pause` before the first node, or before the one after the Python call in which this is requested."""
        place = self.calls.position()
        self.paused, self.on_pause = True, on_pause
        self.pause_position = 0 if place is None else place + 1

    def resume(self) -> None:
        """Pause no more."""
        self.paused, self.on_pause = False, None

    def mark(self) -> None:
        """Nothing to save."""

    def look(self) -> RunView | None:
        """The position during a Python call, if known."""
        return None if self.state is None else RunPosition(self.state, self.calls.position())


class RunPosition:
    """Position of a run in one of its Python calls: a `RunView`."""

    repeats = False
    within: Sequence[CallSite] = ()

    def __init__(self, walk: NodeState, place: int | None) -> None:
        self._state = walk
        self.position = walk.position if place is None else place

    @property
    def sites(self) -> Sequence[CallSite]:
        """The run's sites."""
        return self._state.sites

    @property
    def feeds(self) -> Sequence[str]:
        """The names of the fed tensors."""
        return self._state.feeds

    def holds(self, tensor: str) -> bool:
        """Whether a value is known: also those that the call was given."""
        return tensor in self._call_inputs() or self._state.holds(tensor)

    def value(self, tensor: str) -> Any:
        """The value of a tensor.

        Raises:
            KeyError: As `NodeState.value`.
        """
        call_inputs = self._call_inputs()
        return call_inputs[tensor] if tensor in call_inputs else self._state.value(tensor)

    def obstacle(self, position: int) -> str:
        """The reason why the run cannot go back."""
        return self._state.obstacle(position)

    def _call_inputs(self) -> dict[str, Any]:
        call = current.get()
        return {} if call is None or call.site.kind != 'python' else dict(zip(call.site.inputs, call.inputs, strict=False))
