"""Reports of the commands that steer a run: calls made again, effects that stay, tensors that differ."""
from __future__ import annotations

import math
from collections.abc import Sequence

from rich.text import Text

from pyfuncdbg.observers.debug.inspecting.tensor_differences import Difference
from pyfuncdbg.observers.debug.stepping.reloaded_function import ReloadReport
from pyfuncdbg.observers.debug.value import Value
from pyfuncdbg.observers.record.records import CallRecord
from pyfuncdbg.ui.views.calls.output import output_view
from pyfuncdbg.ui.views.escape import label, one_line
from pyfuncdbg.ui.views.lists import Column, fitted_table
from pyfuncdbg.ui.views.page import Page, Part
from pyfuncdbg.ui.views.progress import PATIENCE
from pyfuncdbg.ui.views.tensors.variable import inline
from pyfuncdbg.ui.views.units import count, seconds

_STAYS = 'what it printed and wrote outside stays'


def rewound_view(node: str, later: bool, made: Sequence[str], calls: Sequence[CallRecord]) -> Page:
    """The effects that a rewind leaves as they are."""
    parts: list[Part] = []
    if later:
        parts.append(Text('the function runs to its end first, then the run goes back', 'dim'))
    if made:
        names = ', '.join(one_line(name, 40) for name in made[:8]) + (f' and {len(made) - 8} more' if len(made) > 8 else '')
        many = len(made) != 1
        parts.append(Text(f'{len(made)} Python call{"s" if many else ""} on the way back ({names}): '
                          f'{"their results stand" if many else "its result stands"} unless the inputs change; '
                          f'{_STAYS if not many else "what they printed and wrote outside stays"}', overflow='fold'))
    for call in calls:
        if call.output:
            parts.append(Text(f'call #{one_line(call.number, 20)} {one_line(call.label, 60)} said', 'dim'))
            parts.append(output_view(call.output, call.dropped))
    return Page(*parts)


def retry_view(node: str, reload_report: ReloadReport | None, inputs: str = '', changed: Sequence[Difference] = (),
               held: Sequence[str] = (), took: float | None = None) -> Page:
    """The call that is made again: its code and its inputs; and its time, where that was long."""
    parts: list[Part] = []
    if reload_report is not None and reload_report.changed:
        where = f'{one_line(reload_report.filename, 200)}:{reload_report.line}'
        parts.append(Text(f'{one_line(reload_report.function, 60)} was edited: reloaded from {where}', 'green',
                          overflow='fold'))
    elif reload_report is not None and reload_report.note:
        parts.append(Text(f'not reloaded: {one_line(reload_report.note, 300)}', 'yellow', overflow='fold'))
    again = 'no line of it has run yet' if inputs == 'not begun' else 'its effects outside (files, prints) happen again'
    long = f'; it took {seconds(took)}' if took is not None and took >= PATIENCE else ''
    parts.append(Text(f"'{one_line(node, 60)}' once more: {again}{long}", 'dim', overflow='fold'))
    if held:
        these = '; '.join(one_line(one, 80) for one in held[:8]) + (f'; and {len(held) - 8} more' if len(held) > 8 else '')
        parts.append(Text(f'its function consumes {these}, which cannot be restored: this execution continues where the '
                          'last one ended', 'yellow', overflow='fold'))
    return Page(*parts, *_inputs_again(inputs, changed))


def _inputs_again(inputs: str, changed: Sequence[Difference]) -> list[Part]:
    """The inputs of a call that is made again."""
    if inputs == 'as left':
        return [Text('its inputs are as the function left them: nothing was to stop at this call when it began, so they '
                     'were not saved', 'yellow', overflow='fold')]
    if not changed:
        return []
    written = ', '.join(f'{one_line(one.tensor, 60)} ({_extent(one)})' for one in changed[:8])
    more = f' and {len(changed) - 8} more' if len(changed) > 8 else ''
    these = 'its inputs' if len(changed) > 1 else 'that input'
    return [Text(f'it had written to {written}{more}: it gets {these} as before', 'yellow', overflow='fold')]


def _extent(one: Difference) -> str:
    if one.elements < 0:
        return 'another shape' if one.shapes[0] != one.shapes[1] else 'another dtype'
    return 'bits alone' if one.same else f'{one.elements} of {count(math.prod(one.shapes[0]), "element")}'


def injection_view(tensor: str, before: Value, after: Value, where: str) -> Page:
    """A value that was replaced."""
    return Page(Text(f'{one_line(tensor, 60)} replaced, in {one_line(where, 100)}', 'bold'),
                Text.assemble(('  was  ', 'dim'), inline(before), overflow='fold'),
                Text.assemble(('  is   ', 'dim'), inline(after), overflow='fold'))


def swap_view(node: str, before: str, after: str, again: str, inputs: str = '',
              changed: Sequence[Difference] = ()) -> Page:
    """A function that was replaced, and what is made again for it."""
    what = {'run': 'goes back to it, and makes again what depends on it: calls and variable writes too, with their effects '
                   'outside', 'call': 'makes this call again, its effects outside included',
            '': "uses it from now on, until 'quit'"}[again]
    return Page(Text.assemble((f"'{one_line(node, 60)}'", 'bold'), f' calls {one_line(after, 80)} instead of '
                              f'{one_line(before, 80)}: the run {what}', overflow='fold'),
                *_inputs_again(inputs, changed))


def skip_view(node: str, value: Value) -> Page:
    """A call that does not run its function."""
    return Page(Text.assemble((f"'{one_line(node, 60)}'", 'bold'), ' does not run its function in this call, and returns',
                              overflow='fold'), inline(value))


def differences_view(differences: Sequence[Difference]) -> Page:
    """Tensors before and after, those that are others first."""
    changed = [one for one in differences if not one.same]
    number = f'{len(differences)} tensor{"s" * (len(differences) != 1)}'
    if not changed:
        return Page(Text(f'{number} made again, each as before', 'bold'))
    title = Text(f'{len(changed)} of {number} came out differently', 'bold')
    columns = [
        Column('tensor', [label(one.tensor, limit=60) for one in changed], 0, least=14),
        Column('type', [Text(_arrow(_type(one, 0), _type(one, 1))) for one in changed], 3, least=12),
        Column('elements', [Text(_extent(one) if one.elements < 0 else str(one.elements)) for one in changed], 1,
               right=True),
        Column('max |difference|', [Text('' if one.greatest is None else f'{one.greatest:.3g}') for one in changed], 2,
               right=True),
        Column('not finite', [Text(_arrow(*map(str, one.bad))) for one in changed], 4)]
    return Page(title, lambda options: fitted_table(columns, options))


def _type(one: Difference, side: int) -> str:
    return f'{one_line(one.dtypes[side], 40)}[{",".join(map(str, one.shapes[side]))}]'


def _arrow(before: str, after: str) -> str:
    return before if before == after else f'{before} -> {after}'


if __name__ == '__main__':
    from pyfuncdbg.ui.views.sample_trace import demo
    demo(differences_view((Difference('norm:0', ('float32', 'float32'), ((3, 4), (3, 4)), 4, 0.25, (4, 0)),
                           Difference('loss:0', ('float32', 'float32'), ((), ()), 0, 0.0, (0, 0)))),
         retry_view('norm', ReloadReport('normalize', 'model.py', 39, True)),
         rewound_view('mm', False, ('norm', 'noise'), ()))
