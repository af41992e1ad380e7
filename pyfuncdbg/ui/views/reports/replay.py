"""A replay: its verdict, what differs, and what the function printed (`replay`)."""
from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from rich.text import Text

from pyfuncdbg.observers.debug.replay.replay_verdict import Replay, ReplayedCall
from pyfuncdbg.observers.record.records import TensorRecord
from pyfuncdbg.ui.views.escape import label, one_line
from pyfuncdbg.ui.views.labels import call_number_text
from pyfuncdbg.ui.views.page import Page, Part
from pyfuncdbg.ui.views.reports.trace_difference import source_difference_parts, tensor_difference_text
from pyfuncdbg.ui.views.tensors.tensor_words import glimpse
from pyfuncdbg.ui.views.units import count

_LONGEST, _PRINTED, _TENSORS = 200, 10, 6
STYLES = {'same': 'bold green', 'differs': 'bold red', 'raises otherwise': 'bold red', 'not known': 'bold yellow',
           'RNG state unknown': 'bold yellow'}
_MEANINGS = {'same': 'bit for bit', 'differs': 'from the recording', 'raises otherwise': 'than in the recording',
             'not known': 'outputs were not kept',
             'RNG state unknown': 'it draws random numbers, and the recording has no state'}


def replay_view(replay: Replay) -> Page:
    """The verdict first.

    Args:
        replay: Of one call.
    """
    return Page(*_parts(replay))


def _parts(replay: Replay) -> Iterator[Part]:
    call = replay.call
    meaning = _MEANINGS[replay.verdict]
    if replay.same and replay.executions[0].raised:
        meaning = 'the same exception'
    elif call.duration is None:
        meaning = 'the recorded call did not end'
    yield Text.assemble((replay.verdict.upper() if replay.verdict != 'RNG state unknown' else replay.verdict,
                         STYLES[replay.verdict]), f'  {meaning}  ', call_number_text(call.number), ' ',
                        label(call.label, limit=80), f'  {one_line(replay.function, 80)}', overflow='fold')
    if len(replay.executions) > 1:
        counts = Counter(execution.verdict for execution in replay.executions)
        verdicts = ', '.join(f'{number} {verdict}' for verdict, number in counts.items())
        yield Text(f'{len(replay.executions)} executions: {verdicts}')
    shown = next((one for one in replay.executions if one.verdict != 'same'), replay.executions[0])
    yield from _execution(replay, shown)
    if replay.changed is not None:
        yield Text.assemble('changed by ', (one_line(replay.change, _LONGEST), 'bold'), overflow='fold')
        yield from (Text.assemble('  in  ', _named(tensor)) for tensor in replay.inputs[:_TENSORS])
        yield from _outcome(replay.changed)
    if replay.source is not None:
        yield from source_difference_parts(replay.source)
    yield from (Text(one_line(remark, _LONGEST), 'yellow', overflow='fold') for remark in replay.remarks)
    if replay.files:
        yield Text(f'ran {", ".join(one_line(file, _LONGEST) for file in replay.files)}', 'dim', overflow='fold')


def _execution(replay: Replay, execution: ReplayedCall) -> Iterator[Text]:
    recorded = replay.call.error
    if execution.verdict == 'raises otherwise':
        before = _error(recorded.type, recorded.message) if recorded is not None else 'no exception'
        yield Text(f'  recorded  {before}', overflow='fold')
        yield Text(f'  now       {one_line(execution.raised, _LONGEST) or "no exception"}', overflow='fold')
    elif execution.raised:
        yield Text(f'  raises {one_line(execution.raised, _LONGEST)}', overflow='fold')
    yield from (tensor_difference_text(tensor) for tensor in execution.tensors[:_TENSORS])
    if execution.verdict == 'differs' and len(execution.outputs) != len(replay.call.outputs):
        yield Text(f'  {count(len(replay.call.outputs), "output")} recorded, {len(execution.outputs)} now')
    if not execution.raised and not execution.tensors:
        yield from (Text.assemble('  out  ', _named(tensor)) for tensor in execution.outputs[:_TENSORS])
    yield from _printed(execution)


def _outcome(execution: ReplayedCall) -> Iterator[Text]:
    if execution.raised:
        yield Text(f'  raises {one_line(execution.raised, _LONGEST)}', 'red', overflow='fold')
    yield from (Text.assemble('  out  ', _named(tensor)) for tensor in execution.outputs[:_TENSORS])
    yield from _printed(execution)


def _printed(execution: ReplayedCall) -> Iterator[Text]:
    for entry in execution.printed[:_PRINTED]:
        yield Text(f'  {entry.kind}  {one_line(entry.text.rstrip(), _LONGEST)}', 'dim', overflow='fold')
    if len(execution.printed) > _PRINTED:
        yield Text(f'  and {count(len(execution.printed) - _PRINTED, "more line")}', 'dim')


def _named(tensor: TensorRecord) -> Text:
    return Text.assemble(label(tensor.name, limit=60), '  ' if tensor.name else '', glimpse(tensor))


def _error(kind: str, message: str) -> str:
    return one_line(f'{kind.rpartition(".")[2]}: {message}', _LONGEST)


if __name__ == '__main__':
    from pyfuncdbg.ui.views.sample_trace import demo, sample
    norm = sample().calls(site='norm')[0]
    demo(replay_view(Replay(norm, 'norm', ('model.py',), 'same', (ReplayedCall('same', norm.outputs, '', ()),))))
