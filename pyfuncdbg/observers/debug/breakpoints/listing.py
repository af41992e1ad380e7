"""Breakpoint states as plain data, for `break`, `breaks` and the run card.

Made on the thread of the caller; holds no condition, only its text.
"""
from __future__ import annotations

import os
from dataclasses import dataclass

from pyfuncdbg.errors import CommandError
from pyfuncdbg.hooks import notebook_cell
from pyfuncdbg.observers.debug.breakpoints.breakpoint import Breakpoint
from pyfuncdbg.observers.debug.breakpoints.table import Breakpoints
from pyfuncdbg.observers.debug.breakpoints.table_entry import BreakpointEntry
from pyfuncdbg.observers.debug.conditions.predicate import condition_text
from pyfuncdbg.observers.debug.processes import child_hits

_SITES = 4


@dataclass(frozen=True, slots=True)
class BreakpointState:
    """One breakpoint.

    Attributes:
        number: By which commands name it.
        spec: As typed.
        condition: Its text, '' for none.
        timing: As in `Breakpoint`; 'inside' where it stops in the function that is named.
        do, once, every, after, enabled: As in `Breakpoint`.
        hits: How often it was hit.
        failures: How often its condition has raised.
        failure: What that raised first, '' for nothing.
        where: What it was found to mean: nodes, or the function and line.
        how: Of a line, how it is watched; else ''.
        note: What else there is to know, '' for nothing.
        commands: What is carried out where it stops.
    """

    number: int
    spec: str
    condition: str
    timing: str
    do: str
    once: bool
    every: int
    after: int
    enabled: bool
    hits: int
    failures: int
    failure: str
    where: tuple[str, ...]
    how: str = ''
    note: str = ''
    commands: tuple[str, ...] = ()


def state_of(entry: BreakpointEntry, breakpoints: Breakpoints, note: str = '') -> BreakpointState:
    """One of the table."""
    one = entry.breakpoint
    where, how, place_note = _place(entry, breakpoints)
    if breakpoints.is_shared and not entry.hits and child_hits.was_hit(one.number):
        place_note = '; '.join(filter(None, (place_note, 'hit in another process')))
    timing = 'inside' if _is_inside(entry, breakpoints) else one.timing
    return BreakpointState(one.number, one.spec.text, condition_text(one.when), timing, one.do, one.once, one.every,
                           one.after,
                           one.enabled, entry.hits, *entry.failures, where, how, note or place_note,
                           entry.commands)


def states(breakpoints: Breakpoints) -> list[BreakpointState]:
    """All of the table, in order."""
    return [state_of(entry, breakpoints) for _, entry in sorted(breakpoints.entries.items())]


def pending_note(number: int, breakpoints: Breakpoints) -> str:
    """A sentence for a breakpoint whose file is not known yet; '' for any other."""
    state = state_of(breakpoints.entry(number), breakpoints)
    if state.how != 'pending' or state.where:
        return ''
    return f'breakpoint {number} ({state.spec}) is pending: {state.note}'


def _is_inside(entry: BreakpointEntry, breakpoints: Breakpoints) -> bool:
    """Whether it names functions, as far as is known."""
    one = entry.breakpoint
    if one.timing != 'before' or one.boundary:
        return False
    sites = breakpoints.known.matching_sites(one.spec)
    return all(one.spec.means_function_of(site.name, site.names, site.function) for site in sites) if sites else bool(
        entry.functions)


def _place(entry: BreakpointEntry, breakpoints: Breakpoints) -> tuple[tuple[str, ...], str, str]:
    one: Breakpoint = entry.breakpoint
    if one.spec.kind == 'line':
        try:
            placement = entry.placement
        except CommandError as error:
            return (), '', str(error)
        if placement is None:
            return (), '', ''
        if placement.how == 'pending' and not placement.function and not os.path.isfile(placement.filename):
            return (), placement.how, placement.note  # of a file that is not known yet
        function = f' {placement.function}' if placement.function else ''
        where = f'{notebook_cell.display_name(placement.filename)}:{placement.line}{function}'
        return (where,), placement.how, placement.note
    names = list(entry.sites) or list(dict.fromkeys(site.name for site in breakpoints.known.matching_sites(one.spec))) or [
        f'{notebook_cell.display_name(filename)}:{line} {function}' for filename, line, function in entry.functions]
    if len(names) > _SITES:
        names = [*names[:_SITES], f'and {len(names) - _SITES} more']
    return tuple(names), '', ''
