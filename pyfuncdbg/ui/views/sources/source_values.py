"""Source with values and warnings beside the lines that made them."""
from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.console import ConsoleOptions
from rich.text import Text

from pyfuncdbg.observers.debug.inspecting.source_listing import Listing
from pyfuncdbg.observers.record.records import TensorRecord
from pyfuncdbg.ui.views.escape import one_line
from pyfuncdbg.ui.views.flags import flag_line, flags
from pyfuncdbg.ui.views.page import Fitted, Page
from pyfuncdbg.ui.views.sources.listing import cut_line, rows
from pyfuncdbg.ui.views.units import value

Notes = Mapping[int, Sequence[Text]]
"""By line number: what stands beside it."""
_CODE = 0.6
"""Share of the width from which on values may stand."""
_NOTED = 28
"""Characters of a note on a line that is as long as the page."""


def beside_lines(listing: Listing, notes: Notes) -> list[Page]:
    """The lines of a listing, each with its notes to the right; where there is no room, below.

    Args:
        listing: The lines; the current one is marked.
        notes: By line number.
    """
    code = rows(listing, dedent=True)
    longest = max((row.cell_len for row in code), default=0)
    return [Page(_fit_notes(row, notes.get(number, ()), longest, whole=number in (listing.current, listing.raised)))
            for number, row in enumerate(code, listing.first)]


def beside_view(listing: Listing, notes: Notes) -> Page:
    """The same on one page."""
    return Page(*(part for line in beside_lines(listing, notes) for part in line.parts))


def _fit_notes(row: Text, notes: Sequence[Text], longest: int, *, whole: bool) -> Fitted:
    def draw(options: ConsoleOptions) -> Text:
        width = options.max_width
        if not notes:
            return cut_line(row, width)
        note = Text('  ').join(notes)
        column = min(longest, int(width * _CODE)) + 2
        room = width - max(column, row.cell_len + 2)
        if note.cell_len <= room or (room >= _NOTED and len(notes) == 1 and not whole):
            line = row.copy()
            line.pad_right(max(2, column - row.cell_len))
            return cut_line(line.append_text(note), width)
        return Text('\n').join(cut_line(line, width) for line in (row, *_notes_below(notes, width)))
    return draw


def _notes_below(notes: Sequence[Text], width: int) -> list[Text]:
    """The notes on as few lines of their own as they need."""
    lines: list[Text] = []
    for note in notes:
        if lines and lines[-1].cell_len + 2 + note.cell_len <= width:
            lines[-1].append('  ').append_text(note)
        else:
            lines.append(Text(' ' * 8).append('= ', 'dim').append_text(note))
    return lines


def tensor_note(name: str, tensor: TensorRecord) -> Text:
    """'x float32[3,4] 0 .. 1.43 mean 0.62 NaN 4'."""
    text = Text.assemble((one_line(name, 30), 'bold cyan'), ' ') if name else Text()
    if tensor.absent:
        return text.append('None', 'dim')
    sizes = f'[{",".join(map(str, tensor.shape))}]' if tensor.shape else ''
    text.append(f'{one_line(tensor.dtype, 20)}{one_line(sizes, 24)}', 'dim')
    found = flags(tensor)
    if found:
        text.append(' ').append_text(flag_line(found))
    stats = tensor.stats
    if stats is not None and stats.min is not None:
        text.append(f'  {value(stats.min)}')
        if stats.min != stats.max:
            text.append(f' .. {value(stats.max)}  mean {value(stats.mean)}')
    return text


if __name__ == '__main__':
    from pyfuncdbg.ui.views.sample_trace import demo, sample
    call = sample().call(3)
    demo(beside_view(Listing('model.py', 'normalize', 39, tuple(sample().call(1).site.source.splitlines()), current=44),
                     {39: [tensor_note('x', call.inputs[0])], 44: [Text('invalid value encountered in divide', 'yellow')]}))
