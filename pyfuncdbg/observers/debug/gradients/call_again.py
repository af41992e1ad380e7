"""A recorded call repeated on its recorded inputs, for `health --line` and `check`.

Runs on the thread of the command. No hook sees it, what it prints goes nowhere but here, variables and random states are
put back; what it does outside (files, its own globals) it does again. What another call would use up refuses it.
"""
from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from time import perf_counter_ns
from typing import Any, Protocol

import numpy as np

from pyfuncdbg.errors import CommandError, DroppedError
from pyfuncdbg.hooks.argument_form import ARGUMENT_FORM, ArgumentForm
from pyfuncdbg.hooks.call import Call, CallSite, Run, current
from pyfuncdbg.hooks.capture import Capture
from pyfuncdbg.hooks.generator_end import SOURCE
from pyfuncdbg.hooks.host import READERS, Host, ListChanges
from pyfuncdbg.hooks.output import numpy_errstate
from pyfuncdbg.hooks.value_placeholders import NOT_KNOWN
from pyfuncdbg.observers.debug.inspecting.source_listing import running_source
from pyfuncdbg.observers.debug.stepping.held_state import element_refusal, keep_state, repeat_obstacle
from pyfuncdbg.observers.record import live_sites
from pyfuncdbg.observers.record.record_contents import load_output
from pyfuncdbg.observers.record.records import CallRecord, OutputRecord, TensorRecord
from pyfuncdbg.observers.record.trace import Trace

FINISHED = ("a finished trace holds no function. Run the program, stop after the call: {run}, then 'return' "
            "and 'health --line {label}'")
GONE = ('the program keeps its function no longer (a lambda or an inner function that was made for that call). Ask at a '
        'stop inside or after the call: `break {spec} --after-call`')
_LAYOUT = '_arguments'
"""Attribute that older versions recorded of a site with nested arguments: no more than that they are."""
GRAPH_GONE = 'the graph of the program is gone. Type this at a stop, while the graph exists'


def live_site(trace: Trace, call: CallRecord, at: Call | None = None) -> CallSite:
    """The site of a recorded call, if its function is alive in this process.

    Args:
        trace: Where it was recorded.
        call: Which.
        at: The call that a thread is stopped at: its own function is alive whatever becomes of it.

    Raises:
        CommandError: It is not, and how to get it; or another call would use up what the program is to get.
    """
    if source := call.site.attrs.get(SOURCE):
        raise CommandError(f'call #{call.number} {call.label} cannot be repeated: {element_refusal(str(source))}')
    site = _find_site(trace, call, at)
    if call.site.kind == 'python' and (why := repeat_obstacle(site)):
        raise CommandError(f'call #{call.number} {call.label} cannot be repeated: {why}')
    return site


def _find_site(trace: Trace, call: CallRecord, at: Call | None) -> CallSite:
    processes = trace.info().processes
    is_own_process = len(processes) >= call.process and processes[call.process - 1] == os.getpid()
    if is_own_process and at is not None and at.site.id == call.site.id:
        return at.site
    site = live_sites.find(call.site.id) if is_own_process else None
    if site is None:
        why = FINISHED if not is_own_process else GRAPH_GONE if call.site.kind == 'op' else GONE
        told = why.format(spec=call.site.name, label=call.label, run='' if is_own_process
                          else rerun_command(trace, '--break', call.label))
        raise CommandError(f'call #{call.number} {call.label} cannot be repeated: {told}')
    return site


def is_of_this_process(trace: Trace) -> bool:
    """Whether a trace is, in part at least, of this process: its functions may be alive."""
    return os.getpid() in trace.info().processes


def rerun_command(trace: Trace, *options: str) -> str:
    """The command line that runs a trace's program again."""
    return shlex.join(['pyfuncdbg', 'run', *options, *(trace.info().argv or ('SCRIPT',))])


def recorded_inputs(call: CallRecord) -> list[np.ndarray]:
    """Fresh arrays with the inputs as they were when the call began.

    Raises:
        CommandError: One of them was not kept in full.
    """
    arrays = []
    for i, tensor in enumerate(call.inputs):
        try:
            arrays.append(np.array(tensor.to_numpy()))
        except DroppedError:
            raise CommandError(f'call #{call.number} {call.label} cannot be repeated: its input {i} {tensor.name} '
                               f'{missing_reason(tensor)}') from None
    return arrays


def missing_reason(tensor: TensorRecord) -> str:
    """Say why the elements of a tensor are not in a trace, and what would keep them, if anything does.

    Args:
        tensor: One that was not kept in full.
    """
    if tensor.note.startswith(NOT_KNOWN):
        return f'is {tensor.note}'
    why = f' ({tensor.note})' if tensor.note else ''
    return f"was not kept in full{why}; record with level='full', or a larger full_limit"


def argument_form(call: CallRecord) -> ArgumentForm | None:
    """How a call's inputs make up the arguments of its function; None where each is an argument, as its framework has it.

    Raises:
        CommandError: They are nested, and the trace does not hold how.
    """
    attrs = call.site.attrs
    if ARGUMENT_FORM not in attrs and _LAYOUT not in attrs:
        return None
    form = ArgumentForm.read(attrs.get(ARGUMENT_FORM))
    if form is not None:
        form = form.beginning(len(call.inputs))
        if not form.unknown and form.inputs == len(call.inputs):
            return form
    which = f'a {form.unknown}' if form is not None and form.unknown else 'nested arguments'
    raise CommandError(f'call #{call.number} {call.label} cannot be made again: its function gets {which}, and a trace does '
                       'not hold how that is made. Repeat it at a stop of the program')


@dataclass(frozen=True, slots=True)
class RepeatedResult:
    """Result of a repeated call.

    Attributes:
        outputs: Its outputs, () if it raised.
        error: What it raised.
        messages: What it printed, warned and logged.
        changed: Variables that it assigned to; they were put back.
    """

    outputs: tuple[np.ndarray, ...]
    error: BaseException | None
    messages: tuple[OutputRecord, ...]
    changed: tuple[str, ...]


class RepeatCall(Protocol):
    """Opens a block in which a recorded call can be made again."""

    def __call__(self, trace: Trace, call: CallRecord, at: Call | None, before_each: Callable[[], None] | None
                 ) -> AbstractContextManager[CallRepeater]:
        """The block, with what makes the call.

        Args:
            trace: Where it was recorded.
            call: Which.
            at: The call that a thread is stopped at.
            before_each: Is called each time the call is made.

        Raises:
            CommandError: Its function cannot be had.
        """


class CallRepeater:
    """Makes calls of one site, inside `repeat_calls`."""

    __slots__ = ('_before_each', '_capture', '_site', 'changed')

    def __init__(self, site: CallSite, capture: Capture, changed: ListChanges,
                 before_each: Callable[[], None] | None) -> None:
        self._site = site
        self._before_each = before_each
        self._capture = capture
        self.changed = changed

    @contextmanager
    def within(self) -> Iterator[None]:
        """A block whose calls are part of a repeated call, and print nothing."""
        call = _unrecorded_call(self._site, [])
        token, state = current.set(call), self._capture.on_begin(call)
        try:
            yield
        finally:
            self._capture.on_break_off(call, state)
            current.reset(token)
            call.output_owner = None

    def make(self, inputs: Sequence[Any], call_through: Callable[[Callable[[], Any]], Any] | None = None) -> RepeatedResult:
        """One call, on arrays that are its own.

        Args:
            inputs: One array for each input.
            call_through: Calls its argument, and may trace that call.
        """
        site = self._site
        if self._before_each is not None:
            self._before_each()
        call = _unrecorded_call(site, _with_numbers(site, inputs))

        def made() -> Any:
            return site.host.call_again(site, call.inputs)

        token = current.set(call)
        outputs: tuple[np.ndarray, ...] = ()
        error: BaseException | None = None
        try:
            found = self._capture.around(call, made if call_through is None else lambda: call_through(made))
            outputs = tuple([array_of(site.host, value) for value in found])
        except (Exception, SystemExit) as raised:  # an error of the user's function is a result here
            error = raised
        finally:
            current.reset(token)
            call.output_owner = None
        return RepeatedResult(outputs, error, _output_text(call), tuple(self.changed()))


def _with_numbers(site: CallSite, inputs: Sequence[Any]) -> list[Any]:
    """The inputs, with a Python number in place of the array where the function got one."""
    form = ArgumentForm.read(site.attrs.get(ARGUMENT_FORM))
    kinds = form.kinds if form is not None and form.inputs == len(inputs) else ['input'] * len(inputs)
    return [value.item() if kind == 'number' else value for kind, value in zip(kinds, inputs, strict=True)]


def array_of(host: Host, value: Any) -> np.ndarray:
    """The array behind a value; of text an object array of bytes, as a trace gives it: NumPy's own drops NULs at the end."""
    if type(value) in READERS:
        with suppress(Exception):               # it has no elements to read: the host says what it is
            value = READERS[type(value)](value)
    if not isinstance(value, bytes | str):
        array = np.asarray(host.to_numpy(value))
        if array.dtype.kind not in 'SU':
            return array
        value = array.astype(object)
    texts = np.asarray(value, object)
    made = np.empty(texts.shape, object)
    for place, text in np.ndenumerate(texts):
        made[place] = text.encode() if isinstance(text, str) else text
    return made


@contextmanager
def repeat_calls(site: CallSite, before_each: Callable[[], None] | None = None) -> Iterator[CallRepeater]:
    """Make calls of a site; at the end the program is as it was, and NumPy has warned of nothing."""
    capture = Capture('only')
    capture.start(as_hook=False)
    errors = numpy_errstate.state.set(numpy_errstate.IGNORE)
    put_back = keep_state(site) if site.kind == 'python' else None
    try:
        with site.host.restored_state() as changed:
            yield CallRepeater(site, capture, changed, before_each)
    finally:
        if put_back is not None:
            put_back()
        numpy_errstate.state.reset(errors)
        capture.stop()


@contextmanager
def repeat_live_call(trace: Trace, call: CallRecord, at: Call | None,
                     before_each: Callable[[], None] | None) -> Iterator[CallRepeater]:
    """As `RepeatCall`: the function is that of the running program."""
    with repeat_calls(live_site(trace, call, at), before_each) as repeater:
        yield repeater


@contextmanager
def unrecorded(site: CallSite) -> Iterator[None]:
    """A block whose calls are seen by no hook and print nothing; at the end the program is as it was."""
    with repeat_calls(site) as repeater, repeater.within():
        yield


def _unrecorded_call(site: CallSite, inputs: list[Any]) -> Call:
    """A call that no hook sees and that counts for nothing."""
    call = Call()
    call.id = call.ordinal = call.thread = call.finished = call.forward = call.parent = call.retry_of = 0
    call.run = Run.__new__(Run)                 # a new one would take a number
    call.run.aborted = None
    call.site = site
    call.inputs = inputs
    call.outputs = call.error = call.output = call.output_owner = call.saved_inputs = None
    call.sources = ()
    call.started = perf_counter_ns()
    return call


def _output_text(call: Call) -> tuple[OutputRecord, ...]:
    if call.output is None:
        return ()
    return load_output([OutputRecord(entry.kind, entry.text, entry.category, *entry.place, entry.offset / 1e9,
                                     running_source) for entry in call.output.entries])
