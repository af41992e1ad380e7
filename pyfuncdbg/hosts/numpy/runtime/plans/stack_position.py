"""Position of a run during one of its Python calls, from frames of the stack.

Debuggers call it, on the thread of the run. A run at full speed keeps no records for it.
"""
from __future__ import annotations

import sys
from types import FrameType
from typing import TYPE_CHECKING

from pyfuncdbg.hooks.run_cursor import RunCursor
from pyfuncdbg.hosts.numpy.runtime.execution.execution import Execution
from pyfuncdbg.hosts.numpy.runtime.plans.execution_history import CallMark, ExecutionHistory
from pyfuncdbg.hosts.numpy.runtime.plans.plan import CompiledPlan

if TYPE_CHECKING:
    from pyfuncdbg.hooks.host import RunView


def innermost(execution: Execution) -> RunView | None:
    """Position of the innermost plan of an execution that is under way on this thread."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_filename.startswith('<plan of ') and frame.f_locals.get('x') is execution:
            return _of_plan(frame, execution)
        cursor = frame.f_locals.get('cursor') if frame.f_code.co_name == 'execute' else None
        if isinstance(cursor, RunCursor) and getattr(cursor.nodes, 'execution', None) is execution:
            return cursor
        frame = frame.f_back
    return execution.standing()


def marked(execution: Execution) -> CallMark | None:
    """State before the Python call that a plan at full speed is at; None in one that runs step by step."""
    earlier = execution.marked
    if execution.used is not None and (earlier is None or execution.used is not earlier.used):
        return None                             # a step around this one keeps its own books
    view = innermost(execution)
    if not isinstance(view, ExecutionHistory):
        return None
    mark = view.mark()
    execution.used = mark.used
    return mark


def _of_plan(frame: FrameType, execution: Execution) -> ExecutionHistory | None:
    plan: CompiledPlan = frame.f_globals['hand_over'].args[0]
    position = plan.step_at(frame.f_lineno)
    if position is None or position not in plan.during:
        return None
    history = ExecutionHistory(plan, execution)
    history.values.load(execution.feeds, frame.f_locals, plan.during[position])
    history.position = position
    return history


Execution.locator = sys.modules[__name__]
