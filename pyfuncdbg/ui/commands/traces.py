"""`pyfuncdbg traces` and `pyfuncdbg clean`: the traces of a folder, listed, and removed.

Called by the command line, on the main thread.
"""
from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from rich.console import Console

from pyfuncdbg.errors import TraceError, UsageError, nearest
from pyfuncdbg.hooks.notice import say
from pyfuncdbg.observers.debug.reports.trace_list import size_of, trace_list
from pyfuncdbg.observers.record.log.trace_folder import MANIFEST, Manifest
from pyfuncdbg.observers.record.log.trace_folders import newest_in, remove_trace, traces_in
from pyfuncdbg.ui.commands.configuration import configuration, traces_folder
from pyfuncdbg.ui.commands.engine.to_json import to_json
from pyfuncdbg.ui.views.escape import one_line
from pyfuncdbg.ui.views.page import print_page
from pyfuncdbg.ui.views.progress import reading_progress
from pyfuncdbg.ui.views.reports.traces import traces_view
from pyfuncdbg.ui.views.units import count, date, size


def list_traces(folder: str | None, as_json: bool) -> int:
    """Print the traces of a directory; the exit code.

    Args:
        folder: Where; None for the one of the configuration.
        as_json: In JSON.

    Raises:
        TraceError: The directory cannot be read.
    """
    directory = _folder(folder)
    traces = trace_list(directory, lambda path: reading_progress(str(path)))
    if as_json:
        print(to_json(traces))
    elif traces.traces:
        print_page(traces_view(traces), Console(highlight=False, markup=False))
    else:
        print(none_in(directory))
    return 0


def clean(folder: str | None, keep: int, sure: bool, ask: Callable[[str], str] | None = None) -> int:
    """Remove all traces of a directory but the newest; the exit code.

    Args:
        folder: Where, and not in folders below it; None for the one of the configuration.
        keep: How many stay.
        sure: Remove them without asking.
        ask: How to ask for a line; None without a user to ask.

    Returns:
        0 if they are gone, there were none, or the user said no; 1 if some could not be removed, or no user was there.

    Raises:
        TraceError: The directory cannot be read.
    """
    directory = _folder(folder)
    traces = traces_in(directory)
    old = [path for path, manifest in traces if isinstance(manifest, Manifest)][keep:]
    if not old:
        print(none_in(directory) if not traces else f'{count(len(traces), "trace")} in {_place(directory)}, kept')
        return 0
    created = {path: manifest.created for path, manifest in traces if isinstance(manifest, Manifest)}
    sizes = {path: size_of(path) for path in old}
    if not sure:
        for path in old:
            print(f'  {one_line(str(path), 200)}  {date(created[path])}  {size(sizes[path])}')
        what = f'{count(len(old), "trace")}, {size(sum(sizes.values()))}'
        if ask is None:
            print(f'pyfuncdbg: clean: nothing removed: {what} would go; --yes removes without asking', file=sys.stderr)
            return 1
        if not _ask_consent(ask, f'Remove {what}? [y/N] '):
            print('nothing removed')
            return 0
    removed = [path for path in old if _remove(path)]
    print(f'{count(len(removed), "trace")} removed, {size(sum(sizes[path] for path in removed))}')
    return 0 if len(removed) == len(old) else 1


def _folder(name: str | None) -> Path:
    return Path(name) if name is not None else traces_folder(configuration(say))


def _ask_consent(ask: Callable[[str], str], question: str) -> bool:
    try:
        return ask(question).strip().lower() in ('y', 'yes')
    except (EOFError, KeyboardInterrupt):
        print()
        return False


def _remove(path: Path) -> bool:
    try:
        remove_trace(path)
    except TraceError as error:
        print(f'pyfuncdbg: clean: {one_line(str(error), 300)}', file=sys.stderr)
        return False
    return True


def trace_and_command(args: Sequence[str]) -> tuple[str, list[str]]:
    """The trace that the first word names, and the command after it; the newest trace here if it names a command.

    Raises:
        UsageError: It is neither, or there is no trace here.
    """
    first = args[0] if args else ''
    if first and not first.startswith('-'):
        if '/' in first or Path(first, MANIFEST).is_file():
            return first, list(args[1:])
        from pyfuncdbg.ui.commands.table import TABLE
        names = TABLE.names
        if first not in names:
            if Path(first).exists():            # opening it raises the error
                return first, list(args[1:])
            known = [*names, *(path.name for path, _ in traces_in(Path()))]
            raise UsageError(f'show: {first!r}: no such file or folder, and no command of that name.'
                             f'{nearest(first, known, 1)}')
    return newest_here('show'), list(args)


def newest_here(command: str) -> str:
    """The newest trace of the folder of traces, for a command line that names none; says on stderr which that is.

    Raises:
        UsageError: There is none.
    """
    folder = traces_folder(configuration(say))
    try:
        newest = newest_in(folder)
    except TraceError:
        newest = None                           # a configured folder that is not there yet
    if newest is None:
        raise UsageError(f"{command}: {none_in(folder)}; 'pyfuncdbg run SCRIPT' records one, "
                         f"'pyfuncdbg {command} TRACE' opens another one")
    place = 'here' if folder == Path() else 'there'
    print(f'pyfuncdbg: {one_line(str(newest), 200)}, the newest trace {place}', file=sys.stderr)
    return str(newest)


def none_in(directory: Path) -> str:
    """'no trace in this folder'."""
    return f'no trace in {_place(directory)}'


def _place(directory: Path) -> str:
    return 'this folder' if directory == Path() else one_line(shlex.quote(str(directory)), 200)
