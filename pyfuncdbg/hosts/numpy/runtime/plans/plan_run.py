"""Execution of a plan for a program. A kernel's error becomes the program's error, which names the node.

Inside of a run's own call, so that those who watch runs see that error too. On the thread of the run.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pyfuncdbg.errors import OpError
from pyfuncdbg.hooks.call_frames import mark_failure_frame
from pyfuncdbg.hosts.numpy.graph.operation import Operation
from pyfuncdbg.hosts.numpy.runtime.execution.execution import Execution
from pyfuncdbg.hosts.numpy.runtime.execution.failure import KERNEL_ERRORS
from pyfuncdbg.hosts.numpy.runtime.plans.executor import execute
from pyfuncdbg.hosts.numpy.runtime.plans.plan import CompiledPlan, failed_in


@mark_failure_frame(failed_in)
def run_plan(plan: CompiledPlan, execution: Execution, values: Sequence[Any],
             error_of: Callable[[Exception, Operation], OpError],
             pooled: Callable[[Sequence[Any]], tuple[Any, ...]] | None = None) -> tuple[Any, ...]:
    """The results of a plan.

    Args:
        plan: What to run.
        execution: What it is part of.
        values: Those of its feeds.
        error_of: Makes the program's error of what a kernel raised, or completes that, and of the node.
        pooled: Runs it where it is not to be run step after step on this thread.

    Raises:
        OpError: A node failed.
    """
    try:
        return pooled(values) if pooled is not None else execute(plan, execution, values)
    except KERNEL_ERRORS as error:
        step = execution.failed or plan.failed_step(error)
        if step is None:
            raise
        raised: Any = error_of(error, step.op)
        if raised is error:
            raise
        raise raised from raised.__cause__ or error
    finally:
        raised = None                           # its traceback leads here: a cycle that would keep the run's arrays
