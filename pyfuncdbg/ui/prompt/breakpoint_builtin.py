"""`breakpoint()`: in a wrapped function Python's own opens our prompt, elsewhere it does what it did before.

`install` is called by `import pyfuncdbg` and loads nothing; the rest happens on the thread that calls `breakpoint()`.
"""
from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

Hook = Callable[..., Any]


class BreakpointHook:
    """Replacement for `sys.breakpointhook`.

    Calling it passes the arguments to the hook that applies, with no frame of ours in between: pdb takes its caller's frame
    for the one to debug. That is why `__call__` is a property, which only chooses.

    Attributes:
        before: The hook that was there.
    """

    def __init__(self, before: Hook) -> None:
        self.before = before

    @property
    def __call__(self) -> Hook:
        """Our stop in a wrapped function; elsewhere, and where PYTHONBREAKPOINT names something, the hook before."""
        if os.environ.get('PYTHONBREAKPOINT'):
            return self.before
        from pyfuncdbg.hooks.call_frames import is_inside_function  # a program that never comes here need not have it
        return stop if is_inside_function(sys._getframe(1)) else self.before


def install() -> None:
    """Put the hook in its place, over whatever is there; again if it was replaced since."""
    if not isinstance(sys.breakpointhook, BreakpointHook):
        sys.breakpointhook = BreakpointHook(sys.breakpointhook)


def stop(*args: Any, header: str | None = None, **options: Any) -> None:
    """Stop at the next line of the caller, as pdb does; at its return where there is none.

    Args:
        header: What the stop gives as its reason.
        *args, **options: Of other debuggers; nothing here.
    """
    if os.environ.get('PYTHONBREAKPOINT') == '0':
        return
    from pyfuncdbg.hooks import process_invitations
    process_invitations.accept_expected()       # the first process of the program debugs from now on
    from pyfuncdbg.observers.debug.debugger import debugger
    if debugger.left:
        return                                  # the user has said quit
    from pyfuncdbg.ui.prompt import install as front_ends
    front_ends.install(debugger)
    debugger.start()
    debugger.stop_here(sys._getframe(1), header or 'breakpoint()')
