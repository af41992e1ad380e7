"""One execution: its run, the state shared by its ops, and the user's floating-point error state.

A Session makes one for each run, eager code has one per thread. Kernels that need it get it as first argument.
"""
from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Sequence
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from pyfuncdbg.errors import DeadlineExceededError
from pyfuncdbg.hooks import notebook_cell
from pyfuncdbg.hooks.call import Run
from pyfuncdbg.hooks.output import numpy_errstate
from pyfuncdbg.hosts.numpy.runtime.execution.host import host
from pyfuncdbg.hosts.numpy.runtime.execution.resources import EAGER_RESOURCES, save_content

if TYPE_CHECKING:
    from pyfuncdbg.hooks.host import RunView


class Locator(Protocol):
    """Locator of an execution's position from the frames of its thread; implemented by `plans.executor`."""

    def innermost(self, execution: Execution) -> RunView | None:
        """Position of the innermost plan that is under way."""

    def mark_of_call(self, execution: Execution) -> Any:
        """The `CallMark` of the Python call that a plan at full speed is at; None in a plan that runs step by step."""


class Execution:
    """Execution context of kernels with `in_execution`.

    Attributes:
        run: The run, as hooks see it.
        resources: Variables and random generators by name; of the session, or of the process in eager mode.
        errstate: The user's NumPy error state, to be in force in the user's functions.
        paused: Whether the plan is to hand over to the executor after the Python call that runs now.
        on_pause: Called by the executor before the next step then.
        failed: The step that failed, where the executor ran it.
        marked: The `CallMark` of the Python call that runs now, if a rewind to it is possible.
        feeds: What the plan that runs now was given: its locals may be others by the time it hands over.
        gradient_calls: Ids of the gradient calls of this run, by forward node.
        deadline: The `perf_counter_ns()` after which no step begins; None without limit.
        touched: Where a rewind is possible: the resources that the current step has used, as they were before.
    """

    locator: ClassVar[Locator | None] = None
    """Put here by `plans.stack_position`; there is no plan to be found without."""

    __slots__ = ('deadline', 'errstate', 'failed', 'feeds', 'gradient_calls', 'marked', 'on_pause', 'paused', 'resources',
                 'run', 'touched')

    def __init__(self, run: Run, resources: dict[Any, Any], user_errstate: Any) -> None:
        self.run = run
        self.resources = resources
        self.errstate = user_errstate
        self.paused = False
        self.on_pause: Callable[[], None] | None = None
        self.failed: Any = None
        self.marked: Any = None
        self.feeds: Sequence[Any] = ()
        self.gradient_calls: dict[Any, int] = {}
        self.deadline: int | None = None
        self.touched: dict[Any, tuple[Any, Any]] | None = None

    def pause(self, on_pause: Callable[[], None]) -> None:
        """Hand over to the executor after the Python call that runs now."""
        self.on_pause = on_pause
        self.paused = True

    def resume(self) -> None:
        """Pause no more."""
        self.on_pause = None
        self.paused = False

    def steer(self, control: Any) -> Any:
        """Let another control steer the run from now on; gives the one of before."""
        before, self.run.control = self.run.control, control
        return before

    def check_deadline(self) -> None:
        """Called before a step, and when a run is over.

        Raises:
            DeadlineExceededError: The time of the run is over.
        """
        if self.deadline is not None and perf_counter_ns() > self.deadline:
            error = DeadlineExceededError(None, None, 'Graph execution error:\n\nTimed out waiting for notification')
            error.located = True
            raise error

    def outside_position(self) -> RunView | None:
        """Position of a step that is no part of a plan on this thread's stack."""
        return None

    def mark(self) -> None:
        """The Python call that a plan is at is about to begin: keep the state before it."""
        self.marked = None if self.locator is None else self.locator.mark_of_call(self)

    def look(self) -> RunView | None:
        """The position of the run; on its thread, from within a Python call."""
        return self.outside_position() if self.locator is None else self.locator.innermost(self)

    def resource(self, key: Any, make: Callable[[], Any]) -> Any:
        """The shared object of this key, made at first use."""
        resource = self.resources.get(key)
        if self.touched is not None and key not in self.touched:
            self.touched[key] = save_content(resource)
        if resource is None:
            resource = self.resources.setdefault(key, make())
        return resource


class _EagerThread(threading.local):
    """Eager execution of a thread: one run per script, or per cell that it begins in."""

    execution: Execution

    def __init__(self) -> None:
        self.outer: list[Execution] = []

    def __getattr__(self, name: str) -> Any:
        """The execution, made at its first use: a program without eager code has no run of it, and its first run is #1."""
        if name != 'execution':
            raise AttributeError(name)
        script = notebook_cell.label or (sys.argv[0] if sys.argv and sys.argv[0] else 'python')
        self.execution = Execution(Run(f'eager {script}', host, perf_counter_ns(), kind='eager'), EAGER_RESOURCES,
                                   numpy_errstate.current_state())
        return self.execution

    def end_run(self) -> None:
        """End the run: later eager code of this thread belongs to another one."""
        self.__dict__.pop('execution', None)


_thread = _EagerThread()
notebook_cell.call_at_begin(_thread.end_run)


def eager_execution() -> Execution:
    """The execution that ops called now belong to."""
    return _thread.execution
