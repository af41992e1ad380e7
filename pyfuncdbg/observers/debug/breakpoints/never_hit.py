"""Warnings about breakpoints that never stopped anything or whose condition raised. A misspelt name would otherwise go
unnoticed.

Asked when a program or a cell of a notebook is over, on its main thread.
"""
from __future__ import annotations

from collections.abc import Container

from pyfuncdbg.hooks.op_names import named_op
from pyfuncdbg.observers.debug.breakpoints.listing import BreakpointState, states
from pyfuncdbg.observers.debug.breakpoints.program_names import describe_name, program_functions
from pyfuncdbg.observers.debug.breakpoints.table import Breakpoints
from pyfuncdbg.observers.debug.breakpoints.table_entry import BreakpointEntry
from pyfuncdbg.observers.debug.processes import child_hits

_RARE = {'error': 'error', 'gradient': 'gradient step'}
"""Conditions of a breakpoint that calls need not meet."""


def unhit_warnings(breakpoints: Breakpoints, numbers: Container[int]) -> list[str]:
    """A sentence for each of these breakpoints that is on and was never hit, or whose condition raised."""
    return [_failure_text(state) if state.failures else _in_this_process(_unhit_reason(state, breakpoints),
                                                                                    breakpoints.entry(state.number))
            for state in states(breakpoints) if state.number in numbers
            and ((state.enabled and not state.hits and not child_hits.was_hit(state.number)) or state.failures)]


def _in_this_process(sentence: str, entry: BreakpointEntry) -> str:
    """A sentence that claims no more of other processes than is known."""
    if child_hits.children() == entry.children_before:
        return sentence
    return f'{sentence.rstrip(".")} in this process, and none that it started stopped there.'


def _failure_text(state: BreakpointState) -> str:
    times = 'once' if state.failures == 1 else f'{state.failures:,} times'
    first = '' if state.failures == 1 else 'the first time '
    return (f'breakpoint {state.number} ({state.spec}): its condition {state.condition} raised {times}, '
            f'{first}{state.failure}.')


def _unhit_reason(state: BreakpointState, breakpoints: Breakpoints) -> str:
    begin = f'breakpoint {state.number} ({state.spec}) stopped nothing: '
    entry = breakpoints.entry(state.number)
    kind = entry.breakpoint.spec.kind
    if kind == 'name' and not state.where:
        spec = entry.breakpoint.spec
        description = describe_name(spec.name)
        is_function = description.startswith('is a function')     # not watched: `exec` made its code, say
        what = 'no wrapped function of that name was called.'
        if not (spec.function or is_function):
            what = 'nothing of that name ran.'
        calls = '; calls that the program makes itself were not watched' if is_function else ''
        place = description.rpartition(', ')[2]
        at_line = f'. A breakpoint on {place} stops in it' if is_function and '.py:' in place else ''
        op = named_op(spec.name) if not (description or spec.function) else None
        if op is not None:
            return f'{begin}{"no op of that name ran; " if op.stops else ""}{op.limit}.'
        if not description:
            return begin + what + breakpoints.known.near(spec, program_functions())
        return f'{begin}{what} {spec.name!r} {description}{calls}{at_line}.'
    if kind == 'line' and not state.where:
        return begin + (state.note or 'no function with that line was called.')
    if kind == 'call':
        which = ' for which its condition is true' if state.condition and entry.was_reached else ''
        return f'{begin}there was no such call{which}.'
    if entry.functions and not entry.sites and not entry.was_reached:
        return f'{begin}{", ".join(state.where)} was never called.'
    at = f' at {", ".join(state.where)}'
    if state.condition and entry.was_reached:
        if state.timing in _RARE:
            return f'{begin}there was no {_RARE[state.timing]} for which {state.condition!r} is true{at}.'
        return f'{begin}{state.condition!r} was never true{at}.'
    if kind == 'line':
        return f'{begin}the program never came to {", ".join(state.where)}.'
    such = 'such ' if state.spec.endswith(']') else ''   # norm[3]: only this call is missing
    if entry.breakpoint.looks_at_output:
        return f'{begin}no {such}call{at} returned.'
    return f'{begin}there was no {such}{_RARE.get(state.timing, "call")}{at}.'
