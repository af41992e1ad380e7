"""`replay`: the function of a recorded call on its recorded inputs, in its recorded state, compared with what was recorded.

It runs the program's own function, found on this machine, on the thread of the command. No hook sees it; variables and
random states of the process are put back. What it does outside (files, other state) it does again.
"""
from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from time import perf_counter_ns
from types import CodeType, MethodType
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from pyfuncdbg.errors import CommandError, RunAborted
from pyfuncdbg.hooks.call import Call, CallSite, Run
from pyfuncdbg.hooks.chain import invoke
from pyfuncdbg.hooks.generator_end import SOURCE
from pyfuncdbg.hooks.host import Host
from pyfuncdbg.hooks.patched_code import original_code
from pyfuncdbg.observers.debug.comparison.divergence import SourceDifference
from pyfuncdbg.observers.debug.gradients.call_again import (
    CallRepeater,
    RepeatCall,
    RepeatedResult,
    argument_form,
    array_of,
    recorded_inputs,
    repeat_calls,
)
from pyfuncdbg.observers.debug.gradients.gradient_check import forward_call
from pyfuncdbg.observers.debug.replay.changed_inputs import change_inputs
from pyfuncdbg.observers.debug.replay.concurrent_writes import concurrent_write_remarks
from pyfuncdbg.observers.debug.replay.function_source import current_source, recorded_source
from pyfuncdbg.observers.debug.replay.named_code import NamedCode, describe_replay, named_code
from pyfuncdbg.observers.debug.replay.program_code import ProgramCode
from pyfuncdbg.observers.debug.replay.program_modules import ProgramModules
from pyfuncdbg.observers.debug.replay.recorded_values import MISSING, ValueMaker
from pyfuncdbg.observers.debug.replay.replay_verdict import (
    DIFFERS,
    RAISES,
    Replay,
    ReplayedCall,
    Verdict,
    array_record,
    judge,
    verdict_of,
)
from pyfuncdbg.observers.debug.replay.state_in_force import StateInForce
from pyfuncdbg.observers.debug.stepping.held_state import element_refusal, repeat_obstacle
from pyfuncdbg.observers.record import live_sites
from pyfuncdbg.observers.record.index.state_records import CallState
from pyfuncdbg.observers.record.log.program_environment import process_versions
from pyfuncdbg.observers.record.records import CallRecord, TensorRecord
from pyfuncdbg.observers.record.trace import Trace

if TYPE_CHECKING:
    from pyfuncdbg.observers.debug.debugger import Debugger

class ReplayObserver(Protocol):
    """Observes an execution, on its thread."""

    def watch(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Give what is called instead of the function, and calls it."""

    def on_end(self, drawn: tuple[str, ...]) -> None:
        """Called when the function has ended, before its state is put back, with the generators of modules it drew from."""


LoadHost = Callable[[str], Host]
"""Gives the host of a name, which it imports; raises CommandError."""


class Replayer:
    """Replays one call.

    Args:
        trace: Where it was recorded.
        call: The call: of a Python function, or a backward step of one.
        load_host: Gives the host.
        trust: Whether functions that no file has may be taken from the trace.
        state: The state it begins in, if not the one that was recorded.

    Attributes:
        modules: The program's modules.

    Raises:
        CommandError: It cannot be replayed; why, and what to do.
    """

    def __init__(self, trace: Trace, call: CallRecord, load_host: LoadHost, trust: bool = False,
                 state: CallState | None = None) -> None:
        self.trace = trace
        self.call = call
        forward = _forward_call(trace, call)
        self._forward = forward if forward is not None else call
        _require_replayable(self._forward)
        self._form = argument_form(self._forward)
        self._arrays: list[Any] = [*recorded_inputs(self._forward)]
        if forward is not None:
            seeds = call.inputs[:len(forward.outputs)]
            self._arrays += [None if seed.absent else recorded_inputs(replace(call, inputs=(seed,)))[0]
                             for seed in seeds]
        self._state = trace.call_state(self._forward.number) if state is None else state
        self._host = load_host(call.site.host)
        self._site_of(len)                      # refuses an op that calls no function
        script = next(iter(trace.info().argv), '') or self._forward.site.filename
        self.modules = ProgramModules(self._state.folder, script, _live_code(trace, self._forward),
                                      recorded_source(trace, self._forward) if trust else None)
        self._code = ProgramCode(self.modules)
        self.maker = ValueMaker(self._code, self._host.make_tensor)
        if self._state.function is None:
            self.modules.close()
            function = self._forward.site.function or 'its function'
            raise CommandError(f'call #{call.number} {call.label} cannot be replayed: its trace does not say how to find '
                               f'{function}: an older version recorded it, or it had no room')
        self._in_force = StateInForce(self._state, self._host, self.modules, self.maker)

    def __enter__(self) -> Replayer:
        return self

    def __exit__(self, *error: object) -> None:
        self.modules.close()

    def announcement(self) -> str:
        """What a replay will run: for the user, before it does.

        Returns:
            A sentence without a full stop: the function with its file or package, and other code that its state names; '' if
            the function is not here, and nothing will run.
        """
        state, site = self._state, self._forward.site
        encoded = [state.function, *[variable.value for variable in state.variables]]
        own, *others = [code for one in encoded for code in named_code(one)] or [NamedCode('', site.function, site.filename)]
        filename = own.filename or site.filename
        where = self.modules.whereabouts(filename) if filename else ''
        return '' if where is None else describe_replay(own, where, others)

    def make_site(self, watch: Callable[[Any], Any] = lambda function: function) -> CallSite:
        """A site with the function, its closure and its object made anew.

        Args:
            watch: Gives what is called instead of the function.

        Returns:
            The site.

        Raises:
            CommandError: The function is not here.
        """
        site = self._forward.site
        function = self.maker.make(self._state.function, 'the function')
        if function is MISSING or not callable(function):
            why = self.maker.missing.get('the function', 'it is no function')
            raise CommandError(f'{site.function} cannot be made again: {why}')
        if self._forward.site.traits.takes_context and isinstance(function, MethodType):
            function = MethodType(function.__func__, self._host.new_context(len(self._forward.inputs)))
        called = watch(function)
        replay_site = self._site_of(called if self._form is None else self._form.bind(called))
        replay_site.function = function
        if obstacle := repeat_obstacle(replay_site):
            raise CommandError(f'call #{self.call.number} {self.call.label} cannot be replayed: {obstacle}')
        return replay_site

    def _site_of(self, function: Callable[..., Any]) -> CallSite:
        site = self._forward.site
        types = [str(name) for name in site.attrs.get('Tout', ())]
        try:
            return self._host.replay_site(site.op_type, function, types, bool(site.outputs), self._forward is not self.call)
        except (ValueError, KeyError, TypeError) as error:
            raise CommandError(f'call #{self.call.number} {self.call.label} cannot be replayed: {error}') from None

    @contextlib.contextmanager
    def in_recorded_state(self, watch: Callable[[Any], Any] = lambda function: function) -> Iterator[CallSite]:
        """A block with the recorded state in force; gives a new site, as `make_site`."""
        with self._in_force.around():
            site = self.make_site(watch)
            with self._in_force.globals_in_force():
                self._in_force.begin()
                yield site

    def run(self, times: int = 1, change: str = '', tell: Callable[[int, int], None] | None = None) -> Replay:
        """Execute the function.

        Args:
            times: How often, each time from the recorded state.
            change: Statements that change the inputs, by the names of the function's parameters: one more execution.
            tell: Told how many executions are done, of how many.

        Returns:
            The result.

        Raises:
            CommandError: The function is not here, reads what a trace cannot hold, or the statements fail.
        """
        results = []
        for number in range(times):
            results.append(self._execute(self._arrays)[0])
            if tell is not None:
                tell(number + 1, times)
        executions = tuple([self._judged(result, drew) for result, drew in results])
        changed: ReplayedCall | None = None
        inputs: tuple[TensorRecord, ...] = ()
        if change:
            (result, drew), arrays = self._execute(self._arrays, change)
            changed = self._judged(result, drew)
            names = [tensor.name for tensor in (*self._forward.inputs, *self.call.inputs)]
            inputs = tuple([array_record(name, array) for name, array in zip(names, arrays, strict=False)
                            if array is not None])
        function, files, verdict = self._forward.site.function, tuple(self.modules.files), verdict_of(executions)
        return Replay(self.call, function, files, verdict, executions, change, changed, inputs,
                      self._source_difference(), self._remarks_on(verdict), results[0][0].error)

    def observe(self, observer: ReplayObserver) -> RepeatedResult:
        """Execute the function once under observation.

        Args:
            observer: Observes it.

        Returns:
            The result.

        Raises:
            CommandError: As `run`.
        """
        with self.in_recorded_state(observer.watch) as site, repeat_calls(site) as repeater, self._in_force.around():
            self._in_force.begin()
            result = repeater.make(_copies(self._arrays))
            observer.on_end(self._in_force.drawn())
        self._explain(result.error)
        return result

    @contextlib.contextmanager
    def repeating(self, before_each: Callable[[], None] | None = None) -> Iterator[CallRepeater]:
        """A block in which the function can be executed on other inputs, each time in the recorded state.

        Args:
            before_each: Is called each time.

        Yields:
            What executes it.

        Raises:
            CommandError: As `run`.
        """
        def begin() -> None:
            self._in_force.begin()
            if before_each is not None:
                before_each()

        with self.in_recorded_state() as site, repeat_calls(site, begin) as repeater, self._in_force.around():
            yield repeater

    def _execute(self, arrays: Sequence[Any], change: str = '') -> tuple[tuple[RepeatedResult, bool], list[Any]]:
        with self.in_recorded_state() as site:
            own = _copies(arrays)
            if change and site.function is not None:
                own = change_inputs(change, site.function, own, self._form)
            # The inner block: NumPy's error state in the outer one is that of the repeater.
            with repeat_calls(site) as repeater, self._in_force.around():
                self._in_force.begin()
                result = repeater.make(_copies(own))
                drew = bool(self._in_force.drawn())
        self._explain(result.error)
        return (result, drew), own

    def debug(self, debugger: Debugger) -> Replay:
        """Execute the function once under the debugger, which stops at its first line.

        Args:
            debugger: Of this process, with a front end.

        Returns:
            The result; the user may have changed values at the stop.

        Raises:
            CommandError: As `run`, or the user has aborted it.
        """
        with self.in_recorded_state() as site, site.host.restored_state():
            debugger.start()
            debugger.plan(threading.get_native_id()).entering = True
            run = Run('replay', site.host, perf_counter_ns(), kind='eager')
            outputs: tuple[np.ndarray, ...] = ()
            error: BaseException | None = None
            try:
                values = invoke(site, lambda *inputs: site.host.call_again(site, inputs), run,
                                _copies(self._arrays))
                outputs = tuple([array_of(site.host, value) for value in values])
            except RunAborted:
                raise CommandError('the replay was aborted') from None
            except Exception as raised:         # of the program's function: a result here
                error = raised
            drew = bool(self._in_force.drawn())
        self._explain(error)
        execution = self._judged(RepeatedResult(outputs, error, (), ()), drew)
        return Replay(self.call, self._forward.site.function, tuple(self.modules.files), execution.verdict, (execution,),
                      source=self._source_difference(), remarks=self._remarks_on(execution.verdict), error=error)

    def _explain(self, error: BaseException | None) -> None:
        """Refuse a result that only comes of what the trace does not hold."""
        while error is not None and not isinstance(error, NameError | AttributeError):
            error = error.__cause__             # a framework has raised its own error of it
        name = getattr(error, 'name', None)
        if isinstance(error, NameError) and isinstance(name, str) and (line := self.modules.line_of_main(name)):
            self.maker.missing.setdefault(name, f'line {line} of the script makes it, which replay does not run')
        if isinstance(name, str) and name in self.maker.missing:
            raise CommandError(
                f'{self._forward.site.function} uses {name}, which a trace cannot hold ({self.maker.missing[name]}). Replay '
                f'it at a stop of the program, or let the function get what it needs of {name} as an input')

    def _judged(self, result: RepeatedResult, drew: bool) -> ReplayedCall:
        return judge(self.call, result, drew and not self._in_force.knows_generators)

    def _source_difference(self) -> SourceDifference | None:
        site = self._forward.site
        now = current_source(self._code, self._state.function)
        if not site.source or not now or _stripped(site.source) == _stripped(now):
            return None
        return SourceDifference(site.function, (site.filename, site.line), (site.source, now))

    def remarks(self) -> tuple[str, ...]:
        """What could not be restored."""
        stale = [f'{name} is as it was at an earlier call: it is too large to be kept at each'
                 for name in self._state.unwatched]
        return tuple(dict.fromkeys([*self._in_force.remarks, *stale, *self._version_remarks()]))

    def _remarks_on(self, verdict: Verdict) -> tuple[str, ...]:
        return self.remarks() + (concurrent_write_remarks(self.trace, self._forward) if verdict in (DIFFERS, RAISES) else ())

    def _version_remarks(self) -> list[str]:
        """Versions that differ from those of the recording, which explain last bits."""
        here = {**process_versions(), self._host.name: self._host.version}
        return [f'recorded with {name} {version}, this is {here[name]}'
                for name, version in self.trace.info().versions_with_python.items()
                if version and here.get(name) and here[name] != version]


def repeat_recorded_call(load_host: LoadHost, trust: bool, files: dict[str, None]) -> RepeatCall:
    """What makes calls of a finished trace again: as `repeat_live_call`, with the function that a replay finds.

    Args:
        load_host: Gives the host of a call.
        trust: Whether functions that no file has may be taken from the trace.
        files: Gets the names of the program's files whose code ran.

    Returns:
        What opens the block.
    """
    @contextlib.contextmanager
    def repeat(trace: Trace, call: CallRecord, at: Call | None,
               before_each: Callable[[], None] | None) -> Iterator[CallRepeater]:
        with Replayer(trace, call, load_host, trust) as replayer, replayer.repeating(before_each) as repeater:
            yield repeater
            files.update(dict.fromkeys(replayer.modules.files))
    return repeat


def _forward_call(trace: Trace, call: CallRecord) -> CallRecord | None:
    """The Python call that a backward step differentiates; None of anything else."""
    if call.site.kind != 'gradient' or not call.site.traits.wraps_python:
        return None
    return forward_call(trace, call)


def _require_replayable(call: CallRecord) -> None:
    kind = call.site.kind
    if kind != 'python':
        what = {'gradient': 'a backward step', 'op': 'a node of the graph', 'run': 'a whole run'}[kind]
        forward = f'; its forward call is #{call.forward}' if call.forward else ''
        raise CommandError(f'call #{call.number} {call.label} is {what}: replay takes a call of a Python function{forward}')
    if source := call.site.attrs.get(SOURCE):
        raise CommandError(f'call #{call.number} {call.label} cannot be replayed: {element_refusal(str(source))}')


def _live_code(trace: Trace, call: CallRecord) -> CodeType | None:
    """The code of the function, if this process recorded the call and still has it."""
    processes = trace.info().processes
    if len(processes) < call.process or processes[call.process - 1] != os.getpid():
        return None
    site = live_sites.find(call.site.id)
    code = getattr(site.function, '__code__', None) if site is not None else None
    return original_code(code) if isinstance(code, CodeType) else None


def _stripped(source: str) -> list[str]:
    return [line.strip() for line in source.strip().splitlines()]


def _copies(arrays: Sequence[Any]) -> list[Any]:
    """Arrays of its own for each execution, which may write to them; None where there is no gradient."""
    return [None if array is None else array.copy() for array in arrays]
