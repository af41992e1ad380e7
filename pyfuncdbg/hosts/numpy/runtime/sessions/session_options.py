"""Options of ConfigProto and RunOptions with an effect in this runtime: threads, deadlines, timing of steps.

Parsed once per session and once per run, from TensorFlow's messages or ours.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any

from pyfuncdbg.errors import InvalidArgumentError
from pyfuncdbg.hooks.locks import new_lock
from pyfuncdbg.hosts.numpy.runtime.cluster.placement import Devices
from pyfuncdbg.hosts.numpy.runtime.execution.execution import Execution
from pyfuncdbg.hosts.numpy.runtime.plans.plan import CompiledPlan, overlaps

if TYPE_CHECKING:
    from pyfuncdbg.hosts.numpy.runtime.plans.parallel_runner import ThreadPool
    from pyfuncdbg.hosts.numpy.runtime.plans.step_stats import StepTimes


@dataclass(frozen=True, slots=True)
class SessionOptions:
    """Options of a session.

    Attributes:
        threads: Most overlapping steps of a run, for each thread pool.
        timeout: Time limit of a run in milliseconds, 0 without limit.
        merges: Whether equal stateless calls are merged.
        folds: Whether stateless calls on constants are made once per session.
    """

    threads: tuple[int, ...] = (1,)
    timeout: int = 0
    merges: bool = True
    folds: bool = True


@dataclass(frozen=True, slots=True)
class RunSettings:
    """Settings of one run.

    Attributes:
        deadline: Its end in `perf_counter_ns()`, None without limit.
        pool: Index of the session's thread pool; -1 for the caller's thread only.
        timed: Whether its steps are timed.
        partitioned: Whether the graph of each device is asked for.
    """

    deadline: int | None = None
    pool: int = 0
    timed: bool = False
    partitioned: bool = False


def session_options(config: Any) -> SessionOptions:
    """The options in a ConfigProto.

    Raises:
        TypeError: It is no ConfigProto.
    """
    if config is None:
        return SessionOptions()
    if getattr(getattr(config, 'DESCRIPTOR', None), 'name', '') != 'ConfigProto':
        raise TypeError(f'Argument `config` must be a tf.ConfigProto, but got "{type(config).__name__}"')
    threads = [pool.num_threads for pool in config.session_inter_op_thread_pool] or [config.inter_op_parallelism_threads]
    graph = config.graph_options
    merges = graph.optimizer_options.opt_level >= 0
    return SessionOptions(tuple(max(1, count) for count in threads), config.operation_timeout_in_ms, merges,
                          merges or not graph.rewrite_options.disable_meta_optimizer)


def run_settings(options: Any, session: SessionOptions) -> RunSettings:
    """The settings of RunOptions, with the session's as defaults.

    Raises:
        AttributeError: `options` are no RunOptions.
        InvalidArgumentError: The session has no such thread pool.
    """
    timeout, pool, timed, partitioned = session.timeout, 0, False, False
    if options:
        options.SerializeToString()
        timeout, pool, timed = options.timeout_in_ms or timeout, options.inter_op_thread_pool, options.trace_level > 0
        partitioned = options.output_partition_graphs
        if not -1 <= pool < len(session.threads):
            raise InvalidArgumentError(None, None, f'Graph execution error:\n\nInvalid inter_op_thread_pool: {pool}')
    return RunSettings(perf_counter_ns() + timeout * 1_000_000 if timeout > 0 else None, pool, timed, partitioned)


Runner = Callable[[Execution, Sequence[Any]], tuple[Any, ...]]


class Pools:
    """The thread pools of a session, created on demand.

    Attributes:
        elsewhere: Whether nodes run in other processes.
    """

    elsewhere = False

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
            results = PooledRun(plan, execution, pool, timing).run(values)
            execution.check_deadline()              # for a last step that took too long
            return results
        return run

    def partitions(self, plan: CompiledPlan, values: Sequence[Any], devices: Devices) -> Sequence[Any]:
        """The graph that each device runs, as GraphDefs; none where several are tasks of this process."""
        from pyfuncdbg.hosts.numpy.runtime.sessions.partition_graphs import local_partition  # loads the protobuf library
        return [local_partition(plan, devices.names()[0])] if len(devices.available) == 1 else ()

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
