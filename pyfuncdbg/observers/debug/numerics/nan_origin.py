"""Origin of the NaN or infinity in one recorded tensor, for the tensor card. Any thread."""
from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyfuncdbg.hooks.call import Frame
from pyfuncdbg.observers.debug.numerics.nan_outcomes import outcomes
from pyfuncdbg.observers.debug.numerics.nan_verdicts import Health, NanVerdict, ReportedLine, judge
from pyfuncdbg.observers.record.records import CallRecord, TensorRecord

if TYPE_CHECKING:                               # a program that is only stopped loads no index
    from pyfuncdbg.observers.record.trace import Trace


@dataclass(frozen=True, slots=True)
class Provenance:
    """Origin of a non-finite value.

    Attributes:
        verdict: On the call where it began: 'born', 'suspected', 'fed' or 'entered'.
        number, label: Of that call: '313', 'normalize[26]'.
        filename, line: Where in it, or where its function begins, or where the op was made.
        line_known: They are not where its function begins.
        own_output: The tensor is an output of that very call.
        certain: False if this is only the likely story.
    """

    verdict: str
    number: str
    label: str
    filename: str
    line: int
    line_known: bool
    own_output: bool
    certain: bool


def provenance(trace: Trace, call: CallRecord, tensor: TensorRecord) -> Provenance | None:
    """The origin of a tensor's non-finite values; None for a tensor that is finite, and where nothing recorded tells.

    Args:
        trace: Which holds them.
        call: Has the tensor as an input or output; a run is a call too.
        tensor: One of its tensors.
    """
    if tensor.stats is None or not tensor.stats.bad:
        return None
    health = judge(trace)
    findings = health.by_call()
    if call.site.kind == 'run':
        return _of_fetch(trace, health, call, tensor)
    finding = findings.get(call.number)
    if finding is None:
        return None
    if not finding.origin:
        return _provenance_of(finding, any(tensor is output for output in call.outputs), finding.certain)
    origin = findings.get(finding.origin)
    return _provenance_of(origin, False, finding.certain) if origin is not None else None


def _of_fetch(trace: Trace, health: Health, run: CallRecord, tensor: TensorRecord) -> Provenance | None:
    for outcome in outcomes(trace, health):
        for fetch in outcome.fetches:
            if (fetch.run, fetch.process, fetch.tensor.name) == (run.run, run.process, tensor.name):
                return _provenance_of(outcome.origin, False, fetch.certain)
    return None


def _provenance_of(origin: NanVerdict, here: bool, certain: bool) -> Provenance:
    call = origin.call
    place: ReportedLine | Frame | None = origin.places[0] if origin.places else None
    if place is None and not call.site.filename and call.site.stack:    # an op: where it was made
        place = call.site.stack[-1]
    filename, line = (place.filename, place.line) if place is not None else (call.site.filename, call.site.line)
    return Provenance(origin.verdict, call.number, call.label, filename, line, place is not None, here, certain)
