"""`export`: calls and values of a trace as a file for another program."""
from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from pyfuncdbg.errors import CommandError
from pyfuncdbg.ui.commands.engine.arguments import one_of
from pyfuncdbg.ui.commands.engine.command import Command, Context
from pyfuncdbg.ui.commands.engine.lookup import find_call
from pyfuncdbg.ui.commands.exports.call_csv import write_call_csv
from pyfuncdbg.ui.commands.exports.call_json import write_json, write_json_lines
from pyfuncdbg.ui.commands.exports.chrome_trace import write_chrome_trace
from pyfuncdbg.ui.commands.exports.exported_calls import ExportedCalls
from pyfuncdbg.ui.commands.exports.tensor_archive import write_tensor_archive
from pyfuncdbg.ui.views.reports.exported_file import exported_file_view


@dataclass(frozen=True, slots=True)
class ExportFormat:
    """One kind of file.

    Attributes:
        suffix: Of the file's name.
        help: In a few words.
        write: Writes the calls, and gives how many calls it wrote (arrays of an archive, and how many have no values).
        mode: How the file is opened.
    """

    suffix: str
    help: str
    write: Callable[[ExportedCalls, IO[Any]], int | tuple[int, int]]
    mode: str = 'x'


FORMATS = {
    'chrome': ExportFormat('.json', 'timeline for Perfetto and chrome://tracing', write_chrome_trace),
    'csv': ExportFormat('.csv', 'a line for each call', write_call_csv),
    'json': ExportFormat('.json', 'one object: info, and calls with their values', write_json),
    'jsonl': ExportFormat('.jsonl', 'a line of JSON for each call, with its values', write_json_lines),
    'npz': ExportFormat('.npz', 'values of tensors', write_tensor_archive, 'xb'),
}


@dataclass(frozen=True, slots=True)
class ExportedFile:
    """A file that was written.

    Attributes:
        path, format: Of the file.
        nbytes: Its size.
        calls: How many calls are in it; of an archive arrays.
        missing: Of an archive: tensors that have no values in the trace, or none that .npy holds.
    """

    path: str
    format: str
    nbytes: int
    calls: int
    missing: int = 0


def _export(context: Context, args: argparse.Namespace) -> ExportedFile:
    chosen = FORMATS[args.format]
    only = find_call(context.trace, args.call, context.stop) if args.call is not None else None
    path = Path(args.output if args.output is not None else f'{context.trace.path.stem}{chosen.suffix}').expanduser()
    with context.progress('exporting, calls') as tell:
        calls = ExportedCalls(context.trace, only, tell)
        try:
            binary = {} if 'b' in chosen.mode else {'encoding': 'utf-8', 'errors': 'backslashreplace', 'newline': ''}
            with path.open(chosen.mode, **binary) as file:      # type: ignore[call-overload]
                try:
                    count = chosen.write(calls, file)
                except BaseException:           # an interrupt too: a part of a file would pass for the whole
                    path.unlink(missing_ok=True)
                    raise
        except FileExistsError:
            raise CommandError(f'{str(path)!r} exists already: choose another name with -o') from None
        except OSError as error:
            raise CommandError(f'cannot write {str(path)!r}: {error.strerror or error}') from None
    written, missing = count if isinstance(count, tuple) else (count, 0)
    return ExportedFile(str(path), args.format, path.stat().st_size, written, missing)


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('format', metavar='FORMAT', type=one_of(tuple(FORMATS), 'format'),
                        help='; '.join(f'{name}: {each.help}' for name, each in FORMATS.items()))
    parser.add_argument('call', metavar='CALL', nargs='?', help='only this call')
    parser.add_argument('-o', '--output', metavar='PATH', help="the file, which must be new (default: the trace's name)")


EXPORT = Command('export', 'write a file for another program: Perfetto, pandas, NumPy', 'keep', _export, exported_file_view,
                 _arguments, examples=('export chrome', 'export csv -o calls.csv', 'export npz norm[3] -o norm.npz'))
COMMANDS: tuple[Command, ...] = (EXPORT,)
