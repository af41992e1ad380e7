"""Runners of a session's plans beyond serial execution: on thread pools, with a deadline, timed.

Made by sessions whose settings ask for it, and for single runs that do.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from pyfuncdbg.hooks.locks import new_lock
from pyfuncdbg.hosts.numpy.runtime.execution.execution import Execution
from pyfuncdbg.hosts.numpy.runtime.plans.plan import CompiledPlan, overlaps

if TYPE_CHECKING:                               # 1 ms to import, for sessions that overlap steps
    from pyfuncdbg.hosts.numpy.runtime.plans.parallel_runner import ThreadPool
    from pyfuncdbg.hosts.numpy.runtime.plans.step_stats import StepTimes
    from pyfuncdbg.hosts.numpy.runtime.sessions.session_options import RunSettings, SessionOptions

Runner = Callable[[Execution, Sequence[Any]], tuple[Any, ...]]


class Pools:
    """The thread pools of a session, each made when a run first needs it."""

    def __init__(self, options: SessionOptions) -> None:
        self._options = options
        self._pools: dict[int, ThreadPool] = {}
        self._lock = new_lock()

    def runner(self, plan: CompiledPlan, settings: RunSettings, timing: StepTimes | None) -> Runner | None:
        """The runner of a plan with these settings; None for serial execution at full speed."""
        from pyfuncdbg.hosts.numpy.runtime.plans.parallel_runner import PooledRun
        threads = 1 if settings.pool < 0 else self._options.threads[settings.pool]
        overlap = threads > 1 and overlaps(plan)
        if not overlap and settings.deadline is None and timing is None:
            return None
        pool = self._pool(threads if overlap else 1)

        def run(execution: Execution, values: Sequence[Any]) -> tuple[Any, ...]:
            execution.deadline = settings.deadline
            found = PooledRun(plan, execution, pool, timing).run(values)
            execution.check_deadline()              # of a last step that took too long
            return found
        return run

    def _pool(self, threads: int) -> ThreadPool:
        from pyfuncdbg.hosts.numpy.runtime.plans.parallel_runner import ThreadPool
        with self._lock:
            if threads not in self._pools:
                self._pools[threads] = ThreadPool(threads)
            return self._pools[threads]

    def close(self) -> None:
        """End all threads."""
        with self._lock:
            for pool in self._pools.values():
                pool.close()
            self._pools.clear()
