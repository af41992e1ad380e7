"""The tensor table (`lt`): one line a tensor, with its histogram and what is remarkable about it."""
from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich import box
from rich.console import ConsoleOptions
from rich.table import Table
from rich.text import Text

from pyfuncdbg.debug.health import Finding
from pyfuncdbg.record.records import CallRecord, TensorRecord
from pyfuncdbg.views.escape import label, one_line
from pyfuncdbg.views.flags import flag_line, flags
from pyfuncdbg.views.heading import heading
from pyfuncdbg.views.histogram import ranged
from pyfuncdbg.views.page import Page
from pyfuncdbg.views.source import place
from pyfuncdbg.views.units import milliseconds, shape, size, value

WIDE = 110
Row = tuple[CallRecord, TensorRecord]


def tensor_table(rows: Sequence[Row], total: int | None = None, *, verdicts: Mapping[str, Finding] | None = None,
                 filters: Mapping[str, object] | None = None, sort: str = 'time', bad: int = 0, dropped: int = 0) -> Page:
    """Output tensors, one a line.

    Args:
        rows: Each with the call that made it, in order.
        total: How many pass the filters; None: those.
        verdicts: By call number: where non-finite values come from.
        filters: What was asked for, by name.
        sort: What they are sorted by.
        bad: How many of all are non-finite.
        dropped: Tensors that the trace does not hold.
    """
    def draw(options: ConsoleOptions) -> Table:
        return _table(rows, verdicts or {}, wide=options.max_width >= WIDE, ascii_only=options.ascii_only)
    first = heading(len(rows) if total is None else total, 'tensor', shown=len(rows), filters=filters, sort=sort,
                    dropped=dropped)
    if bad:
        first.append(f'   {bad:,} non-finite', 'bold red')
    return Page(first, draw) if rows else Page(first)


def _table(rows: Sequence[Row], verdicts: Mapping[str, Finding], *, wide: bool, ascii_only: bool) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style='dim')
    table.add_column('t ms', justify='right', no_wrap=True)
    table.add_column('node:slot', overflow='fold')
    if wide:
        table.add_column('kind', overflow='fold')
    table.add_column('shape', overflow='fold')
    table.add_column('bytes', justify='right', no_wrap=True)
    table.add_column('min |hist| max' if wide else 'min .. max', overflow='fold')
    table.add_column('mean', justify='right', no_wrap=True)
    table.add_column('flags', overflow='fold')
    for call, tensor in rows:
        stats = tensor.stats
        spread = '' if stats is None else ranged(stats.histogram if wide else (), stats.min, stats.max, 12,
                                                 ascii_only=ascii_only)
        kind = [label(_kind(call, tensor), limit=20)] if wide else []
        table.add_row(milliseconds(made_at(call, tensor)), _name(call, tensor), *kind, one_line(shape(tensor.shape), 30),
                      size(tensor.nbytes), spread, '' if stats is None else value(stats.mean),
                      _remarks(call, tensor, verdicts.get(call.number)))
    return table


def made_at(call: CallRecord, tensor: TensorRecord) -> float:
    """Seconds from the start of the trace to when the tensor was there: a feed before its run, an output after its call."""
    return call.started if _is_input(call, tensor) else call.started + (call.duration or 0.0)


def tensor_name(call: CallRecord, tensor: TensorRecord) -> str:
    """'norm:0', made up from site and slot where the tensor has no name of its own."""
    if tensor.name:
        return tensor.name
    slot = next((i for i, output in enumerate(call.outputs) if output is tensor), 0)
    return f'{call.site.name}:{slot}'


def _kind(call: CallRecord, tensor: TensorRecord) -> str:
    if call.site.kind == 'run':
        return 'feed' if _is_input(call, tensor) else 'fetch'
    return 'py' if call.site.kind == 'python' else call.site.op_type


def _is_input(call: CallRecord, tensor: TensorRecord) -> bool:
    return any(given is tensor for given in call.inputs)


def _name(call: CallRecord, tensor: TensorRecord) -> Text:
    where = f' run {call.run}' if call.site.kind == 'run' else f' #{one_line(call.number, 20)}'
    return Text.assemble(label(tensor_name(call, tensor), limit=40), (where, 'dim'))


def _remarks(call: CallRecord, tensor: TensorRecord, finding: Finding | None) -> Text:
    text = flag_line(flags(tensor))
    if finding is None or tensor.stats is None or not tensor.stats.bad:
        return text
    if finding.verdict == 'inherited':
        return text.append(f' from call #{one_line(finding.origin, 20)}', 'none')
    if finding.verdict == 'born':
        text.append(' <- BORN ', 'bold red')
        where = finding.places[0] if finding.places else None
        return text.append_text(place(where.filename, where.line) if where else place(call.site.filename, call.site.line))
    if finding.verdict == 'suspected':
        return text
    return text.append(f' <- {finding.verdict} by input {finding.slot}', 'bold red')


if __name__ == '__main__':
    from pyfuncdbg.debug.health import judge
    from pyfuncdbg.views.page import demo
    from pyfuncdbg.views.sample import sample
    demo(tensor_table(sample().tensors(), verdicts=judge(sample()).by_call()))
