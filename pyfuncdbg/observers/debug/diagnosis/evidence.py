"""The evidence in a trace: calls by place in the program, facts, and the program's statements.

`FactWriter` writes it there, in the program's process; `TraceEvidence` reads it, on the thread that asks for a diagnosis.
"""
from __future__ import annotations

import io
import linecache
import textwrap
import tokenize
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Any, Protocol

from pyfuncdbg.errors import CommandError, DroppedError
from pyfuncdbg.hooks.diagnosis import LAMBDA, InterpreterUse, Place, RecordedFact, SiteView, Spot, TensorView
from pyfuncdbg.hooks.facts import Fact
from pyfuncdbg.observers.debug.diagnosis.graph_context_hook import KIND as SURROUNDINGS
from pyfuncdbg.observers.record.index.site_usage import SiteUse
from pyfuncdbg.observers.record.records import CallRecord, SiteRecord, TensorRecord
from pyfuncdbg.observers.record.trace import Trace
from pyfuncdbg.observers.record.trace_info import TraceInfo

FACT, STATEMENT = 'fact', 'statement'
"""Kinds of notes in a trace."""
READ = 1_000
"""Calls of a place that are read, the newest."""
_FRAMES = 4


class TraceEvidence:
    """An `Evidence`: one trace, read once."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.facts: dict[str, list[RecordedFact]] = {}
        self.sampled: dict[int, float] = {}
        self._statements: dict[Place, str] = {}
        for fact in self._newest():
            self.facts.setdefault(fact.kind, []).append(fact)
        for note in trace.notes(STATEMENT):
            place, text = _place_of(note.data), note.data.get('text')
            if isinstance(text, str):
                self._statements[place] = text
        self._around = {(fact.process, fact.site): fact.data for fact in self.facts_of_kind(SURROUNDINGS)}
        columns = {(fact.process, fact.site): fact.number('column') for fact in self.facts_of_kind(LAMBDA)}
        self._uses = {(use.site.process, use.site.id): use for use in trace.usage()}
        self.spots = tuple(_spots(trace, self._uses, columns))

    def _newest(self) -> Iterator[RecordedFact]:
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
                yield RecordedFact(kind, note.process, site if type(site) is int else 0, _place_of(note.data), data)

    def facts_of_kind(self, kind: str) -> list[RecordedFact]:
        """The facts of a kind."""
        return self.facts.get(kind, [])

    def facts_at(self, kind: str, spot: Spot) -> list[RecordedFact]:
        """The facts of a kind about the sites of a place."""
        sites = {(site.process, site.id) for site in spot.sites}
        return [known for known in self.facts_of_kind(kind) if (known.process, known.site) in sites]

    def graph_attributes(self, site: SiteView) -> Mapping[str, Any]:
        """The attributes of a site, with what the graph around it says."""
        return {**site.attrs, **self._around.get((site.process, site.id), {})}

    def statement(self, place: Place) -> str:
        """The program's statement at a place, '' if the trace does not hold it."""
        return self._statements.get(place, '')

    def use(self, spot: Spot) -> InterpreterUse | None:
        """The use of the interpreter by the function at a place; None if nothing was measured."""
        facts = self.facts_at('occupancy', spot)
        return _use(spot, facts) if facts else None

    def backward_sites(self) -> Iterator[tuple[SiteView, int]]:
        """The sites of backward steps, and how many steps each made."""
        return ((use.site, use.calls) for use in self.trace.usage() if use.site.kind == 'gradient')

    def failed_steps(self, limit: int) -> Sequence[CallRecord]:
        """Backward steps that raised."""
        return self.trace.calls(kind='gradient', failed=True, limit=limit)

    def creation_place(self, number: str) -> Place:
        """The place at which the program made the node of a call; an unknown place where that is not in the trace."""
        try:
            stack = self.trace.call(number).site.stack if number else ()
        except CommandError:
            stack = ()
        return Place(stack[-1].filename, stack[-1].line) if stack else Place('', 0)

    @cached_property
    def _info(self) -> TraceInfo:
        return self.trace.info()

    @property
    def passes(self) -> int:
        """How many backward passes the program has asked for."""
        return self._info.passes

    @cached_property
    def pids(self) -> Mapping[int, int]:
        """Process ids, by number of the process in the trace."""
        return dict(enumerate(self._info.processes, 1))

    def run_label(self, number: str) -> str:
        """The label of the run of a call."""
        call = self.trace.call(number)
        return self.trace.run(call.run, call.process).label

    def scalar(self, tensor: TensorView) -> Any:
        """The value of a tensor without dimensions; None where it was not kept."""
        if tensor.shape or not isinstance(tensor, TensorRecord):
            return None
        try:
            return tensor.to_numpy().tolist()
        except DroppedError:
            return None

    def time_at(self, site: SiteView) -> tuple[int, float]:
        """How many calls a site has made that have ended, and their seconds."""
        use = self._uses.get((site.process, site.id))
        return (use.finished, use.total) if use is not None else (0, 0.0)

    def graph_sites(self, site: SiteView) -> Sequence[SiteRecord]:
        """The sites of a graph that a site is in, in order; () if none is known."""
        known = {other.id: other for other in self.trace.sites() if other.process == site.process}
        plan = next((plan for plan in self.trace.plans() if plan.process == site.process and site.id in plan.sites), None)
        return [known[id] for id in plan.sites if id in known] if plan is not None else ()


def _use(spot: Spot, facts: Sequence[RecordedFact]) -> InterpreterUse:
    def seconds(name: str) -> float:
        return max(sum(fact.number(name) for fact in facts), 0) / 1e9
    asked_ns = sum(fact.number('asked') for fact in facts)
    return InterpreterUse(spot.title, spot.place, spot.count, max(fact.number('together') for fact in facts),
                          seconds('cpu'),
                          seconds('wall'), seconds('busy'), max(fact.number('span') for fact in facts) / 1e9,
                          seconds('waited') / asked_ns if asked_ns > 0 else None)


def _spots(trace: Trace, uses: Mapping[tuple[int, int], SiteUse], columns: Mapping[tuple[int, int], int]) -> Iterator[Spot]:
    groups: dict[tuple[Any, ...], list[SiteRecord]] = {}
    for site in trace.sites():
        if site.kind == 'python' and (site.process, site.id) in uses:
            column = columns.get((site.process, site.id), 0)
            groups.setdefault((_creation_place(site), column, site.op_type, site.function, site.host), []).append(site)
    for (place, column, *_), sites in groups.items():
        calls = [call for site in sites for call in trace.newest_calls(site, limit=READ)]
        calls.sort(key=lambda call: call.started)
        used = [uses[site.process, site.id] for site in sites]
        yield Spot(place, tuple(sites), tuple(calls[-READ:]), sum(use.calls for use in used),
                   sum(use.failed for use in used), sum(use.total for use in used), column)


def _creation_place(site: SiteRecord) -> Place:
    """The place at which the program made a node; the beginning of its function if that is unknown."""
    if site.stack:
        return Place(site.stack[-1].filename, site.stack[-1].line)
    return Place(site.filename, site.line)


def _place_of(data: Mapping[str, Any]) -> Place:
    filename, line = data.get('filename'), data.get('line')
    return Place(filename if isinstance(filename, str) else '', line if type(line) is int else 0)


class NoteTaker(Protocol):
    """Protocol of what takes notes for a trace: a `Recorder`."""

    def note(self, kind: str, data: Mapping[str, Any]) -> None:
        """Put something that is no call into the trace."""


class FactWriter:
    """Writer of facts, and of the statements they are about, into a trace. One thread at a time."""

    def __init__(self, notes: NoteTaker) -> None:
        self._notes = notes
        self._gathering = 0
        self._written: set[Place] = set()

    def write(self, facts: Iterable[Fact], stacks: Iterable[Iterable[Any]]) -> bool:
        """Write all facts; a later gathering replaces the earlier ones.

        Returns:
            Whether there are facts about calls yet.

        Args:
            facts: Totals since the program began.
            stacks: Creation stacks of the sites that were called.
        """
        self._gathering += 1
        places = [Place(frame.filename, frame.line) for stack in stacks for frame in list(stack)[-_FRAMES:]]
        has_calls = bool(places)
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
        return has_calls


_LONGEST = 4_000


def statement_at(filename: str, line: int) -> str:
    """The innermost statement around a line of a file, dedented; of one with a body its head; '' if unknown.

    Asked in the program's process, on a thread of ours: `ast.parse` there would make one of the program's own fail, which on
    Python 3.11 is not safe with threads. Tokens tell where statements begin and end as well.
    """
    lines = linecache.getlines(filename)
    first, last = next(((first, last) for first, last in _statements(''.join(lines)) if first <= line <= last), (0, 0))
    text = textwrap.dedent(''.join(lines[first - 1:last])).strip() if first else ''
    return text if len(text) <= _LONGEST else ''             # a fix needs the whole statement


_BETWEEN = frozenset((tokenize.NL, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER))
"""Tokens that no statement begins with."""


@lru_cache(maxsize=8)
def _statements(text: str) -> tuple[tuple[int, int], ...]:
    """First and last line of each statement, or of its head."""
    spans: list[tuple[int, int]] = []
    first = 0
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.NEWLINE:
                spans.append((first, token.start[0]))
                first = 0
            elif not first and token.type not in _BETWEEN:
                first = token.start[0]
    except (tokenize.TokenError, SyntaxError):  # the part before it is kept
        pass
    return tuple(spans)
