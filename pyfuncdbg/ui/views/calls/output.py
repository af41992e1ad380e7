"""Captured output of one call, in order: stdout, stderr, warnings and floating-point errors with their line, log records."""
from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

from rich.table import Table
from rich.text import Text

from pyfuncdbg.observers.record.records import OutputRecord
from pyfuncdbg.ui.views.escape import one_line, visible
from pyfuncdbg.ui.views.page import Page, Part
from pyfuncdbg.ui.views.sources.source import line_text, place
from pyfuncdbg.ui.views.units import milliseconds

KINDS = {'out': ('out', ''), 'err': ('err', 'magenta'), 'warning': ('warn', 'yellow'), 'log': ('log', 'blue'),
         'fp': ('fp', 'yellow'), 'host': ('remark', 'yellow')}
"""Name and colour of each kind."""


OTHERWISE = ('computed again for display, this node gives something else. This is the value that the session had; '
             'its framework runs nodes fused, so what is shown of those before it may differ from what they were')
"""Text of the remark 'otherwise'."""


def output_view(records: Sequence[OutputRecord], dropped: Mapping[str, int] | None = None, *, lines: int = 0) -> Page:
    """Captured output, one row for each warning, log record or piece of text.

    Args:
        records: In order of time.
        dropped: What was not kept, by kind.
        lines: Show at most so many lines of text, both ends (0: all).
    """
    rows = _rows(_without_repeated(records))
    hidden = 0
    if lines and len(rows) > lines:
        hidden = len(rows) - lines
        head = (lines + 1) // 2
        rows = [*rows[:head], ('', Text(), Text(f'... {hidden:,} lines not shown', 'dim')), *rows[len(rows) - lines + head:]]
    grid = Table.grid(padding=(0, 2))
    grid.add_column(justify='right', no_wrap=True, style='dim')
    grid.add_column(no_wrap=True)
    grid.add_column(overflow='fold')
    for offset, kind, text in rows:
        grid.add_row(offset, kind, text)
    parts: list[Part] = [grid] if rows else [Text('no output', 'dim')]
    if dropped and any(dropped.values()):
        parts.append(dropped_line(dropped))
    return Page(*parts)


def dropped_line(dropped: Mapping[str, int]) -> Text:
    """'not kept: prints 3, bytes 4,096'."""
    return Text('not kept: ' + ', '.join(f'{one_line(kind, 40)} {n:,}' for kind, n in dropped.items() if n), 'yellow')


def _without_repeated(records: Sequence[OutputRecord]) -> list[OutputRecord]:
    """Without the floating-point errors that a warning of the same line repeats."""
    warned = {(record.text, record.filename, record.line) for record in records if record.kind == 'warning'}
    return [record for record in records
            if record.kind != 'fp' or (record.text, record.filename, record.line) not in warned]


def _rows(records: Sequence[OutputRecord]) -> list[tuple[str, Text, Text]]:
    rows: list[tuple[str, Text, Text]] = []
    for kind, group in itertools.groupby(records, key=lambda record: record.kind):
        name, style = KINDS.get(kind, (one_line(str(kind), 10), ''))
        if kind in ('out', 'err'):
            rows += _stream(list(group), Text(name, style))
        else:
            rows += [(_offset(record), Text(name, style), _event(record)) for record in group]
    return rows


def _stream(pieces: list[OutputRecord], kind: Text) -> list[tuple[str, Text, Text]]:
    """The lines of neighbouring writes to one stream: `print` writes its text and its newline apart."""
    text = visible(''.join(piece.text for piece in pieces))
    lines = text.removesuffix('\n').split('\n')
    blank = Text('')
    return [(_offset(pieces[0]) if i == 0 else '', kind if i == 0 else blank, Text(line, overflow='fold'))
            for i, line in enumerate(lines)]


def _event(record: OutputRecord) -> Text:
    if record.kind == 'host':
        return Text(OTHERWISE if record.category == 'otherwise' else one_line(record.category, 60), overflow='fold')
    message = visible(record.text).rstrip('\n')
    text = Text(overflow='fold')
    if record.category:
        text.append(f'{one_line(record.category, 60)}: ', 'bold')
    text.append(message)
    if record.filename:
        text.append('  ').append_text(place(record.filename, record.line))
        source = line_text(record.source, record.line, record.filename)
        if source:
            text.append(f'\n{record.line} | ', 'dim').append_text(source)
    return text


def _offset(record: OutputRecord) -> str:
    return f'+{milliseconds(record.offset)} ms'


if __name__ == '__main__':
    from pyfuncdbg.observers.record.record_contents import load_call
    from pyfuncdbg.ui.views.sample_trace import demo, sample
    call = load_call(sample().call(3))
    demo(output_view(call.output, call.dropped))
