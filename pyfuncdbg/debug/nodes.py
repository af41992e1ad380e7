"""Steps through the nodes of a paused run: what `node`, `into`, `to`, `rewind` and `retry` do.

Runs on the thread of the run. Works on `RunControl` only, so on any host that can pause.
"""
from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, cast

from pyfuncdbg.debug.stop import Decision, Stop
from pyfuncdbg.hooks.call import Run
from pyfuncdbg.hooks.host import RunControl

if TYPE_CHECKING:
    from pyfuncdbg.debug.debugger import Debugger


def pausable(run: Run | None) -> bool:
    """Whether the run can be stopped before its next node."""
    return run is not None and run.control is not None


def pause(debugger: Debugger, run: Any, decision: Decision) -> None:
    """Carry out a decision as soon as the run is between two nodes."""
    run.control.pause(lambda: _carried_out(debugger, run, decision))


def _carried_out(debugger: Debugger, run: Run, decision: Decision) -> None:
    """The run is paused for the first time since the decision."""
    control = cast(RunControl, run.control)
    if decision.verb == 'to':
        if decision.argument > control.position:
            control.pause(lambda: _paused(debugger, run))
            control.go_to(decision.argument)
            return
    elif decision.verb == 'rewind' and decision.argument < control.position:
        control.rewind(decision.argument)
    _paused(debugger, run)


def _paused(debugger: Debugger, run: Run) -> None:
    """Ask the user at a node, and do what the answer is."""
    control = cast(RunControl, run.control)
    stop = Stop('node', run=run, frame=sys._getframe(), reason='node')
    decision = debugger.stopped(stop)
    control.pause(lambda: _paused(debugger, run))
    position = control.position
    if decision.verb in ('cont', 'run', 'quit'):
        control.resume()
    elif decision.verb in ('node', 'next', 'return', 'until'):
        control.go_to(position + 1)
    elif decision.verb in ('into', 'step'):
        debugger.flow(stop.thread).entering = True
        control.go_to(position + 1)
    elif decision.verb == 'to':
        control.go_to(decision.argument)
    elif decision.verb == 'rewind':
        control.rewind(decision.argument)
    elif decision.verb == 'retry':
        control.retry()
        control.go_to(control.position + 1)
