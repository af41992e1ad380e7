"""Findings about wrapped functions: place, figures, and the code that repairs the fault; and the doctors that find them.

A host's doctor brings its judges; `observers.debug.diagnosis` lets them see a trace. Pure, on the thread that asks.
"""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from pyfuncdbg.hooks.evidence import Evidence, Place

Figure = int | float | str


@dataclass(frozen=True, slots=True)
class Finding:
    """A fault at a place of the program.

    Attributes:
        kind: 'leak', 'tape cache', 'shape', 'untrue shape', 'order', 'serial', 'gil', 'text', 'dtype', 'outputs',
            'gradient', 'backward', 'write', 'export', 'lost'.
        site: Name of the node, or of the function.
        place: Where the program made it.
        what: What is wrong, in a sentence or two.
        figures: What was counted and measured, by name; names end in their unit: 'bytes', 'seconds', 'share'.
        fix: Code to paste.
        advice: What to do with it.
        calls: Numbers of calls that show it.
    """

    kind: str
    site: str
    place: Place
    what: str
    figures: dict[str, Figure] = field(default_factory=dict)
    fix: str = ''
    advice: str = ''
    calls: tuple[str, ...] = ()


class Judge(Protocol):
    """Finder of one kind of fault."""

    def __call__(self, evidence: Evidence) -> Iterator[Finding]:
        """The findings in a trace, each once."""


@dataclass(frozen=True, slots=True)
class Doctor:
    """The judges of one framework.

    Attributes:
        fact: Kind of the fact that says which version of the framework was examined.
        framework: Its name, as messages say it.
        judges: In the order in which findings at one place are listed.
    """

    fact: str
    framework: str
    judges: Sequence[Judge]
