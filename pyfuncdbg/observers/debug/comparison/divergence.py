"""Result of a comparison of two recordings, as plain data: the first divergence, and what differs around it."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from pyfuncdbg.observers.debug.comparison.value_difference import ValueDifference

Kind = Literal['value', 'shape', 'dtype', 'exception', 'unfinished', 'calls', 'print', 'warning', 'rng', 'source',
               'versions', 'environment', 'time']
KINDS: tuple[Kind, ...] = get_args(Kind)
"""Kinds of differences, each of which may be ignored. 'calls': a call or a run is on one side only. 'unfinished': it came to
an end on one side only. 'rng': something else came out, of the same inputs, and random generators were in another state."""


@dataclass(frozen=True, slots=True)
class TensorDifference:
    """One differing tensor of a call or a run.

    Attributes:
        kind: Of the difference.
        side: Whether it went in or came out.
        slot: Its place among the inputs or outputs.
        name: As one of the recordings names it; '' if neither does.
        texts: Both sides in a few words: dtype and shape, statistics, or the first differing element.
        value: The elements, where both sides kept them.
    """

    kind: Kind
    side: Literal['in', 'out']
    slot: int
    name: str
    texts: tuple[str, str]
    value: ValueDifference | None = None


@dataclass(frozen=True, slots=True)
class Divergence:
    """One call or run that is not the same on both sides.

    Attributes:
        kind: The first of its differences, by what a program notices first.
        what: 'call' or 'run'.
        label: 'norm[3]', 'Session.run'.
        numbers: Numbers of the call or run on both sides; '' where that side has none.
        function: Name of the Python function, '' if none.
        place: File and line of that function, ('', 0) if none.
        tensors: The tensors that differ, inputs first.
        texts: Both sides of an exception, a print or a warning, '' without one; of 'unfinished' how each side ended.
        at: Seconds from the start of the first recording; where it has no such call, when the call before it ended.
        generators: Random generators that were in another state when it began, and were drawn from.
        reads: What else its function reads that had other values.
        edited: Whether the text of its function is another one.
    """

    kind: Kind
    what: Literal['call', 'run']
    label: str
    numbers: tuple[str, str]
    function: str
    place: tuple[str, int]
    tensors: tuple[TensorDifference, ...]
    texts: tuple[str, str]
    at: float
    generators: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    edited: bool = False

    @property
    def inherited(self) -> bool:
        """Whether an input differs already: it begins with what gave that input, which was not recorded or is no call."""
        return any(tensor.side == 'in' for tensor in self.tensors)


@dataclass(frozen=True, slots=True)
class SourceDifference:
    """A function whose text is another one.

    Attributes:
        function, place: Its name, its file and line in the second recording.
        sources: Its text on both sides.
    """

    function: str
    place: tuple[str, int]
    sources: tuple[str, str]


@dataclass(frozen=True, slots=True)
class TimeDifference:
    """A site whose calls take longer on one side, beyond noise: medians in seconds."""

    site: str
    medians: tuple[float, float]
    calls: tuple[int, int]


@dataclass(frozen=True, slots=True)
class TraceDifference:
    """The result of a comparison.

    Attributes:
        names: Of both recordings.
        calls, runs: How many were compared, of both sides: pairs and those without a partner.
        first: The first divergence; None if there is none.
        later: How many further calls and runs diverge, by site and kind, the most first.
        versions: Versions that differ: (library, first, second).
        environment: What else differs around the programs: (what, first, second).
        sources: Functions that were changed.
        times: Sites that take longer on one side.
        unknown: Tensors without values on a side, and with equal statistics where both have some.
        ignored: Kinds that were not looked at.
        reordered: Calls that came in another order, of sites that are called on several threads: no difference.
        across: The recordings are of two hosts: their own steps, of gradients and in functions and datasets, do not count.
        gaps: What one of the recordings has not: damage, calls and prints beyond the budget. A call that only one side has
            may be in such a gap of the other.
    """

    names: tuple[str, str]
    calls: int
    runs: int
    first: Divergence | None
    later: tuple[tuple[str, Kind, int], ...]
    environment: tuple[tuple[str, str, str], ...]
    sources: tuple[SourceDifference, ...]
    times: tuple[TimeDifference, ...]
    unknown: int
    ignored: tuple[str, ...]
    versions: tuple[tuple[str, str, str], ...] = ()
    reordered: int = 0
    across: bool = False
    gaps: tuple[str, ...] = ()

    @property
    def same(self) -> bool:
        """Whether nothing differs that was not ignored."""
        return not (self.first or self.versions or self.environment or self.sources or self.times)
