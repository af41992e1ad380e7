"""Level rules of a recording: how much is kept of tensors, by site and element type.

    loss=full,float64=none,*=stats

Read before it starts; a site asks once, when it is met. The first rule that fits a tensor, by its site or its type, counts.
"""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import get_args

from pyfuncdbg.errors import TraceError, nearest
from pyfuncdbg.hooks.call import CallSite
from pyfuncdbg.observers.record.dtypes import STRING, is_dtype_name
from pyfuncdbg.observers.record.records import Level
from pyfuncdbg.observers.record.snapshots.site_notes import SiteNote

LEVELS: tuple[Level, ...] = get_args(Level)


@dataclass(frozen=True, slots=True)
class LevelRule:
    """One rule.

    Attributes:
        key: Glob on node name, op type or function name, or the name of an element type.
        level: Of the tensors that it fits.
    """

    key: str
    level: Level

    @property
    def is_of_type(self) -> bool:
        """Whether its key is an element type."""
        return self.key == STRING or is_dtype_name(self.key)


@dataclass(frozen=True, slots=True)
class SiteLevel:
    """Level of the tensors of one site.

    Attributes:
        level: Of all but those of some types.
        by_type: Of these, by name of the type.
    """

    level: Level
    by_type: tuple[tuple[str, Level], ...] = ()


def level_rules(text: str) -> tuple[LevelRule, ...]:
    """Read rules.

    Args:
        text: 'stats', or 'KEY=LEVEL,...'.

    Returns:
        The rules in order; a level alone is a rule for all.

    Raises:
        TraceError: There is no such level, or a rule has no key.
    """
    rules = []
    for part in text.split(','):
        key, equals, level = part.strip().rpartition('=')
        if level not in LEVELS or bool(key) != bool(equals):
            expected = f'expected {", ".join(LEVELS[:-1])} or {LEVELS[-1]}, or rules such as loss=full,*=stats'
            raise TraceError(f'no such level: {part.strip()!r}; {expected}.{nearest(level, LEVELS, 1)}')
        rules.append(LevelRule(key or '*', next(one for one in LEVELS if one == level)))
    return tuple(rules)


def site_level(rules: tuple[LevelRule, ...], site: CallSite) -> SiteLevel:
    """Apply rules to a site.

    Args:
        rules: In order.
        site: The site.

    Returns:
        Its level; 'stats' where no rule fits.
    """
    by_type: dict[str, Level] = {}
    function = SiteNote(site).function
    names = (site.name, site.op_type, function, function.rpartition('.')[2])
    for rule in rules:
        if rule.is_of_type:
            by_type.setdefault(rule.key, rule.level)
        elif any(name and fnmatchcase(name, rule.key) for name in names):
            return SiteLevel(rule.level, _sorted(by_type))
    return SiteLevel('stats', _sorted(by_type))


def _sorted(by_type: Mapping[str, Level]) -> tuple[tuple[str, Level], ...]:
    return tuple(sorted(by_type.items()))
