"""One execution: its run, the state shared by its ops, and the user's floating-point error state.

A Session makes one per run, eager code has one per thread. Kernels with `in_execution` get it as first argument.
"""
from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from pyfuncdbg.errors import DeadlineExceededError
from pyfuncdbg.hooks import notebook_cell
from pyfuncdbg.hooks.call import Run
from pyfuncdbg.hooks.output import numpy_errstate
from pyfuncdbg.hooks.program_arguments import program_name
from pyfuncdbg.hosts.numpy.runtime.execution.host import host
from pyfuncdbg.hosts.numpy.runtime.execution.resources import EAGER_RESOURCES, save_content

if TYPE_CHECKING:
    from pyfuncdbg.hooks.host import RunView


class Locator(Protocol):
    """Locator of an execution's position from the frames of its thread; implemented by `plans.executor`."""

    def innermost(self, execution: Execution) -> RunView | None:
        """Position of the innermost active plan."""

    def mark_of_call(self, execution: Execution) -> Any:
        """The `CallMark` of the current Python call of a plan at full speed; None in a plan that runs step by step."""


class OtherTasks(Protocol):
    """The other tasks of a run, on which nodes of a function run; implemented by `tasks.part_calls`."""

    def run_part(self, part: Any, values: Sequence[Any], deadline: int | None) -> tuple[Any, ...]:
        """Run nodes on another task, and wait for it; `part` is a `RemotePart`."""


class Execution:
    """Execution context of kernels with `in_execution`.

    Attributes:
        run: The run for hooks.
        resources: Variables and random generators by name; of the session, or of the process in eager mode.
        errstate: The user's NumPy error state, for the user's functions.
        paused: Whether the plan hands over to the executor after the current Python call.
        on_pause: Called by the executor before the next step after that.
        failed: The step that failed in the executor.
        marked: The `CallMark` of the current Python call, if a rewind to it is possible.
        feeds: The feeds of the current plan, whose locals may have changed when it hands over.
        gradient_calls: Ids of the gradient calls of this run, by forward node.
        deadline: The `perf_counter_ns()` after which no step begins; None without limit.
        tasks: The other tasks of the run, where it is one on several.
        touched: Where a rewind is possible: previous contents of the resources that the current step has used.
    """

    locator: ClassVar[Locator | None] = None
    """Set by `plans.executor`; without it no plan is located."""

    __slots__ = ('deadline', 'errstate', 'failed', 'feeds', 'gradient_calls', 'marked', 'on_pause', 'paused', 'resources',
                 'run', 'tasks', 'touched')

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
        self.tasks: OtherTasks | None = None
        self.touched: dict[Any, tuple[Any, Any]] | None = None

    def pause(self, on_pause: Callable[[], None]) -> None:
        """Request that the plan hands over to the executor after the current Python call."""
        self.on_pause = on_pause
        self.paused = True

    def resume(self) -> None:
        """Cancel a pause."""
        self.on_pause = None
        self.paused = False

    def steer(self, control: Any) -> Any:
        """Set the control of the run; returns the previous one."""
        before, self.run.control = self.run.control, control
        return before

    def check_deadline(self) -> None:
        """Check the deadline, before a step and at the end of a run.

        Raises:
            DeadlineExceededError: It has passed.
        """
        if self.deadline is not None and perf_counter_ns() > self.deadline:
            error = DeadlineExceededError(None, None, 'Graph execution error:\n\nTimed out waiting for notification')
            error.located = True
            raise error

    def outside_position(self) -> RunView | None:
        """Position of a step outside of any plan on this thread's stack."""
        return None

    def mark(self) -> None:
        """Save the state before the current Python call of a plan, which is about to begin."""
        self.marked = None if self.locator is None else self.locator.mark_of_call(self)

    def look(self) -> RunView | None:
        """The position of the run; called on its thread, within a Python call."""
        return self.outside_position() if self.locator is None else self.locator.innermost(self)

    def resource(self, key: Any, make: Callable[[], Any]) -> Any:
        """The shared object of this key, created at first use."""
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
        """The execution, created at its first use: without eager code there is no eager run, and the first run is #1."""
        if name != 'execution':
            raise AttributeError(name)
        script = notebook_cell.label or program_name() or 'python'
        self.execution = Execution(Run(f'eager {script}', host, perf_counter_ns(), kind='eager'), EAGER_RESOURCES,
                                   numpy_errstate.current_state())
        return self.execution

    def end_run(self) -> None:
        """End the run: later eager code of this thread belongs to a new run."""
        self.__dict__.pop('execution', None)


_thread = _EagerThread()
notebook_cell.call_at_begin(_thread.end_run)


def eager_execution() -> Execution:
    """The execution of this thread's eager ops."""
    return _thread.execution
