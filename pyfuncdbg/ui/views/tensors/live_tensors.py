"""The tensors of a run that is stopped half way, and the feeds of a run: one line each."""
from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.console import ConsoleOptions
from rich.table import Table
from rich.text import Text

from pyfuncdbg.observers.debug.inspecting.run_tensors import LiveTensor
from pyfuncdbg.observers.record.records import TensorRecord
from pyfuncdbg.ui.views.columns import Column, fitted_table
from pyfuncdbg.ui.views.escape import label, one_line
from pyfuncdbg.ui.views.flags import NOTHING_FINITE, flag_line, flags
from pyfuncdbg.ui.views.heading import heading
from pyfuncdbg.ui.views.page import Page
from pyfuncdbg.ui.views.tensors.tensors import COLUMN_OF, WIDE, spread
from pyfuncdbg.ui.views.units import shape, size, value

_WORDS = {'fed': 'fed', 'here': '', 'dropped': "not kept: 'pt' computes it again if it can",
          'next': 'not computed yet: next', 'later': 'not computed yet'}

_HANDLE = 'handle, no tensor'


def live_view(rows: Sequence[LiveTensor], total: int, run: int, node: str, filters: Mapping[str, object], sort: str) -> Page:
    """`lt` in mid-run."""
    first = heading(total, 'tensor', shown=len(rows), filters=filters, sort=sort)
    first.append(f'   run #{run} now, ' + (f"at '{one_line(node, 60)}'" if node else 'at its end'), 'dim')

    def draw(options: ConsoleOptions) -> Table:
        words = [_HANDLE if row.standing == 'here' and row.tensor is None else _WORDS[row.standing] for row in rows]
        return _table([row.name for row in rows], [row.op_type for row in rows], [row.tensor for row in rows], words, sort,
                      options)
    return Page(first, draw) if rows else Page(first)


def feeds_view(run: int, name: str, rows: Sequence[TensorRecord]) -> Page:
    """`pf`."""
    first = Text(f'run #{run} {one_line(name, 60)}: {len(rows)} feed{"s" * (len(rows) != 1)}', 'bold')

    def draw(options: ConsoleOptions) -> Table:
        return _table([tensor.name for tensor in rows], [''] * len(rows), rows, [''] * len(rows), '', options)
    return Page(first, draw) if rows else Page(first)


def _table(names: Sequence[str], kinds: Sequence[str], tensors: Sequence[TensorRecord | None], words: Sequence[str],
           sort: str, options: ConsoleOptions) -> Table:
    wide = options.max_width >= WIDE
    stats = [tensor.stats if tensor is not None else None for tensor in tensors]
    columns = [
        Column('name', [label(name) for name in names], 0, least=32 if wide else 20),
        Column('kind', [label(kind) for kind in kinds], 6, least=8),
        Column('dtype', [label('' if tensor is None else tensor.dtype, limit=30) for tensor in tensors], 4),
        Column('shape', [label('' if tensor is None else shape(tensor.shape)) for tensor in tensors], 3, least=8),
        Column('bytes', [Text('' if tensor is None else size(tensor.nbytes)) for tensor in tensors], 5, right=True),
        Column('min |hist| max', [spread(one, options, wide=wide) for one in stats], 2),
        Column('mean', [Text('' if one is None else value(one.mean)) for one in stats], 7, right=True),
        Column('flags', [_remarks(tensor, word) for tensor, word in zip(tensors, words, strict=True)], 1, least=16,
               folds=True)]
    key, turned, way = sort.partition(',')
    return fitted_table(columns, options, sort=COLUMN_OF.get(key, key) + turned + way)


def _remarks(tensor: TensorRecord | None, word: str) -> Text:
    found = flag_line(tuple(flag for flag in flags(tensor) if flag != NOTHING_FINITE)) if tensor is not None else Text()
    return Text(', ').join(part for part in (Text(word, 'dim'), found) if part)


if __name__ == '__main__':
    from pyfuncdbg.ui.views.page import demo
    from pyfuncdbg.ui.views.sample_trace import sample
    tensors = [tensor for _, tensor in sample().tensors()][:2]
    demo(live_view([*(LiveTensor(tensor.name, 'MatMul', 'here', tensor) for tensor in tensors),
                    LiveTensor('loss:0', 'Mean', 'later', None)], 3, 12, 'norm', {}, 'time'),
         feeds_view(12, 'Session.run', tensors))
