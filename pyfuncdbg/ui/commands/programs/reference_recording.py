"""The recording that a running program is compared with: begin of the comparison, and its last line.

Called by the command line on the main thread, before the program runs, and at the interpreter's exit; or by a program for a
block of its own, on its thread.
"""
from __future__ import annotations

import argparse
import atexit
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from pyfuncdbg.hooks.notice import say
from pyfuncdbg.observers.debug.comparison.divergence_text import divergence_text
from pyfuncdbg.observers.debug.comparison.environment_differences import version_differences
from pyfuncdbg.observers.debug.comparison.live_comparison import LiveComparison
from pyfuncdbg.observers.debug.comparison.record_comparison import Rules
from pyfuncdbg.observers.debug.debugger import Debugger
from pyfuncdbg.observers.record.log.program_environment import process_versions
from pyfuncdbg.observers.record.recorder import recorders
from pyfuncdbg.observers.record.records import UNHIT
from pyfuncdbg.observers.record.trace import Trace
from pyfuncdbg.ui.commands.diff import rules_of
from pyfuncdbg.ui.views.progress import reading_progress
from pyfuncdbg.ui.views.units import count


def compare_with(path: str, rules: Rules, debugger: Debugger, *, quiet: bool = False) -> LiveComparison:
    """Compare this program with a recording from now on, and stop where it first differs.

    Args:
        path: Of the recording.
        rules: What counts as a difference.
        debugger: That stops it.
        quiet: Another process of ours has told which versions differ.

    Returns:
        The comparison.

    Raises:
        TraceError: The recording cannot be read.
    """
    with reading_progress(path) as progress:
        trace = Trace.open(path, progress)      # open for as long as the program runs
    if 'versions' not in rules.ignored and not quiet:
        for library, then, now in version_differences(trace.info().versions_with_python, process_versions()):
            say(f'{path} was recorded with {library} {then}, this is {now}')
    comparison = LiveComparison(trace, path, rules)
    debugger.compare_with(comparison)
    return comparison


@contextmanager
def compared_block(path: str, options: argparse.Namespace, debugger: Debugger) -> Iterator[LiveComparison]:
    """A block that is compared with a recording; see `pyfuncdbg.against`.

    Args:
        path: Of the recording.
        options: As for `rules_of`.
        debugger: That stops it.

    Raises:
        CommandError: An option is not valid.
        TraceError: The recording cannot be read.
    """
    rules = rules_of(options)
    comparison = compare_with(path, rules, debugger)
    try:
        yield comparison
    finally:
        is_whole = debugger.on
        debugger.end_comparison()
        say(result_text(comparison, is_whole=is_whole))


def tell_result(debugger: Debugger) -> Callable[[], object]:
    """Say at the interpreter's exit what the comparison has found. To be called before recording begins: then it comes below
    the report.

    Returns:
        A function after which it is not said.
    """
    return _at_exit(debugger, say)


def note_result(debugger: Debugger) -> None:
    """The same in the trace, for the process that draws the report. To be called after recording begins."""
    def note(sentence: str) -> None:
        for recorder in recorders()[-1:]:
            recorder.note(UNHIT, {'sentences': [sentence]})
    _at_exit(debugger, note)


def _at_exit(debugger: Debugger, take: Callable[[str], object]) -> Callable[[], object]:
    owner = os.getpid()

    def end() -> None:
        if os.getpid() == owner and debugger.comparison is not None:
            take(result_text(debugger.comparison, is_whole=debugger.on))
    atexit.register(end)
    return partial(atexit.unregister, end)


def result_text(comparison: LiveComparison, *, is_whole: bool) -> str:
    """The result of a comparison in a sentence.

    Args:
        comparison: As far as it has come.
        is_whole: Whether every call of the program was compared.
    """
    if comparison.first is not None:
        return f'{comparison.first.label} {divergence_text(comparison.first, comparison.name)}'
    is_whole = is_whole and not comparison.failure
    number, names = comparison.missing() if is_whole and not comparison.ignores_missing else (0, ())
    compared = [count(total, noun) for total, noun in ((comparison.calls, 'call'), (comparison.runs, 'run')) if total]
    text = f'compared with {comparison.name}{"" if is_whole or comparison.failure else " until debugging ended"}: ' + (
        f'{" and ".join(compared)} the same' if compared else 'no call')
    if number:
        text += f'; {number:,} of the recording missing: {", ".join(names)}{", ..." if number > len(names) else ""}'
    if comparison.failure:
        text += f'; then {comparison.failure}'
    if comparison.unknown:
        text += f'; {count(comparison.unknown, "tensor")} not compared: their values were not kept'
    return text
