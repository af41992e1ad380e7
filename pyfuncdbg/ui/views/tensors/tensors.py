"""The tensor table (`lt`): one line a tensor, with its histogram and its flags."""
from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.console import ConsoleOptions
from rich.table import Table
from rich.text import Text

from pyfuncdbg.observers.debug.numerics.fused_values import is_remarked
from pyfuncdbg.observers.debug.numerics.nan_verdicts import NanVerdict
from pyfuncdbg.observers.record.records import CallRecord, Stats, TensorRecord
from pyfuncdbg.ui.views.call_number import numbered
from pyfuncdbg.ui.views.columns import Column, fitted_table
from pyfuncdbg.ui.views.escape import label, one_line
from pyfuncdbg.ui.views.flags import NOTHING_FINITE, OTHERWISE, flag_line, flags
from pyfuncdbg.ui.views.heading import heading
from pyfuncdbg.ui.views.page import Page
from pyfuncdbg.ui.views.pictures.histogram import ranged
from pyfuncdbg.ui.views.sources.source import place
from pyfuncdbg.ui.views.units import milliseconds, shape, size, value

WIDE = 110
COLUMN_OF = {'max': 'min', 'std': 'min'}
"""Where a sort key is not the first word of its column's header."""
Row = tuple[CallRecord, TensorRecord]


def tensor_table(rows: Sequence[Row], total: int | None = None, *, verdicts: Mapping[str, NanVerdict] | None = None,
                 filters: Mapping[str, object] | None = None, sort: str = 'time', bad: int = 0, dropped: int = 0,
                 begun: float = 0.0, symbolic: int = 0) -> Page:
    """Output tensors, one a line.

    Args:
        rows: Each with the call that made it, in order.
        total: How many pass the filters; None: those.
        verdicts: By call number: where non-finite values come from.
        filters: What was asked for, by name.
        sort: What they are sorted by.
        bad: How many of all are non-finite.
        dropped: Tensors that the trace does not hold.
        begun: What the times count from, in seconds from the start of the trace.
        symbolic: Gradients of traced passes that are not listed, for they have no values.
    """
    def draw(options: ConsoleOptions) -> Table:
        return _table(rows, verdicts or {}, sort, begun, options)
    first = tensor_heading(len(rows) if total is None else total, len(rows), filters=filters, sort=sort, bad=bad,
                           dropped=dropped)
    if symbolic:
        first.append(f'   {symbolic:,} symbolic of traced gradients not listed: tape', 'dim')
    return Page(first, draw) if rows else Page(first)


def tensor_heading(total: int, shown: int, *, filters: Mapping[str, object] | None, sort: str, bad: int,
                   dropped: int) -> Text:
    """'12 tensors   sort: time   filter: none   2 non-finite'."""
    first = heading(total, 'tensor', shown=shown, filters=filters, sort=sort, dropped=dropped)
    return first.append(f'   {bad:,} non-finite', 'bold red') if bad else first


def _table(rows: Sequence[Row], verdicts: Mapping[str, NanVerdict], sort: str, begun: float,
           options: ConsoleOptions) -> Table:
    wide = options.max_width >= WIDE
    stats = [tensor.stats for _, tensor in rows]
    columns = [
        Column('time ms', [Text(milliseconds(made_at(*row) - begun)) for row in rows], 5, right=True),
        Column('name', [label(tensor_name(*row)) for row in rows], 0, least=32 if wide else 20),
        Column('call', [made_by(call) for call, _ in rows], 3),
        Column('kind', [label(kind_of(*row)) for row in rows], 7, least=8),
        Column('shape', [label(shape(tensor.shape)) for _, tensor in rows], 4, least=8),
        Column('bytes', [Text(size(tensor.nbytes)) for _, tensor in rows], 6, right=True),
        Column('min |hist| max', [spread(one, options, wide=wide) for one in stats], 2),
        Column('mean', [Text('' if one is None else value(one.mean)) for one in stats], 8, right=True),
        Column('flags', [remarks(*row, verdicts.get(row[0].number)) for row in rows], 1, least=16, folds=True)]
    key, turned, way = sort.partition(',')
    return fitted_table(columns, options, sort=COLUMN_OF.get(key, key) + turned + way)


def spread(stats: Stats | None, options: ConsoleOptions, *, wide: bool) -> Text:
    """'-1.2 |_#__| 3.4': the range of the finite elements with their histogram; short numbers where room is short."""
    if stats is None:
        return Text()
    if stats.min is None:
        return Text('nothing finite' if stats.bad and stats.size > 1 else '', 'red')
    return Text(ranged(stats.histogram, stats.min, stats.max, 12 if wide else 6, ascii_only=options.ascii_only,
                       digits=4 if wide else 3))


def made_at(call: CallRecord, tensor: TensorRecord) -> float:
    """Seconds from the start of the trace to when the tensor was there: a feed before its run, an output after its call."""
    return call.started if _is_input(call, tensor) else call.started + (call.duration or 0.0)


def tensor_name(call: CallRecord, tensor: TensorRecord) -> str:
    """'norm:0', made up from site and slot where the tensor has no name of its own."""
    if tensor.name:
        return tensor.name
    slot = next((i for i, output in enumerate(call.outputs) if output is tensor), 0)
    return f'{call.site.name}:{slot}'


def kind_of(call: CallRecord, tensor: TensorRecord) -> str:
    """'feed', 'fetch', 'py', or the op type."""
    if call.site.kind == 'run':
        return 'feed' if _is_input(call, tensor) else 'fetch'
    return 'py' if call.site.kind == 'python' else call.site.op_type


def _is_input(call: CallRecord, tensor: TensorRecord) -> bool:
    return any(given is tensor for given in call.inputs)


def made_by(call: CallRecord) -> Text:
    """'#17', or 'run 3' of a feed or fetch."""
    return Text(f'run {call.run}' if call.site.kind == 'run' else f'#{one_line(call.number, 20)}', 'dim')


def remarks(call: CallRecord, tensor: TensorRecord, finding: NanVerdict | None) -> Text:
    """'NaN 4 <- BORN model.py:42': what is remarkable, and where what is not finite came from."""
    also = (OTHERWISE,) if is_remarked(call) else ()
    text = flag_line((*(flag for flag in flags(tensor) if flag != NOTHING_FINITE), *also))
    if finding is None or tensor.stats is None or not tensor.stats.bad:
        return text
    if finding.verdict == 'inherited':
        return text.append(f' from {numbered(finding.origin)}')
    if finding.verdict == 'born':
        text.append(' <- BORN ', 'bold red')
        where = finding.places[0] if finding.places else None
        site = call.site
        created = site.stack[-1] if site.stack and not site.filename else site      # a node has no function, but a line
        return text.append_text(place(where.filename, where.line) if where else place(created.filename, created.line))
    if finding.verdict == 'suspected':
        return text
    if call.site.kind == 'run':
        return text.append(' <- fed', 'bold red') if _is_input(call, tensor) else text
    return text.append(f' <- {finding.verdict} by input {finding.slot}', 'bold red')


if __name__ == '__main__':
    from pyfuncdbg.observers.debug.numerics.nan_verdicts import judge
    from pyfuncdbg.ui.views.page import demo
    from pyfuncdbg.ui.views.sample_trace import sample
    demo(tensor_table(sample().tensors(), verdicts=judge(sample()).by_call()))
