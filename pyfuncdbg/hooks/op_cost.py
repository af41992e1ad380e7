"""Cost of watching graph nodes of a foreign host, which copies each value; our own runtime does not.

The adapter adds up on the threads of the nodes; the recorder notes the sum in its trace.
"""
from __future__ import annotations

from dataclasses import dataclass

from pyfuncdbg.hooks.locks import new_lock


@dataclass(frozen=True, slots=True)
class OpCost:
    """Sums of the cost since the process began.

    Attributes:
        calls: Executions of nodes that were seen.
        seconds: Time in what sees them, of all threads together.
        nbytes: Payload of what was handed over.
    """

    calls: int = 0
    seconds: float = 0.0
    nbytes: int = 0

    def since(self, before: OpCost) -> OpCost:
        """The cost that was added since an earlier sum."""
        return OpCost(self.calls - before.calls, self.seconds - before.seconds, self.nbytes - before.nbytes)


_lock = new_lock()
_total = OpCost()


def add(seconds: float, nbytes: int) -> None:
    """One node was seen."""
    global _total
    with _lock:
        _total = OpCost(_total.calls + 1, _total.seconds + seconds, _total.nbytes + nbytes)


def total() -> OpCost:
    """The sums so far."""
    return _total
