"""What a host knows of its own faults and no call shows: leaked entries, values that were cast, functions that stay behind.

An adapter gathers them when asked, on any thread; observers judge from them and from the calls.
"""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing that was counted or measured: a total since the program began, not what is new.

    Attributes:
        kind: 'leak', 'tape', 'returned', 'export', 'missing', ...
        site: Id of the call site it is about; 0 if it is about a place in the program.
        filename, line: Place in the program's own code; '' and 0 if unknown.
        data: Figures, as plain data.
    """

    kind: str
    site: int = 0
    filename: str = ''
    line: int = 0
    data: Mapping[str, Any] = field(default_factory=dict)
