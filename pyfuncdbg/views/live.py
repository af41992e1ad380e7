"""The tensors of a run that is stopped half way, and the feeds of a run: one line each."""
from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich import box
from rich.console import ConsoleOptions
from rich.table import Table
from rich.text import Text

from pyfuncdbg.debug.tensors import LiveTensor
from pyfuncdbg.record.records import TensorRecord
from pyfuncdbg.views.escape import one_line
from pyfuncdbg.views.flags import flag_line, flags
from pyfuncdbg.views.heading import heading
from pyfuncdbg.views.histogram import ranged
from pyfuncdbg.views.page import Page
from pyfuncdbg.views.units import shape, size, value

WIDE = 110
_WORDS = {'fed': 'fed', 'here': '', 'dropped': "not kept: 'pt' computes it again if it can",
          'next': 'not computed yet: next', 'later': 'not computed yet'}


def live_view(rows: Sequence[LiveTensor], total: int, run: int, node: str, filters: Mapping[str, object], sort: str) -> Page:
    """`lt` in mid-run."""
    first = heading(total, 'tensor', shown=len(rows), filters=filters, sort=sort)
    first.append(f'   run #{run} now, ' + (f"at '{one_line(node, 60)}'" if node else 'at its end'), 'dim not bold')

    def draw(options: ConsoleOptions) -> Table:
        table = _table(options.max_width >= WIDE)
        for row in rows:
            word = 'handle, no tensor' if row.standing == 'here' and row.tensor is None else _WORDS[row.standing]
            _add(table, row.name, row.op_type, row.tensor, word, options)
        return table
    return Page(first, draw) if rows else Page(first)


def feeds_view(run: int, label: str, rows: Sequence[TensorRecord]) -> Page:
    """`pf`."""
    first = Text(f'run #{run} {one_line(label, 60)}: {len(rows)} feed{"s" * (len(rows) != 1)}', 'bold')

    def draw(options: ConsoleOptions) -> Table:
        table = _table(options.max_width >= WIDE)
        for tensor in rows:
            _add(table, tensor.name, '', tensor, '', options)
        return table
    return Page(first, draw) if rows else Page(first)


def _table(wide: bool) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style='dim')
    table.add_column('node:slot', overflow='fold')
    if wide:
        table.add_column('kind', overflow='fold')
    table.add_column('type', overflow='fold')
    table.add_column('bytes', justify='right', no_wrap=True)
    table.add_column('min |hist| max' if wide else 'min .. max', overflow='fold')
    table.add_column('mean', justify='right', no_wrap=True)
    table.add_column('flags', overflow='fold')
    return table


def _add(table: Table, name: str, kind: str, tensor: TensorRecord | None, word: str, options: ConsoleOptions) -> None:
    wide = options.max_width >= WIDE
    stats = tensor.stats if tensor is not None else None
    remarks = Text(word, 'dim')
    if tensor is not None and (found := flags(tensor)):
        remarks = Text(', ' if word else '').join((remarks, flag_line(found))) if word else flag_line(found)
    table.add_row(one_line(name, 80), *([one_line(kind, 20)] if wide else []),
                  '' if tensor is None else f'{tensor.dtype} {one_line(shape(tensor.shape), 30)}',
                  '' if tensor is None else size(tensor.nbytes),
                  '' if stats is None else ranged(stats.histogram if wide else (), stats.min, stats.max, 12,
                                                  ascii_only=options.ascii_only),
                  '' if stats is None else value(stats.mean), remarks)


if __name__ == '__main__':
    from pyfuncdbg.views.page import demo
    from pyfuncdbg.views.sample import sample
    tensors = [tensor for _, tensor in sample().tensors()][:2]
    demo(live_view([*(LiveTensor(tensor.name, 'MatMul', 'here', tensor) for tensor in tensors),
                    LiveTensor('loss:0', 'Mean', 'later', None)], 3, 12, 'norm', {}, 'time'),
         feeds_view(12, 'Session.run', tensors))
