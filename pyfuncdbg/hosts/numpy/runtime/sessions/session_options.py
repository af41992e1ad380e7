"""Options of ConfigProto and RunOptions that this runtime obeys: threads, deadlines, timing of steps.

They are read once for a session and once for a run, from TensorFlow's messages or ours.
"""
from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter_ns
from typing import Any

from pyfuncdbg.errors import InvalidArgumentError


@dataclass(frozen=True, slots=True)
class SessionOptions:
    """Options of a session.

    Attributes:
        threads: How many steps of a run may overlap, for each thread pool that a run may choose.
        timeout: Milliseconds that a run may take, 0 without limit.
        merges: Whether equal calls without effect are made once.
        folds: Whether calls without effect on constants are made once for the session.
    """

    threads: tuple[int, ...] = (1,)
    timeout: int = 0
    merges: bool = True
    folds: bool = True


@dataclass(frozen=True, slots=True)
class RunSettings:
    """Settings of one run.

    Attributes:
        deadline: The `perf_counter_ns()` at which it should be over, None without limit.
        pool: Which of the session's pools it takes; -1 for the caller's thread alone.
        timed: Whether its steps are timed.
    """

    deadline: int | None = None
    pool: int = 0
    timed: bool = False


def session_options(config: Any) -> SessionOptions:
    """The options in a ConfigProto.

    Raises:
        TypeError: It is none.
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
    """The settings in RunOptions, with the session's where they say nothing.

    Raises:
        AttributeError: They are none.
        InvalidArgumentError: The session has no such thread pool.
    """
    timeout, pool, timed = session.timeout, 0, False
    if options:
        options.SerializeToString()
        timeout, pool, timed = options.timeout_in_ms or timeout, options.inter_op_thread_pool, options.trace_level > 0
        if not -1 <= pool < len(session.threads):
            raise InvalidArgumentError(None, None, f'Graph execution error:\n\nInvalid inter_op_thread_pool: {pool}')
    return RunSettings(perf_counter_ns() + timeout * 1_000_000 if timeout > 0 else None, pool, timed)
