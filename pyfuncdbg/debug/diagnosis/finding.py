"""A fault at a script op: what is wrong where, with figures, and the line of code that mends it."""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple


class Place(NamedTuple):
    """A line of the program; '' and 0 if unknown."""

    filename: str
    line: int


Figure = int | float | str


@dataclass(frozen=True, slots=True)
class Finding:
    """One fault.

    Attributes:
        kind: 'leak', 'tape cache', 'shape', 'order', 'serial', 'gil', 'text', 'dtype', 'outputs', 'gradient', 'backward',
            'write', 'export', 'lost'.
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


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What was found in a trace.

    Attributes:
        findings: By place in the program.
        calls: How many calls of Python functions were judged, at `sites` places.
        examined: Whether the program ran under doctor: else only calls could be judged.
        tensorflow: Version of the TensorFlow that was examined, '' if there was none.
        raised: The exception that ended the program, as one line.
        ended: Whether the program ended the usual way; else facts are as of `until` seconds after its start.
    """

    findings: tuple[Finding, ...]
    calls: int
    sites: int
    examined: bool
    tensorflow: str = ''
    raised: str = ''
    ended: bool = True
    until: float = 0.0
