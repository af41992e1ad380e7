"""One-shot hook that stops the running program before its next wrapped call, on any thread.

It is outside of the debugger's hook. Without a request it is not installed and costs nothing.
"""
from __future__ import annotations

from collections.abc import Callable

from pyfuncdbg.hooks.call import Call, Kind
from pyfuncdbg.hooks.chain import Outputs, hooks
from pyfuncdbg.hooks.locks import new_lock
from pyfuncdbg.hooks.transparent_frames import transparent
from pyfuncdbg.observers.debug.debugger import DEPTH, debugger


class InterruptRequest:
    """Request to stop at one call. Asked for on any thread; asking twice before a call comes is asking once."""

    kinds: frozenset[Kind] = frozenset(('python',))
    passive = True

    def __init__(self) -> None:
        self._lock = new_lock()
        self._wanted = False

    def ask(self) -> None:
        """Stop before the next wrapped call."""
        debugger.start()
        with self._lock:
            self._wanted = True
            hooks.add(self, depth=DEPTH - 1)

    @transparent
    def around(self, call: Call, proceed: Callable[[], Outputs]) -> Outputs:
        plan = debugger.plans.get(call.thread)
        if (plan is None or not plan.asking) and self._is_first_call():
            debugger.plan(call.thread).next_call = True
        return proceed()

    def _is_first_call(self) -> bool:
        """Whether to stop at this call: the first after the request."""
        with self._lock:
            taken, self._wanted = self._wanted, False
            if taken:
                hooks.remove(self)
            return taken and debugger.on


interruption = InterruptRequest()
"""The request of this process."""
