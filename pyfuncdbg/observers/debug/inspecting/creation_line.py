"""Creation line of a recorded site: the line of the program that made a node or calls a function.

Traces come from other machines, whose libraries are recognised by their paths. Pure; any thread.
"""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from pyfuncdbg.hooks.call import Frame
from pyfuncdbg.hooks.own_files import is_program_file
from pyfuncdbg.observers.record.records import SiteRecord

Unlocated = Literal['', 'before', 'imported']
"""Why the line of a node is not known: it was made before its host was attached to, or read from a file."""


def creation_line(site: SiteRecord, forward: Mapping[tuple[int, str], SiteRecord] | None = None) -> Frame | None:
    """The innermost line of the program that made a node; of a backward step, the line of its forward node.

    Args:
        site: As recorded.
        forward: Sites by process and name.
    """
    if site.kind == 'gradient' and forward is not None and not site.stack:
        known = forward.get((site.process, str(site.attrs.get('forward', ''))))
        return creation_line(known) if known is not None and known.kind != 'gradient' else None
    for frame in reversed(site.stack):
        if is_program_file(frame.filename):
            return frame
    return site.stack[-1] if site.stack else None


def unlocated_reason(attrs: Mapping[str, Any]) -> Unlocated:
    """The reason why the line that made a node of these attributes is not known; '' if there is none."""
    reason = attrs.get('_no_line')
    return 'imported' if reason == 'imported' else 'before' if reason == 'before' else ''


def twin_key(site: SiteRecord) -> tuple[int, str, str]:
    """Equal for a wrapped function and for the step of the graph around it, which other graphs may have by the same name."""
    return site.process, site.name, str(site.attrs.get('token', ''))


def forward_sites(sites: Iterable[SiteRecord]) -> dict[tuple[int, str], SiteRecord]:
    """Sites of forward calls by process and name; of two of one name, the one with a function."""
    by_key: dict[tuple[int, str], SiteRecord] = {}
    for site in sites:
        if site.kind in ('op', 'python') and (site.function or (site.process, site.name) not in by_key):
            by_key[site.process, site.name] = site
    return by_key
