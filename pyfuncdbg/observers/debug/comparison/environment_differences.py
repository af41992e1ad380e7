"""Differences around two recorded programs: versions, machines, settings; and the gaps of a recording. Pure."""
from __future__ import annotations

from collections.abc import Iterator, Mapping

from pyfuncdbg.observers.record.trace import Trace
from pyfuncdbg.observers.record.trace_info import TraceInfo


def gaps_of(info: TraceInfo) -> Iterator[str]:
    """The gaps of a recording, in a few words each."""
    for kind in ('calls', 'prints'):
        if number := info.dropped.get(kind, 0):
            yield f'{number:,} {kind} did not fit into its budget'
    yield from (f'damaged: {line}' for line in info.damage)
    if not info.complete and not info.damage:
        yield 'it goes on, or its program was killed'
    if not info.versions:
        yield 'its versions of libraries are not known: it was recorded by an earlier version of pyfuncdbg'


def version_differences(one: Mapping[str, str], two: Mapping[str, str]) -> tuple[tuple[str, str, str], ...]:
    """The libraries of both recordings whose versions differ, where both are known."""
    return tuple((name, one[name], two[name]) for name in one if name in two and one[name] != two[name])


def environment_differences(one: Trace, two: Trace) -> tuple[tuple[str, str, str], ...]:
    """The programs, machines and settings of both recordings, where they differ."""
    sides = [trace.info() for trace in (one, two)]
    hosts = [', '.join(sorted({site.host for site in trace.sites()})) for trace in (one, two)]
    rows = [('arguments', *(' '.join(side.argv[1:]) for side in sides)), ('host', *hosts)]
    if all(side.versions for side in sides):    # else the other one does not say
        rows.append(('machine', sides[0].machine, sides[1].machine))
        rows += [(name, *(side.settings.get(name, 'not set') for side in sides))
                 for name in dict.fromkeys((*sides[0].settings, *sides[1].settings))]
    return tuple((what, first, second) for what, first, second in rows if first != second)
