"""Cards before and after a run, as plain data; views draw them, `--json` writes them.

Made on the stopped thread, from the stop and the trace.
"""
from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyfuncdbg.hooks.call import Call, CallSite, Frame
from pyfuncdbg.hooks.host import device_summary
from pyfuncdbg.hooks.value_placeholders import ValueSummary
from pyfuncdbg.observers.debug.stepping.node_watch import PassedTensor
from pyfuncdbg.observers.record.dtypes import dtype_name
from pyfuncdbg.observers.record.records import SiteRecord, TensorRecord
from pyfuncdbg.observers.record.sources.source_text import SourceText

if TYPE_CHECKING:
    from pyfuncdbg.hooks.host import Host
    from pyfuncdbg.observers.debug.debugger import Debugger
    from pyfuncdbg.observers.debug.stepping.debugged_runs import DebuggedRun
    from pyfuncdbg.observers.debug.stops.stop import Stop
    from pyfuncdbg.observers.record.trace import Trace

_LOCATED = re.compile(r"\nNode: '[^\n]*'\n(.*?)(?:\nTraceback \(most recent call last\)|\n\t \[\[|\Z)", re.DOTALL)
NAMES = 100
"""Feeds, fetches and tensors that passed a test: as many are listed."""


@dataclass(frozen=True, slots=True)
class RunValue:
    """A fed or fetched value; dtype '' where there is none yet."""

    name: str
    dtype: str = ''
    shape: tuple[int, ...] = ()
    nbytes: int = 0


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A command to type next, and what it does."""

    command: str
    help: str


@dataclass(frozen=True, slots=True)
class RunCard:
    """A run that is about to begin.

    Attributes:
        run: Its number in this process.
        label: What was called: 'Session.run', the name of a traced function.
        number, title: 'run 3 of session 1'.
        thread, thread_name: Where.
        feeds, fetches: In order.
        nodes: How many nodes it will run; `functions` of them are Python functions, and `last` is the last one.
        breakpoints: Those that are set, one line each.
        suggestions: What to type.
        remark: The host's remark on inspecting it, '' mostly.
    """

    run: int
    label: str
    number: int
    title: str
    thread: int
    thread_name: str
    feeds: tuple[RunValue, ...]
    fetches: tuple[str, ...]
    nodes: int
    functions: int
    last: str
    breakpoints: tuple[str, ...]
    suggestions: tuple[Suggestion, ...]
    remark: str = ''


@dataclass(frozen=True, slots=True)
class NodeFailure:
    """The node that failed.

    Attributes:
        node: Its name; `op_type` what it is.
        call: Number of its call, '' if that was not recorded.
        created: The line that made the node.
        inputs: Its inputs, as far as recorded.
        source: The line that made the node.
    """

    node: str
    op_type: str
    call: str
    created: Frame | None
    inputs: tuple[TensorRecord, ...]
    source: SourceText


@dataclass(frozen=True, slots=True)
class RunEnd:
    """A run that is over.

    Attributes:
        run, label, number, title, thread: As on its card.
        seconds: How long it took, None if it stopped in the middle.
        fetches: Its results; empty if it raised.
        error: What it raised, without the text about where, '' if nothing; `error_type` its class.
        failure: The node that failed, if it is known.
        test: What `run -f` looked for, '' if nothing.
        passed: Tensors that passed it, the first of `passed_count`.
        recorded: Whether its nodes were recorded.
        suggestions: What to type.
    """

    run: int
    label: str
    number: int
    title: str
    thread: int
    seconds: float | None
    fetches: tuple[RunValue, ...]
    error_type: str
    error: str
    failure: NodeFailure | None
    test: str
    passed: tuple[PassedTensor, ...]
    passed_count: int
    recorded: bool
    suggestions: tuple[Suggestion, ...]


def run_card(stop: Stop, call: Call, debugger: Debugger, breakpoints: Sequence[str]) -> RunCard:
    """The card of a run that is about to begin; `breakpoints` are those that are set, one line each."""
    run = call.run
    debugged = debugger.runs.on_thread(stop.thread)
    sites = run.sites
    functions = [site for site in sites if site.kind == 'python']
    return RunCard(run.id, run.title, *_whose(debugged), stop.thread, stop.thread_name,
                   _values(run.feeds, call.inputs, call.site.host),
                   tuple(name for name in run.fetches[:NAMES] if name), len(sites), len(functions),
                   sites[-1].name if sites else '',
                   tuple(breakpoints), tuple(_suggestions_before(functions)), run.remark)


def run_end(stop: Stop, call: Call, debugger: Debugger, trace: Trace) -> RunEnd:
    """The card of a run that has ended."""
    run, error = call.run, stop.chain[-1] if stop.chain else None       # what the program gets
    debugged = debugger.runs.on_thread(stop.thread)
    watch = debugged.watch if debugged is not None else None
    paused = debugged is not None and debugged.card not in (0, stop.number - 1)
    started = debugged.begun if debugged is not None else call.started
    fetches = _values(run.fetches, call.outputs, call.site.host) if error is None and call.outputs is not None else ()
    failure = _failure(run.id, error, watch.failed.name if watch is not None and watch.failed is not None else '', trace)
    passed = tuple(watch.passed[:NAMES]) if watch is not None else ()
    seconds = None if paused else (call.finished - started) / 1e9
    return RunEnd(run.id, run.title, *_whose(debugged), stop.thread, seconds, fetches,
                  type(error).__name__ if error is not None else '', _message(error), failure,
                  str(watch.test) if watch is not None and watch.test is not None else '', passed,
                  watch.count if watch is not None else 0, watch is not None,
                  tuple(_suggestions_after(run.id, fetches, failure, passed, error is not None)))


def _whose(debugged: DebuggedRun | None) -> tuple[int, str]:
    return (debugged.number, debugged.policy.title) if debugged is not None else (0, '')


def _values(names: Sequence[str], values: Sequence[Any], host: Host) -> tuple[RunValue, ...]:
    rows = []
    for name, value in list(zip(names, values, strict=False))[:NAMES]:
        summary = device_summary(value, False)
        if isinstance(summary, ValueSummary):
            rows.append(RunValue(name, dtype_name(summary.dtype), summary.shape, summary.size * summary.dtype.itemsize))
            continue
        array = host.to_numpy(value)
        rows.append(RunValue(name, dtype_name(array.dtype), array.shape, array.nbytes))
    return tuple(rows)


def _message(error: BaseException | None) -> str:
    """The text of an error without its place: TensorFlow's text names the node and the stack around it."""
    if error is None:
        return ''
    try:
        text = str(error)
        found = _LOCATED.search(text)
        return found[1] if found is not None else text
    except Exception as failed:                 # a program's own class: its `__str__` may do anything
        return f'<its text raised {type(failed).__name__}>'


def _failure(run: int, error: BaseException | None, name: str, trace: Trace) -> NodeFailure | None:
    """The failing node: as it was watched, else as the host's error names it."""
    if error is None:
        return None
    op = getattr(error, 'op', None)
    name = name or getattr(op, 'name', '') or ''
    for call in trace.calls(run=run, failed=True, limit=NAMES):
        if call.site.kind != 'run' and name in ('', call.site.name):
            return _failed(call.site, call.number, call.inputs)
    if not name:
        return None
    site = next((site for site in trace.sites() if site.name == name), None)
    if site is not None:
        return _failed(site, '', ())
    return NodeFailure(name, str(getattr(op, 'type', '')), '', None, (), SourceText())


def _failed(site: SiteRecord, call: str, inputs: tuple[TensorRecord, ...]) -> NodeFailure:
    created = site.stack[-1] if site.stack else None
    source = site.source_at(created.filename, created.line).only_line(created.line) if created is not None else SourceText()
    return NodeFailure(site.name, site.op_type, call, created, inputs, source)


def _suggestions_before(functions: Sequence[CallSite]) -> list[Suggestion]:
    first = Suggestion('node', 'go node by node') if not functions else Suggestion(
        'into', 'go to the first line of the first Python function')
    return [Suggestion('run', 'run to the end and stop there'), first,
            *([Suggestion('node', 'go node by node'),
               Suggestion(f'break {functions[-1].name}', 'stop before each call of this node')] if functions else []),
            Suggestion('run -f has_inf_or_nan', 'run until a tensor has NaN or infinity'),
            Suggestion('run -t 10', 'stop after ten runs'), Suggestion('run -n', 'run without debugging'),
            Suggestion('quit', 'continue the program')]


def _suggestions_after(run: int, fetches: Sequence[RunValue], failure: NodeFailure | None, passed: Sequence[PassedTensor],
                       failed: bool) -> list[Suggestion]:
    suggestions = []
    if failure is not None:
        if failure.call:
            suggestions += [Suggestion(f'call {failure.call}', 'details of the failed call')]
            suggestions += [Suggestion(f"pt '#{failure.call}:in0'", 'its first input')] if failure.inputs else []
        suggestions.append(Suggestion(f'ni {failure.node}', 'the node'))
        suggestions.append(Suggestion('bt', 'the stack, from the fetch to the line that raised'))
    if passed:
        one = passed[0]
        place = f"'{one.call}:{one.slot}'" if one.call else f'{one.name} --run {run}'
        suggestions.append(Suggestion(f'pt {place}', 'the first tensor that passed'))
    elif not failed and (names := [one.name for one in fetches if one.name]):
        suggestions.append(Suggestion(f'pt {names[0]}', 'a value'))
    suggestions.append(Suggestion('health', 'where NaN and infinity began'))
    suggestions.append(Suggestion(f'lt --run {run}', 'all tensors of this run'))
    suggestions.append(Suggestion('run' if not failed else 'cont', 'go on' if not failed
                                  else 'pass the error to the program'))
    return suggestions
