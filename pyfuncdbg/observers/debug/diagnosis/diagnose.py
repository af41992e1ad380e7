"""All judges on one trace: what `pyfuncdbg doctor` and `show TRACE doctor` answer.

Called by `commands/doctor`, on the thread that asks; a trace that is being written may be judged too.
"""
from __future__ import annotations

from collections.abc import Callable, Iterator

from pyfuncdbg.observers.debug.diagnosis.argument_writes import writes
from pyfuncdbg.observers.debug.diagnosis.bytes_for_str import texts
from pyfuncdbg.observers.debug.diagnosis.evidence import Evidence
from pyfuncdbg.observers.debug.diagnosis.finding import Diagnosis, Finding
from pyfuncdbg.observers.debug.diagnosis.gradient_faults import gradients
from pyfuncdbg.observers.debug.diagnosis.leaks import leaks
from pyfuncdbg.observers.debug.diagnosis.lost_errors_and_exports import ends, exports, unheard
from pyfuncdbg.observers.debug.diagnosis.lost_shapes import failed_shapes, lost_shapes, untrue_shapes
from pyfuncdbg.observers.debug.diagnosis.return_values import results
from pyfuncdbg.observers.debug.diagnosis.serialization import uses, waits
from pyfuncdbg.observers.debug.queries import Queries

JUDGES: tuple[Callable[[Evidence], Iterator[Finding]], ...] = (results, texts, gradients, writes, leaks, lost_shapes,
                                                              untrue_shapes, failed_shapes, waits, exports, ends, unheard)


def diagnose(trace: Queries) -> Diagnosis:
    """Judge a whole trace."""
    evidence = Evidence(trace)
    found = [finding for judge in JUDGES for finding in judge(evidence)]
    ended = evidence.having('ended')
    versions = [known.text('version') for known in evidence.having('tensorflow')]
    return Diagnosis(tuple(sorted(found, key=lambda finding: (finding.place, finding.kind))),
                     sum(spot.count for spot in evidence.spots),
                     len({(spot.place, name) for spot in evidence.spots for name in spot.names}),
                     bool(evidence.sampled), versions[0] if versions else '',
                     next((known.text('raised') for known in ended if known.text('raised')), ''),
                     bool(ended) or not evidence.sampled, max(evidence.sampled.values(), default=0.0),
                     uses(evidence))
