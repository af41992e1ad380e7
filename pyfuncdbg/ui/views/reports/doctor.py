"""The findings of `doctor`, a paragraph each: place, fault, figures, and the code that repairs it."""
from __future__ import annotations

from collections.abc import Callable, Sequence

from rich.console import ConsoleOptions
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from pyfuncdbg.hooks.diagnosis import Figure, Finding, InterpreterUse
from pyfuncdbg.observers.debug.diagnosis.diagnose import Diagnosis
from pyfuncdbg.ui.views.escape import label, one_line, visible
from pyfuncdbg.ui.views.lists import Column, fitted_table
from pyfuncdbg.ui.views.page import Page, Part
from pyfuncdbg.ui.views.sources.source import place
from pyfuncdbg.ui.views.units import count, seconds, size

NAMES = {'leak': 'LEAK', 'tape cache': 'LEAK OF TAPES', 'shape': 'SHAPE LOST', 'untrue shape': 'SHAPE NOT TRUE',
         'order': 'WAITS FOR NOTHING', 'serial': 'ONE AT A TIME', 'gil': 'HOLDS THE GIL',
         'text': 'BYTES, NOT STR', 'dtype': 'DTYPE', 'outputs': 'OUTPUTS',
         'gradient': 'GRADIENT IS NONE', 'backward': 'GRADIENT FAILS', 'write': 'WRITES TO ITS ARGUMENT',
         'export': 'NOT IN THE MODEL', 'lost': 'EXCEPTION LOST', 'dead': 'NEVER CALLED', 'repeated': 'CALLED MORE THAN ONCE',
         'blocking': 'BLOCKS DISPATCH', 'error type': 'TYPE OF ERROR VARIES', 'retraced': 'COMPILED AGAIN AND AGAIN',
         'copies': 'COPIES LARGE ARRAYS', 'no fake': 'CANNOT BE COMPILED', 'alias': 'RETURNS ITS INPUT',
         'kept': 'KEPT OUTSIDE OF SAVE_FOR_BACKWARD', 'waits': 'WAITS FOR THE DEVICE',
         'worker error': 'WORKER RAISED', 'worker death': 'WORKER DIED', 'loader': 'WAITS FOR THE LOADER',
         'uneven': 'ONE WORKER IS SLOWER'}


def doctor_view(diagnosis: Diagnosis) -> Page:
    """All findings, then how far one may rely on them."""
    findings = diagnosis.findings
    title = Text(overflow='fold')
    title.append(count(len(findings), 'finding'), 'bold red' if findings else 'bold green')
    judged = f'   {count(diagnosis.calls, "call")} at {count(diagnosis.sites, "site")} judged'
    examined = [f', {one_line(name, 20)} {one_line(version, 20)}' for name, version in diagnosis.frameworks.items()]
    title.append(''.join([judged, *examined]), 'dim')
    parts: list[Part] = [title]
    for number, finding in enumerate(findings, 1):
        parts += [Text(), *_paragraph(number, finding)]
    if diagnosis.uses:
        parts += [Text(), lambda options: _uses(diagnosis.uses, options)]
    notes = _notes(diagnosis)
    return Page(*parts, *([Text()] if (findings or diagnosis.uses) and notes else []), *notes)


def _uses(uses: Sequence[InterpreterUse], options: ConsoleOptions) -> Table:
    """Use of the interpreter by function: time under the GIL, parallelism."""
    def cells(text: Callable[[InterpreterUse], str]) -> list[Text]:
        return [Text(text(use)) for use in uses]
    return fitted_table([
        Column('site', [label(use.site, limit=40) for use in uses], 1, least=10),
        Column('place', [place(*use.place) for use in uses], 0, least=10),
        Column('calls', cells(lambda use: f'{use.calls:,}'), 4, right=True),
        Column('CPU', cells(lambda use: seconds(use.cpu)), 2, right=True),
        Column('waiting', cells(lambda use: seconds(use.waiting)), 3, right=True),
        Column('most at once', cells(lambda use: f'{use.most_at_once}'), 6, right=True),
        Column('computing at once', cells(lambda use: f'{use.computing:.2f}'), 5, right=True),
        Column('under way', cells(lambda use: f'{use.share:.0%}'), 7, right=True),
        Column('GIL on arrival', cells(lambda use: '' if use.gil_wait is None else seconds(use.gil_wait)), 8, right=True)],
        options)


def _paragraph(number: int, finding: Finding) -> list[Part]:
    head = Text.assemble((f'{number} ', 'bold'), (NAMES.get(finding.kind, one_line(finding.kind, 40)), 'bold red'), '  ',
                         place(*finding.place), '  ', label(finding.site, 'dim', 60), overflow='fold')
    lines = [Text(visible(finding.what), overflow='fold')]
    if finding.figures:
        figures = ', '.join(_figure(name, value) for name, value in finding.figures.items())
        lines.append(Text(figures, 'dim', overflow='fold'))
    if finding.calls:
        numbers = ', '.join(f'#{one_line(call, 20)}' for call in finding.calls if call)
        if numbers:
            lines.append(Text(f'call {numbers}', 'dim', overflow='fold'))
    if finding.advice:
        lines.append(Text(visible(finding.advice) + (':' if finding.fix else ''), 'cyan', overflow='fold'))
    parts: list[Part] = [head, *[Padding(line, (0, 0, 0, 2)) for line in lines]]
    if finding.fix:
        parts.append(lambda options: Padding(Text(code(finding.fix, options.max_width - 4), 'bold', overflow='fold'),
                                             (0, 0, 0, 4)))
    return parts


def code(text: str, width: int) -> str:
    """Python code in lines of at most `width`, broken behind commas inside of brackets: it can be pasted as it is."""
    return '\n'.join(piece for line in visible(text).split('\n') for piece in _break_line(line, width))


def _break_line(line: str, width: int) -> list[str]:
    if len(line) <= width:
        return [line]
    depth, quote, best = 0, '', 0
    for at, char in enumerate(line[:width]):
        if quote:
            quote = '' if char == quote and line[at - 1] != '\\' else quote
        elif char in '\'"':
            quote = char
        elif char in '([{':
            depth += 1
        elif char in ')]}':
            depth -= 1
        elif char == ',' and depth > 0 and line[at + 1:at + 2] == ' ':
            best = at + 1
    indent = len(line) - len(line.lstrip())
    if best <= indent + 4:
        return [line]
    return [line[:best], *_break_line(' ' * (indent + 8) + line[best:].lstrip(), width)] if indent < 8 else [
        line[:best], *_break_line(' ' * indent + line[best:].lstrip(), width)]


def _figure(name: str, value: Figure) -> str:
    """'20 entries', 'held 7.6 KB', 'CPU 1.2 s', 'share of its time 83%'."""
    label_text = one_line(name, 60)
    if isinstance(value, str):
        return f'{label_text} {one_line(value, 60)}'
    if name.endswith('bytes'):
        return f'{label_text.removesuffix("bytes").rstrip(" ,")} {size(int(value))}'
    if name.endswith('seconds'):
        return f'{label_text.removesuffix("seconds").rstrip(" ,")} {seconds(float(value))}'.strip()
    if 'share' in name:
        return f'{label_text} {value:.0%}'
    return f'{label_text} {value:,}' if isinstance(value, int) else f'{label_text} {value:.4g}'


def _notes(diagnosis: Diagnosis) -> list[Part]:
    notes: list[Part] = []
    if not diagnosis.calls and not diagnosis.findings:
        notes.append(Text('No Python function was called by a framework: there are no calls to judge.', 'yellow',
                          overflow='fold'))
    if diagnosis.raised:
        text = f'The program ended with {one_line(diagnosis.raised, 200)}.'
        if diagnosis.missing:
            text += f" It is not installed in this Python: pip install 'pyfuncdbg[{one_line(diagnosis.missing, 40)}]'"
        notes.append(Text(text, 'yellow', overflow='fold'))
    if not diagnosis.ended:
        notes.append(Text(f'The program was killed or left by os._exit: figures of leaks and time are as of '
                          f'{seconds(diagnosis.until)} after its start.', 'yellow', overflow='fold'))
    if not diagnosis.examined:
        notes.append(Text('Judged by calls alone: leaks, waiting and compilations are known of programs that ran under '
                          '"pyfuncdbg doctor".', 'dim', overflow='fold'))
    elif not diagnosis.findings and diagnosis.calls:
        notes.append(Text('None of the known faults was found.', 'green', overflow='fold'))
    return notes


if __name__ == '__main__':
    from pyfuncdbg.hooks.diagnosis import Place
    from pyfuncdbg.ui.views.sample_trace import demo
    lost = Finding('shape', 'load', Place('train.py', 12), 'The output has no shape in the graph, not even a rank; the '
                   'elements of the dataset have none: batch and Keras need it', {'calls seen': 40, 'output 0': '[None, 3]'},
                   'image.set_shape([None, 3])', 'the shape of all 40 calls that were seen, None where it varied')
    leak = Finding('leak', 'square', Place('train.py', 31), 'every eager call leaves its function in script_ops._py_funcs',
                   {'entries': 200, 'calls': 200, 'held bytes': 8_400_000}, 'y = square(x)',
                   'eager code needs no py_function: call the function itself')
    use = InterpreterUse('load', Place('train.py', 12), 40, 4, 2.1, 6.0, 2.2, 2.4, 4.9e-3)
    demo(doctor_view(Diagnosis((lost, leak), 240, 2, True, {'TensorFlow': '2.21.0'}, uses=(use,))),
         doctor_view(Diagnosis((), 12, 1, False)))
