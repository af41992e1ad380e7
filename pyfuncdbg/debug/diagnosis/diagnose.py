"""All judges on one trace: what `pyfuncdbg doctor` and `show TRACE doctor` answer.

Called by `commands/doctor`, on the thread that asks; a trace that is being written may be judged too.
"""
from __future__ import annotations

from collections.abc import Callable, Iterator

from pyfuncdbg.debug.diagnosis.differentiating import gradients
from pyfuncdbg.debug.diagnosis.evidence import Evidence
from pyfuncdbg.debug.diagnosis.finding import Diagnosis, Finding
from pyfuncdbg.debug.diagnosis.leaking import leaks
from pyfuncdbg.debug.diagnosis.leaving import ends, exports, unheard
from pyfuncdbg.debug.diagnosis.results import results
from pyfuncdbg.debug.diagnosis.shaping import failed_shapes, lost_shapes, untrue_shapes
from pyfuncdbg.debug.diagnosis.texts import texts
from pyfuncdbg.debug.diagnosis.waiting import uses, waits
from pyfuncdbg.debug.diagnosis.writing import writes
from pyfuncdbg.debug.queries import Queries

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
