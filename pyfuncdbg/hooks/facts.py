"""Facts of a host that no call shows: leaked registry entries, casts of values, functions that stay alive.

An adapter gathers them when asked, on any thread, and our own runtime counts them as they happen; observers judge from them
and X
"""
from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pyfuncdbg.hooks.locks import new_lock


@dataclass(frozen=True, slots=True)
class Fact:
    """One count or measurement: a total since the program began.

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


class FactCounter:
    """Counter of facts as they happen, while a program is examined. Any thread may count.

    Attributes:
        on: Whether the program is examined: else hosts count nothing.
    """

    def __init__(self) -> None:
        self.on = False
        self._lock = new_lock()
        self._counts: Counter[tuple[Any, ...]] = Counter()

    def add(self, kind: str, filename: str, line: int, **data: str | int) -> None:
        """Count one more occurrence at a line of the program.

        Args:
            kind, filename, line: As in `Fact`.
            **data: Occurrences with other data are counted apart.
        """
        with self._lock:
            self._counts[kind, filename, line, *data.items()] += 1

    def facts(self) -> Iterator[Fact]:
        """The facts so far; `count` in their data says how often."""
        with self._lock:
            counts = dict(self._counts)
        for (kind, filename, line, *data), count in counts.items():
            yield Fact(kind, 0, filename, line, {**dict(data), 'count': count})


fact_counter = FactCounter()
"""Counter of this process."""

_readers: list[Callable[[Iterable[Fact]], None]] = []


def on_report(reader: Callable[[Iterable[Fact]], None]) -> None:
    """Call `reader` with the facts that a host reports, also in processes that are forked from now on."""
    _readers.append(reader)


def report(facts: Iterable[Fact]) -> None:
    """Report the facts of this process, which another one has started and which ends now.

    Args:
        facts: Totals since it was started.
    """
    facts = list(facts)
    for reader in _readers:
        reader(facts)
