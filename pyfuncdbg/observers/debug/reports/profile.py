"""Profile of a trace or of one run: costs of calls by node, function, line, op type or file.

Made from `Trace.profile`, on any thread.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pyfuncdbg.observers.debug.inspecting.creation_line import creation_line, forward_sites, twin_key
from pyfuncdbg.observers.debug.reports.site_labels import SiteLabel, labels_by_site
from pyfuncdbg.observers.record.index.site_usage import SiteTime
from pyfuncdbg.observers.record.records import SiteRecord
from pyfuncdbg.observers.record.sources.source_text import SourceText
from pyfuncdbg.observers.record.trace import Trace

By = Literal['node', 'function', 'line', 'type', 'file']


@dataclass(frozen=True, slots=True)
class ProfileRow:
    """A row of the profile.

    Attributes:
        name: Of the node, function or op type; '' for a line or file.
        op_type, function: Of the node; '' where several fall together.
        filename, line: Of the line or file; of a node or function, where it was made; '' and 0 if unknown.
        nodes: How many fall together.
        calls, failed, bad: How often they ran, raised, and met NaN or infinities.
        retries: How many of the calls were executed once more by `retry`.
        own: Seconds in which no other recorded call ran inside.
        total: Seconds, with what ran inside.
        longest: Seconds of the longest call.
        source: The text of `line`, where calls are added up by line.
        newest: Number of the newest call of the one that cost most.
        alike: Which node it is of those that look like it; None of others, and where calls are added up otherwise.
    """

    name: str
    op_type: str
    function: str
    filename: str
    line: int
    nodes: int
    calls: int
    failed: int
    own: float
    total: float
    longest: float
    newest: str
    bad: int
    source: SourceText
    retries: int = 0
    alike: SiteLabel | None = None

    @property
    def mean(self) -> float:
        """Seconds of its own for each call."""
        return self.own / self.calls if self.calls else 0.0


_Key = tuple[Any, ...]
"""The name of the group, '' for none, and what else tells groups apart."""
_KEYS: Mapping[By, Callable[[SiteRecord, str, int], _Key]] = {
    'node': lambda site, filename, line: (site.name, filename, line, twin_key(site)),
    'function': lambda site, filename, line: (site.function or site.op_type, site.filename, site.line),
    'line': lambda site, filename, line: ('', filename, line),
    'type': lambda site, filename, line: (site.op_type,),
    'file': lambda site, filename, line: ('', filename),
}


@dataclass(frozen=True, slots=True)
class Profile:
    """Rows that passed the filters: `total` in all, with `own` seconds of their own; these were asked for."""

    rows: tuple[ProfileRow, ...]
    total: int
    own: float
    by: By
    filters: dict[str, object]
    sort: str
    ops: bool
    stepped: bool = False


def profile_rows(times: Iterable[SiteTime], sites: Iterable[SiteRecord], by: By) -> list[ProfileRow]:
    """The rows, most time of their own first; `sites` are all of the trace."""
    sites = list(sites)
    forward, labels = forward_sites(sites), labels_by_site(sites) if by == 'node' else {}
    groups: dict[_Key, list[SiteTime]] = {}
    places: dict[_Key, tuple[str, int]] = {}
    for time in times:
        site = time.site
        frame = creation_line(site, forward)
        filename, line = (frame.filename, frame.line) if frame is not None else ('', 0)
        if by == 'function' and site.function:
            filename, line = site.filename, site.line
        key = _KEYS[by](site, filename, line)
        groups.setdefault(key, []).append(time)
        places.setdefault(key, (filename, line))
    found = [_cost(key, group, places[key], by, labels) for key, group in groups.items()]
    return sorted(found, key=lambda cost: (-cost.own, cost.filename, cost.line, cost.name))


def _cost(key: _Key, group: list[SiteTime], place: tuple[str, int], by: By,
          labels: Mapping[tuple[int, int], SiteLabel]) -> ProfileRow:
    most = max(group, key=lambda time: (bool(time.site.function), time.own))
    site = most.site
    nodes = {twin_key(time.site) for time in group}
    twins = _without_twins(group)
    is_single = len(nodes) == 1 and by in ('node', 'line')
    filename, line = place if by != 'type' else ('', 0)
    return ProfileRow(key[0] or (site.name if is_single else ''), site.op_type if is_single or by == 'node' else '',
                      site.function if by in ('node', 'function') or is_single else '',
                      filename, line if by != 'file' else 0,
                      len(nodes), sum(time.calls for time in twins), sum(time.failed for time in twins),
                      sum(time.own for time in group), sum(time.total for time in twins), max(time.longest
                                                                                              for time in group),
                      most.newest, sum(time.bad for time in twins),
                      site.source_at(filename, line).only_line(line) if by == 'line' and filename else SourceText(),
                      sum(time.retries for time in twins), labels.get((site.process, site.id)))


def _without_twins(group: list[SiteTime]) -> list[SiteTime]:
    """A wrapped function is recorded as a call and as a step of its graph around that: it ran once."""
    steps = {twin_key(time.site) for time in group if time.site.kind == 'op'}
    return [time for time in group if time.site.kind != 'python' or twin_key(time.site) not in steps]


def were_stepped(trace: Trace, run: int | None = None) -> bool:
    """Whether nodes of the graph, or of one run, were recorded although the recording does not have all of them."""
    return not trace.info().ops and trace.count(kind='op', run=run) > 0
