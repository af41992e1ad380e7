"""What the judges look at: calls by place in the program, facts, and the program's statements, all from a trace.

`Gatherer` writes them there, in the program's process; `Evidence` reads them, on the thread that asks for a diagnosis.
"""
from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from pyfuncdbg.hooks.facts import Fact
from pyfuncdbg.observers.debug.diagnosis.finding import Place
from pyfuncdbg.observers.debug.diagnosis.graph_context_hook import KIND as SURROUNDINGS
from pyfuncdbg.observers.debug.diagnosis.script_call import ScriptCall, script_call, statement_at
from pyfuncdbg.observers.debug.queries import Queries
from pyfuncdbg.observers.record.records import CallRecord, SiteRecord

FACT, STATEMENT = 'fact', 'statement'
"""Kinds of notes in a trace."""
LAMBDA = '<lambda>'
"""Name of a function that has none, and kind of the fact that says in which column it begins."""
READ = 1_000
"""Calls of a place that are read, the newest."""
_FRAMES = 4


@dataclass(frozen=True, slots=True)
class Spot:
    """Everything that was called at one place in the program: a line makes several nodes when it is traced again.

    Attributes:
        sites: The sites; they share op type, function and place.
        calls: The newest calls, oldest first.
        count, failed: How many calls there were, and how many raised.
        seconds: All of them together.
        column: Where in its line the body of a lambda begins, which tells several in one line apart; 0 for other functions.
    """

    place: Place
    sites: tuple[SiteRecord, ...]
    calls: tuple[CallRecord, ...]
    count: int
    failed: int
    seconds: float
    column: int = 0

    @property
    def site(self) -> SiteRecord:
        """One of the sites, for what they share."""
        return self.sites[0]

    @property
    def name(self) -> str:
        """Of the node."""
        return self.site.name

    @property
    def names(self) -> tuple[str, ...]:
        """Of all its nodes: a line that is executed again may make one of another name."""
        return tuple(dict.fromkeys(site.name for site in self.sites))

    @property
    def title(self) -> str:
        """'left, right', or 'left and 3 more'."""
        first, *more = self.names
        return f'{first} and {len(more)} more' if len(more) > 1 else ', '.join(self.names)


@dataclass(frozen=True, slots=True)
class Known:
    """A fact out of a trace."""

    kind: str
    process: int
    site: int
    place: Place
    data: Mapping[str, Any]

    def number(self, name: str) -> int:
        """A figure of it; 0 if it is none."""
        value = self.data.get(name)
        return value if type(value) is int else 0

    def text(self, name: str) -> str:
        """A word of it; '' if it is none."""
        value = self.data.get(name)
        return value if isinstance(value, str) else ''


class Evidence:
    """One trace, read once."""

    def __init__(self, trace: Queries) -> None:
        self.trace = trace
        self.facts: dict[str, list[Known]] = {}
        self.sampled: dict[int, float] = {}
        self._statements: dict[Place, str] = {}
        for known in self._newest():
            self.facts.setdefault(known.kind, []).append(known)
        for note in trace.notes(STATEMENT):
            place, text = _place_of(note.data), note.data.get('text')
            if isinstance(text, str):
                self._statements[place] = text
        self._around = {(known.process, known.site): known.data for known in self.having(SURROUNDINGS)}
        columns = {(known.process, known.site): known.number('column') for known in self.having(LAMBDA)}
        self.spots = tuple(_spots(trace, columns))

    def _newest(self) -> Iterator[Known]:
        """The facts of each process's last gathering."""
        last: dict[int, int] = {}
        notes = self.trace.notes(FACT)
        for note in notes:
            gathering = note.data.get('gathering')
            if type(gathering) is int and gathering >= last.get(note.process, 0):
                last[note.process] = gathering
                self.sampled[note.process] = note.at
        for note in notes:
            data, kind, site = note.data.get('data'), note.data.get('kind'), note.data.get('site')
            if note.data.get('gathering') == last.get(note.process) and isinstance(data, dict) and isinstance(kind, str):
                yield Known(kind, note.process, site if type(site) is int else 0, _place_of(note.data), data)

    def having(self, kind: str) -> list[Known]:
        """The facts of a kind."""
        return self.facts.get(kind, [])

    def of(self, kind: str, spot: Spot) -> list[Known]:
        """The facts of a kind about the sites of a place."""
        sites = {(site.process, site.id) for site in spot.sites}
        return [known for known in self.having(kind) if (known.process, known.site) in sites]

    def around(self, site: SiteRecord) -> Mapping[str, Any]:
        """The attributes of a site, with what the graph around it says."""
        return {**site.attrs, **self._around.get((site.process, site.id), {})}

    def statement(self, place: Place) -> str:
        """The program's statement at a place, '' if the trace does not hold it."""
        return self._statements.get(place, '')

    def script_call(self, place: Place, function: str = '') -> ScriptCall | None:
        """The call of a script op at a place, taken apart: of several in its statement that of the function."""
        text = self.statement(place)
        return script_call(text, function.rpartition('.')[2]) if text else None

    def script_call_of(self, spot: Spot) -> ScriptCall | None:
        """The call that made a spot's nodes; of several lambdas in one line it is known by its column."""
        name = spot.site.function.rpartition('.')[2]
        if name != LAMBDA:
            return self.script_call(spot.place, name)
        columns = sorted({other.column for other in self.spots if other.place == spot.place and other.column})
        text = self.statement(spot.place)
        return script_call(text, name, columns.index(spot.column) if spot.column else -1, len(columns)) if text else None


def _spots(trace: Queries, columns: Mapping[tuple[int, int], int]) -> Iterator[Spot]:
    groups: dict[tuple[Any, ...], list[SiteRecord]] = {}
    uses = {(use.site.process, use.site.id): use for use in trace.usage()}
    for site in trace.sites():
        if site.kind == 'python' and (site.process, site.id) in uses:
            column = columns.get((site.process, site.id), 0)
            groups.setdefault((_made_at(site), column, site.op_type, site.function, site.host), []).append(site)
    for (place, column, *_), sites in groups.items():
        calls = [call for site in sites for call in trace.newest(site, limit=READ)]
        calls.sort(key=lambda call: call.started)
        used = [uses[site.process, site.id] for site in sites]
        yield Spot(place, tuple(sites), tuple(calls[-READ:]), sum(use.calls for use in used),
                   sum(use.failed for use in used), sum(use.total for use in used), column)


def _made_at(site: SiteRecord) -> Place:
    """Where the program made a node; where its function begins if that is unknown."""
    if site.stack:
        return Place(site.stack[-1].filename, site.stack[-1].line)
    return Place(site.filename, site.line)


def _place_of(data: Mapping[str, Any]) -> Place:
    filename, line = data.get('filename'), data.get('line')
    return Place(filename if isinstance(filename, str) else '', line if type(line) is int else 0)


class Notes(Protocol):
    """Takes notes for a trace: a `Recorder`."""

    def note(self, kind: str, data: Mapping[str, Any]) -> None:
        """Put something that is no call into the trace."""


class Gatherer:
    """Writes facts, and the statements they are about, into a trace. One thread at a time."""

    def __init__(self, notes: Notes) -> None:
        self._notes = notes
        self._gathering = 0
        self._written: set[Place] = set()

    def write(self, facts: Iterable[Fact], stacks: Iterable[Iterable[Any]]) -> bool:
        """Write all facts; a later gathering stands for the earlier ones.

        Returns:
            Whether there are facts about calls yet.

        Args:
            facts: Totals since the program began.
            stacks: Creation stacks of the sites that were called.
        """
        self._gathering += 1
        places = [Place(frame.filename, frame.line) for stack in stacks for frame in list(stack)[-_FRAMES:]]
        begun = bool(places)
        for fact in facts:
            places.append(Place(fact.filename, fact.line))
            self._notes.note(FACT, {'gathering': self._gathering, 'kind': fact.kind, 'site': fact.site,
                                    'filename': fact.filename, 'line': fact.line, 'data': dict(fact.data)})
        for place in places:
            if place not in self._written:
                self._written.add(place)
                text = statement_at(*place)
                if text:
                    self._notes.note(STATEMENT, {'filename': place.filename, 'line': place.line, 'text': text})
        return begun
