"""Replays of many calls: how many gave what they gave, by function, and the first that did not (`replay --all`)."""
from __future__ import annotations

from collections.abc import Iterator, Mapping

from rich.text import Text

from pyfuncdbg.observers.debug.replay.replayed_calls import CallOutcome, FunctionReplays, ReplayedCalls
from pyfuncdbg.ui.views.escape import label, one_line
from pyfuncdbg.ui.views.labels import call_number_text
from pyfuncdbg.ui.views.page import Page, Part
from pyfuncdbg.ui.views.reports.replay import STYLES
from pyfuncdbg.ui.views.units import count

_LONGEST, _FUNCTIONS, _REASONS = 200, 20, 8


def replayed_calls_view(replays: ReplayedCalls) -> Page:
    """The counts first.

    Args:
        replays: Of a recording.
    """
    return Page(*_parts(replays))


def _parts(replays: ReplayedCalls) -> Iterator[Part]:
    yield Text.assemble(f'{count(replays.calls, "call")}: ', _verdicts(replays.verdicts), overflow='fold')
    for function in replays.functions[:_FUNCTIONS]:
        yield _function(function)
    if len(replays.functions) > _FUNCTIONS:
        yield Text(f'and {count(len(replays.functions) - _FUNCTIONS, "more function")}', 'dim')
    yield from (_outcome(outcome) for outcome in replays.outcomes)
    compared = sum(number for verdict, number in replays.verdicts.items() if verdict not in ('same', 'not replayed'))
    if compared > len(replays.outcomes):
        yield Text(f'and {count(compared - len(replays.outcomes), "more call")} that {"is" if compared == 1 else "are"} not '
                   'the same; -n shows more', 'dim')
    yield from _counted('not replayed', replays.refusals)
    yield from _counted('restored but for this', replays.remarks)
    if replays.files:
        yield Text(f'ran {", ".join(one_line(file, _LONGEST) for file in replays.files)}', 'dim', overflow='fold')


def _function(function: FunctionReplays) -> Text:
    edited = '  its source was edited since' if function.edited else ''
    return Text.assemble(f'  {one_line(function.function, 80)}  ', _verdicts(function.verdicts), (edited, 'yellow'),
                         overflow='fold')


def _verdicts(verdicts: Mapping[str, int]) -> Text:
    return Text(', ').join([Text(f'{number:,} {one_line(verdict, 80)}', STYLES.get(verdict, 'bold yellow'))
                            for verdict, number in verdicts.items()])


def _outcome(outcome: CallOutcome) -> Text:
    return Text.assemble((_capitals(outcome.verdict),
                          STYLES.get(outcome.verdict, 'bold yellow')), '  ', call_number_text(outcome.number), ' ',
                         label(outcome.label, limit=80), f'  {one_line(outcome.function, 80)}',
                         f'  {one_line(outcome.text, 2 * _LONGEST)}' if outcome.text else '', overflow='fold')


def _capitals(verdict: str) -> str:
    return verdict if verdict == 'RNG state unknown' else one_line(verdict.upper(), 80)


def _counted(what: str, reasons: Mapping[str, int]) -> Iterator[Text]:
    for reason, number in list(reasons.items())[:_REASONS]:
        yield Text(f'{what}, {count(number, "call")}: {one_line(reason, 2 * _LONGEST)}', 'yellow', overflow='fold')
    if len(reasons) > _REASONS:
        yield Text(f'and {count(len(reasons) - _REASONS, "more reason")}', 'dim')


if __name__ == '__main__':
    from pyfuncdbg.ui.views.sample_trace import demo
    demo(replayed_calls_view(ReplayedCalls(
        1204, {'same': 1200, 'differs': 1, 'not replayed': 3},
        (FunctionReplays('norm', 904, {'same': 900, 'differs': 1, 'not replayed': 3}, True),
         FunctionReplays('loss', 300, {'same': 300}, False)),
        (CallOutcome('17', 'norm[3]', 'norm', 'differs', 'output 0: 1 of 12 elements, first [0, 1] 0.5 | 0.25'),),
        {'the call did not end': 3}, {'recorded with NumPy 2.1.0, this is 2.4.0': 1201}, ('model.py',), 20)))
