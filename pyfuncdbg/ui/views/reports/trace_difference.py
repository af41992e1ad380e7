"""Comparison of two recordings: the first divergence, what follows it, and what differs around the programs (`diff`)."""
from __future__ import annotations

from collections.abc import Iterator
from difflib import unified_diff

from rich.console import ConsoleOptions, RenderableType
from rich.text import Text

from pyfuncdbg.observers.debug.comparison.divergence import Divergence, SourceDifference, TensorDifference, TraceDifference
from pyfuncdbg.ui.views.escape import label, one_line
from pyfuncdbg.ui.views.labels import call_number_text
from pyfuncdbg.ui.views.lists import Column, fitted_table
from pyfuncdbg.ui.views.page import Page, Part
from pyfuncdbg.ui.views.sources.source import place
from pyfuncdbg.ui.views.units import count, seconds, value

_TENSORS, _LATER, _SOURCE_LINES, _LONGEST = 6, 8, 40, 200
_MOST_ULP = 1000
"""Greatest distance in ULP that is shown: beyond it the relative difference says more."""


def trace_difference_view(difference: TraceDifference) -> Page:
    """The verdict first.

    Args:
        difference: Of two recordings, runs or calls.
    """
    return Page(*_parts(difference))


def _parts(difference: TraceDifference) -> Iterator[Part]:
    names = [one_line(name, 80) for name in difference.names]
    verdict = ('SAME', 'bold green') if difference.same else ('DIFFERENT', 'bold red')
    compared = [count(number, noun) for number, noun in ((difference.calls, 'call'), (difference.runs, 'run')) if number]
    yield Text.assemble(verdict, f'  {names[0]} and {names[1]}: {" and ".join(compared) or "no call"} compared',
                        overflow='fold')
    if difference.first is not None:
        yield from _first(difference.first)
    if difference.later:
        later = sum(number for _, _, number in difference.later)
        yield Text(f'after it {later:,} more differ', 'bold')
        yield lambda options: _later(difference, options)
    for changed in difference.sources:
        yield from source_difference_parts(changed)
    for title, rows in (('versions', difference.versions), ('around the programs', difference.environment)):
        if rows:
            yield Text(title, 'bold')
        for what, *sides in rows:
            texts = ' | '.join(one_line(side, _LONGEST) or 'none' for side in sides)
            yield Text(f'  {one_line(what, 40)}  {texts}', overflow='fold')
    for time in difference.times:
        medians = ' | '.join(map(seconds, time.medians))
        yield Text.assemble('time of ', (one_line(time.site, 80), 'bold'), f'  median {medians}, beyond noise',
                            overflow='fold')
    if difference.across:
        yield Text('two hosts: Python calls and what the program ran were compared, not the steps of one host', 'dim',
                   overflow='fold')
    if difference.reordered:
        yield Text(f'{count(difference.reordered, "call")} in another order, by chance: several threads call their sites',
                   'dim', overflow='fold')
    if difference.unknown:
        yield Text(f'{count(difference.unknown, "tensor")} not compared: their values were not kept', 'yellow',
                   overflow='fold')
    yield from (Text(one_line(gap, _LONGEST), 'yellow', overflow='fold') for gap in difference.gaps)
    if difference.ignored:
        yield Text(f'ignored: {one_line(", ".join(difference.ignored), _LONGEST)}', 'dim', overflow='fold')


def _first(first: Divergence) -> Iterator[Text]:
    name = call_number_text if first.what == 'call' else lambda number: f'run #{one_line(number, 40)}'
    numbers = [name(number) if number else 'missing' for number in first.numbers]
    yield Text.assemble(('first divergence  ', 'bold'), (first.kind, 'bold red'), '  ', (one_line(first.label, 80), 'bold'),
                        f'  {numbers[0]} | {numbers[1]}', overflow='fold')
    if first.function:
        yield Text.assemble(f'  {one_line(first.function, 80)} at ', place(*first.place), overflow='fold')
    if first.kind == 'calls':
        yield Text(f'  only the {"first" if first.numbers[0] else "second"} has this {first.what}')
    if any(first.texts):
        nothing = 'did not end: killed, or it goes on' if first.kind == 'unfinished' else 'nothing'
        yield from (Text(f'  {side}  {one_line(text, _LONGEST) or nothing}', overflow='fold')
                    for side, text in zip(('first ', 'second'), first.texts, strict=True))
    yield from (tensor_difference_text(tensor) for tensor in first.tensors[:_TENSORS])
    if len(first.tensors) > _TENSORS:
        yield Text(f'  and {count(len(first.tensors) - _TENSORS, "more tensor")}', 'dim')
    if first.inherited:
        yield Text('  what was fed differs already' if first.what == 'run' else
                   '  an input differs already: what gave it was not recorded as a call', 'yellow', overflow='fold')
    elif first.what == 'call' and (first.tensors or first.kind == 'unfinished'):
        yield Text('  its inputs are the same', 'dim')
    if first.edited:
        yield Text('  the source of its function changed, see below', 'yellow')
    if first.generators:
        yield Text(f'  it drew other random numbers: another state of {one_line(", ".join(first.generators), _LONGEST)}',
                   'yellow', overflow='fold')
    if first.reads:
        yield Text(f'  it also reads: {one_line("; ".join(first.reads), _LONGEST)}', 'yellow', overflow='fold')


def tensor_difference_text(tensor: TensorDifference) -> Text:
    """One differing tensor on a line: its place, both sides, how far apart.

    Args:
        tensor: Of a call or a run.
    """
    text = Text(f'  {tensor.side} {tensor.slot}', overflow='fold')
    if tensor.name:
        text.append('  ').append_text(label(tensor.name, limit=60))
    one, two = (one_line(side, _LONGEST) for side in tensor.texts)
    if tensor.value is None:
        return text.append(f'  {tensor.kind} {one} | {two}')
    difference = tensor.value
    index = f'[{", ".join(map(str, difference.first))}]' if difference.first else 'value'
    text.append(f'  {count(difference.elements, "element")} of {difference.size:,}, first {index}  {one} | {two}')
    if difference.ulp is not None and difference.ulp <= _MOST_ULP:
        text.append(f'  at most {difference.ulp:,} ULP')
    return text.append(f'  relative {value(difference.relative, 3)}') if difference.relative is not None else text


def _later(difference: TraceDifference, options: ConsoleOptions) -> RenderableType:
    rows = difference.later[:_LATER]
    more = sum(number for _, _, number in difference.later[_LATER:])
    table = fitted_table([Column('site', [label(site, limit=80) for site, _, _ in rows], 0, least=12),
                          Column('kind', [Text(kind) for _, kind, _ in rows], 1),
                          Column('differ', [Text(f'{number:,}') for _, _, number in rows], 2, right=True)], options)
    if more:
        table.caption = Text(f'and {more:,} of other sites', 'dim')
        table.caption_justify = 'left'
    return table


def source_difference_parts(changed: SourceDifference) -> Iterator[Text]:
    """A function whose source is another one, and the lines that differ.

    Args:
        changed: Of the function.
    """
    yield Text.assemble('source of ', (one_line(changed.function, 80), 'bold'), ' changed  ', place(*changed.place))
    yield _source_lines(*changed.sources)


def _source_lines(one: str, two: str) -> Text:
    lines = list(unified_diff(one.splitlines(), two.splitlines(), lineterm='', n=1))[2:]
    text = Text(overflow='fold')
    for line in lines[:_SOURCE_LINES]:
        style = {'+': 'green', '-': 'red', '@': 'dim'}.get(line[:1], '')
        text.append(f'  {one_line(line, _LONGEST)}\n', style)
    if len(lines) > _SOURCE_LINES:
        text.append(f'  and {count(len(lines) - _SOURCE_LINES, "more line")}\n', 'dim')
    text.rstrip()
    return text


if __name__ == '__main__':
    from pyfuncdbg.observers.debug.comparison.record_comparison import Rules
    from pyfuncdbg.observers.debug.comparison.trace_comparison import compare_calls, compare_traces
    from pyfuncdbg.ui.views.sample_trace import demo, sample
    calls = sample().calls()
    demo(trace_difference_view(compare_traces(sample(), sample(), Rules(), ('sample.pfd', 'sample.pfd'))),
         trace_difference_view(compare_calls(calls[0], calls[1], Rules())))
