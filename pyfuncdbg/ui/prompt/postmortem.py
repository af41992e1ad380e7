"""`pm()`: look at the frames of an error that is over.

On the thread that calls it.
"""
from __future__ import annotations

import sys
import threading

from pyfuncdbg.errors import CommandError
from pyfuncdbg.observers.debug.debugger import debugger
from pyfuncdbg.observers.debug.inspecting.stack import NodeEntry, original_error, stack_of
from pyfuncdbg.observers.debug.stops.stop import Stop
from pyfuncdbg.ui.commands.frames import chain_of
from pyfuncdbg.ui.prompt import install


def pm(error: BaseException | None = None) -> None:
    """Open a prompt on an error.

    Args:
        error: Of the traceback that is wanted; by default the one that was printed last, or is being handled.

    Raises:
        CommandError: There is none, or it has no frames.
    """
    if error is None:
        error = sys.exc_info()[1] or getattr(sys, 'last_exc', None) or getattr(sys, 'last_value', None)
    if error is None:
        raise CommandError('pm: no error was printed in this process; pass one: pyfuncdbg.pm(error)')
    if error.__traceback__ is None:
        raise CommandError(f'pm: this {type(error).__name__} was never raised: it has no frames')
    chain = tuple(chain_of(error))
    shown = original_error(error)
    stop = Stop('post-mortem', error=shown, reason=f'raised {type(shown).__name__}')
    stop.chain = chain
    node = getattr(getattr(error, 'op', None), 'name', '')
    if node and not any(isinstance(entry, NodeEntry) for entry in stack_of(stop)):
        stop.reason += f" in node '{node}'"     # of an error that has lost its frames
    install.install(debugger)
    plan = debugger.plan(threading.get_native_id())
    plan.asking = True
    try:
        debugger.broker.hold(stop)
    finally:
        plan.asking = False
        debugger.plans.pop(stop.thread, None)
