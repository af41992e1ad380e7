"""Attribution of a Python call to one of several concurrent session runs of its graph.

TensorFlow hands a function its inputs and a device, and nothing of the run. A call is a run's if that waits on this very
thread, or if no other run can have made it: none that reaches the function, is not paused, and was fed what the call was
given. Asked on the thread of the call.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pyfuncdbg.hooks.call import Run
from pyfuncdbg.hooks.run_cursor import RunCursor
from pyfuncdbg.hosts.tensorflow.sessions.session_plan import Plan, PlanKey
from pyfuncdbg.hosts.tensorflow.sessions.stepped_run import SteppedRun


def run_of(going: Sequence[Run], token: str, inputs: Sequence[Any], thread: int) -> Run | None:
    """The run that makes a call; None if several may.

    Args:
        going: Those of the graph that go on, in order of their beginning.
        token: Of the function that is called, as its node has it.
        inputs: Of the call; empty where they are not known.
        thread: Native id of the thread that makes it.
    """
    own = next((run for run in reversed(going) if run.thread == thread), None)
    if own is not None:                         # a thread that waits for a run does nothing for others
        return own
    makers = [run for run in going if _may_make(run, token, inputs)]
    return makers[0] if len(makers) == 1 else None


def _may_make(run: Run, token: str, inputs: Sequence[Any]) -> bool:
    plan = run.form.plan() if isinstance(run.form, PlanKey) else None
    if plan is None:                            # a partial run: what it is asked for changes as it goes on
        return True
    now, control = range(len(plan.nodes)), run.control
    if isinstance(control, RunCursor) and isinstance(control.nodes, SteppedRun):
        now = range(0) if control.asking else control.nodes.running()
    return any(place in now and not _differs(plan, run.fed, place, inputs) for place in plan.callers(token))


def _differs(plan: Plan, fed: Sequence[Any], place: int, inputs: Sequence[Any]) -> bool:
    """Whether a node was certainly given something else than these inputs, for the program fed it."""
    op = plan.nodes[place]
    if len(inputs) != len(op.inputs):
        return False
    by_name = dict(zip(plan.feed_names, fed, strict=False))
    return any(tensor.name in by_name and not _may_be(by_name[tensor.name], value)
               for tensor, value in zip(op.inputs, inputs, strict=True))


def _may_be(fed: Any, value: Any) -> bool:
    """Whether a value can be the one that was fed: false only where both are known bit for bit."""
    if hasattr(value, '_numpy_internal'):
        value = value.numpy() if value.dtype.name not in ('resource', 'variant') else None
    if value is None:
        return True
    one, other = np.asarray(fed), np.asarray(value)
    if one.dtype.hasobject or other.dtype.hasobject or one.dtype.kind in 'SU' or other.dtype.kind in 'SU':
        first, second = one.tolist(), other.tolist()
        return bool(_encoded(first) == _encoded(second))
    if one.dtype != other.dtype:                # fed as a handle, or converted
        return True
    return one.shape == other.shape and np.array_equal(_bytes(one), _bytes(other))


def _bytes(array: Any) -> np.ndarray:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


def _encoded(value: Any) -> Any:
    """Strings as TensorFlow has them."""
    if isinstance(value, list):
        return [_encoded(one) for one in value]
    return value.encode() if isinstance(value, str) else value
