"""Cost of watching graph nodes of a foreign host, which copies each value; our own runtime does not.

The host adds up on the threads of the nodes; the recorder writes the sum into its trace.
"""
from __future__ import annotations

from dataclasses import dataclass

from pyfuncdbg.hooks.locks import new_lock


@dataclass(frozen=True, slots=True)
class OpCost:
    """Sums of the cost since the process began.

    Attributes:
        calls: Executions of nodes that were watched.
        seconds: Time in the code that watches them, all threads together.
        nbytes: Bytes of the values that were copied.
    """

    calls: int = 0
    seconds: float = 0.0
    nbytes: int = 0

    def since(self, earlier: OpCost) -> OpCost:
        """The cost since an `earlier` sum."""
        return OpCost(self.calls - earlier.calls, self.seconds - earlier.seconds, self.nbytes - earlier.nbytes)


_lock = new_lock()
_total = OpCost()


def add(seconds: float, nbytes: int, calls: int = 1) -> None:
    """Add executions of nodes.

    Args:
        seconds, nbytes, calls: As in `OpCost`.
    """
    global _total
    with _lock:
        _total = OpCost(_total.calls + calls, _total.seconds + seconds, _total.nbytes + nbytes)


def total() -> OpCost:
    """The sums so far."""
    return _total
