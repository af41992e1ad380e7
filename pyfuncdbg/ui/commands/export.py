"""`export`: calls and values of a trace as a file for another program."""
from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from pyfuncdbg.errors import CommandError
from pyfuncdbg.observers.record.records import CallRecord
from pyfuncdbg.observers.record.trace import Trace
from pyfuncdbg.ui.commands.engine.arguments import one_of
from pyfuncdbg.ui.commands.engine.command import Command, Context
from pyfuncdbg.ui.commands.engine.lookup import find_call
from pyfuncdbg.ui.commands.exports.call_csv import write_call_csv
from pyfuncdbg.ui.commands.exports.call_json import write_json, write_json_lines
from pyfuncdbg.ui.commands.exports.call_parquet import write_call_parquet
from pyfuncdbg.ui.commands.exports.chrome_trace import write_chrome_trace
from pyfuncdbg.ui.commands.exports.export_job import ExportJob, Written
from pyfuncdbg.ui.commands.exports.exported_calls import ExportedCalls
from pyfuncdbg.ui.commands.exports.html_page import write_html_page
from pyfuncdbg.ui.commands.exports.new_files import NewFiles
from pyfuncdbg.ui.commands.exports.notebook import notebook_name, write_notebook
from pyfuncdbg.ui.commands.exports.otel_spans import write_otel_spans
from pyfuncdbg.ui.commands.exports.pytest_file import pytest_file_name, write_pytest_file
from pyfuncdbg.ui.commands.exports.tensor_archive import write_tensor_archive
from pyfuncdbg.ui.views.reports.exported_file import exported_file_view

_RANGE = re.compile(r'#?(\d+(?:\.\d+)?)\.\.#?(\d+(?:\.\d+)?)')
_LONGEST_RANGE = 10_000
OPTIONS = ('with_source', 'shrink')
"""Options that only some formats have."""


@dataclass(frozen=True, slots=True)
class ExportFormat:
    """One kind of file.

    Attributes:
        suffix: Of the file's name.
        help: In a few words.
        write: Writes the calls.
        name: Of the file without its suffix, where it is not that of the trace.
        options: Options that it has, of `OPTIONS`.
        needs_call: Whether the user must choose calls.
    """

    suffix: str
    help: str
    write: Callable[[ExportJob], Written]
    name: Callable[[ExportedCalls], str] = lambda calls: calls.trace.path.stem
    options: frozenset[str] = frozenset()
    needs_call: bool = False


def _text(write: Callable[[ExportedCalls, IO[str]], int]) -> Callable[[ExportJob], Written]:
    return lambda job: Written(write(job.calls, job.files.text()))


def _archive(job: ExportJob) -> Written:
    return Written(*write_tensor_archive(job.calls, job.files.binary()))


FORMATS = {
    'chrome': ExportFormat('.trace.json', 'timeline for Perfetto and chrome://tracing', _text(write_chrome_trace)),
    'csv': ExportFormat('.csv', 'a line for each call', _text(write_call_csv)),
    'html': ExportFormat('.html', 'the report, every call and its pictures on one page', write_html_page),
    'json': ExportFormat('.json', 'one object: info, and calls with their values', _text(write_json)),
    'jsonl': ExportFormat('.jsonl', 'a line of JSON for each call, with its values', _text(write_json_lines)),
    'npz': ExportFormat('.npz', 'values of tensors', _archive),
    'notebook': ExportFormat('.ipynb', 'cells that make a call again on its recorded inputs', write_notebook, notebook_name,
                             frozenset({'with_source'}), needs_call=True),
    'otel': ExportFormat('.otlp.jsonl', 'OpenTelemetry spans, as OTLP in lines of JSON', _text(write_otel_spans)),
    'parquet': ExportFormat('.parquet', 'a row for each call, for pandas, DuckDB and Polars',
                            lambda job: Written(write_call_parquet(job.calls, job.files.binary()))),
    'pytest': ExportFormat('.py', 'a test of the function on the recorded inputs', write_pytest_file, pytest_file_name,
                           frozenset(OPTIONS), needs_call=True),
}


@dataclass(frozen=True, slots=True)
class ExportedFile:
    """A file that was written.

    Attributes:
        path, format: Of the file.
        nbytes: Its size, with those of the files beside it.
        calls: How many calls are in it; of an archive arrays.
        missing: Of an archive: tensors that have no values in the trace, or none that .npy holds.
        skipped: Calls that were chosen and that the format cannot hold.
        beside: Paths of the files that belong to it.
        remarks: What the user should know before the file is used.
    """

    path: str
    format: str
    nbytes: int
    calls: int
    missing: int = 0
    skipped: int = 0
    beside: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()


def _export(context: Context, args: argparse.Namespace) -> ExportedFile:
    exporter = FORMATS[args.format]
    for option in OPTIONS:
        if getattr(args, option) and option not in exporter.options:
            takers = ' or '.join(name for name, each in FORMATS.items() if option in each.options)
            raise CommandError(f'--{option.replace("_", "-")} is an option of {takers}, not of {args.format}')
    if exporter.needs_call and args.call is None:
        raise CommandError(f"export {args.format} takes a call or a range of them, such as 'export {args.format} 17' or "
                           f"'export {args.format} 17..20'")
    selected = None if args.call is None else _select(context, args.call)
    with context.progress('exporting, calls') as tell:
        calls = ExportedCalls(context.trace, selected, tell)
        path = Path(args.output if args.output is not None else f'{exporter.name(calls)}{exporter.suffix}').expanduser()
        try:
            with NewFiles(path) as files:
                result = exporter.write(ExportJob(calls, files, args.with_source, args.shrink))
        except FileExistsError as error:
            raise CommandError(f'{str(error.filename)!r} exists already: choose another name with -o') from None
        except OSError as error:
            raise CommandError(f'cannot write {str(error.filename or path)!r}: {error.strerror or error}') from None
    _, *beside = files.sizes
    return ExportedFile(str(path), args.format, sum(files.sizes.values()), result.count, result.missing, result.skipped,
                        tuple(beside), result.remarks)


def _select(context: Context, text: str) -> tuple[CallRecord, ...]:
    """One call, or those of a range that were recorded."""
    match = _RANGE.fullmatch(text.strip())
    if match is None:
        return (find_call(context.trace, text, context.stop),)
    first, last = (context.trace.call(number) for number in match.groups())
    process, start, end = *_number(first.number), _number(last.number)[1]
    if _number(last.number)[0] != process or start > end:
        raise CommandError(f'{text!r} is no range of calls: the second number is to be of the same process, and larger')
    if end - start >= _LONGEST_RANGE:
        raise CommandError(f'{text!r} has {end - start + 1:,} calls: a range has at most {_LONGEST_RANGE:,}')
    return tuple(call for number in range(start, end + 1) if (call := _recorded(context.trace, process, number)) is not None)


def _number(text: str) -> tuple[str, int]:
    """'2.' and 17 of '2.17'."""
    process, dot, number = text.rpartition('.')
    return process + dot, int(number)


def _recorded(trace: Trace, process: str, number: int) -> CallRecord | None:
    try:
        return trace.call(f'{process}{number}')
    except CommandError:                        # it was dropped, or goes on
        return None


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('format', metavar='FORMAT', type=one_of(tuple(FORMATS), 'format'),
                        help='; '.join(f'{name}: {each.help}' for name, each in FORMATS.items()))
    parser.add_argument('call', metavar='CALL', nargs='?', help="only this call, or those of a range such as '17..20'")
    parser.add_argument('-o', '--output', metavar='PATH', help="the file, which must be new (default: the trace's name, of "
                                                               "a test that of the function)")
    parser.add_argument('--shrink', action='store_true', help='of a test: reduce the inputs while the call fails alike, '
                                                              "by calls of the program's function in another process")
    parser.add_argument('--with-source', action='store_true', help='of a test or notebook: hold the recorded source of a '
                                                                   'function that cannot be imported; read it first')


EXPORT = Command('export', 'write a file for another program: Perfetto, pandas, NumPy, pytest', 'keep', _export,
                 exported_file_view, _arguments,
                 examples=('export chrome', 'export csv -o calls.csv', 'export npz norm[3] -o norm.npz',
                           'export pytest norm[3]'))
COMMANDS: tuple[Command, ...] = (EXPORT,)
