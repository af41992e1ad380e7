"""Findings of an audit: what keeps a function from being one of its inputs alone, with evidence. Plain data."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Label = Literal['not deterministic', 'differs from the recording', 'writes an input', 'returns an alias of an input',
                'reads a global', 'writes a global', 'writes its closure', 'writes its object', 'writes a default value',
                'writes an attribute', 'writes a variable', 'draws random numbers', 'depends on time', 'depends on order',
                'depends on thread', 'prints', 'warns', 'logs']
Purity = Literal['pure', 'not pure', 'not known']
HARMLESS: frozenset[Label] = frozenset(('returns an alias of an input',))
"""What a pure function may do."""
Answer = Literal['yes', 'no', 'not known']


@dataclass(frozen=True, slots=True)
class AuditFinding:
    """One property of a function.

    Attributes:
        label: The property.
        subject: What is written, read, drawn from, ...: a name.
        evidence: What was seen.
        calls: Numbers of the calls that show it.
    """

    label: Label
    subject: str
    evidence: str
    calls: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DatasetUse:
    """Answer whether the function of a dataset may be used in a way.

    Attributes:
        use: 'parallel' (num_parallel_calls), 'cached' (cache() behind it), 'stateful=False'.
        answer: 'yes' as far as the calls show.
        why: Labels that speak against it, or why it is not known.
    """

    use: Literal['parallel', 'cached', 'stateful=False']
    answer: Answer
    why: str


@dataclass(frozen=True, slots=True)
class SiteAudit:
    """Audit of one site.

    Attributes:
        site: Its name.
        function: Qualified name of its function.
        filename, line: Where that is.
        purity: 'pure' if nothing speaks against it in the calls audited; an alias does not.
        findings: What does.
        remarks: What is harmless, and what is not known.
        calls: Numbers of the calls audited.
        recorded: How many calls there are.
        dataset: Of a function of a dataset: its uses.
    """

    site: str
    function: str
    filename: str
    line: int
    purity: Purity
    findings: tuple[AuditFinding, ...]
    remarks: tuple[str, ...]
    calls: tuple[str, ...]
    recorded: int
    dataset: tuple[DatasetUse, ...] = ()

    @property
    def labels(self) -> tuple[Label, ...]:
        """The labels of the findings, each once."""
        return tuple(dict.fromkeys([finding.label for finding in self.findings]))


@dataclass(frozen=True, slots=True)
class AuditedSite:
    """The audit of a site, with what ran for it.

    Attributes:
        audit: Of the site.
        files: Files of the program whose code ran.
    """

    audit: SiteAudit
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Audit:
    """Result of `audit`.

    Attributes:
        sites: Of the recording, those with findings first.
        files: Files of the program whose code ran.
    """

    sites: tuple[SiteAudit, ...]
    files: tuple[str, ...]


_WRITES: frozenset[Label] = frozenset((
    'writes an input', 'writes a global', 'writes its closure', 'writes its object', 'writes a default value',
    'writes an attribute', 'writes a variable'))
_VARYING: frozenset[Label] = frozenset((
    'draws random numbers', 'depends on time', 'depends on order', 'depends on thread', 'reads a global'))
_UNSAFE: dict[Literal['parallel', 'cached', 'stateful=False'], frozenset[Label]] = {
    'parallel': _WRITES | _VARYING - {'depends on time'},
    'cached': _WRITES | _VARYING | {'not deterministic', 'prints', 'warns', 'logs'},
    'stateful=False': _WRITES | _VARYING | {'not deterministic', 'prints', 'warns', 'logs'}}


def dataset_uses(labels: tuple[Label, ...], purity: Purity, unknown: str) -> tuple[DatasetUse, ...]:
    """The uses of a dataset's function.

    Args:
        labels: Of its findings.
        purity: Of the function.
        unknown: Why its purity is not known.
    """
    uses = []
    for use, unsafe in _UNSAFE.items():
        against = [label for label in labels if label in unsafe]
        answer: Answer = 'no' if against else 'not known' if purity == 'not known' else 'yes'
        uses.append(DatasetUse(use, answer, ', '.join(against) if against else unknown if answer == 'not known' else ''))
    return tuple(uses)
