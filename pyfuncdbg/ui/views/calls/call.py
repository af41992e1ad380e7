"""The call card: function, place, time, inputs, outputs and captured output; and the output of a call alone (`out`)."""
from __future__ import annotations

from collections.abc import Sequence

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from pyfuncdbg.hooks.argument_form import ARGUMENT_FORM, ArgumentForm
from pyfuncdbg.hooks.declared_outputs import contradicted_declaration
from pyfuncdbg.hooks.traits import RECOMPUTED
from pyfuncdbg.observers.debug.gradients.traced_tape import is_traced_value
from pyfuncdbg.observers.debug.inspecting.creation_line import unlocated_reason
from pyfuncdbg.observers.record.records import CallRecord, TensorRecord
from pyfuncdbg.ui.views.calls.error import error_panel
from pyfuncdbg.ui.views.calls.output import dropped_line, output_view
from pyfuncdbg.ui.views.escape import label, one_line
from pyfuncdbg.ui.views.page import Page, Part
from pyfuncdbg.ui.views.sources.source import parameters, place, unlocated_text
from pyfuncdbg.ui.views.tensors.tensor import tensor_card
from pyfuncdbg.ui.views.units import seconds


def call_card(call: CallRecord) -> Page:
    """Everything about one call: site, function, times, inputs, output, error, outputs."""
    parts: list[Part] = [_title(call), _facts(call)]
    names = input_titles(call)
    for i, tensor in enumerate(call.inputs):
        parts.append(_tensor(call, tensor, names[i]))
    if not call.inputs:
        parts.append(Text('no inputs', 'dim'))
    if call.error is not None:
        parts.append(error_panel(call.error, f'call #{call.number} {call.label}'))
    for i, tensor in enumerate(call.outputs):
        parts.append(_tensor(call, tensor, f'out {i}'))
        if declared := contradicted_declaration(call.site, i, tensor):
            parts.append(Padding(undeclared_text(declared, call), (0, 0, 0, 2)))
    if call.output:
        parts += [Text('output', 'bold'), Padding(output_view(call.output, lines=40), (0, 0, 0, 2))]
    if any(call.dropped.values()):
        parts.append(dropped_line(call.dropped))
    return Page(*parts)


def _tensor(call: CallRecord, tensor: TensorRecord, title: str) -> Part:
    if is_traced_value(call, tensor):
        return Text.assemble((title, 'bold'), '  ', label(tensor.name, limit=80),
                             ('  symbolic: a tensor of the traced graph', 'dim'), overflow='fold')
    return tensor_card(tensor, title)


def input_titles(call: CallRecord) -> list[str]:
    """'in 0 x', 'in 1 samples[0]': position and, if the function's text is known, parameter and way into a container."""
    return [f'in {slot} {name}'.rstrip() for slot, name in enumerate(input_names(call))]


def input_names(call: CallRecord) -> list[str]:
    """'x', 'samples[0]' of each input: parameter and way into a container; '' where the function's text is not known."""
    names: Sequence[str] = parameters(call.site)
    form = ArgumentForm.read(call.site.attrs.get(ARGUMENT_FORM))
    if form is not None and form.inputs != len(call.inputs):
        form = None
    taken = len(call.inputs) if form is None else len(form.positional) + len(form.keywords)
    if names[:1] in (('self',), ('cls',)) and taken < len(names):
        names = names[1:]                       # of a bound method
    if form is not None:
        names = form.expressions(names)
    return [names[i] if i < len(names) else '' for i in range(len(call.inputs))]


def undeclared_text(declared: str, call: CallRecord) -> Text:
    """The note that an output is not what `Tout` declares, and whether that was checked."""
    end = '' if call.error is not None else ', and nothing checks it here'
    return Text(f'not as declared: Tout says {one_line(declared, 100)}{end}', 'yellow', overflow='fold')


def state(call: CallRecord) -> Text:
    """'ok', 'NaN 4', 'raised ValueError', 'not finished', 'broken off'; 'ok, retry of #17'."""
    text = _outcome(call)
    return Text.assemble(text, (f', retry of #{one_line(call.retry_of, 20)}', 'yellow')) if call.retry_of else text


def _outcome(call: CallRecord) -> Text:
    if call.broken_off:
        return Text('broken off', 'yellow')
    if call.error is not None:
        return Text(f'raised {one_line(call.error.type, 60)}', 'bold red')
    if call.duration is None:
        return Text('not finished', 'yellow')
    stats = [tensor.stats for tensor in call.outputs if tensor.stats is not None]
    bad = [f'{name} {n:,}' for name, n in (('NaN', sum(s.nan for s in stats)),
                                           ('Inf', sum(s.neg_inf + s.pos_inf for s in stats))) if n]
    return Text(', '.join(bad), 'bold red') if bad else Text('ok', 'green')


def _title(call: CallRecord) -> Text:
    return Text.assemble(('call #' + one_line(call.number, 20), 'bold'), '  ', label(call.label, 'bold'), '  ',
                         label(call.site.op_type, 'cyan', 60), '  ', state(call), overflow='fold')


def _facts(call: CallRecord) -> Table:
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style='dim', no_wrap=True)
    grid.add_column(overflow='fold')
    site = call.site
    if site.function:
        grid.add_row('function', Text.assemble(label(site.function), '  ', place(site.filename, site.line, full=True)))
    if site.stack:
        grid.add_row('created', Text.assemble(place(site.stack[-1].filename, site.stack[-1].line, full=True),
                                              f' in {one_line(site.stack[-1].function, 80)}'))
    elif (reason := unlocated_text(unlocated_reason(site.attrs))) is not None:
        grid.add_row('created', reason)
    process = f' of process {call.process}' if call.process != 1 else ''
    element = f', {one_line(call.element, 80)}' if call.element else ''
    grid.add_row('run', Text(f'#{call.run}{process}{element}, thread {call.thread}'))
    took = f'took {seconds(call.duration)}' if call.duration is not None else 'did not finish'
    grid.add_row('time', Text(f'{seconds(call.started)} after the start, {took}'))
    if site.attrs.get(RECOMPUTED) is True:
        grid.add_row('recomputed', Text('a forward call once more, for a backward pass'))
    for name, number in (('gradient of', call.forward), ('made in', call.parent)):
        if number:
            grid.add_row(name, Text('call #' + one_line(number, 20)))
    return grid


def call_output(call: CallRecord) -> Page:
    """Everything that one call said, in order."""
    title = Text.assemble((f'call #{one_line(call.number, 20)} ', 'bold'), label(call.label, 'bold'),
                          '  ', state(call), overflow='fold')
    return Page(title, output_view(call.output, call.dropped))


if __name__ == '__main__':
    from pyfuncdbg.observers.record.record_contents import load_call
    from pyfuncdbg.ui.views.sample_trace import demo, sample
    demo(call_card(load_call(sample().call(3))))
