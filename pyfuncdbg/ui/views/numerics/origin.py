"""The origin of a NaN or an infinity: line, inputs of the call, output, consequences."""
from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.padding import Padding
from rich.text import Text

from pyfuncdbg.observers.debug.numerics.nan_verdicts import NanVerdict
from pyfuncdbg.observers.debug.numerics.origin_card import BadRow, OriginCard, OriginInput
from pyfuncdbg.observers.record.records import Stats
from pyfuncdbg.ui.views.calls.call import input_titles
from pyfuncdbg.ui.views.calls.output import output_view
from pyfuncdbg.ui.views.escape import label, one_line
from pyfuncdbg.ui.views.page import Page, Part
from pyfuncdbg.ui.views.pictures.element_table import element, element_table
from pyfuncdbg.ui.views.sources.source import excerpt, line_text, place
from pyfuncdbg.ui.views.tensors.tensor import summary, tensor_line
from pyfuncdbg.ui.views.units import count


def origin_view(card: OriginCard, *, ops: bool = False) -> Page:
    """The needed line first: what began where; then inputs, prints and consequences.

    Args:
        card: Of the origin.
        ops: Whether graph nodes were recorded.
    """
    parts: list[Part] = [headline(card.finding), *_where(card, ops), _side(card)]
    names = input_titles(card.finding.call)
    for given in card.inputs:
        parts += _input(given, names[given.slot] if given.slot < len(names) else f'in {given.slot}')
    if card.output:
        parts.append(Text('printed by this call', 'bold'))
        parts.append(Padding(output_view(card.output, lines=8), (0, 0, 0, 2)))
    if any(card.heirs.values()):
        parts.append(Text(f'{_later(card.heirs)} inherited it'))
    if any(card.likely.values()):
        parts.append(Text(f'{_later(card.likely)} met NaN or Inf after it, by a way that was not recorded'))
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
    """'normalize at model.py:42', the line that NumPy blamed; else 'normalize defined at model.py:39', or where the node was
    made."""
    site = finding.call.site
    if finding.places and finding.verdict in ('born', 'suspected'):
        first = finding.places[0]
        return Text.assemble(label(first.function or site.function), ' at ', place(first.filename, first.line))
    if site.function:
        return Text.assemble(label(site.function), ' defined at ', place(site.filename, site.line))
    if site.stack:
        return Text.assemble(label(site.op_type), ' created at ', place(site.stack[-1].filename, site.stack[-1].line))
    return label(site.op_type)


def kind_of(stats: Stats | None) -> str:
    """'NaN', 'Inf' or 'NaN and Inf'."""
    if stats is None:
        return 'NaN or Inf'
    inf = stats.pos_inf + stats.neg_inf
    return 'NaN and Inf' if stats.nan and inf else 'NaN' if stats.nan else 'Inf'


def _where(card: OriginCard, ops: bool) -> list[Part]:
    finding = card.finding
    if finding.verdict == 'entered':
        nodes = ('is a constant' if finding.call.site.kind == 'op' else
                 'from nodes of which nothing is known' if ops else 'from nodes that --ops would record')
        return [Text(f'  No recorded call made it: it is from outside, or {nodes}.', 'yellow')]
    if finding.verdict == 'fed':
        return []
    site = finding.call.site
    parts: list[Part] = []
    blamed = list(zip(finding.places, card.sources, strict=False))
    if blamed:
        first, source = blamed[0]
        parts.append(Padding(excerpt(source, first.line), (0, 0, 0, 2)))
        parts.append(Text.assemble('  NumPy: ', (one_line(first.text, 300), 'yellow'), overflow='fold'))
        for further, source in blamed[1:]:
            parts.append(Text.assemble('  then   ', (one_line(further.text, 300), 'yellow'), '  ',
                                       place(further.filename, further.line), '  ',
                                       line_text(source, further.line, further.filename), overflow='fold'))
    elif site.function:
        parts.append(Text('  NumPy named no line: its warnings are off there, or the value was made outside of NumPy.',
                          'dim'))
    if finding.verdict == 'suspected':
        parts.append(Text('  Its outputs were not kept: whether NaN or Inf was among them is not known.', 'yellow'))
    elif not finding.certain:
        parts.append(Text('  Not all inputs were kept: it may have come in by one of those.', 'yellow'))
    return parts


def _side(card: OriginCard) -> Text:
    finding = card.finding
    side = 'output' if finding.verdict in ('born', 'suspected') else 'input'
    text = Text.assemble((f'{side} {finding.slot}  ', 'bold'), tensor_line(finding.tensor), overflow='fold')
    if len(finding.tensor.shape) > 1 and card.rows and finding.tensor.level == 'full':
        text.append(f'; {_numbered(card.rows)} of {finding.tensor.shape[0]:,}')
    return text


def _numbered(rows: Sequence[int]) -> str:
    listed = ', '.join(map(str, rows[:8])) + (', ...' if len(rows) > 8 else '')
    return f'row {listed}' if len(rows) == 1 else f'{len(rows):,} rows ({listed})'


def _input(origin_input: OriginInput, title: str) -> list[Part]:
    """One input: its summary, and its values at the offending rows, or all if they are few."""
    tensor = origin_input.tensor
    parts: list[Part] = [tensor_line(tensor, title)]
    if tensor.stats is not None and tensor.stats.size > 1:
        parts.append(lambda options: Padding(summary(tensor, options), (0, 0, 0, 2)))
    parts += [_row(row) for row in origin_input.rows]
    if tensor.elements is not None:
        parts.append(Padding(element_table(tensor.elements), (0, 0, 0, 2)))
    return parts


def _row(row: BadRow) -> Part:
    values = row.elements.values
    if values is None or values.ndim == 0:
        return Text(f'  [{row.index}]  {element(values.item()) if values is not None else ""}')
    first = values.reshape(-1)[:1].tolist()
    constant = f'  every element is {element(first[0])}' if row.constant and first else ''
    text = Text(f'row {row.index}{constant}', 'bold')
    return Padding(Page(text) if constant else Page(text, element_table(row.elements)), (0, 0, 0, 2))


if __name__ == '__main__':
    from pyfuncdbg.observers.debug.numerics.nan_verdicts import judge
    from pyfuncdbg.observers.debug.numerics.origin_card import origin_card
    from pyfuncdbg.ui.views.sample_trace import demo, sample
    demo(*(origin_view(origin_card(finding, {'python': 1})) for finding in judge(sample()).origins))
