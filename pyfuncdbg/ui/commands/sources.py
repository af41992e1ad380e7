"""`ls` and `ps`: the source files of the program, and one of them annotated with nodes, calls, costs and values."""
from __future__ import annotations

import argparse
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any

from pyfuncdbg.errors import CommandError, TypedCommand, nearest
from pyfuncdbg.hooks.source_map import place
from pyfuncdbg.observers.debug.inspecting.stack import selected_frame
from pyfuncdbg.observers.debug.reports.source_files import (
    AnnotatedLine,
    AnnotatedListing,
    AnnotatedSource,
    FileList,
    LineMark,
    MarkedNode,
    SourceFile,
    files_of,
    marks_by_line,
    missing_lines,
)
from pyfuncdbg.observers.record.record_contents import load_few
from pyfuncdbg.observers.record.records import TensorRecord
from pyfuncdbg.observers.record.sources.source_text import FileText, lines_of
from pyfuncdbg.observers.record.trace import Trace
from pyfuncdbg.ui.commands.engine.arguments import filters_of, one_of, positive
from pyfuncdbg.ui.commands.engine.command import Command, Context
from pyfuncdbg.ui.commands.frames import marks_of
from pyfuncdbg.ui.views.reports.annotated_source import annotated_source_view
from pyfuncdbg.ui.views.reports.source_files import source_files_view

SHOWN = 40
NODES = 3
LINES = 400
AROUND = 2
"""Lines before and after one with nodes that are shown with it."""
SORTS: dict[str, Callable[[SourceFile], Any]] = {
    'time': lambda file: -file.own,
    'file': lambda file: file.filename,
    'nodes': lambda file: -file.nodes,
    'functions': lambda file: -file.functions,
    'calls': lambda file: -file.calls,
}
_PLACE = re.compile(r'(.+?):(\d{1,9})')
Marks = Mapping[int, Sequence[LineMark]]


def _list(context: Context, args: argparse.Namespace) -> FileList:
    files = [file for file in files_of(marks_by_line(context.trace, args.run))
             if args.path is None or fnmatchcase(file.filename, args.path)
             or fnmatchcase(file.filename.replace('\\', '/').rpartition('/')[2], args.path)]
    own_files = files if args.all else [file for file in files if file.users]
    own_files.sort(key=SORTS[args.sort])
    rows = tuple(replace(file, missing=context.trace.source(file.filename).missing) for file in own_files[:args.n])
    return FileList(rows, len(own_files), len(files) - len(own_files), missing_lines(context.trace),
                    filters_of(args, 'path', 'run', 'all'), args.sort)


def _list_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('-p', '--path', metavar='GLOB',
                        help="files of this name or pattern, such as 'model*.py' or '*/data/*'")
    parser.add_argument('--all', action='store_true', help="files of libraries too")
    parser.add_argument('--run', metavar='N', type=positive, help='calls of run N')
    parser.add_argument('--sort', metavar='KEY', type=one_of(tuple(SORTS), 'sort key'), default='time',
                        help=', '.join(SORTS) + '; the most first')
    parser.add_argument('-n', metavar='K', type=positive, default=SHOWN, help=f'show at most K (default {SHOWN})')


def _source(context: Context, args: argparse.Namespace) -> AnnotatedListing:
    trace = context.trace
    if args.run is not None:
        trace.run(args.run)                     # raises an error that lists the runs
    marks = marks_by_line(trace, args.run)
    name, line = _file_and_line(args.file, marks)
    filename = _find_file(name, marks)
    source = trace.source(filename)
    text, warnings = _text(source, filename, marks[filename])
    frame = selected_frame(context.stop) if context.stop is not None else None
    at = place(frame) if frame is not None else None
    current = at.line if at is not None and at.filename == filename else 0
    last = max([source.length, *text, *marks[filename]])
    if line is not None and line > last:
        raise CommandError(f'{filename} has {last} lines, no line {line}')
    wanted = _lines_to_show(marks[filename], last, current, line, whole=args.all)
    lines = tuple(_line(trace, number, text, marks[filename].get(number, ()), args.nodes, args.run) for number in wanted)
    file_marks = [mark for marked in marks[filename].values() for mark in marked]
    created = {(mark.site.process, mark.site.id): mark for mark in file_marks}
    return AnnotatedListing(AnnotatedSource(
        filename, source.read, warnings, lines, source.length, len(marks[filename]), sum(1 for one in lines if one.nodes),
        sum(mark.role == 'made' and mark.site.kind != 'gradient' for mark in file_marks),
        sum(mark.time.calls for mark in created.values() if mark.time is not None),
        sum(_own_seconds(marked) for marked in marks[filename].values()), current, marks_of(context)(filename)),
        missing_lines(trace), filters_of(args, 'run', 'all'))


def _file_and_line(text: str, marks: Mapping[str, Marks]) -> tuple[str, int | None]:
    """File and line."""
    match = _PLACE.fullmatch(text)
    return (match[1], int(match[2])) if match is not None and text not in marks else (text, None)


def _find_file(name: str, marks: Mapping[str, Marks]) -> str:
    """The file of the trace that is meant: by its path or the end of it."""
    if name in marks:
        return name
    path = name.replace('\\', '/').removeprefix('./')
    candidates = [filename for filename in marks if ('/' + filename.replace('\\', '/')).endswith('/' + path)]
    if len(candidates) == 1:
        return candidates[0]
    if candidates:
        raise CommandError(f'{name!r} could be {", ".join(sorted(candidates)[:6])}: give a longer part of the path')
    ends = {filename.replace('\\', '/').rpartition('/')[2]: filename for filename in marks}
    close = nearest(path.rpartition('/')[2], [*ends, *marks])
    more = (close,) if close else (' ', TypedCommand('ls --all'), ' lists the files.')
    raise CommandError(f'no node or function of this trace is from {name!r}.', *more)


def _text(source: FileText, filename: str, marks: Marks) -> tuple[dict[int, str], tuple[str, ...]]:
    """Lines by number, and what is to be known of them: those of the functions that were recorded are known anyway."""
    text = dict(source.lines)
    if not source.read:
        for site in {(mark.site.process, mark.site.id): mark.site for marked in marks.values() for mark in marked}.values():
            if site.filename == filename:
                text = dict(enumerate(lines_of(site.source), site.line)) | text
    warnings = []
    if source.read not in ('', filename):
        warnings.append(f'{filename} is not on this machine: this is {os.path.relpath(source.read)}')
    if source.missing:
        warnings.append(f'{source.missing}: only lines that the trace holds are shown')
    if source.versions > 1:
        warnings.append('the file changed during the recording: these are lines of its last version')
    return text, tuple(warnings)


def _lines_to_show(marks: Marks, last: int, current: int, line: int | None, *, whole: bool) -> list[int]:
    """Numbers of the lines to show."""
    if line is not None:
        return list(range(max(1, line - AROUND * 4), min(last, line + AROUND * 4) + 1))
    if whole:
        return list(range(1, last + 1))[:LINES * 10]
    near = {number for at in (*marks, *([current] if current else [])) for number in range(at - AROUND, at + AROUND + 1)}
    near |= {number + 1 for number in near if number + 2 in near}       # a gap of one line takes a line too
    return sorted(number for number in near if 1 <= number <= last)[:LINES]


def _own_seconds(marks: Sequence[LineMark]) -> float:
    return sum(mark.time.own for mark in marks if mark.role == 'made' and mark.time is not None)


def _line(trace: Trace, number: int, text: Mapping[int, str], marks: Sequence[LineMark], most: int,
          run: int | None) -> AnnotatedLine:
    """With the nodes that raised or met NaN first, and then those that cost most."""
    shown = sorted(marks, key=lambda mark: (mark.role != 'function', not _is_bad(mark)))[:most]
    return AnnotatedLine(number, text.get(number, ''), number in text, _own_seconds(marks),
                         tuple(MarkedNode(mark, _value(trace, mark, run)) for mark in shown), len(marks) - len(shown))


def _is_bad(mark: LineMark) -> bool:
    time = mark.time
    return time is not None and (time.failed > 0 or time.bad > 0)


def _value(trace: Trace, mark: LineMark, run: int | None) -> TensorRecord | None:
    if mark.time is None or mark.role != 'made':
        return None
    newest = trace.newest_calls(mark.site, run=run)
    return next((load_few(tensor) for tensor in newest[0].outputs if not tensor.absent and tensor.level != 'none'),
                None) if newest else None


def _source_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('file', metavar='FILE[:LINE]', help="a file of 'ls', by the end of its path: train.py; train.py:40 "
                                                            'for the lines around that one')
    parser.add_argument('--all', action='store_true', help='also lines without nodes near them')
    parser.add_argument('--nodes', metavar='K', type=positive, default=NODES,
                        help=f'list at most K nodes of a line, the most expensive first (default {NODES})')
    parser.add_argument('--run', metavar='N', type=positive, help='calls and values of run N')


LS = Command('ls', 'list source files with their nodes, calls and time', 'look', _list,
             source_files_view, _list_arguments, ('list_source',),
             examples=('ls', "ls --path '*/model.py'"))
PS = Command('ps', 'print source with nodes, calls, costs and values on its lines', 'look', _source, annotated_source_view,
             _source_arguments, ('print_source',),
             examples=('ps train.py', 'ps train.py:40'))
COMMANDS: tuple[Command, ...] = (LS, PS)
