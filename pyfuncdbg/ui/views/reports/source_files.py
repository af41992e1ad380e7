"""The list of source files (`ls`): nodes and functions of each, how often they ran, their cost."""
from __future__ import annotations

from rich.console import ConsoleOptions
from rich.table import Table
from rich.text import Text

from pyfuncdbg.observers.debug.reports.source_files import FileList, SourceFile
from pyfuncdbg.ui.views.escape import one_line
from pyfuncdbg.ui.views.lists import Column, fitted_table, heading
from pyfuncdbg.ui.views.page import Page
from pyfuncdbg.ui.views.pictures.cost_bar import cost_bar, percent
from pyfuncdbg.ui.views.sources.source import unlocated_count
from pyfuncdbg.ui.views.units import seconds

BAR = 8


def source_files_view(report: FileList) -> Page:
    """One line a file."""
    rows, own = report.rows, sum(row.own for row in report.rows)

    def draw(options: ConsoleOptions) -> Table:
        shares = [row.own / own if own > 0 else 0.0 for row in rows]
        return fitted_table([
            Column('file', [_name(row) for row in rows], 0, least=20),
            Column('nodes', [Text(f'{row.nodes:,}') for row in rows], 1, right=True),
            Column('functions', [Text(f'{row.functions:,}') for row in rows], 5, right=True),
            Column('calls', [Text(f'{row.calls:,}') for row in rows], 2, right=True),
            Column('time', [Text(seconds(row.own)) for row in rows], 3, right=True),
            Column('share', [Text(f'{cost_bar(share, BAR, ascii_only=options.ascii_only)} {percent(share):>4}', 'cyan')
                             for share in shares], 4),
            Column('remarks', [_remarks(row) for row in rows], 1)], options, sort=report.sort)
    first = heading(report.total, 'source file', shown=len(rows), filters=report.filters, sort=report.sort)
    if report.libraries:
        first.append(f'   {report.libraries:,} of libraries: --all', 'dim')
    note = unlocated_count(report.missing.before_attachment, report.missing.imported)
    notes = [note] if note is not None else []
    return Page(first, *notes, draw) if rows else Page(first, *notes)


def _name(row: SourceFile) -> Text:
    return Text(one_line(row.filename), 'underline' if row.users else 'dim underline')


def _remarks(row: SourceFile) -> Text:
    words = Text.assemble((f'{row.failed:,} raised' if row.failed else '', 'bold red'))
    if row.missing:
        words.append(f'{", " if words else ""}{one_line(row.missing, 80)}', 'yellow')
    if not row.users:
        words.append(', library' if words else 'library', 'dim')
    return words


if __name__ == '__main__':
    from pyfuncdbg.observers.debug.reports.source_files import NONE_MISSING, files_of, marks_by_line
    from pyfuncdbg.ui.views.sample_trace import demo, sample
    files = files_of(marks_by_line(sample()))
    demo(source_files_view(FileList(tuple(files), len(files), 0, NONE_MISSING, {}, 'time')))
