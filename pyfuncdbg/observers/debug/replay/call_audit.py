"""Audit of one recorded call: executions of its function, compared with each other, in its state and in another call's.

Each property is seen, never concluded from the source alone: a pure function has none. On the thread of the command.
"""
from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from pyfuncdbg.observers.debug.comparison.value_difference import Tolerance, ValueDifference, value_difference
from pyfuncdbg.observers.debug.gradients.call_again import RepeatedResult
from pyfuncdbg.observers.debug.replay import state_values
from pyfuncdbg.observers.debug.replay.audit_finding import AuditFinding, Label
from pyfuncdbg.observers.debug.replay.concurrent_writes import concurrent_write_remarks
from pyfuncdbg.observers.debug.replay.execution_observer import ExecutionObserver
from pyfuncdbg.observers.debug.replay.replay import LoadHost, Replayer
from pyfuncdbg.observers.debug.replay.replay_verdict import (
    DIFFERS,
    NOT_KNOWN,
    RAISES,
    error_text,
    judge,
    without_addresses,
)
from pyfuncdbg.observers.debug.replay.state_values import StatePlace, value_sides
from pyfuncdbg.observers.debug.replay.ticking_clock import EARLY, LATE
from pyfuncdbg.observers.record.index.state_records import CallState
from pyfuncdbg.observers.record.records import CallRecord
from pyfuncdbg.observers.record.trace import Trace

_EXECUTIONS = 3
_LONGEST = 160
_EXACT = Tolerance()
_WRITES: dict[str, Label] = {
    'global': 'writes a global', 'closure': 'writes its closure', 'object': 'writes its object',
    'default': 'writes a default value', 'attribute': 'writes an attribute', 'class': 'writes an attribute'}
_SAYS: dict[str, Label] = {'out': 'prints', 'err': 'prints', 'warning': 'warns', 'log': 'logs'}
_OF_NUMPY = ' encountered in '
"""In its warnings of floating-point errors: of the inputs, not of the function."""
_GENERATORS = {'random': "Python's random", 'numpy.random': 'numpy.random', 'ops': 'the generators of eager ops'}


@dataclass(frozen=True, slots=True)
class AuditedCall:
    """Findings of the executions of one call.

    Attributes:
        findings: Properties seen.
        remarks: What is harmless, and what is not known.
        files: Files whose code ran.
        reads: Encoded values of the global variables that the function reads, by place.
    """

    findings: tuple[AuditFinding, ...]
    remarks: tuple[str, ...]
    files: tuple[str, ...]
    reads: dict[StatePlace, Any]


class CallAudit:
    """Audits one call.

    Args:
        trace: Where it was recorded.
        call: The call.
        load_host: Gives its host.
        trust: Whether functions that no file has may be taken from the trace.
        own_clock: Whether executions may get a clock of their own: not where the program runs in this process.
    """

    def __init__(self, trace: Trace, call: CallRecord, load_host: LoadHost, trust: bool, own_clock: bool) -> None:
        self._trace = trace
        self._call = call
        self._load_host = load_host
        self._trust = trust
        self._own_clock = own_clock
        self._state = trace.call_state(call.number)
        self._files: dict[str, None] = {}
        self._remarks: dict[str, None] = {}

    def run(self, other: CallRecord | None) -> AuditedCall:
        """Execute the function.

        Args:
            other: Another call of the site, in whose state it is executed too.

        Returns:
            What was seen.

        Raises:
            CommandError: The call cannot be replayed.
        """
        observers = [self._observer() for _ in range(_EXECUTIONS)]
        results = [self._execute(one) for one in observers]
        first, observer = results[0], observers[0]
        difference = next((text for result in results[1:] if (text := outcome_difference(first, result))), '')
        findings = [*self._of_inputs(observer), *self._of_state(observer, first), *self._of_generators(observer),
                    *self._of_output(first)]
        # The first number of a generator of eager ops without a seed is a new one each time.
        is_new_seed = bool(difference) and 'ops' in observer.drawn
        unseeded = bool(observer.drawn) and (self._state.generators is None or is_new_seed)
        if unseeded:
            self._remark('not known whether it is deterministic otherwise: its generators had no state that was recorded')
            difference = ''
        on_time = list(self._of_clock(observer, difference))
        if difference and not on_time:
            findings.append(self._finding('not deterministic', 'the result', f'two executions: {difference}'))
        findings += on_time
        if not difference:
            findings += self._of_thread(observer, first)
            if other is not None and not unseeded:
                findings += self._of_order(observer, first, other)
        if not difference and not on_time and not unseeded and not any(
                finding.label == 'depends on thread' for finding in findings):
            findings += self._of_recording(first, bool(observer.drawn))
        return AuditedCall(tuple(findings), tuple(self._remarks), tuple(self._files), self._reads(observer))

    def _observer(self, **options: Any) -> ExecutionObserver:
        return ExecutionObserver(self._load_host(self._call.site.host).to_numpy, **options)

    def _execute(self, observer: ExecutionObserver, state: CallState | None = None) -> RepeatedResult:
        with Replayer(self._trace, self._call, self._load_host, self._trust, state) as replayer:
            result = replayer.observe(observer)
            self._files.update(dict.fromkeys(replayer.modules.files))
            for remark in replayer.remarks():
                self._remark(remark)
        return result

    def _remark(self, text: str) -> None:
        self._remarks[text] = None

    def _finding(self, label: Label, subject: str, evidence: str) -> AuditFinding:
        return AuditFinding(label, subject, evidence, (self._call.number,))

    # ------------------------------------------------------------------ what one execution shows
    def _of_inputs(self, observer: ExecutionObserver) -> Iterator[AuditFinding]:
        for slot in observer.written:
            yield self._finding('writes an input', f'input {slot} {observer.names[slot]}', 'other elements after the call')
        for place, slot in observer.aliases:
            yield self._finding('returns an alias of an input', f'output {place}',
                                f'shares memory with input {slot} {observer.names[slot]}')

    def _of_state(self, seen: ExecutionObserver, result: RepeatedResult) -> Iterator[AuditFinding]:
        for place in state_values.changed_places(seen.before, seen.after):
            sides = value_sides(seen.before.get(place), seen.after.get(place))
            evidence = f'{sides[0]} before the call, {sides[1]} after it' if any(sides) else 'its content changes'
            yield self._finding(_WRITES[place.owner], str(place), evidence)
        for name in result.changed:
            yield self._finding('writes a variable', name, 'assigned in the call')

    def _of_generators(self, seen: ExecutionObserver) -> Iterator[AuditFinding]:
        for name in seen.drawn:
            yield self._finding('draws random numbers', _GENERATORS[name], 'its state is another after the call')
        for place in state_values.drawn_places(seen.before, seen.after):
            yield self._finding('draws random numbers', str(place), 'its state is another after the call')

    def _of_output(self, result: RepeatedResult) -> Iterator[AuditFinding]:
        labels = set()
        logged = [entry.text.strip() for entry in result.messages if entry.kind == 'log']
        for entry in result.messages:
            if entry.kind == 'err' and entry.text.strip() in logged:
                continue                        # a handler has written the record
            label = _SAYS.get(entry.kind)
            if label == 'warns' and _OF_NUMPY in entry.text:
                self._remark(f'NumPy warns: {entry.text.strip()[:_LONGEST]}')
            elif label is not None and label not in labels:
                labels.add(label)
                subject = {'out': 'stdout', 'err': 'stderr'}.get(entry.kind, entry.category)
                yield self._finding(label, subject, repr(entry.text.strip()[:_LONGEST]))

    def _reads(self, seen: ExecutionObserver) -> dict[StatePlace, Any]:
        written = set(state_values.changed_places(seen.before, seen.after))
        values = state_values.values_by_place(None, _variables(self._state))
        return {place: value for place, value in values.items() if place not in written and self._is_named(place, seen)
                and not state_values.is_generator(value) and not state_values.has_unknown(value)}

    def _is_named(self, place: StatePlace, seen: ExecutionObserver) -> bool:
        """Whether the code names each part of a place: of an object it may read some attributes only."""
        if place.owner != 'global':
            return True
        variables = [state_values.global_name(module, name) for module, name, _ in _variables(self._state)]
        inside = max([len(name) for name in variables if f'{place.name}.'.startswith(f'{name}.')], default=0)
        return seen.code_names.issuperset(filter(None, place.name[inside:].split('.')))

    # ------------------------------------------------------------------ what executions under other conditions show
    def _of_clock(self, observer: ExecutionObserver, difference: str) -> Iterator[AuditFinding]:
        """By a clock of the audit: the same one gives the same result, another one another, where it depends on time."""
        if not observer.reads.clocks:
            return
        names = ', '.join(observer.reads.clocks)
        if not self._own_clock:
            self._remark(f'reads the clock ({names}); whether its result depends on it is not known while the program runs')
            return
        one, same, later = (self._execute(self._observer(clock=start)) for start in (EARLY, EARLY, LATE))
        if outcome_difference(one, same):
            self._remark(f'reads the clock ({names}); whether its result depends on it is not known')
        elif later_difference := outcome_difference(one, later):
            yield self._finding('depends on time', names, f'at another time: {later_difference}')
        elif difference:
            yield self._finding('depends on time', names, f'two executions: {difference}')
        else:
            self._remark(f'reads the clock ({names}); its result does not depend on it')

    def _of_thread(self, observer: ExecutionObserver, first: RepeatedResult) -> Iterator[AuditFinding]:
        names = ', '.join([*observer.reads.threads, *observer.thread_local])
        if not names:
            return
        if difference := outcome_difference(first, self._execute(self._observer(elsewhere=True))):
            yield self._finding('depends on thread', names, f'on another thread: {difference}')
        elif observer.thread_local and list(self._of_recording(first, bool(observer.drawn))):
            yield self._finding('depends on thread', names, 'the thread of the recording had another result')
        else:
            self._remark(f'asks for the thread ({names}); its result does not depend on it')

    def _of_order(self, seen: ExecutionObserver, first: RepeatedResult, other: CallRecord) -> Iterator[AuditFinding]:
        theirs = self._trace.call_state(other.number)
        own_function = set(state_values.values_by_place(self._state.function, ()))
        written = set(state_values.changed_places(seen.before, seen.after))
        # An eager call may get another function object each time: that its closure is another depends on no order.
        is_same_object = bool(self._call.site.outputs) or bool(own_function & written)
        try:
            state = _in_state_of(self._state, theirs, is_same_object)
            mine, others = (state_values.values_by_place(one.function, _variables(one)) for one in (self._state, state))
        except (ValueError, TypeError, IndexError, RecursionError) as error:
            self._remark(f'the recorded state of call #{other.number} is damaged: {error}')
            return
        places = [place for place in state_values.changed_places(mine, others) if place in mine and place in others
                  and not state_values.has_unknown(mine[place]) and not state_values.has_unknown(others[place])]
        # Of an object all attributes were kept: what the code does not name is blamed only if nothing else can be.
        places = [place for place in places if self._is_named(place, seen)] or places
        if not places:
            return
        difference = outcome_difference(first, self._execute(self._observer(), state))
        for place in places:
            sides = value_sides(mine[place], others[place])
            values = f' {sides[0]} | {sides[1]}' if any(sides) else ''
            if not difference:
                self._remark(f'{place} differs between calls; its result does not depend on it')
                continue
            if place.owner == 'global':
                yield self._finding('reads a global', str(place), f'#{self._call.number} and #{other.number}{values}')
            yield self._finding('depends on order', str(place),
                                f'in the state of call #{other.number}{values}: {difference}')

    def _of_recording(self, first: RepeatedResult, drew: bool) -> Iterator[AuditFinding]:
        judgement = judge(self._call, first, drew and self._state.generators is None)
        if judgement.verdict in (DIFFERS, RAISES):
            for remark in concurrent_write_remarks(self._trace, self._call):
                self._remark(remark)
        if judgement.verdict == RAISES:
            recorded = self._call.error
            before = f'{recorded.type.rpartition(".")[2]}: {recorded.message}' if recorded is not None else 'no exception'
            yield self._finding('differs from the recording', 'the exception',
                                f'recorded {before[:_LONGEST]}; now {judgement.raised[:_LONGEST] or "no exception"}')
        elif judgement.verdict == DIFFERS:
            texts = [f'{one.kind} {" | ".join(one.texts)}' if one.value is None else difference_text(one.value)
                     for one in judgement.tensors]
            slot = judgement.tensors[0].slot if judgement.tensors else 0
            yield self._finding('differs from the recording', f'output {slot}', texts[0] if texts else 'number of outputs')
        elif judgement.verdict == NOT_KNOWN:
            self._remark('outputs were not kept: not compared with the recording')


def _variables(state: CallState) -> list[tuple[str, str, Any]]:
    return [(variable.module, variable.name, variable.value) for variable in state.variables]


def _in_state_of(own: CallState, other: CallState, with_function: bool) -> CallState:
    """The state of a call with the values of another's, but with its own random generators and settings."""
    theirs = {(variable.module, variable.name): variable.value for variable in other.variables
              if variable.name not in other.unwatched}
    variables = [replace(variable, value=state_values.with_own_generators(
        theirs.get((variable.module, variable.name), variable.value), variable.value)) for variable in own.variables]
    function = own.function
    if with_function and isinstance(other.function, list) and isinstance(function, list) and \
            other.function[:1] == function[:1]:
        function = state_values.with_own_generators(other.function, function)
    return replace(own, variables=tuple(variables), function=function)


def outcome_difference(one: RepeatedResult, two: RepeatedResult) -> str:
    """The difference of the results of two executions.

    Args:
        one, two: The executions.

    Returns:
        Which output differs, and how far; '' if they are the same, bit for bit.
    """
    errors = ['' if result.error is None else without_addresses(error_text(result.error)) for result in (one, two)]
    if errors[0] != errors[1]:
        return ' | '.join(error[:_LONGEST] or 'no exception' for error in errors)
    if len(one.outputs) != len(two.outputs):
        return f'{len(one.outputs)} outputs | {len(two.outputs)}'
    for slot, (array, other) in enumerate(zip(one.outputs, two.outputs, strict=True)):
        if (array.dtype, array.shape) != (other.dtype, other.shape):
            return f'output {slot}: {array.dtype}{list(array.shape)} | {other.dtype}{list(other.shape)}'
        if (difference := value_difference(array, other, _EXACT)) is not None:
            return f'output {slot}: {difference_text(difference)}'
    return ''


def difference_text(difference: ValueDifference) -> str:
    """The difference of two arrays in words.

    Args:
        difference: Of them.

    Returns:
        How many elements differ, the first of them, how far.
    """
    parts = [f'{difference.elements} of {difference.size} elements']
    index = f'[{", ".join(map(str, difference.first))}] ' if difference.first else ''
    parts.append(f'first {index}{" | ".join(difference.values)}')
    if difference.ulp is not None and difference.ulp < 1 << 20:
        parts.append(f'at most {difference.ulp} ULP')
    if difference.relative is not None:
        parts.append(f'relative {difference.relative:.3g}')
    return ', '.join(parts)
