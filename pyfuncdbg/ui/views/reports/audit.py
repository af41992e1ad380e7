"""Audit: a block for each function, its verdict first, then its findings with the calls that show them."""
from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from rich.text import Text

from pyfuncdbg.observers.debug.replay.audit_finding import Audit, AuditFinding, SiteAudit
from pyfuncdbg.ui.views.escape import label, one_line
from pyfuncdbg.ui.views.page import Page, Part
from pyfuncdbg.ui.views.units import count

_LONGEST, _CALLS, _REMARKS = 200, 4, 8
_STYLES = {'pure': 'bold green', 'not pure': 'bold red', 'not known': 'bold yellow'}
_ANSWERS = {'yes': 'green', 'no': 'red', 'not known': 'yellow'}
_USES = {'parallel': 'parallel (num_parallel_calls)', 'cached': 'cache() behind it', 'stateful=False': 'stateful=False'}


def audit_view(audit: Audit) -> Page:
    """The functions with findings first.

    Args:
        audit: Of a recording.
    """
    return Page(*_parts(audit))


def _parts(audit: Audit) -> Iterator[Part]:
    if len(audit.sites) > 1:
        counts: Counter[str] = Counter(site.purity for site in audit.sites)
        yield Text(f'{count(len(audit.sites), "function")}: ' + ', '.join(
            f'{counts[purity]} {purity}' for purity in _STYLES if counts[purity]))
    for site in audit.sites:
        yield from _site(site)
    if audit.files:
        yield Text(f'ran {", ".join(one_line(file, _LONGEST) for file in audit.files)}', 'dim', overflow='fold')


def _site(site: SiteAudit) -> Iterator[Part]:
    where = f'  {one_line(site.filename, _LONGEST)}:{site.line}' if site.filename and site.line else ''
    yield Text.assemble((site.purity.upper(), _STYLES[site.purity]), '  ', label(site.site, limit=80),
                        f'  {one_line(site.function, 80)}', overflow='fold')
    yield Text(f'  {len(site.calls)} of {count(site.recorded, "call")} replayed{where}', 'dim', overflow='fold')
    yield from (_finding(finding) for finding in site.findings)
    for use in site.dataset:
        yield Text.assemble(f'  {_USES[use.use]}  ', (use.answer, _ANSWERS[use.answer]),
                            f': {one_line(use.why, _LONGEST)}' if use.why else '', overflow='fold')
    for remark in site.remarks[:_REMARKS]:
        yield Text(f'  {one_line(remark, 2 * _LONGEST)}', 'dim', overflow='fold')
    if len(site.remarks) > _REMARKS:
        yield Text(f'  and {count(len(site.remarks) - _REMARKS, "more remark")}', 'dim')


def _finding(finding: AuditFinding) -> Text:
    numbers = ', '.join(f'#{number}' for number in finding.calls[:_CALLS])
    more = f' and {len(finding.calls) - _CALLS} more' if len(finding.calls) > _CALLS else ''
    return Text.assemble('  ', (finding.label, 'bold'), f'  {one_line(finding.subject, 100)}  ',
                         one_line(finding.evidence, 2 * _LONGEST), (f'  {numbers}{more}', 'dim'), overflow='fold')


if __name__ == '__main__':
    from pyfuncdbg.observers.debug.replay.audit_finding import dataset_uses
    from pyfuncdbg.ui.views.sample_trace import demo
    draws = AuditFinding('draws random numbers', 'numpy.random', 'its state is another after the call', ('5', '6', '7'))
    demo(audit_view(Audit((
        SiteAudit('flip', 'flip', 'augment.py', 10, 'not pure', (draws,), (), ('5', '6', '7'), 1000,
                  dataset_uses((draws.label,), 'not pure', '')),
        SiteAudit('scale', 'scale', 'augment.py', 7, 'pure', (), ('reads global LARGEST = 255, the same at each call',),
                  ('1', '2', '3'), 1000, dataset_uses((), 'pure', ''))), ('augment.py',))))
