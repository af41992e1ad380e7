"""The origin of a NaN or an infinity: line, inputs of the call, output, consequences."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np
from rich.padding import Padding
from rich.text import Text

from pyfuncdbg.errors import DroppedError
from pyfuncdbg.observers.debug.numerics.nan_verdicts import NanVerdict
from pyfuncdbg.observers.record.records import CallRecord, Stats, TensorRecord
from pyfuncdbg.observers.record.sources.source_text import SourceText
from pyfuncdbg.ui.views.calls.call import input_titles
from pyfuncdbg.ui.views.calls.output import output_view
from pyfuncdbg.ui.views.escape import label, one_line
from pyfuncdbg.ui.views.page import Page, Part
from pyfuncdbg.ui.views.pictures.element_table import element, preview
from pyfuncdbg.ui.views.sources.source import excerpt, line_text, place
from pyfuncdbg.ui.views.tensors.tensor import summary, tensor_line
from pyfuncdbg.ui.views.units import count

ROWS = 2
"""Offending rows shown of each input."""
ELEMENTS = 24
"""Elements shown of a row or of a small input."""
READ_LIMIT = 64_000_000
"""Bytes of a tensor that are read to find the offending rows."""


def origin_card(finding: NanVerdict, heirs: Mapping[str, int] = MappingProxyType({}),
                likely: Mapping[str, int] = MappingProxyType({}), *, ops: bool = False) -> Page:
    """The needed line first: what began where; then inputs, prints and consequences.

    Args:
        finding: Born, fed or entered.
        heirs: How many later calls inherited the value, by kind.
        likely: How many met such values later, by a way that was not recorded.
        ops: Whether graph nodes were recorded.
    """
    call = finding.call
    parts: list[Part] = [headline(finding), *_where(finding, ops), _side(finding)]
    rows = bad_rows(finding.tensor)
    names = input_titles(call)
    for i, tensor in enumerate(call.inputs):
        if call.site.kind == 'run' and i != finding.slot:
            continue
        parts += _given(tensor, names[i], rows if finding.verdict == 'born' else bad_rows(tensor))
    said = [record for record in call.output if record.kind in ('out', 'err', 'log')]
    if said:
        parts.append(Text('printed by this call', 'bold'))
        parts.append(Padding(output_view(said, lines=8), (0, 0, 0, 2)))
    if any(heirs.values()):
        parts.append(Text(f'{_later(heirs)} inherited it'))
    if any(likely.values()):
        parts.append(Text(f'{_later(likely)} met NaN or Inf after it, by a way that was not recorded'))
    return Page(*parts)


def _later(calls: Mapping[str, int]) -> str:
    """'12 later calls and 1,798 gradient steps': each as the commands that list them count."""
    nodes, steps = calls.get('op', 0), calls.get('gradient', 0)
    counts = {'call': sum(calls.values()) - nodes - steps, 'graph node': nodes, 'gradient step': steps}
    words = [count(number, noun) for noun, number in counts.items() if number]
    return ' and '.join([words[0].replace(' ', ' later ', 1), *words[1:]])


def headline(finding: NanVerdict) -> Text:
    """'NaN born in call #17 norm[3], normalize at model.py:42'."""
    call = finding.call
    what = kind_of(finding.tensor.stats)
    if finding.verdict == 'born':
        kind = 'gradient call' if call.site.kind == 'gradient' else 'call'
        text = Text.assemble(f'{what} born in {kind} #{one_line(call.number, 20)} ', label(call.label))
        if call.forward:
            text.append(f', backward of call #{one_line(call.forward, 20)}')
    elif finding.verdict == 'suspected':
        text = Text.assemble(f'NumPy reported an error in call #{one_line(call.number, 20)} ', label(call.label))
    elif call.site.kind == 'run':
        text = Text.assemble(f'{what} was fed into run #{call.run} as ', label(repr(finding.tensor.name)),
                             ('; no recorded call took it', ''))
    elif finding.verdict == 'fed':
        text = Text.assemble(f'{what} was fed into run #{call.run} as ', label(repr(finding.tensor.name)),
                             f', first met by call #{one_line(call.number, 20)} ', label(call.label))
    else:
        text = Text.assemble(f'{what} came into call #{one_line(call.number, 20)} ', label(call.label),
                             f' by input {finding.slot} ', label(repr(finding.tensor.name) if finding.tensor.name else ''))
    if call.site.kind != 'run':
        text.append(', ').append_text(location(finding))
    text.stylize('bold red')
    text.overflow = 'fold'
    return text


def location(finding: NanVerdict) -> Text:
    """'normalize at model.py:42': the line that NumPy blamed, else where the function or the node begins."""
    site = finding.call.site
    if finding.places and finding.verdict in ('born', 'suspected'):
        first = finding.places[0]
        return Text.assemble(label(first.function or site.function), ' at ', place(first.filename, first.line))
    if site.function:
        return Text.assemble(label(site.function), ' at ', place(site.filename, site.line))
    if site.stack:
        return Text.assemble(label(site.op_type), ' created at ', place(site.stack[-1].filename, site.stack[-1].line))
    return label(site.op_type)


def kind_of(stats: Stats | None) -> str:
    """'NaN', 'Inf' or 'NaN and Inf'."""
    if stats is None:
        return 'NaN or Inf'
    inf = stats.pos_inf + stats.neg_inf
    return 'NaN and Inf' if stats.nan and inf else 'NaN' if stats.nan else 'Inf'


def bad_rows(tensor: TensorRecord) -> tuple[int, ...]:
    """Indices on the first axis at which something is not finite: all if the bytes were kept, else the first one."""
    stats = tensor.stats
    if stats is None or not stats.first_bad:
        return ()
    if tensor.level == 'full' and tensor.nbytes <= READ_LIMIT:
        try:
            array = tensor.to_numpy()
            rows = np.flatnonzero(~np.isfinite(array.reshape(array.shape[0], -1)).all(axis=1))
            return tuple(rows.tolist())
        except (DroppedError, TypeError):       # a type that NumPy cannot test
            pass
    return (stats.first_bad[0],)


def _where(finding: NanVerdict, ops: bool) -> list[Part]:
    if finding.verdict == 'entered':
        nodes = ('is a constant' if finding.call.site.kind == 'op' else
                 'from nodes of which nothing is known' if ops else 'from nodes that --ops would record')
        return [Text(f'  No recorded call made it: it is from outside, or {nodes}.', 'yellow')]
    if finding.verdict == 'fed':
        return []
    site = finding.call.site
    parts: list[Part] = []
    if finding.places:
        first = finding.places[0]
        source = source_of(finding.call, first.filename, first.line)
        parts.append(Padding(excerpt(source, first.line), (0, 0, 0, 2)))
        parts.append(Text.assemble('  NumPy: ', (one_line(first.text, 300), 'yellow'), overflow='fold'))
        for further in finding.places[1:4]:
            parts.append(Text.assemble('  then   ', (one_line(further.text, 300), 'yellow'), '  ',
                                       place(further.filename, further.line), '  ',
                                       line_text(source_of(finding.call, further.filename, further.line), further.line,
                                                 further.filename), overflow='fold'))
    elif site.function:
        parts.append(Text('  NumPy named no line: its warnings are off there, or the value was made outside of NumPy.',
                          'dim'))
    if finding.verdict == 'suspected':
        parts.append(Text('  Its outputs were not kept: whether NaN or Inf was among them is not known.', 'yellow'))
    elif not finding.certain:
        parts.append(Text('  Not all inputs were kept: it may have come in by one of those.', 'yellow'))
    return parts


def source_of(call: CallRecord, filename: str, line: int) -> SourceText:
    """The source of a line that NumPy blamed, as the remark that names it knows it."""
    said = next((record for record in call.output if (record.filename, record.line) == (filename, line)), call.site)
    return said.source_at(filename, line)


def _side(finding: NanVerdict) -> Text:
    side = 'output' if finding.verdict in ('born', 'suspected') else 'input'
    text = Text.assemble((f'{side} {finding.slot}  ', 'bold'), tensor_line(finding.tensor), overflow='fold')
    rows = bad_rows(finding.tensor)
    if len(finding.tensor.shape) > 1 and rows and finding.tensor.level == 'full':
        text.append(f'; {_numbered(rows)} of {finding.tensor.shape[0]:,}')
    return text


def _numbered(rows: Sequence[int]) -> str:
    listed = ', '.join(map(str, rows[:8])) + (', ...' if len(rows) > 8 else '')
    return f'row {listed}' if len(rows) == 1 else f'{len(rows):,} rows ({listed})'


def _given(tensor: TensorRecord, title: str, rows: Sequence[int]) -> list[Part]:
    """One input: its summary, and its values at the offending rows, or all if they are few."""
    parts: list[Part] = [tensor_line(tensor, title)]
    if tensor.stats is not None and tensor.stats.size > 1:
        parts.append(lambda options: Padding(summary(tensor, options), (0, 0, 0, 2)))
    if tensor.level != 'full' or tensor.nbytes > READ_LIMIT:
        return parts
    try:
        array = tensor.to_numpy()
    except DroppedError:
        return parts
    if array.ndim and array.size > ELEMENTS // 2 and rows and rows[-1] < array.shape[0]:
        for row in rows[:ROWS]:
            parts.append(_row(array[row], row))
    elif array.size:
        parts.append(Padding(preview(array, ELEMENTS, precision=4), (0, 0, 0, 2)))
    return parts


def _row(values: np.ndarray, row: int) -> Part:
    if values.ndim == 0:
        return Text(f'  [{row}]  {element(values.item())}')
    constant = values.dtype.kind in 'biufc' and values.size > 1 and bool((values == values.reshape(-1)[0]).all())
    text = Text(f'row {row}' + (f'  every element is {values.reshape(-1)[0].item():.6g}' if constant else ''), 'bold')
    return Padding(Page(text) if constant else Page(text, preview(values, ELEMENTS, precision=4)), (0, 0, 0, 2))


if __name__ == '__main__':
    from pyfuncdbg.observers.debug.numerics.nan_verdicts import judge
    from pyfuncdbg.ui.views.page import demo
    from pyfuncdbg.ui.views.sample_trace import sample
    demo(*(origin_card(finding, {'python': 1}) for finding in judge(sample()).origins))
