"""What a run is at while one of its Python calls is under way: the plan is found from its frame on the stack.

Asked by debuggers, on the thread of the run. A run at full speed keeps no books for it.
"""
from __future__ import annotations

import sys
from types import FrameType
from typing import TYPE_CHECKING

from pyfuncdbg.runtime.history import History
from pyfuncdbg.runtime.plan import Plan

if TYPE_CHECKING:
    from pyfuncdbg.hooks.host import RunView
    from pyfuncdbg.runtime.execution import Execution


def innermost(execution: Execution) -> RunView | None:
    """What the innermost plan of an execution is at that is under way on this thread."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_filename.startswith('<plan of ') and frame.f_locals.get('x') is execution:
            return _of_plan(frame, execution)
        executor = frame.f_locals.get('self') if frame.f_code.co_name == '_walk' else None
        if getattr(executor, 'execution', None) is execution:
            return executor
        frame = frame.f_back
    return None


def _of_plan(frame: FrameType, execution: Execution) -> History | None:
    plan: Plan = frame.f_globals['hand_over'].args[0]
    position = plan.step_at(frame.f_lineno)
    if position is None or position not in plan.during:
        return None
    history = History(plan, execution)
    history.values.load(execution.feeds, frame.f_locals, plan.during[position])
    history.position = position
    return history
