"""The Python functions of a recording that a user names, for commands that replay their calls."""
from __future__ import annotations

from pyfuncdbg.errors import CommandError, nearest
from pyfuncdbg.observers.record.index.query import site_matches
from pyfuncdbg.observers.record.index.site_usage import SiteUse
from pyfuncdbg.observers.record.trace import Trace


def python_sites(trace: Trace, site: str = '') -> list[SiteUse]:
    """Find the sites of Python functions.

    Args:
        trace: The recording.
        site: Name of a node or function, or a pattern; all if empty.

    Returns:
        At least one, the site with the most time first.

    Raises:
        CommandError: No site matches, or there is none.
    """
    uses = [use for use in trace.usage() if use.site.kind == 'python']
    matches = [use for use in uses if not site or site_matches(site, use.site)]
    if not matches:
        names = {name for use in uses for name in (use.site.name, use.site.function)}
        raise CommandError(f'no Python function was called at {site!r}.{nearest(site, names)}' if uses else
                           'the recording has no call of a Python function')
    return matches
