"""A plan run for a session: what a kernel raises becomes TensorFlow's error, which names the node and where it was made.

Inside of the run's own call, so that those who watch runs see the error that the program sees. On the thread of the run.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pyfuncdbg.errors import InvalidArgumentError
from pyfuncdbg.hooks.call_frames import tells_failure
from pyfuncdbg.hooks.chain import hooks
from pyfuncdbg.hosts.numpy.graph.definitions.registry import IF, STATELESS_IF
from pyfuncdbg.hosts.numpy.graph.types.dtypes import bool as boolean
from pyfuncdbg.hosts.numpy.runtime.execution.execution import Execution
from pyfuncdbg.hosts.numpy.runtime.execution.failure import KERNEL_ERRORS, session_error
from pyfuncdbg.hosts.numpy.runtime.plans.executor import execute
from pyfuncdbg.hosts.numpy.runtime.plans.plan import Plan, failed_in
from pyfuncdbg.hosts.numpy.runtime.plans.step import Step


def check_conditions(steps: Sequence[Step]) -> None:
    """Refuse a `cond` on another dtype than bool: TensorFlow does before a run of a graph, while a function takes any.

    Raises:
        InvalidArgumentError: Always then.
    """
    for step in steps:
        if step.op.type in (IF, STATELESS_IF) and step.op.inputs[0].dtype is not boolean:
            raise InvalidArgumentError(None, None, (
                f"Graph execution error:\n\nInput 'pred' passed {step.op.inputs[0].dtype.kernel_name} expected bool while "
                f"building NodeDef '{step.op.name}/switch_pred/_2' using Op<name=Switch; signature=data:T, pred:bool -> "
                'output_false:T, output_true:T; attr=T:type>'))


@tells_failure(failed_in)
def run_located(plan: Plan, execution: Execution, values: Sequence[Any],
                pooled: Callable[[Sequence[Any]], tuple[Any, ...]] | None = None) -> tuple[Any, ...]:
    """The results of a plan; `pooled` runs it where it is not to be run step after step on this thread.

    Raises:
        OpError: A node failed.
    """
    try:
        if pooled is not None:
            return pooled(values)
        if hooks.op or execution.paused:
            return execute(plan, execution, values)
        execution.feeds = values
        return plan.function(execution, *values)
    except KERNEL_ERRORS as error:
        step = execution.failed or plan.failed_step(error)
        if step is None:
            raise
        raised: Any = session_error(error, step.op)
        if raised is error:
            raise
        raise raised from error
    finally:
        raised = None                           # its traceback leads here: a cycle that would keep the run's arrays
