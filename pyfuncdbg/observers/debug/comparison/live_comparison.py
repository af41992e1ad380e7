"""Comparison of a running program with a recording of it, call by call, up to the first divergence (`run --against`).

The debugger asks it around each call, on the thread of the call: before it with the inputs, after it with what came out.
It reads the recording, one call at a time, and keeps no value of the program.
"""
from __future__ import annotations

import contextlib
import os
import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from pyfuncdbg.errors import CommandError, DroppedError, TraceError
from pyfuncdbg.hooks.call import Call, Kind
from pyfuncdbg.hooks.locks import new_lock
from pyfuncdbg.hooks.output import numpy_errstate
from pyfuncdbg.observers.debug.comparison.divergence import Divergence
from pyfuncdbg.observers.debug.comparison.divergence_causes import with_causes
from pyfuncdbg.observers.debug.comparison.divergence_text import divergence_text
from pyfuncdbg.observers.debug.comparison.live_values import CallTensor, call_tensors, values_key
from pyfuncdbg.observers.debug.comparison.record_comparison import Content, RecordComparison, RecordDifference, Rules
from pyfuncdbg.observers.debug.comparison.trace_comparison import counts_across, hosts_of
from pyfuncdbg.observers.record.index.grouped_calls import GroupedCalls, GroupKey
from pyfuncdbg.observers.record.index.state_records import CallState
from pyfuncdbg.observers.record.recorder import recorders
from pyfuncdbg.observers.record.records import CallRecord, RunRecord
from pyfuncdbg.observers.record.snapshots.error_capture import error_text
from pyfuncdbg.observers.record.snapshots.site_notes import name_and_code
from pyfuncdbg.observers.record.trace import Trace

_KINDS: frozenset[Kind] = frozenset(('python', 'gradient', 'run'))
_AHEAD = 16
"""Recorded calls that may be missing before one that is recognized by its inputs."""
_NEAR = 64
"""Recorded calls among which one of another thread is looked for by tolerance."""
_NEXT = 8
"""Calls among which one is looked for that holds a state."""
_MOST_NAMED = 3
_ALONE = RecordDifference('calls')


@dataclass(frozen=True, slots=True)
class Match:
    """A call and its counterpart in the recording.

    Attributes:
        comparison: That has found it.
        record: The counterpart; None if the recording has none.
        divergence: What differs already, before the call.
    """

    comparison: LiveComparison
    record: CallRecord | RunRecord | None
    divergence: Divergence | None

    @property
    def reason(self) -> str:
        """The reason to stop before the call; '' if there is none."""
        return divergence_text(self.divergence, self.comparison.name) if self.divergence is not None else ''

    def end(self, call: Call, outputs: Sequence[object], error: BaseException | None = None) -> str:
        """The reason to stop after the call; '' if there is none.

        Args:
            call: The call, which is over.
            outputs: The host's own values; none if it raised.
            error: What it raised.
        """
        if self.record is None or self.divergence is not None:
            return ''
        divergence = self.comparison.compare_results(call, self.record, outputs, error)
        return divergence_text(divergence, self.comparison.name) if divergence is not None else ''


class _Sequence:
    """The recorded calls of one site, or runs of one plan, and which of them the program has made.

    Args:
        rows: In the order of ordinals.
        read: Reads one.
    """

    def __init__(self, rows: Sequence[int], read: Callable[[int], CallRecord | RunRecord]) -> None:
        self._rows = rows
        self._read = read
        self._next = 0
        self._made: set[int] = set()
        """Those beyond the next one, made by threads that were faster."""
        self._by_inputs: dict[tuple[object, ...], deque[int]] | None = None

    def left(self) -> list[int]:
        """The places of those that were not made."""
        return [place for place in range(self._next, len(self._rows)) if place not in self._made]

    def record(self, place: int) -> CallRecord | RunRecord:
        return self._read(self._rows[place])

    def next_places(self, most: int) -> list[int]:
        """The places of those that come next."""
        places: list[int] = []
        place = self._next
        while place < len(self._rows) and len(places) < most:
            if place not in self._made:
                places.append(place)
            place += 1
        return places

    def take(self, place: int) -> None:
        """The program has made this one."""
        self._made.add(place)
        while self._next in self._made:
            self._made.discard(self._next)
            self._next += 1

    def find(self, inputs: Sequence[CallTensor]) -> int | None:
        """The first of those that were not made with these very inputs."""
        if self._by_inputs is None:
            self._by_inputs = {}
            for place in self.left():
                with contextlib.suppress(DroppedError):
                    key = values_key(Content.of(self.record(place)).inputs)
                    self._by_inputs.setdefault(key, deque()).append(place)
        candidates = self._by_inputs.get(values_key(inputs))
        while candidates:
            place = candidates.popleft()
            if place >= self._next and place not in self._made:
                return place
        return None


class LiveComparison:
    """A comparison of this process with the first process of a recording.

    Args:
        trace: The recording, which stays open.
        name: Of the recording, for messages.
        rules: What counts as a difference.

    Attributes:
        first: The first divergence; after it nothing is compared any more.
        kinds: Kinds of calls that are compared: nodes of graphs only where the recording has them.
        calls, runs: How many were compared so far.
        failure: Why the recording cannot be read any more, which ends the comparison; else ''.
    """

    def __init__(self, trace: Trace, name: str, rules: Rules) -> None:
        self.name = name
        self.first: Divergence | None = None
        self.calls = self.runs = 0
        self.failure = ''
        self._trace = trace
        self._rules = rules
        self._records = RecordComparison(rules)
        self._lock = new_lock()
        self._process = os.getpid()
        self._keys: dict[int, GroupKey] = {}
        self._hosts = hosts_of(trace)
        self._across = False
        """A call is of a host that the recording has no calls of."""
        calls, runs = trace.groups()
        self.kinds: frozenset[Kind] = _KINDS | ({'op'} if trace.info().ops else frozenset())
        self._sequences = {**_sequences(calls, trace.grouped_call, self.kinds), **_sequences(runs, trace.grouped_run)}

    @property
    def unknown(self) -> int:
        """How many tensors could not be compared, for their values were not kept."""
        return self._records.unknown

    @property
    def ignores_missing(self) -> bool:
        """Whether recorded calls that the program does not make do not count."""
        return 'calls' in self._rules.ignored

    def wants(self, kind: Kind) -> bool:
        """Whether calls of this kind are compared now."""
        return self.first is None and not self.failure and kind in self.kinds and os.getpid() == self._process

    def begin(self, call: Call) -> Match | None:
        """Find the counterpart of a call that begins, and compare the inputs; None if it is not compared."""
        if not self.wants(call.site.kind) or (call.site.kind == 'run' and call.run.kind == 'eager'):
            return None
        if call.site.host.name not in self._hosts:
            self._across = True
            key = self._key(call)
            if not counts_across(key, on_both=key in self._sequences):
                return None
        inputs = call_tensors(call.run.feeds if call.site.kind == 'run' else call.site.inputs, call.inputs, call.site.host)
        token = numpy_errstate.state.set(numpy_errstate.IGNORE)     # floating-point errors here are not the program's
        try:
            with self._lock:
                if self.first is not None:
                    return None
                match = self._match(call, inputs)
                self.first = match.divergence
                return match
        except TraceError as error:
            self.failure = str(error)
            return None
        finally:
            numpy_errstate.state.reset(token)

    def _match(self, call: Call, inputs: Sequence[CallTensor]) -> Match:
        if call.site.kind == 'run':
            self.runs += 1
        else:
            self.calls += 1
        sequence = self._sequences.get(self._key(call))
        places = sequence.next_places(_AHEAD + 1) if sequence is not None else []
        if sequence is None or not places:
            return Match(self, None, _divergence(_ALONE, call, None) if 'calls' not in self._rules.ignored else None)
        first = sequence.record(places[0])
        difference = self._compare_inputs(first, inputs)
        if difference is None:
            sequence.take(places[0])
            return Match(self, first, None)
        if threading.get_native_id() != threading.main_thread().native_id:      # other threads were slower, or faster
            place = sequence.find(inputs)
            if place is None:
                place = next((place for place in sequence.next_places(_NEAR) if self._compare_inputs(
                    sequence.record(place), inputs) is None), None)
            if place is not None:
                sequence.take(place)
                return Match(self, sequence.record(place), None)
        for place in places[1:] if not self.ignores_missing else ():
            record = sequence.record(place)
            if self._compare_inputs(record, inputs) is None:
                return Match(self, None, _left_out(first, record))
        sequence.take(places[0])
        return Match(self, first, _divergence(difference, call, first))

    def _compare_inputs(self, record: CallRecord | RunRecord, inputs: Sequence[CallTensor]) -> RecordDifference | None:
        unknown = self._records.unknown
        recorded = Content(Content.of(record).inputs, (), ended=False)
        difference = self._records.compare(recorded, Content(inputs, (), ended=False))
        if difference is not None:              # not the counterpart, maybe
            self._records.unknown = unknown
        return difference

    def compare_results(self, call: Call, record: CallRecord | RunRecord, outputs: Sequence[object],
                        error: BaseException | None) -> Divergence | None:
        """Compare what came out of a call, and what it printed, with its counterpart.

        Args:
            call: The call, which is over.
            record: Its counterpart.
            outputs: The host's own values; none if it raised.
            error: What it raised.

        Returns:
            The first divergence of the program, if it is here.
        """
        content = replace(Content.of(record), inputs=())
        values = call_tensors(call.run.fetches if call.site.kind == 'run' else call.site.outputs, outputs, call.site.host)
        entries = () if call.output is None or call.site.kind == 'run' else tuple(call.output.entries)
        live = Content((), values, ': '.join(error_text(error)) if error is not None else '',
                       entries if call.output is not None else content.output)
        token = numpy_errstate.state.set(numpy_errstate.IGNORE)
        try:
            with self._lock:
                if self.first is not None:
                    return None
                difference = self._records.compare(content, live)
                if difference is not None and isinstance(record, CallRecord):
                    difference = self._with_causes(difference, call, record)
                if difference is not None and difference.kind not in self._rules.ignored:
                    self.first = _divergence(difference, call, record)
                return self.first
        finally:
            numpy_errstate.state.reset(token)

    def _with_causes(self, difference: RecordDifference, call: Call, record: CallRecord) -> RecordDifference:
        """The difference with what the function reads beside its inputs, as far as this program is recorded, too."""
        if call.site.kind != 'python' or not recorders():
            return difference
        with contextlib.suppress(TraceError, CommandError), recorders()[-1].trace() as trace:
            own = str(call.id)
            texts = record.site.source, trace.call(own).site.source
            edited = 'source' not in self._rules.ignored and '' not in texts and texts[0] != texts[1]
            states = self._trace.call_state(record.number), trace.call_state(own)
            beside = _neighbour_state(self._trace, record.number), _neighbour_state(trace, own)
            return with_causes(replace(difference, edited=edited), states, beside)
        return difference

    def missing(self) -> tuple[int, tuple[str, ...]]:
        """The recorded calls and runs that the program has not made: how many, and the first of them."""
        names: list[str] = []
        count = 0
        for key, sequence in self._sequences.items():
            if self._across and key[1] not in ('python', 'session'):
                continue
            places = sequence.left()
            count += len(places)
            for place in places[:_MOST_NAMED - len(names)]:
                with contextlib.suppress(TraceError):
                    record = sequence.record(place)
                    number = f'#{record.number}' if isinstance(record, CallRecord) else f'run #{record.id}'
                    names.append(f'{record.label} ({number})')
        return count, tuple(names)

    def _key(self, call: Call) -> GroupKey:
        if call.site.kind == 'run':
            return call.run.label, call.run.kind, ''
        key = self._keys.get(call.site.id)
        if key is None:
            key = self._keys[call.site.id] = call.site.name, call.site.kind, name_and_code(call.site.function)[0]
        return key


def _divergence(difference: RecordDifference, call: Call, record: CallRecord | RunRecord | None) -> Divergence:
    """The divergence at a call; its counterpart may be missing."""
    function, code = name_and_code(call.site.function)
    what: Literal['call', 'run'] = 'run' if call.site.kind == 'run' else 'call'
    own, label = (call.run.id, call.run.title) if what == 'run' else (call.id, f'{call.site.name}[{call.ordinal}]')
    place = (code.co_filename, code.co_firstlineno) if code is not None else ('', 0)
    return Divergence(difference.kind, what, label, (_number(record), str(own)), function, place, difference.tensors,
                      difference.texts, 0.0, difference.generators, difference.reads, difference.edited)


def _left_out(record: CallRecord | RunRecord, later: CallRecord | RunRecord) -> Divergence:
    """The divergence where the program has not made a recorded call, but a later one."""
    site = record.site if isinstance(record, CallRecord) else None
    place = (site.filename, site.line) if site is not None else ('', 0)
    return Divergence('calls', 'call' if site is not None else 'run', record.label, (_number(record), ''),
                      site.function if site is not None else '', place, (),
                      ('', f'its inputs are those of {"#" if site is not None else "run #"}{_number(later)}'), 0.0)


def _number(record: CallRecord | RunRecord | None) -> str:
    return '' if record is None else record.number if isinstance(record, CallRecord) else str(record.id)


def _neighbour_state(trace: Trace, number: str) -> CallState:
    """The state of the next recorded call, or of the one before."""
    own = int(number)
    for other in (*range(own + 1, own + 1 + _NEXT), *range(own - 1, max(own - 1 - _NEXT, 0), -1)):
        with contextlib.suppress(CommandError):
            state = trace.call_state(other)
            if state.generators is not None:
                return state
    return CallState()


def _sequences(groups: GroupedCalls, read: Callable[[int], CallRecord | RunRecord],
               kinds: frozenset[str] | None = None) -> dict[GroupKey, _Sequence]:
    """The recorded calls of the first process by site."""
    sequences = {}
    for number, key in enumerate(groups.keys):
        part = slice(int(groups.bounds[number]), int(groups.bounds[number + 1]))
        own = (groups.process[part] == 1) & (groups.site[part] != 0)
        rows, sites = groups.rows[part][own], groups.site[part][own]
        if len(sites) and (sites != sites[0]).any():    # of one name, each with ordinals of its own
            rows = rows[np.argsort(groups.started[part][own], kind='stable')]
        if len(rows) and (kinds is None or key[1] in kinds):
            sequences[key] = _Sequence(np.asarray(rows).tolist(), read)
    return sequences
