"""Policy of a recording: what is kept of each call. Set before it starts; read on the threads of the calls."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pyfuncdbg.errors import TraceError
from pyfuncdbg.hooks.call import Kind
from pyfuncdbg.observers.record.log.program_environment import process_environment
from pyfuncdbg.observers.record.records import Level
from pyfuncdbg.observers.record.snapshots.snapshot import SCALARS

_LARGEST_SCALAR = 16


@dataclass(frozen=True, slots=True)
class RecordingPolicy:
    """Amount that is kept of calls and tensors.

    Attributes:
        level: Of each tensor.
        full_limit: At level 'stats', tensors up to this many bytes are kept whole.
        ops: Whether graph nodes are recorded too.

    Raises:
        TraceError: There is no such level.
    """

    level: Level = 'stats'
    full_limit: int = 64 << 10
    ops: bool = False

    def __post_init__(self) -> None:
        if self.level not in ('none', 'stats', 'full'):
            raise TraceError(f"no such level: {self.level!r}; expected 'none', 'stats' or 'full'")

    @property
    def kinds(self) -> frozenset[Kind]:
        """Kinds of calls that are recorded."""
        return frozenset(('python', 'gradient', 'run', *(('op',) if self.ops else ())))

    @property
    def scalars(self) -> frozenset[type]:
        """Types of the values that are queued as they are."""
        keeps = self.level == 'full' or (self.level == 'stats' and self.full_limit >= _LARGEST_SCALAR)
        return frozenset(SCALARS) if keeps else frozenset()

    def facts(self, budget: int) -> dict[str, Any]:
        """What the trace says of it, and of the process.

        Args:
            budget: Bytes of the trace.

        Returns:
            Plain data of the process record.
        """
        return {'level': self.level, 'full_limit': self.full_limit, 'budget': budget, 'ops': self.ops,
                **process_environment()}
