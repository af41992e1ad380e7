"""A fault at a script op: what is wrong where, with figures, and the line of code that mends it.

Made by the judges of `diagnose`, drawn by `views/doctor`; plain data.
"""
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


@dataclass(frozen=True, slots=True)
class Use:
    """How the function at a place used the interpreter; times in seconds.

    Attributes:
        site, place: As of a finding.
        calls: How often it was called.
        together: Calls that were under way at once, at most.
        cpu: On the CPU in all calls.
        wall: In all calls, from their begin to their end: on the CPU, waiting for the GIL, and waiting for anything else.
        busy: Time in which at least one call was under way.
        span: From the first call to the end of the last one.
        arrival: What a thread that came then had to wait for the GIL, in the mean of those that tried; None if none did.
    """

    site: str
    place: Place
    calls: int
    together: int
    cpu: float
    wall: float
    busy: float
    span: float
    arrival: float | None

    @property
    def waiting(self) -> float:
        """Seconds of all calls that were not on the CPU."""
        return max(self.wall - self.cpu, 0.0)

    @property
    def computing(self) -> float:
        """How many calls computed at once, in the mean of the time in which any was under way."""
        return self.cpu / self.busy if self.busy > 0 else 0.0

    @property
    def share(self) -> float:
        """Part of the time from the first call to the last in which one was under way."""
        return min(self.busy / self.span, 1.0) if self.span > 0 else 0.0


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What was found in a trace.

    Attributes:
        findings: By place in the program.
        calls: How many calls of Python functions were judged, of `sites` script ops.
        examined: Whether the program ran under doctor: else only calls could be judged.
        tensorflow: Version of the TensorFlow that was examined, '' if there was none.
        raised: The exception that ended the program, as one line.
        ended: Whether the program ended the usual way; else facts are as of `until` seconds after its start.
        uses: The functions in which most time was spent, the first of them most.
    """

    findings: tuple[Finding, ...]
    calls: int
    sites: int
    examined: bool
    tensorflow: str = ''
    raised: str = ''
    ended: bool = True
    until: float = 0.0
    uses: tuple[Use, ...] = ()
