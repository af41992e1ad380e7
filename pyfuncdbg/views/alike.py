"""What tells apart sites of one name, function and line, as those of a model that is built to be trained and tested."""
from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from pyfuncdbg.debug.ordinals import ordinal
from pyfuncdbg.record.records import SiteRecord
from pyfuncdbg.views.source import place


def told_apart(sites: Sequence[SiteRecord]) -> dict[int, Text]:
    """By id of each site that looks like another one: the line that it was made from, or which of them it is."""
    groups: dict[tuple[object, ...], list[SiteRecord]] = {}
    for site in sites:
        groups.setdefault((site.process, site.name, site.function, site.filename, site.line), []).append(site)
    found: dict[int, Text] = {}
    for alike in groups.values():
        if len(alike) > 1:
            found.update(_made_from(alike) or _counted(alike))
    return found


def _made_from(sites: Sequence[SiteRecord]) -> dict[int, Text]:
    """The innermost lines of the program that differ for all of them; empty if none do."""
    for level in range(1, min(len(site.stack) for site in sites) + 1):
        frames = [site.stack[-level] for site in sites]
        if len({(frame.filename, frame.line) for frame in frames}) == len(sites):
            return {site.id: Text.assemble('made from ', place(frame.filename, frame.line))
                    for site, frame in zip(sites, frames, strict=True)}
    return {}


def _counted(sites: Sequence[SiteRecord]) -> dict[int, Text]:
    numbered = enumerate(sorted(site.id for site in sites), 1)
    return {site: Text(f'the {ordinal(number)} of {len(sites)} that were made there') for number, site in numbered}
