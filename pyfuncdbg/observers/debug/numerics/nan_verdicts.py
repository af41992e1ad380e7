"""Verdicts on non-finite values: in which call NaN or infinity was born, who inherited it, who masked it.

Works on a recorded trace, after the run or during it, on any thread; the views and the commands call it.
"""
# long: one verdict for each way in which a call can meet a non-finite value
from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from pyfuncdbg.errors import CommandError
from pyfuncdbg.hooks.call import Kind
from pyfuncdbg.observers.debug.batched_calls import Tell, read_calls, report_part
from pyfuncdbg.observers.debug.inspecting.recorded_graph import site_graph
from pyfuncdbg.observers.debug.numerics.data_order import in_data_order, tensor_key
from pyfuncdbg.observers.record.records import CallRecord, RunRecord, TensorRecord

if TYPE_CHECKING:                               # a program that is only stopped loads no index
    from pyfuncdbg.observers.record.trace import Trace

Verdict = Literal['born', 'suspected', 'fed', 'entered', 'inherited', 'masked']
"""What a call has to do with non-finite values.

`born`: every input is finite, an output is not. `suspected`: NumPy reported an error in it, and its outputs were not kept.
`fed`: the value came in with a feed of the run; the call is the first that took it, or the run itself where no recorded
call did. `entered`: it came in from nodes that were not recorded, and nothing recorded explains it. `inherited`: it came
from an earlier call. `masked`: it came in, and every output is finite.
"""

JUDGED = 5_000
"""Calls with non-finite values that are judged; the rest are counted."""

SUSPECTS = 1_000
"""Calls that said something which are searched for errors that NumPy reported."""

KINDS: tuple[Kind, ...] = ('python', 'op', 'gradient')


@dataclass(frozen=True, slots=True)
class ReportedLine:
    """A line where NumPy reported a floating-point error, in its own words."""

    filename: str
    line: int
    function: str
    category: str
    """'invalid', 'divide', 'over', 'under', or the class of the warning."""
    text: str


@dataclass(frozen=True, slots=True)
class NanVerdict:
    """The verdict on one call.

    Attributes:
        call: Which call.
        slot: Of `tensor`: an output if no input is bad, otherwise the input by which the value came.
        tensor: The first non-finite tensor of that side; `tensor.stats.first_bad` is the index. If suspected, the first
            output that was not kept.
        places: Lines that NumPy blamed in this call, in order of time; empty if it was silenced.
        origin: Number of the call from which it was inherited, '' if none.
        certain: False if something about the inputs was not kept, so that 'born' may be too hard a word; or if the way
            from the origin was not recorded, so that 'inherited' is the likely one of several stories.
    """

    verdict: Verdict
    call: CallRecord
    slot: int
    tensor: TensorRecord
    places: tuple[ReportedLine, ...] = ()
    origin: str = ''
    certain: bool = True


@dataclass(frozen=True, slots=True)
class Health:
    """All verdicts on one trace.

    Attributes:
        findings: In order of time, or of the values' way where that is another.
        unjudged: Calls with non-finite values beyond the first `JUDGED`.
    """

    findings: tuple[NanVerdict, ...]
    unjudged: int = 0

    def with_verdicts(self, *verdicts: Verdict) -> tuple[NanVerdict, ...]:
        """The findings with one of these verdicts."""
        return tuple(finding for finding in self.findings if finding.verdict in verdicts)

    @property
    def origins(self) -> tuple[NanVerdict, ...]:
        """The origins of non-finite values: born, suspected, fed or entered."""
        return self.with_verdicts('born', 'suspected', 'fed', 'entered')

    def by_call(self) -> dict[str, NanVerdict]:
        """The findings by call number."""
        return {finding.call.number: finding for finding in self.findings}


def judge(trace: Trace, limit: int = JUDGED, tell: Tell | None = None) -> Health:
    """Find where non-finite values began and where they went.

    Looks at Python calls, gradient steps, and graph nodes where recorded; `tell` is called with the number read so far.
    """
    counts = [trace.count(kind=kind, bad=True) for kind in KINDS]
    total, awaited = sum(counts), sum(min(count, limit) for count in counts)
    met: list[CallRecord] = []
    for kind in KINDS:
        met += read_calls(trace, report_part(tell, len(met), awaited), kind=kind, bad=True, limit=limit)
    runs = trace.calls(kind='run', bad=True, limit=limit)
    fed = untaken_feeds(runs, met)
    calls = in_data_order(sorted((*(run for run in runs if run.number in fed), *met, *_suspects(trace)), key=_end_time))
    tracker = _Tracker(trace, fed)
    findings = [finding for call in calls[:limit] if (finding := tracker.judge(call)) is not None]
    return Health(_innermost(findings, _Above(trace, runs)), max(0, total - limit))


def _end_time(call: CallRecord) -> float:
    """A gradient step comes when it has ended: after the steps inside the function that it goes back through."""
    return call.started + (call.duration or 0.0) if call.site.kind == 'gradient' else call.started


def _suspects(trace: Trace) -> list[CallRecord]:
    """Calls with finite or unknown values in which NumPy reported an error and outputs were lost.

    Among the first that said anything, and in the first run that fetched or was fed a non-finite value.
    """
    runs = trace.calls(kind='run', bad=True, limit=1)
    places: list[int | None] = [None, *(run.run for run in runs)]
    said = [call for run in places
            for call in trace.calls(kind='python', run=run, bad=False, printed=True, limit=SUSPECTS)]
    return list({call.number: call for call in said if _missing_output(call) is not None}.values())


def first_bad(tensors: Sequence[TensorRecord]) -> int | None:
    """Slot of the first tensor that holds a NaN or an infinity."""
    return next((i for i, tensor in enumerate(tensors) if tensor.stats is not None and tensor.stats.bad), None)


def is_array(tensor: TensorRecord) -> bool:
    """Whether it is a tensor of values, not a handle or another object."""
    return tensor.dtype != 'object'


def reported_lines(call: CallRecord) -> tuple[ReportedLine, ...]:
    """The lines that NumPy reported in a call, each once, in order of time; underflow is no cause of NaN."""
    places: dict[tuple[str, int], ReportedLine] = {}
    for record in sorted(call.output, key=lambda record: record.kind != 'fp'):
        numeric = record.kind == 'fp' or (record.kind == 'warning' and record.category.endswith('RuntimeWarning'))
        if numeric and record.filename and record.category != 'under':
            places.setdefault((record.filename, record.line),
                              ReportedLine(record.filename, record.line, record.function, record.category, record.text))
    return tuple(places.values())


@dataclass(slots=True)
class _Tracker:
    """Tracker of non-finite values through calls that come in order of time."""

    trace: Trace
    fed_runs: dict[str, int]
    """By number of a run: the slot of a feed that no recorded call took."""
    _made: dict[tuple[object, ...], str] = field(default_factory=dict)
    """By key of a tensor: the call in which the value began."""
    _kinds: dict[tuple[int, int], str] = field(default_factory=dict)
    """By process and run: its kind."""
    _last: dict[tuple[int, int], str] = field(default_factory=dict)
    """By process and run: where the latest value of the run began."""
    _alike: dict[tuple[object, ...], list[str]] = field(default_factory=dict)
    """By process, run (None for all of them) and content: where tensors that hold this began, each once, the latest last."""
    _origins: dict[tuple[int, int, str], None] = field(default_factory=dict)
    """Process, run and origin of all values, in order of time."""
    _infinite: dict[str, bool] = field(default_factory=dict)
    """By call where values began: whether there were infinities among them."""
    _first: dict[int, str] = field(default_factory=dict)
    """By process: where the first value of all began; variables carry it to later runs."""
    _origin: dict[str, str] = field(default_factory=dict)
    """By call number: where the values that it met began."""
    _behind: dict[str, str] = field(default_factory=dict)
    """By forward call: where the values of the latest gradient step through it began."""
    _fed: dict[tuple[int, int], frozenset[str]] = field(default_factory=dict)

    def judge(self, call: CallRecord) -> NanVerdict | None:
        if call.site.kind == 'run':
            return self._fed_run(call)
        input_slot = first_bad(call.inputs)
        output_slot = first_bad(call.outputs)
        if input_slot is None:
            if output_slot is None:
                return self._judge_suspect(call)
            before = self._forward(call)
            if before is not None:
                self._note_origin(call, before)
                return NanVerdict('inherited', call, output_slot, call.outputs[output_slot], reported_lines(call), before,
                                  certain=before in (self._origin.get(call.forward), self._behind.get(call.forward)))
            if call.site.traits.runs_graph and (call.process, call.run) in self._last:
                return self._judge_read(call, output_slot)     # it was born inside, in an op that was recorded
            has_forward = call.site.kind != 'gradient' or bool(call.forward)
            if call.site.kind == 'op' and not any(is_array(tensor) for tensor in call.inputs):
                return self._judge_read(call, output_slot)
            certain = has_forward and all(tensor.stats is not None or tensor.absent for tensor in call.inputs)
            self._note_origin(call, call.number)
            return NanVerdict('born', call, output_slot, call.outputs[output_slot], reported_lines(call), certain=certain)
        tensor = call.inputs[input_slot]
        source, certain = self._source(call, tensor)
        if output_slot is None and call.outputs and call.error is None:
            if call.site.kind == 'op' and call.site.traits.reads_no_value:
                return None                     # a finite output of it masks nothing
            return NanVerdict('masked', call, input_slot, tensor, origin=source or '', certain=certain)
        if source is not None:
            self._note_origin(call, source)
            return NanVerdict('inherited', call, input_slot, tensor, reported_lines(call), source, certain)
        self._note_origin(call, call.number)
        return NanVerdict('fed' if tensor.name in self._feeds(call) else 'entered', call, input_slot, tensor,
                          reported_lines(call))

    def _fed_run(self, run: CallRecord) -> NanVerdict | None:
        """A feed that no recorded call took; what explains the arguments of a function is an earlier call."""
        if run.process in self._first and not run.site.traits.fed_run:
            return None
        self._origin[run.number] = self._last[run.process, run.run] = run.number
        self._first.setdefault(run.process, run.number)
        slot = self.fed_runs[run.number]
        return NanVerdict('fed', run, slot, run.inputs[slot])

    def _judge_read(self, call: CallRecord, slot: int) -> NanVerdict:
        """The verdict on a node without array inputs: it read the value from a variable, which an earlier call assigned."""
        earlier = self._last.get((call.process, call.run)) or self._first.get(call.process)
        self._note_origin(call, earlier or call.number)
        return NanVerdict('inherited' if earlier else 'entered', call, slot, call.outputs[slot], origin=earlier or '',
                          certain=False)

    def _forward(self, call: CallRecord) -> str | None:
        """The origin for a gradient step whose inputs are finite: it also uses the values of the forward pass."""
        if call.site.kind != 'gradient':
            return None
        origin = (self._origin.get(call.forward) or self._behind.get(call.forward)
                  or self._last.get((call.process, call.run)))
        if origin is None and not call.forward:      # its forward values were not recorded: a variable may have carried it
            origin = self._first.get(call.process)
        return origin

    def _judge_suspect(self, call: CallRecord) -> NanVerdict | None:
        slot = _missing_output(call)
        if slot is None:
            return None
        self._note_origin(call, call.number)
        return NanVerdict('suspected', call, slot, call.outputs[slot], reported_lines(call), certain=False)

    def _source(self, call: CallRecord, tensor: TensorRecord) -> tuple[str | None, bool]:
        """The call in which an input's value began, None if no earlier one explains it; and whether its way was recorded."""
        known = self._known(call, tensor) if tensor.name else None
        if known is not None:
            return known, True
        if tensor.name in self._feeds(call):
            record = self._run(call)
            alike = self._alike.get((call.process, None, *_content(tensor)))
            if record is None or record.kind != 'function' or not alike:
                return None, True
            return alike[-1], False             # an argument of a function: an earlier call made it
        return self._likely_origin(call, tensor), False

    def _known(self, call: CallRecord, tensor: TensorRecord) -> str | None:
        """Where a value began that a recorded call gave by its name; a gradient step's site is of no graph."""
        key = self._key(call, tensor)
        if key in self._made or not site_graph(call.site):
            return self._made.get(key)
        return self._made.get((call.process, call.run, 0, tensor.name))

    def _key(self, call: CallRecord, tensor: TensorRecord) -> tuple[object, ...]:
        """Equal for what one call gave and another took, if the names say so.

        The calls of functions and datasets whose run is not told are one run: there a name is that of a tensor only within
        one execution of one graph, in which each node is called once.
        """
        key = tensor_key(call, tensor.name)
        run = call.process, call.run
        if run not in self._kinds:
            record = self._run(call)
            self._kinds[run] = record.kind if record is not None else 'eager'
        if self._kinds[run] != 'eager' or not site_graph(call.site):
            return key
        return *key, call.ordinal, call.site.attrs.get('graph', call.site.attrs.get('function')), *_content(tensor)

    def _likely_origin(self, call: CallRecord, tensor: TensorRecord) -> str | None:
        """The origin of a value whose way was not recorded: that of a tensor that held the same, in its run or any, else the
        latest in its run that can have become it, else the first of all."""
        run = call.process, call.run
        for place in (call.run, None):
            if alike := self._alike.get((call.process, place, *_content(tensor))):
                return alike[-1]
            if place is not None and run in self._last:
                can_be = (origin for (*of, origin) in reversed(self._origins) if (*of,) == run and (
                    self._infinite.get(origin, True) or tensor.stats is None or tensor.stats.nan))  # NaN never becomes Inf
                return next(can_be, self._last[run])
        return self._first.get(call.process)

    def _note_origin(self, call: CallRecord, origin: str) -> None:
        run = (call.process, call.run)
        self._last[run] = origin
        self._origin[call.number] = origin
        if call.forward:
            self._behind[call.forward] = origin
        self._first.setdefault(call.process, origin)
        if origin == call.number:
            self._infinite[origin] = _holds_infinity(call)
        self._origins.setdefault((*run, origin))
        for tensor in call.inputs if origin == call.number else ():     # what came in from outside: it has no maker
            if tensor.name and tensor.stats is not None and tensor.stats.bad:
                self._made.setdefault(self._key(call, tensor), origin)
        for tensor in call.outputs:
            if tensor.stats is not None and tensor.stats.bad:
                if tensor.name:                 # of a node in a loop the latest
                    self._made[self._key(call, tensor)] = origin
                for place in (call.run, None):
                    origins = self._alike.setdefault((call.process, place, *_content(tensor)), [])
                    if origin in origins:
                        origins.remove(origin)
                    origins.append(origin)

    def _feeds(self, call: CallRecord) -> frozenset[str]:
        """Names of the tensors that were fed with non-finite values in a call's run."""
        run = (call.process, call.run)
        if run not in self._fed:
            self._fed[run] = frozenset(_bad_names(self._run(call)))
        return self._fed[run]

    def _run(self, call: CallRecord) -> RunRecord | None:
        try:
            return self.trace.run(call.run, call.process)
        except CommandError:                    # the log was cut before the run's record
            return None


def _content(tensor: TensorRecord) -> tuple[object, ...]:
    """Equal for tensors that hold the same, as far as it was kept."""
    return tensor.dtype, tensor.shape, tensor.key if tensor.key is not None else tensor.stats


def _holds_infinity(call: CallRecord) -> bool:
    """Whether there are infinities among what a call got or gave."""
    return any(tensor.stats is not None and tensor.stats.bad > tensor.stats.nan for tensor in (*call.inputs, *call.outputs))


def _missing_output(call: CallRecord) -> int | None:
    """Slot of the first output that was not kept, in a call for which NumPy reported an error."""
    slot = next((i for i, tensor in enumerate(call.outputs)
                 if tensor.level == 'none' and tensor.stats is None and not tensor.absent), None)
    return slot if slot is not None and reported_lines(call) else None


def _bad_names(run: RunRecord | None) -> list[str]:
    if run is None:
        return []
    return [tensor.name for tensor in run.feeds if tensor.name and tensor.stats is not None and tensor.stats.bad]


def _innermost(findings: list[NanVerdict], above: _Above) -> tuple[NanVerdict, ...]:
    """A call in which another one gave birth has inherited from it: the inner one is nearer to the cause.

    A call whose inputs are not all known may also have got it as a call inside of it did, from an earlier one.
    """
    findings = _with_forward_values(findings)
    inner: dict[str, str] = {}
    outer_origins: dict[str, str] = {}
    doubted = {finding.call.number for finding in findings if not finding.certain}
    for finding in findings:
        if finding.verdict == 'born' or (doubted and finding.verdict == 'inherited'):
            for number in above.of(finding.call):
                if finding.verdict == 'born':
                    inner.setdefault(number, finding.call.number)
                elif number in doubted and finding.certain:
                    outer_origins.setdefault(number, finding.origin)
    result = []
    for finding in findings:
        number = finding.call.number if finding.verdict == 'born' else finding.origin
        if number and not finding.certain:
            number = inner.get(finding.call.number) or outer_origins.get(finding.call.number, number)
        origin = _follow(number, inner)
        result.append(finding if origin == number == finding.origin or origin == finding.call.number else replace(
            finding, verdict='inherited' if finding.verdict == 'born' else finding.verdict, origin=origin))
    known = {finding.call.number: finding.origin for finding in result if finding.verdict == 'inherited'}
    return tuple(replace(finding, origin=_follow(finding.origin, known)) if finding.origin in known else finding
                 for finding in result)


def _with_forward_values(findings: list[NanVerdict]) -> list[NanVerdict]:
    """What a function in a gradient step gives is likely from where the step has it: from the values of the forward pass."""
    steps = {finding.call.number: finding for finding in findings if finding.call.site.kind == 'gradient'
             and finding.verdict == 'inherited' and first_bad(finding.call.inputs) is None}
    return [replace(finding, verdict='inherited', origin=step.origin, certain=False)
            if finding.verdict == 'born' and (step := steps.get(finding.call.parent)) is not None
            and step.origin != finding.call.number else finding for finding in findings]


class _Above:
    """The calls that a call was made in, the nearest first: in their functions, and in runs inside of them."""

    def __init__(self, trace: Trace, runs: Iterable[CallRecord]) -> None:
        self._trace = trace
        self._runs = {(run.process, run.run): run.parent for run in runs}
        self._parents: dict[str, str] = {}

    def of(self, call: CallRecord) -> list[str]:
        numbers: list[str] = []
        number = call.parent or self._around(call)
        while number and number not in numbers:
            numbers.append(number)
            number = self._next(number)
        return numbers

    def _next(self, number: str) -> str:
        if number not in self._parents:
            try:
                call = self._trace.call(number)
            except CommandError:                # it was not recorded, or lost
                self._parents[number] = ''
            else:
                self._parents[number] = call.parent or self._around(call)
        return self._parents[number]

    def _around(self, call: CallRecord) -> str:
        """The call that made the run of a call."""
        key = call.process, call.run
        if key not in self._runs:
            runs = self._trace.calls(kind='run', run=call.run, limit=10)
            self._runs[key] = next((run.parent for run in runs if run.process == call.process), '')
        return self._runs[key]


def _follow(number: str, inner: dict[str, str]) -> str:
    """The end of a chain of calls in calls; a damaged trace may hold a circle."""
    seen: set[str] = set()
    while number in inner and number not in seen:
        seen.add(number)
        number = inner[number]
    return number


def untaken_feeds(runs: Iterable[CallRecord], calls: Iterable[CallRecord]) -> dict[str, int]:
    """The runs with a non-finite feed that none of these calls took, by number, with the slot of the first such feed."""
    used = {(call.process, call.run, tensor.name) for call in calls for tensor in call.inputs}
    slots: dict[str, int] = {}
    for run in runs:
        # What a backward pass gives are gradients; the arguments of a function may be what another call made.
        if run.site.traits.backward_pass or (run.parent and not run.site.traits.fed_run):
            continue
        for slot, tensor in enumerate(run.inputs):
            if tensor.stats is not None and tensor.stats.bad and (run.process, run.run, tensor.name) not in used:
                slots.setdefault(run.number, slot)
    return slots
