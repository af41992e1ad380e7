"""Lookup of a call ('17', '#17', 'norm[3]', 'norm') or a tensor ('norm:0', '#17:in1', 'norm[3]:0[1:3]') by its typed
name."""
from __future__ import annotations

import glob
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pyfuncdbg.errors import CommandError, DroppedError, TypedCommand, nearest
from pyfuncdbg.observers.debug.inspecting.tensor_values import call_at
from pyfuncdbg.observers.debug.reports.unattributed_calls import count_unattributed
from pyfuncdbg.observers.debug.stops.stop import Stop
from pyfuncdbg.observers.record.records import CallRecord, TensorRecord
from pyfuncdbg.ui.commands.engine.slice_syntax import Index, parse_index

if TYPE_CHECKING:                               # a program that is only stopped loads no index
    from pyfuncdbg.observers.record.trace import Trace

_SPEC = re.compile(r'(?P<owner>.+?):(?P<side>in|out)?(?P<slot>\d{1,9})(?P<index>\[.*\])?', re.DOTALL)
_NUMBERED = re.compile(r'#?\d+(\.\d+)?|.*\[\d+\]', re.DOTALL)
RUNS = 1_000
"""Newest runs that are searched for a feed or fetch."""
RECENT = 50
"""Newest calls of a site that are searched for one that has the tensor."""


@dataclass(frozen=True, slots=True)
class TensorReference:
    """A typed name of a tensor. `owner` is a call or node, `side` is 'in', 'out' or '' (output, else any of that name)."""

    owner: str
    side: str
    slot: int
    index: Index | None

    @property
    def name(self) -> str:
        """'norm:0'."""
        return f'{self.owner}:{self.slot}'

    @property
    def names(self) -> tuple[str, ...]:
        """What the tensor may be called: arguments and results of a function have no slot, as 'x'."""
        return (self.name, self.owner) if not self.slot and not self.side else (self.name,)


@dataclass(frozen=True, slots=True)
class FoundTensor:
    """A recorded tensor and where it was: an input or output of a call, where runs are calls too."""

    tensor: TensorRecord
    title: str
    call: CallRecord


def find_call(trace: Trace, text: str, stop: Stop | None = None) -> CallRecord:
    """Find a call by number, label or node name.

    Args:
        trace: Where to look.
        text: '17', '#17', 'norm[3]', or 'norm' for the call at the stop if it is of that node, else the newest.
        stop: The user's stop; other threads may make further calls meanwhile.

    Returns:
        The call.

    Raises:
        CommandError: There is none; the message has the nearest names.
    """
    name = text.strip()
    if name and not _NUMBERED.fullmatch(name):
        newest = _newest(trace, name, stop=stop)
        if newest:
            return newest[0]
    return trace.call(name)


def find_bad_call(trace: Trace, text: str, stop: Stop | None = None) -> CallRecord:
    """Find a call as `find_call` does; of a node whose call is not the one at the stop, the first that met NaN or Inf.

    Args:
        trace, text, stop: As there.

    Returns:
        The call; of a node none of whose calls did, what `find_call` gives.
    """
    call, at = find_call(trace, text, stop), call_at(trace, stop)
    if _NUMBERED.fullmatch(text.strip()) or (at is not None and at.number == call.number):
        return call
    bad = trace.calls(site=glob.escape(call.site.name), process=call.process, bad=True, limit=RECENT)
    return next((one for one in bad if one.site.id == call.site.id), call)


def _newest(trace: Trace, name: str, run: int | None = None, stop: Stop | None = None) -> list[CallRecord]:
    """The newest calls of a node, that of a stop first; where no node has that name, of the function or the op type."""
    calls = trace.calls(site=glob.escape(name), run=run, newest_first=True, limit=RECENT)
    calls = [call for call in calls if call.site.name == name] or calls
    current = call_at(trace, stop)
    if current is None or run not in (None, current.run) or not any(call.site.id == current.site.id for call in calls):
        return calls
    return [current, *(call for call in calls if call.number != current.number)]


def parse_tensor(text: str) -> TensorReference:
    """Parse 'norm:0', '#17:0' or 'norm[3]:in1[2:4]'.

    Args:
        text: As typed; without a slot it means output 0.

    Returns:
        The parsed name.

    Raises:
        CommandError: The text is empty or its slice is not valid.
    """
    match = _SPEC.fullmatch(text.strip())
    if match is None:
        if not text.strip():
            raise CommandError("expected a tensor, such as 'norm:0', '#17:in0' or 'norm[3]:0[1:3]'")
        return TensorReference(text.strip(), '', 0, None)
    index = parse_index(match['index']) if match['index'] else None
    return TensorReference(match['owner'], match['side'] or '', int(match['slot']), index)


def find_tensor(trace: Trace, spec: TensorReference, *, run: int | None = None, other_than: int | None = None,
                stop: Stop | None = None) -> FoundTensor:
    """Find a tensor; of several calls the one at the stop, else the newest.

    Args:
        trace: Where to look.
        spec: The parsed name.
        run: In this run only.
        other_than: In any run but this.
        stop: The user's stop.

    Returns:
        The tensor with its call.

    Raises:
        CommandError: There is none; the message has the nearest names.
    """
    if _NUMBERED.fullmatch(spec.owner) or (spec.side and run is None):
        call = find_call(trace, spec.owner, stop)
        if run not in (None, call.run):
            raise CommandError(f'call #{call.number} {call.label} is of run {call.run}, not of run {run}')
        return of_call(call, spec)
    for call in _newest(trace, spec.owner, run, stop):
        if call.run != other_than and (spec.side or spec.slot < len(call.outputs)):
            return of_call(call, spec)
    tensor_found = (_in_runs(trace, spec.names[1:], run, other_than) or _as_input(trace, spec, run, other_than, stop)
                    or _in_runs(trace, spec.names[:1], run, other_than))
    if tensor_found is None and (run is not None or other_than is not None):
        raise CommandError(f'{spec.name!r} was not recorded in {f"run {run}" if run is not None else "an earlier run"}',
                           *_perhaps(trace, spec, run))
    if tensor_found is None:
        names = sorted({name for site in trace.sites() for name in (*site.outputs, *site.inputs, f'{site.name}:0') if name})
        if spec.name in names:
            raise CommandError(f'no value of {spec.name!r} is recorded: no call that makes it has returned')
        raise CommandError(f'no tensor {spec.name!r} in this trace; ', TypedCommand('lt'),
                           f' lists them.{nearest(spec.name, names)}')
    return tensor_found


def earlier(trace: Trace, found: FoundTensor) -> FoundTensor:
    """The same tensor of the previous call of its site; of a feed or fetch, in the previous run.

    Args:
        trace: Where to look.
        found: The tensor.

    Returns:
        The earlier tensor.

    Raises:
        CommandError: There is none.
    """
    call = found.call
    name = found.tensor.name
    if call.site.kind == 'run':
        for run in trace.calls(kind='run', newest_first=True, limit=RUNS):
            if run.process == call.process and run.run < call.run:
                for kind, tensors in (('fetch', run.outputs), ('feed', run.inputs)):
                    for tensor in tensors:
                        if name and tensor.name == name:
                            return FoundTensor(tensor, f'{kind} of run #{run.run}', run)
        raise CommandError(f'no run before run {call.run} has {name!r}')
    if not call.ordinal:
        raise CommandError(f'call #{call.number} {call.label} is the first of its node, with no earlier one to compare '
                           "with. '--against CALL' compares with another call")
    before = trace.call(f'{call.site.name}[{call.ordinal - 1}]')
    if before.process != call.process:
        raise CommandError(f"the call before #{call.number} {call.label} is not known: name one by '--against CALL'")
    side = 'in' if any(found.tensor is given for given in call.inputs) else ''
    slot = next(i for i, one in enumerate(call.inputs if side else call.outputs) if one is found.tensor)
    return of_call(before, TensorReference(before.number, side, slot, None))


def elements(trace: Trace, spec: TensorReference, found: FoundTensor) -> np.ndarray:
    """The elements of a tensor.

    Args:
        trace: Searched for a run that has kept them, for the error.
        spec: The parsed name.
        found: The tensor.

    Returns:
        An array of the recorded shape and dtype.

    Raises:
        DroppedError: They were not kept; the message names the newest run that has them.
    """
    try:
        return found.tensor.to_numpy()
    except DroppedError as error:
        run = _newest_kept(trace, spec, found)
        raise DroppedError(f"{error}{f'. Of run {run} it was kept: --run {run}' if run else ''}") from None


def _perhaps(trace: Trace, spec: TensorReference, run: int | None) -> list[str | TypedCommand]:
    """Calls that may be of a run where none is known to be."""
    sites = [site for site in trace.sites() if spec.owner in (site.name, *site.outputs)] if run is not None else []
    calls = sum(count_unattributed(trace, site, run) for site in sites)
    return [f'. {calls} of its calls may belong to it: several runs overlapped, and their host does not say which. ',
            TypedCommand(f'calls --site {spec.owner}'), ' lists them.'] if calls else []


def _newest_kept(trace: Trace, spec: TensorReference, found: FoundTensor) -> int | None:
    """The newest run that has the elements of a tensor, where those of `found` were not kept."""
    if _NUMBERED.fullmatch(spec.owner) or spec.side or not found.tensor.name:
        return None
    name = found.tensor.name
    calls = trace.calls(kind='run', newest_first=True, limit=RUNS) if found.call.site.kind == 'run' else (
        trace.calls(site=glob.escape(found.call.site.name), newest_first=True, limit=RUNS))
    return next((call.run for call in calls for tensor in (*call.outputs, *call.inputs)
                 if tensor.name == name and tensor.level == 'full'), None)


def of_call(call: CallRecord, spec: TensorReference) -> FoundTensor:
    """An input or output of a call.

    Args:
        call: The call.
        spec: The parsed name: side and slot.

    Returns:
        The tensor with its call.

    Raises:
        CommandError: The call has no such tensor.
    """
    tensors = call.inputs if spec.side == 'in' else call.outputs
    side = 'input' if spec.side == 'in' else 'output'
    if spec.slot >= len(tensors):
        why = ': it raised' if call.error is not None and side == 'output' else ''
        last = f', numbered from 0 to {len(tensors) - 1}' if len(tensors) > 1 else ''
        raise CommandError(f'call #{call.number} {call.label} has {len(tensors)} recorded {side}s{last}{why}; '
                           f'there is no {side} {spec.slot}')
    return FoundTensor(tensors[spec.slot], f'{side} {spec.slot} of call #{call.number} {call.label}', call)


def _as_input(trace: Trace, spec: TensorReference, run: int | None, other_than: int | None,
              stop: Stop | None) -> FoundTensor | None:
    """A tensor that no recorded call made, as the newest call that got it."""
    for site in trace.sites():
        name = next((name for name in spec.names if name in site.inputs), None)
        if name is None:
            continue
        slot = site.inputs.index(name)
        for call in _newest(trace, site.name, run, stop):
            if call.run != other_than and slot < len(call.inputs) and call.inputs[slot].name in (name, ''):
                return FoundTensor(call.inputs[slot], f'input {slot} of call #{call.number} {call.label}', call)
    return None


def _in_runs(trace: Trace, names: Sequence[str], number: int | None, other_than: int | None) -> FoundTensor | None:
    """A feed or fetch of the newest run that has one of the names; of an argument calls may have a part, as a shard."""
    for run in trace.calls(kind='run', run=number, newest_first=True, limit=RUNS) if names else ():
        if run.run == other_than:
            continue
        for kind, tensors in (('fetch', run.outputs), ('feed', run.inputs)):
            for tensor in tensors:
                if tensor.name and tensor.name in names and not tensor.absent:
                    return FoundTensor(tensor, f'{kind} of run #{run.run}', run)
    return None
