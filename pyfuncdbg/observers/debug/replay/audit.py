"""`audit`: purity of the functions of a recording, each by replays of some of its calls.

Runs the program's own functions, as `replay` does. On the thread of the command.
"""
from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from pyfuncdbg.errors import CommandError
from pyfuncdbg.hooks.graph_context import DATASET
from pyfuncdbg.observers.debug.gradients.call_again import is_of_this_process
from pyfuncdbg.observers.debug.replay import state_values
from pyfuncdbg.observers.debug.replay.audit_finding import (
    HARMLESS,
    Audit,
    AuditedSite,
    AuditFinding,
    Purity,
    SiteAudit,
    dataset_uses,
)
from pyfuncdbg.observers.debug.replay.call_audit import AuditedCall, CallAudit
from pyfuncdbg.observers.debug.replay.named_code import describe_runs
from pyfuncdbg.observers.debug.replay.python_sites import python_sites
from pyfuncdbg.observers.debug.replay.replay import LoadHost
from pyfuncdbg.observers.debug.replay.state_values import value_text
from pyfuncdbg.observers.record.index.site_usage import SiteUse
from pyfuncdbg.observers.record.records import CallRecord, SiteRecord
from pyfuncdbg.observers.record.snapshots.value_encoding import UNKNOWN
from pyfuncdbg.observers.record.trace import Trace

CALLS = 5
"""Calls of a site that are replayed, unless the user says otherwise."""
Spread = Callable[[Sequence[SiteUse]], Iterable[AuditedSite]]
"""From sites to their audits, in their order."""
_REMARKS = 6
_THREAD_LOCAL = '_local'


class Auditor:
    """Audits sites.

    Args:
        trace: The recording.
        load_host: Gives the host of a call.
        calls: How many of each site are replayed at most.
        trust: Whether functions that no file has may be taken from the trace.
    """

    def __init__(self, trace: Trace, load_host: LoadHost, calls: int = CALLS, trust: bool = False) -> None:
        self._trace = trace
        self._load_host = load_host
        self._calls = calls
        self._trust = trust
        self._own_clock = not is_of_this_process(trace)

    def run(self, site: str = '', tell: Callable[[int, int], None] | None = None,
            announce: Callable[[str], object] = lambda text: None, spread: Spread | None = None) -> Audit:
        """Audit the sites of Python functions.

        Args:
            site: Glob on node name, op type or function name; '' for all.
            tell: Told how many sites are done, of how many.
            announce: Gets a sentence that says what will run, before it does.
            spread: Audits sites elsewhere, and gives their audits in their order; None: here.

        Returns:
            The result.

        Raises:
            CommandError: No site matches.
        """
        matches = python_sites(self._trace, site)
        announce(describe_runs('audit', [(use.site.function, use.site.filename) for use in matches]))
        matches.sort(key=lambda use: (use.site.process, use.site.id))
        audits, files = [], dict[str, None]()
        for number, audited in enumerate(spread(matches) if spread is not None else map(self.audit_site, matches), 1):
            audits.append(audited.audit)
            files.update(dict.fromkeys(audited.files))
            if tell is not None:
                tell(number, len(matches))
        order = {'not pure': 0, 'not known': 1, 'pure': 2}
        return Audit(tuple(sorted(audits, key=lambda audit: (order[audit.purity], not audit.findings))), tuple(files))

    def audit_site(self, use: SiteUse) -> AuditedSite:
        """Audit one site.

        Args:
            use: The site, of `Trace.usage`.

        Returns:
            Its audit.
        """
        calls = self._trace.spread_calls(use.site, self._calls)
        audits: list[AuditedCall] = []
        numbers: list[str] = []
        refusals: Counter[str] = Counter()
        for call in calls:
            try:
                audits.append(CallAudit(self._trace, call, self._load_host, self._trust, self._own_clock).run(
                    self._other(call, calls)))
                numbers.append(call.number)
            except CommandError as error:
                refusals[str(error)] += 1
        findings = _together([*[found for one in audits for found in one.findings], *self._thread_locals(calls, audits)])
        remarks = [*_read_remarks(audits), *dict.fromkeys(remark for one in audits for remark in one.remarks)]
        remarks += [f'{number} of {len(calls)} calls not replayed: {why}' for why, number in refusals.most_common(2)]
        if not calls:
            remarks.append('no call ended')
        is_pure = all(finding.label in HARMLESS for finding in findings)
        purity: Purity = 'not pure' if not is_pure else 'pure' if audits else 'not known'
        return AuditedSite(_described(use, purity, findings, remarks, tuple(numbers), _is_of_dataset(use.site, calls)),
                           tuple(dict.fromkeys(file for one in audits for file in one.files)))

    def _other(self, call: CallRecord, calls: Sequence[CallRecord]) -> CallRecord | None:
        """Another call, that began in another state of the function: the farthest."""
        own = self._trace.call_state(call.number).numbers[1]
        others = sorted(calls, key=lambda one: abs(one.ordinal - call.ordinal), reverse=True)
        return next((one for one in others if self._trace.call_state(one.number).numbers[1] not in (own, 0)), None)

    def _thread_locals(self, calls: Sequence[CallRecord], audited: Sequence[AuditedCall]) -> list[AuditFinding]:
        """What each thread has its own of, where that keeps the calls from being replayed: a trace cannot hold it."""
        findings = []
        for call in calls if not audited else ():
            for variable in self._trace.call_state(call.number).variables:
                if isinstance(variable.value, list) and variable.value[:2] == [UNKNOWN, _THREAD_LOCAL]:
                    findings.append(AuditFinding('depends on thread', f'global {variable.name}',
                                              'each thread has its own value', (call.number,)))
        return findings


def unaudited(use: SiteUse, why: str) -> AuditedSite:
    """The audit of a site that could not be audited.

    Args:
        use: The site.
        why: What kept it from being audited.

    Returns:
        An audit whose verdict is 'not known'.
    """
    return AuditedSite(_described(use, 'not known', (), [f'not replayed: {why}'], (), _is_of_dataset(use.site, ())), ())


def _described(use: SiteUse, purity: Purity, findings: tuple[AuditFinding, ...], remarks: Sequence[str],
               numbers: tuple[str, ...], of_dataset: bool) -> SiteAudit:
    site: SiteRecord = use.site
    labels = tuple(dict.fromkeys([finding.label for finding in findings]))
    uses = dataset_uses(labels, purity if numbers else 'not known', next(iter(remarks), '')) if of_dataset else ()
    return SiteAudit(site.name, site.function, site.filename, site.line, purity, findings, tuple(remarks), numbers,
                     use.calls, uses)


def _is_of_dataset(site: SiteRecord, calls: Sequence[CallRecord]) -> bool:
    return str(site.attrs.get('graph', '')).startswith(DATASET) or any(call.element for call in calls)


def _together(findings: Iterable[AuditFinding]) -> tuple[AuditFinding, ...]:
    """The findings of all calls, each label and subject once."""
    groups: dict[tuple[str, str], list[AuditFinding]] = {}
    for finding in findings:
        groups.setdefault((finding.label, finding.subject), []).append(finding)
    return tuple([AuditFinding(group[0].label, group[0].subject, group[0].evidence,
                               tuple(dict.fromkeys(number for one in group for number in one.calls)))
                  for group in groups.values()])


def _read_remarks(calls: Sequence[AuditedCall]) -> list[str]:
    """The global variables that the function reads and that had the same value at each call."""
    if not calls:
        return []
    remarks = []
    for place, value in calls[0].reads.items():
        if all(place in one.reads and not any(state_values.changed_places({place: value}, {place: one.reads[place]}))
               for one in calls[1:]):
            text = value_text(value)
            remarks.append(f'reads {place}{f" = {text}" if text else ""}, the same at each call')
    return remarks[:_REMARKS]
