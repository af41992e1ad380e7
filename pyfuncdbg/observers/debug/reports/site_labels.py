"""Labels that distinguish sites of one name, function and line. A model that is built for training and for testing has
such."""
from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pyfuncdbg.observers.record.records import SiteRecord


@dataclass(frozen=True, slots=True)
class SiteLabel:
    """Label of one among several sites that look alike.

    Attributes:
        filename, line: The innermost line of the program that made it and none of the others; '' and 0 if there is none.
        number, count: The how manieth it is in the order of their making, and of how many.
    """

    filename: str
    line: int
    number: int
    count: int


def labels_by_site(sites: Iterable[SiteRecord]) -> dict[tuple[int, int], SiteLabel]:
    """By process and id, each of these sites that looks like another one of its process."""
    groups: dict[tuple[object, ...], list[SiteRecord]] = {}
    for site in sites:
        groups.setdefault((site.process, site.name, site.kind, site.function, site.filename, site.line), []).append(site)
    labels: dict[tuple[int, int], SiteLabel] = {}
    for group in groups.values():
        if len(group) > 1:
            group.sort(key=lambda site: site.id)
            places = _places(group)
            labels.update({(site.process, site.id): SiteLabel(*place, number, len(group))
                           for number, (site, place) in enumerate(zip(group, places, strict=True), 1)})
    return labels


def _places(sites: list[SiteRecord]) -> list[tuple[str, int]]:
    """The innermost lines of the program that differ for all of them."""
    for level in range(1, min(len(site.stack) for site in sites) + 1):
        frames = [(site.stack[-level].filename, site.stack[-level].line) for site in sites]
        if len(set(frames)) == len(sites):
            return frames
    return [('', 0)] * len(sites)
