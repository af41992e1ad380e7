"""The table of breakpoints, and the line on a change of one."""
from __future__ import annotations

from collections.abc import Callable, Sequence

from rich.console import ConsoleOptions
from rich.text import Text

from pyfuncdbg.observers.debug.breakpoints.file import FileReport
from pyfuncdbg.observers.debug.breakpoints.listing import BreakpointState
from pyfuncdbg.ui.views.escape import label, one_line, visible
from pyfuncdbg.ui.views.lists import Column, fitted_table
from pyfuncdbg.ui.views.page import Page, Part
from pyfuncdbg.ui.views.units import count

WIDE = 110
"""From this width on, where a breakpoint is stands in a column."""

_TIMINGS = {'before': 'before', 'after-call': 'after call', 'error': 'error', 'gradient': 'gradient'}


def breakpoint_table(states: Sequence[BreakpointState], *, catching: bool = False, hint: str = '',
                     processes: Sequence[int] = (), late: Sequence[int] = ()) -> Page:
    """Breakpoints, one a line, under a line with their number.

    Args:
        states: In order.
        catching: Whether errors stop too.
        hint: What else to say below.
        processes: Numbers of the other processes that have them.
        late: Numbers of those that have yet to make the last changes.
    """
    first = Text.assemble((count(len(states), 'breakpoint'), 'bold'), overflow='fold')
    if catching:
        first.append('   catch: on')
    if processes and (states or catching):
        first.append(f', in {count(len(processes), "other process", "other processes")} too', 'dim')
    parts: list[Part] = [first]
    if states:
        parts.append(lambda options: _table(states, options))
    if late and (states or catching):
        parts.append(Text(f'not yet as here in process {", ".join(map(str, late))}', 'yellow', overflow='fold'))
    if hint:
        parts.append(Text(visible(hint), 'dim', overflow='fold'))
    return Page(*parts)


def _table(states: Sequence[BreakpointState], options: ConsoleOptions) -> Page:
    """One line each where there is room for all columns, else the places below."""
    styles = ['' if state.enabled else 'dim' for state in states]

    def cells(text: Callable[[BreakpointState], str], limit: int = 0) -> list[Text]:
        return [label(text(state), style, limit) for state, style in zip(states, styles, strict=True)]
    wide = options.max_width >= WIDE
    where = [_where(state) for state in states]
    columns = [Column('n', cells(lambda state: str(state.number)), 0, right=True),
               Column('spec', cells(lambda state: state.spec, 60), 1, least=12),
               Column('if', cells(lambda state: state.condition, 80), 2, least=10, folds=True),
               Column('when', cells(lambda state: _TIMINGS.get(state.timing, state.timing)), 5),
               Column('hits', cells(lambda state: str(state.hits)), 3, right=True),
               Column('does', cells(_does), 4, least=8, folds=True)]
    if wide:
        return Page(fitted_table([*columns, Column('where', where, 6, least=20, folds=True)], options))
    below = [Text.assemble((f'{state.number} at ', 'dim'), place, overflow='fold') for state, place in
             zip(states, where, strict=True) if place.plain and place.plain != state.spec]
    return Page(fitted_table(columns, options), *below)


def breakpoint_line(state: BreakpointState, verb: str = '') -> Page:
    """'breakpoint 2 at norm if has_nan(out)   after call', and what there is to note."""
    text = Text.assemble((f'breakpoint {state.number}', 'bold'), overflow='fold')
    text.append(f'{" " if verb else ""}{one_line(verb)} at {one_line(state.spec, 80)}')
    if state.condition:
        text.append(f' if {one_line(state.condition, 120)}')
    text.append(f'   {one_line(_TIMINGS.get(state.timing, state.timing))}', 'dim')
    does = _does(state)
    if does != 'stop':
        text.append(f', {does}', 'dim')
    if state.where and state.where != (state.spec,) and verb in ('', 'set'):
        text.append(f'   {", ".join(one_line(place, 80) for place in state.where)}', 'dim')
    notes = _notes(state) if verb != 'cleared' else Text()      # how it was watched is over
    commands = [label(f'  {line}', 'dim', 200) for line in state.commands]
    return Page(text, *([notes] if notes.plain else []), *commands)


def breakpoint_file_view(filed: FileReport) -> Page:
    """'3 breakpoints saved to train/.pyfuncdbg.toml'."""
    to = 'to' if filed.action == 'saved' else 'from'
    what = count(len(filed.numbers), 'breakpoint')
    lines = [Text(f'{what} {one_line(filed.action)} {to} {one_line(filed.path)}', overflow='fold')]
    lines += [label(f'not {filed.action}: {why}', 'yellow') for why in filed.left_out]
    return Page(*lines)


def _does(state: BreakpointState) -> str:
    words = [one_line(state.do)]
    if state.once:
        words.append('once')
    if state.every > 1:
        words.append(f'every {state.every}')
    if state.after > state.hits:
        words.append(f'ignores {state.after - state.hits} more')
    if not state.enabled:
        words.append('off')
    if state.commands:
        words.append(count(len(state.commands), 'command'))
    return ', '.join(words)


def _where(state: BreakpointState) -> Text:
    text = Text(', '.join(one_line(place, 80) for place in state.where), 'dim', overflow='fold')
    notes = _notes(state)
    return Text.assemble(text, '; ' if text.plain and notes.plain else '', notes, overflow='fold')


def _notes(state: BreakpointState) -> Text:
    how = '' if state.how == 'compiled' else state.how
    raised = f'its condition raised {count(state.failures, "time")}, first {state.failure}' if state.failures else ''
    return label('; '.join(part for part in (how, state.note, raised) if part), 'yellow', 400)


if __name__ == '__main__':
    from pyfuncdbg.ui.views.sample_trace import demo
    norm = BreakpointState(1, 'norm', 'has_nan(out) & ~has_inf(out)', 'after-call', 'stop', False, 3, 0, True, 12, 0, '',
                           ('norm',))
    line = BreakpointState(2, 'model.py:41', 'sd.min() == 0', 'before', 'log', True, 1, 0, False, 1, 2,
                           "NameError: name 'sd' is not defined",
                           ('model.py:41 normalize',), 'traced', 'its source is missing')
    demo(breakpoint_table([norm, line], catching=True), breakpoint_line(norm, 'set'))
