"""The control of threads: what the steps through nodes, and the stops around runs, ask of the debugger.

`debugger.Debugger` is it; all of it is used on the thread that is meant.
"""
from __future__ import annotations

from typing import Protocol

from pyfuncdbg.hooks.call import Run
from pyfuncdbg.observers.debug.breakpoints.table import Breakpoints
from pyfuncdbg.observers.debug.live_trace import LiveTrace
from pyfuncdbg.observers.debug.stepping.thread_plan import ThreadPlan, ThreadPlans
from pyfuncdbg.observers.debug.stops.broker import Broker
from pyfuncdbg.observers.debug.stops.stop import Decision, Stop


class ThreadControl(Protocol):
    """Protocol for stopping threads and letting them go on.

    Attributes:
        broker: Asks the user.
        live: The recording that commands read.
        breakpoints: All of the process.
        plans: The user's plans for threads, by native id; a thread without a plan is not in it.
    """

    broker: Broker
    live: LiveTrace
    breakpoints: Breakpoints
    plans: ThreadPlans

    @property
    def on(self) -> bool:
        """Whether calls are watched."""

    def plan(self, thread: int) -> ThreadPlan:
        """The plan for a thread."""

    def stop_thread(self, stop: Stop) -> Decision:
        """Hold the thread until the user has decided.

        Raises:
            RunAborted: The user ends the run.
        """

    def apply_decision(self, decision: Decision, run: Run | None, thread: int) -> None:
        """Apply a decision at the boundary of a call to the rest of the run."""

    def stop_at_next_call(self, thread: int) -> None:
        """Stop where the thread next calls anything: a wrapped function, an eager op, the first node of a run."""

    def step_out(self, decision: Decision, thread: int) -> bool:
        """Stop where the program goes on around what runs now; False on a thread that has none of its frames."""

    def was_stopped_for(self, error: BaseException) -> bool:
        """Whether the last stop of this thread was about this error, or the one that it was raised from."""
