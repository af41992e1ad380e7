"""The tensor table (`lt`): one line a tensor, with its histogram and its flags. In mid-run, and for feeds, without calls."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from rich.console import ConsoleOptions
from rich.table import Table
from rich.text import Text

from pyfuncdbg.observers.debug.inspecting.tensor_values import LiveNode, LiveTensor
from pyfuncdbg.observers.debug.numerics.fused_values import has_fused_remark
from pyfuncdbg.observers.debug.numerics.nan_verdicts import NanVerdict
from pyfuncdbg.observers.record.records import CallRecord, Stats, TensorRecord
from pyfuncdbg.ui.views.escape import label, one_line
from pyfuncdbg.ui.views.flags import NOTHING_FINITE, OTHERWISE, flag_line, flags
from pyfuncdbg.ui.views.labels import call_number_text
from pyfuncdbg.ui.views.lists import Column, fitted_table, heading
from pyfuncdbg.ui.views.page import Page
from pyfuncdbg.ui.views.pictures.histogram import bar_with_range
from pyfuncdbg.ui.views.sources.source import place, site_place
from pyfuncdbg.ui.views.units import milliseconds, shape, size, value

WIDE = 110
COLUMN_OF = {'max': 'min', 'std': 'min'}
"""Where a sort key is not the first word of its column's header."""
Row = tuple[CallRecord, TensorRecord]


@dataclass(frozen=True, slots=True)
class TensorListing:
    """Output tensors that passed the filters.

    Attributes:
        rows: Those to show, each with the call that made it, in order.
        total: How many pass the filters.
        bad: How many of all are non-finite.
        verdicts: By call number: where non-finite values come from.
        filters: What was asked for, by name.
        sort: What they are sorted by.
        dropped: Tensors that the trace does not hold.
        time_origin: Origin of displayed times, in seconds from the start of the trace: the start of the one run whose
            tensors they are.
        symbolic: How many further ones are gradients of passes that were traced into a graph: they have no values.
    """

    rows: Sequence[Row]
    total: int
    bad: int = 0
    verdicts: Mapping[str, NanVerdict] = field(default_factory=dict)
    filters: Mapping[str, object] = field(default_factory=dict)
    sort: str = 'time'
    dropped: int = 0
    time_origin: float = 0.0
    symbolic: int = 0


def tensor_table(listing: TensorListing) -> Page:
    """Output tensors, one a line."""
    first = tensor_heading(listing.total, len(listing.rows), filters=listing.filters, sort=listing.sort, bad=listing.bad,
                           dropped=listing.dropped)
    if listing.symbolic:
        first.append(f'   {listing.symbolic:,} symbolic of traced gradients not listed: tape', 'dim')
    return Page(first, lambda options: _table(listing, options)) if listing.rows else Page(first)


def tensor_heading(total: int, shown: int, *, filters: Mapping[str, object] | None, sort: str, bad: int,
                   dropped: int) -> Text:
    """'12 tensors   sort: time   filter: none   2 non-finite'."""
    first = heading(total, 'tensor', shown=shown, filters=filters, sort=sort, dropped=dropped)
    return first.append(f'   {bad:,} non-finite', 'bold red') if bad else first


def _table(listing: TensorListing, options: ConsoleOptions) -> Table:
    rows = listing.rows
    wide = options.max_width >= WIDE
    stats = [tensor.stats for _, tensor in rows]
    columns = [
        Column('time ms', [Text(milliseconds(available_at(*row) - listing.time_origin)) for row in rows], 5, right=True),
        Column('name', [label(tensor_name(*row)) for row in rows], 0, least=32 if wide else 20),
        Column('call', [maker_text(call) for call, _ in rows], 3),
        Column('kind', [label(kind_of(*row)) for row in rows], 7, least=8),
        Column('shape', [label(shape(tensor.shape)) for _, tensor in rows], 4, least=8),
        Column('bytes', [Text(size(tensor.nbytes)) for _, tensor in rows], 6, right=True),
        Column('min |hist| max', [spread(one, options, wide=wide) for one in stats], 2),
        Column('mean', [Text('' if one is None else value(one.mean)) for one in stats], 8, right=True),
        Column('flags', [remarks(*row, listing.verdicts.get(row[0].number)) for row in rows], 1, least=16, folds=True)]
    return fitted_table(columns, options, sort=_sorted_column(listing.sort))


def _sorted_column(sort: str) -> str:
    key, turned, way = sort.partition(',')
    return COLUMN_OF.get(key, key) + turned + way


def spread(stats: Stats | None, options: ConsoleOptions, *, wide: bool) -> Text:
    """'-1.2 |_#__| 3.4': the range of the finite elements with their histogram; short numbers where room is short."""
    if stats is None:
        return Text()
    if stats.min is None:
        return Text('nothing finite' if stats.bad and stats.size > 1 else '', 'red')
    return Text(bar_with_range([each.elements for each in stats.bars()], stats.min, stats.max, 12 if wide else 6,
                               ascii_only=options.ascii_only, digits=4 if wide else 3))


def available_at(call: CallRecord, tensor: TensorRecord) -> float:
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


def maker_text(call: CallRecord) -> Text:
    """'#17', or 'run 3' of a feed or fetch."""
    return Text(f'run {call.run}' if call.site.kind == 'run' else f'#{one_line(call.number, 20)}', 'dim')


def remarks(call: CallRecord, tensor: TensorRecord, finding: NanVerdict | None) -> Text:
    """'NaN 4 <- BORN model.py:42': what is remarkable, and where what is not finite came from."""
    also = (OTHERWISE,) if has_fused_remark(call) else ()
    text = flag_line((*(flag for flag in flags(tensor) if flag != NOTHING_FINITE), *also))
    if finding is None or tensor.stats is None or not tensor.stats.bad:
        return text
    if finding.verdict == 'inherited':
        return text.append(f' from {call_number_text(finding.origin)}')
    if finding.verdict == 'born':
        text.append(' <- BORN ' if finding.certain else ' <- BORN? ', 'bold red')
        where = finding.places[0] if finding.places else None
        if where is None and call.site.function:
            text.append('def ', 'dim')          # where its function begins
        return text.append_text(place(where.filename, where.line) if where else site_place(call.site))
    if finding.verdict == 'suspected':
        return text
    if call.site.kind == 'run':
        return text.append(' <- fed', 'bold red') if _is_input(call, tensor) else text
    return text.append(f' <- {finding.verdict} by input {finding.slot}', 'bold red')


@dataclass(frozen=True, slots=True)
class LiveList:
    """The tensors of a run under way: `total` pass the filters; these were asked for. `nodes` are all of the run."""

    rows: Sequence[LiveTensor]
    total: int
    run: int
    node: str
    filters: Mapping[str, object]
    sort: str
    nodes: tuple[LiveNode, ...]


_WORDS = {'fed': 'fed', 'here': '', 'dropped': "not kept: 'pt' computes it again if it can",
          'next': 'not computed yet: next', 'later': 'not computed yet'}
_HANDLE = 'handle, no tensor'


def live_view(tensors: LiveList) -> Page:
    """`lt` in mid-run."""
    rows = tensors.rows
    first = heading(tensors.total, 'tensor', shown=len(rows), filters=tensors.filters, sort=tensors.sort)
    place = f"at '{one_line(tensors.node, 60)}'" if tensors.node else 'at its end'
    first.append(f'   run #{tensors.run} now, {place}', 'dim')

    def draw(options: ConsoleOptions) -> Table:
        words = [_HANDLE if row.state == 'here' and row.tensor is None else _WORDS[row.state] for row in rows]
        return _live_table([row.name for row in rows], [row.op_type for row in rows], [row.tensor for row in rows], words,
                           tensors.sort, options)
    return Page(first, draw) if rows else Page(first)


@dataclass(frozen=True, slots=True)
class FeedList:
    """Feeds of a run; `live` for one under way."""

    run: int
    label: str
    rows: Sequence[TensorRecord]
    live: bool


def feeds_view(feeds: FeedList) -> Page:
    """`pf`."""
    rows = feeds.rows
    first = Text(f'run #{feeds.run} {one_line(feeds.label, 60)}: {len(rows)} feed{"s" * (len(rows) != 1)}', 'bold')

    def draw(options: ConsoleOptions) -> Table:
        return _live_table([tensor.name for tensor in rows], [''] * len(rows), rows, [''] * len(rows), '', options)
    return Page(first, draw) if rows else Page(first)


def _live_table(names: Sequence[str], kinds: Sequence[str], tensors: Sequence[TensorRecord | None], words: Sequence[str],
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
        Column('flags', [_live_remarks(tensor, word) for tensor, word in zip(tensors, words, strict=True)], 1, least=16,
               folds=True)]
    return fitted_table(columns, options, sort=_sorted_column(sort))


def _live_remarks(tensor: TensorRecord | None, word: str) -> Text:
    found = flag_line(tuple(flag for flag in flags(tensor) if flag != NOTHING_FINITE)) if tensor is not None else Text()
    return Text(', ').join(part for part in (Text(word, 'dim'), found) if part)


if __name__ == '__main__':
    from pyfuncdbg.observers.debug.numerics.nan_verdicts import judge
    from pyfuncdbg.ui.views.sample_trace import demo, sample
    tensors = sample().tensors()
    own = [tensor for _, tensor in tensors][:2]
    demo(tensor_table(TensorListing(tensors, len(tensors), verdicts=judge(sample()).by_call())),
         live_view(LiveList([*(LiveTensor(tensor.name, 'MatMul', 'here', tensor) for tensor in own),
                             LiveTensor('loss:0', 'Mean', 'later', None)], 3, 12, 'norm', {}, 'time', ())),
         feeds_view(FeedList(12, 'Session.run', own, live=False)))
