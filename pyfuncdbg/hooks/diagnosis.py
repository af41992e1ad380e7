"""Findings about wrapped functions, the doctors that find them, and the evidence that their judges see.

A host's doctor brings its judges. `observers.debug.diagnosis` lets them see a trace, through the Protocols here: calls by
place in the program, facts and statements. Pure, on the thread that asks for a diagnosis.
"""
from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from pyfuncdbg.hooks.call import Frame, Kind

LAMBDA = '<lambda>'
"""Name of a function that has none, and kind of the fact that says in which column it begins."""


class Place(NamedTuple):
    """A line of the program; '' and 0 if unknown."""

    filename: str
    line: int


class TensorView(Protocol):
    """A recorded tensor."""

    @property
    def dtype(self) -> str: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def changed(self) -> bool:
        """Whether the bytes of an input were others after the call."""
    @property
    def absent(self) -> bool:
        """Whether there was none."""


class ErrorView(Protocol):
    """A recorded exception; frames from the outermost one on."""

    @property
    def type(self) -> str: ...
    @property
    def message(self) -> str: ...
    @property
    def frames(self) -> Sequence[Frame]: ...


class SiteView(Protocol):
    """A recorded `CallSite`; `filename`, `line` and `source` are those of the function."""

    @property
    def id(self) -> int: ...
    @property
    def process(self) -> int: ...
    @property
    def name(self) -> str: ...
    @property
    def op_type(self) -> str: ...
    @property
    def kind(self) -> Kind: ...
    @property
    def host(self) -> str: ...
    @property
    def function(self) -> str: ...
    @property
    def filename(self) -> str: ...
    @property
    def line(self) -> int: ...
    @property
    def source(self) -> str: ...
    @property
    def stack(self) -> Sequence[Frame]: ...
    @property
    def inputs(self) -> Sequence[str]: ...
    @property
    def outputs(self) -> Sequence[str]: ...
    @property
    def attrs(self) -> Mapping[str, Any]: ...


class CallView(Protocol):
    """A recorded `Call`; `duration` is None if it has not ended."""

    @property
    def number(self) -> str: ...
    @property
    def site(self) -> SiteView: ...
    @property
    def inputs(self) -> Sequence[TensorView]: ...
    @property
    def outputs(self) -> Sequence[TensorView]: ...
    @property
    def error(self) -> ErrorView | None: ...
    @property
    def started(self) -> float:
        """Seconds since the trace began."""
    @property
    def duration(self) -> float | None: ...
    @property
    def forward(self) -> str:
        """Number of the call that a backward step differentiates; '' if there is none."""


@dataclass(frozen=True, slots=True)
class Spot:
    """Calls at one place in the program, which has several sites where a line is traced more than once.

    Attributes:
        sites: The sites; they share op type, function and place.
        calls: The newest calls, oldest first.
        count, failed: How many calls there were, and how many raised.
        seconds: All of them together.
        column: Where in its line the body of a lambda begins, which tells several in one line apart; 0 for other functions.
    """

    place: Place
    sites: Sequence[SiteView]
    calls: Sequence[CallView]
    count: int
    failed: int
    seconds: float
    column: int = 0

    @property
    def site(self) -> SiteView:
        """One of the sites, for what they share."""
        return self.sites[0]

    @property
    def name(self) -> str:
        """The name of one of its nodes."""
        return self.site.name

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all its nodes."""
        return tuple(dict.fromkeys(site.name for site in self.sites))

    @property
    def title(self) -> str:
        """'left, right', or 'left and 3 more'."""
        first, *more = self.names
        return f'{first} and {len(more)} more' if len(more) > 1 else ', '.join(self.names)


@dataclass(frozen=True, slots=True)
class RecordedFact:
    """A fact from a trace."""

    kind: str
    process: int
    site: int
    place: Place
    data: Mapping[str, Any]

    def number(self, name: str) -> int:
        """The figure `name`; 0 if there is none."""
        value = self.data.get(name)
        return value if type(value) is int else 0

    def text(self, name: str) -> str:
        """The text `name`; '' if there is none."""
        value = self.data.get(name)
        return value if isinstance(value, str) else ''


@dataclass(frozen=True, slots=True)
class InterpreterUse:
    """Use of the interpreter by the function at a place; times in seconds.

    Attributes:
        site, place: As of a finding.
        calls: How often it was called.
        most_at_once: Most calls that were under way at once.
        cpu: On the CPU in all calls.
        wall: In all calls, from start to end: on the CPU, waiting for the GIL, and waiting for anything else.
        busy: Time in which at least one call was under way.
        span: From the first call to the end of the last one.
        gil_wait: Mean time that a thread beginning a call waited for the GIL; None if none waited.
    """

    site: str
    place: Place
    calls: int
    most_at_once: int
    cpu: float
    wall: float
    busy: float
    span: float
    gil_wait: float | None

    @property
    def waiting(self) -> float:
        """Seconds of all calls that were not on the CPU."""
        return max(self.wall - self.cpu, 0.0)

    @property
    def computing(self) -> float:
        """The mean number of calls on the CPU at once, over the time in which any was under way."""
        return self.cpu / self.busy if self.busy > 0 else 0.0

    @property
    def share(self) -> float:
        """Part of the time from the first call to the last in which one was under way."""
        return min(self.busy / self.span, 1.0) if self.span > 0 else 0.0


class Evidence(Protocol):
    """Protocol of a trace as judges see it."""

    @property
    def spots(self) -> Sequence[Spot]:
        """The Python functions that were called, by place."""

    def facts_of_kind(self, kind: str) -> Sequence[RecordedFact]:
        """The facts of a kind."""

    def facts_at(self, kind: str, spot: Spot) -> Sequence[RecordedFact]:
        """The facts of a `kind` about the sites of a `spot`."""

    def graph_attributes(self, site: SiteView) -> Mapping[str, Any]:
        """The attributes of a `site`, and those of the graph around it."""

    def statement(self, place: Place) -> str:
        """The program's statement at a `place`, '' if the trace does not hold it."""

    def use(self, spot: Spot) -> InterpreterUse | None:
        """The use of the interpreter by the function of a `spot`; None if it was not measured."""

    def backward_sites(self) -> Iterable[tuple[SiteView, int]]:
        """The sites of backward steps, and how many steps each made."""

    @property
    def passes(self) -> int:
        """How many backward passes the program has asked for."""

    def failed_steps(self, limit: int) -> Sequence[CallView]:
        """The backward steps that raised, at most `limit`."""

    def creation_place(self, number: str) -> Place:
        """The program's line that created the node of call `number`; an unknown place if the trace does not hold it."""

    @property
    def pids(self) -> Mapping[int, int]:
        """Process ids, by number of the process in the trace."""

    def run_label(self, number: str) -> str:
        """The label of the run of call `number`."""

    def scalar(self, tensor: TensorView) -> Any:
        """The value of a `tensor` without dimensions; None where it was not kept."""

    def time_at(self, site: SiteView) -> tuple[int, float]:
        """The cost of a `site`.

        Returns:
            How many calls have ended, and how many seconds they took.
        """

    def graph_sites(self, site: SiteView) -> Sequence[SiteView]:
        """The sites of the graph that a `site` is in, in order; () if unknown."""


Figure = int | float | str


@dataclass(frozen=True, slots=True)
class Finding:
    """A fault at a place of the program.

    Attributes:
        kind: 'leak', 'tape cache', 'shape', 'untrue shape', 'order', 'serial', 'gil', 'text', 'dtype', 'outputs',
            'gradient', 'backward', 'write', 'export', 'lost', 'dead', 'repeated', 'blocking', 'error type', 'retraced',
            'copies', 'no fake', 'alias', 'kept', 'waits', 'worker error', 'worker death', 'loader', 'uneven'.
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
