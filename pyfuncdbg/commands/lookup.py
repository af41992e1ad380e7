"""Finding what the user names: a call ('17', '#17', 'norm[3]', 'norm'), a tensor ('norm:0', '#17:in1', 'norm[3]:0[1:3]')."""
from __future__ import annotations

import glob
import re
from dataclasses import dataclass

from pyfuncdbg.commands.index import Index, parse_index
from pyfuncdbg.debug.queries import Queries
from pyfuncdbg.errors import CommandError, nearest
from pyfuncdbg.record.records import CallRecord, TensorRecord

_SPEC = re.compile(r'(?P<owner>.+?):(?P<side>in|out)?(?P<slot>\d{1,9})(?P<index>\[.*\])?', re.DOTALL)
_NUMBERED = re.compile(r'#?\d+(\.\d+)?|.*\[\d+\]', re.DOTALL)
RUNS = 1_000
"""Newest runs that are searched for a feed or fetch."""
RECENT = 50
"""Newest calls of a site that are searched for one that has the tensor."""


@dataclass(frozen=True, slots=True)
class TensorSpec:
    """A tensor as typed: `owner` is a call or a node name, `side` is 'in', 'out' or '' (output, else any of that name)."""

    owner: str
    side: str
    slot: int
    index: Index | None

    @property
    def name(self) -> str:
        """'norm:0'."""
        return f'{self.owner}:{self.slot}'


@dataclass(frozen=True, slots=True)
class Found:
    """A recorded tensor and where it was: an input or output of a call, where runs are calls too."""

    tensor: TensorRecord
    title: str
    call: CallRecord


def find_call(trace: Queries, text: str) -> CallRecord:
    """The call of that number or label; for a bare node name its newest call.

    Raises:
        CommandError: There is none, with the nearest names.
    """
    name = text.strip()
    if name and not _NUMBERED.fullmatch(name):
        newest = _newest(trace, name)
        if newest:
            return newest[0]
    return trace.call(name)


def _newest(trace: Queries, name: str) -> list[CallRecord]:
    """The newest calls of a node; where no node has that name, of the function or the op type."""
    calls = trace.calls(site=glob.escape(name), newest_first=True, limit=RECENT)
    return [call for call in calls if call.site.name == name] or calls


def parse_tensor(text: str) -> TensorSpec:
    """Read 'norm:0', '#17:0', 'norm[3]:in1[2:4]'; without a slot it is output 0.

    Raises:
        CommandError: The slice is none.
    """
    match = _SPEC.fullmatch(text.strip())
    if match is None:
        if not text.strip():
            raise CommandError("no tensor named: expected something like 'norm:0', '#17:in0' or 'norm[3]:0[1:3]'")
        return TensorSpec(text.strip(), '', 0, None)
    index = parse_index(match['index']) if match['index'] else None
    return TensorSpec(match['owner'], match['side'] or '', int(match['slot']), index)


def find_tensor(trace: Queries, spec: TensorSpec) -> Found:
    """The tensor that is meant; where several calls made one of that name, the newest.

    Raises:
        CommandError: There is none, with the nearest names.
    """
    if _NUMBERED.fullmatch(spec.owner) or spec.side:
        call = find_call(trace, spec.owner)
        return _of_call(call, spec)
    for call in _newest(trace, spec.owner):
        if spec.slot < len(call.outputs):
            return _of_call(call, spec)
    found = _as_input(trace, spec) or _in_runs(trace, spec)
    if found is None:
        known = sorted({name for site in trace.sites() for name in (*site.outputs, *site.inputs, f'{site.name}:0') if name})
        raise CommandError(f"no tensor {spec.name!r} in this trace; 'lt' lists them.{nearest(spec.name, known)}")
    return found


def _of_call(call: CallRecord, spec: TensorSpec) -> Found:
    tensors = call.inputs if spec.side == 'in' else call.outputs
    side = 'input' if spec.side == 'in' else 'output'
    if spec.slot >= len(tensors):
        why = ': it raised' if call.error is not None and side == 'output' else ''
        last = f', numbered from 0 to {len(tensors) - 1}' if len(tensors) > 1 else ''
        raise CommandError(f'call #{call.number} {call.label} has {len(tensors)} recorded {side}s{last}{why}; '
                           f'there is no {side} {spec.slot}')
    return Found(tensors[spec.slot], f'{side} {spec.slot} of call #{call.number} {call.label}', call)


def _as_input(trace: Queries, spec: TensorSpec) -> Found | None:
    """A tensor that no recorded call made, as the newest call that got it."""
    for site in trace.sites():
        if spec.name not in site.inputs:
            continue
        slot = site.inputs.index(spec.name)
        for call in _newest(trace, site.name):
            if slot < len(call.inputs) and call.inputs[slot].name in (spec.name, ''):
                return Found(call.inputs[slot], f'input {slot} of call #{call.number} {call.label}', call)
    return None


def _in_runs(trace: Queries, spec: TensorSpec) -> Found | None:
    for run in trace.calls(kind='run', newest_first=True, limit=RUNS):
        for kind, tensors in (('fetch', run.outputs), ('feed', run.inputs)):
            for tensor in tensors:
                if tensor.name == spec.name:
                    return Found(tensor, f'{kind} of run #{run.run}', run)
    return None
