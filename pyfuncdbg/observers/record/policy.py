"""Policy of a recording: what is kept of calls. Set before it starts; read on the threads of the calls."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pyfuncdbg.errors import TraceError
from pyfuncdbg.hooks.call import Kind
from pyfuncdbg.observers.record.dtypes import dtype_name
from pyfuncdbg.observers.record.level_rules import LevelRule, SiteLevel, level_rules
from pyfuncdbg.observers.record.log.program_environment import process_environment
from pyfuncdbg.observers.record.records import Level
from pyfuncdbg.observers.record.snapshots.snapshot import LARGEST, SCALARS

_LARGEST_SCALAR = 16


@dataclass(frozen=True, slots=True)
class RecordingPolicy:
    """Amount that is kept of calls and tensors.

    Attributes:
        rules: Level of the tensors by site and element type.
        full_limit: At level 'stats', tensors up to this many bytes are kept whole.
        ops: Whether graph nodes are recorded too.
        every: Calls of each site whose ordinal is a multiple of this are recorded.
    """

    rules: tuple[LevelRule, ...]
    full_limit: int = 64 << 10
    ops: bool = False
    every: int = 1

    @property
    def usual(self) -> SiteLevel:
        """The level of sites that no rule singles out."""
        return SiteLevel(next((rule.level for rule in self.rules if rule.key == '*'), 'stats'))

    @property
    def is_selective(self) -> bool:
        """Whether calls or sites are treated apart."""
        return self.every > 1 or self.rules != (LevelRule('*', self.usual.level),)

    @property
    def keeps_values(self) -> bool:
        """Whether anything is kept of any tensor."""
        return self.usual.level != 'none' or any(rule.level != 'none' for rule in self.rules)

    @property
    def kinds(self) -> frozenset[Kind]:
        """Kinds of calls that are recorded."""
        return frozenset(('python', 'gradient', 'run', *(('op',) if self.ops else ())))

    def limit(self, level: Level) -> int:
        """Bytes up to which a tensor is kept whole.

        Args:
            level: Of it.

        Returns:
            -1 if nothing is kept of it.
        """
        return {'none': -1, 'stats': self.full_limit, 'full': LARGEST}[level]

    def limits(self, level: SiteLevel) -> dict[str, int] | None:
        """The same by element type.

        Args:
            level: Of a site.

        Returns:
            For those that have a level of their own; None where none has.
        """
        return {name: self.limit(one) for name, one in level.by_type} or None

    def scalars(self, level: SiteLevel) -> frozenset[type]:
        """Types of the values that are queued as they are.

        Args:
            level: Of a site.

        Returns:
            Types of `SCALARS` that are kept whole whatever their size.
        """
        own, limit = self.limits(level) or {}, self.limit(level.level)
        return frozenset(kind for kind, dtype in SCALARS.items() if own.get(dtype_name(dtype), limit) >= _LARGEST_SCALAR)

    def facts(self, budget: int) -> dict[str, Any]:
        """What the trace says of it, and of the process.

        Args:
            budget: Bytes of the trace.

        Returns:
            Plain data of the process record.
        """
        level = ','.join(f'{rule.key}={rule.level}' for rule in self.rules)
        return {'level': level, 'full_limit': self.full_limit, 'budget': budget, 'ops': self.ops, 'every': self.every,
                **process_environment()}


def recording_policy(level: str, full_limit: int, ops: bool, every: int) -> RecordingPolicy:
    """Make a policy of what the user asks for.

    Args:
        level: A level, or rules.
        full_limit, ops, every: As the attributes.

    Returns:
        The policy.

    Raises:
        TraceError: There is no such level, or `every` is less than 1.
    """
    if every < 1:
        raise TraceError(f'every is {every}; expected an integer from 1 on: N records each Nth call of a site')
    return RecordingPolicy(level_rules(level), max(full_limit, 0), ops, every)
