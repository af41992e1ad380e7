"""All judges of all doctors on one trace: what `pyfuncdbg doctor` and `show TRACE doctor` answer.

Called by `commands/doctor`, on the thread that asks; a trace that is being written may be judged too.
"""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from pyfuncdbg.hooks.diagnosis import Doctor, Evidence, Finding, InterpreterUse
from pyfuncdbg.observers.debug.batched_calls import Tell
from pyfuncdbg.observers.debug.diagnosis.evidence import TraceEvidence
from pyfuncdbg.observers.record.trace import Trace

LEAST = 0.1
"""Seconds in a function below which its use of the interpreter is not listed."""
_MOST = 8
"""Most functions whose use of the interpreter is listed."""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Findings of all judges in a trace.

    Attributes:
        findings: By place in the program.
        calls: How many calls of Python functions were judged, at `sites` sites.
        examined: Whether the program ran under doctor: else only calls could be judged.
        frameworks: Versions of the frameworks that were examined, by name.
        raised: The exception that ended the program, as one line.
        ended: Whether the program ended the usual way; else facts are as of `until` seconds after its start.
        uses: The functions in which most time was spent, the first of them most.
        missing: The module of a framework without which the program ended, '' if there is none.
    """

    findings: tuple[Finding, ...]
    calls: int
    sites: int
    examined: bool
    frameworks: dict[str, str] = field(default_factory=dict)
    raised: str = ''
    ended: bool = True
    until: float = 0.0
    uses: tuple[InterpreterUse, ...] = ()
    missing: str = ''


def diagnose(trace: Trace, doctors: Sequence[Doctor], tell: Tell | None = None) -> Diagnosis:
    """Judge a whole trace; `tell` is called with the number of judges that have finished."""
    evidence = TraceEvidence(trace)
    judges = [judge for doctor in doctors for judge in doctor.judges]
    findings: list[Finding] = []
    for number, judge in enumerate(judges, 1):
        findings += judge(evidence)
        if tell is not None:
            tell(number, len(judges))
    end_facts = evidence.facts_of_kind('ended')
    versions = {doctor.framework: facts[0].text('version') for doctor in doctors
                if (facts := evidence.facts_of_kind(doctor.fact))}
    raised = next((known.text('raised') for known in end_facts if known.text('raised')), '')
    missing = next((name for doctor in doctors if f"No module named {(name := doctor.framework.lower())!r}" in raised), '')
    return Diagnosis(tuple(sorted(findings, key=lambda finding: (finding.place, finding.kind))),
                     sum(spot.count for spot in evidence.spots),
                     len({(spot.place, name) for spot in evidence.spots for name in spot.names}),
                     bool(evidence.sampled), versions,
                     raised, bool(end_facts) or not evidence.sampled, max(evidence.sampled.values(), default=0.0),
                     _uses(evidence), missing)


def _uses(evidence: Evidence) -> tuple[InterpreterUse, ...]:
    """The use of the interpreter by functions: those with at least `LEAST` seconds, the most first."""
    found = [use for spot in evidence.spots if (use := evidence.use(spot)) is not None and use.wall >= LEAST]
    return tuple(sorted(found, key=lambda use: -use.wall)[:_MOST])
