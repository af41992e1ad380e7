"""Labels that distinguish sites of one name, function and line. A model that is built for training and for testing has
such."""
from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from pyfuncdbg.hooks.traits import RECOMPUTED
from pyfuncdbg.observers.record.records import SiteRecord


@dataclass(frozen=True, slots=True)
class SiteLabel:
    """Label of one among several sites that look alike.

    Attributes:
        filename, line: The line of the program that made it and not the others, or the fewest of them; '' and 0 if none
            is known.
        number, count: The how manieth it is of those that this line made, in the order of their making, and of how many.
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
            counts, numbers = Counter(zip(places, map(_variant, group), strict=True)), Counter[object]()
            for site, place in zip(group, places, strict=True):
                twin = place, _variant(site)
                numbers[twin] += 1
                if counts[twin] > 1 or len(set(places)) > 1:
                    labels[site.process, site.id] = SiteLabel(*place, numbers[twin], counts[twin])
    return labels


def _variant(site: SiteRecord) -> object:
    """What distinguishes sites that are one to the user.

    Backward steps of one operation are the sums of other gradients; a call and its recomputation are listed as such.
    """
    return repr(site.attrs) if site.kind == 'gradient' else site.attrs.get(RECOMPUTED) is True


def _places(sites: list[SiteRecord]) -> list[tuple[str, int]]:
    """The lines of the program at the innermost level of their stacks that distinguishes most of them."""
    levels = [[(site.stack[-level].filename, site.stack[-level].line) for site in sites]
              for level in range(1, min(len(site.stack) for site in sites) + 1)]
    return max(levels, key=lambda frames: len(set(frames)), default=[('', 0)] * len(sites))
