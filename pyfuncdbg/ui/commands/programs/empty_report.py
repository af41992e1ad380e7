"""The report on a program that called no wrapped function: the text of the other without what draws it.

Written at the program's exit, in its process: to draw a report takes longer than a short program.
"""
from __future__ import annotations

import contextlib
import os
import shlex
from pathlib import Path

from pyfuncdbg.hooks.notice import printable
from pyfuncdbg.ui.views.units import seconds, size


def write_empty_report(path: Path, duration: float, error: str) -> None:
    """Write the report to stderr.

    Args:
        path: Of the trace, as the user has named it.
        duration: Of the program, seconds.
        error: The exception that ended it, '' for none.
    """
    with contextlib.suppress(OSError):
        nbytes = sum(file.stat().st_size for file in path.iterdir())
        name = printable(shlex.quote(str(path)))
        commands = [(f'pyfuncdbg open {name}', 'the full screen'),
                    (f'pyfuncdbg show {name} info', 'what the trace holds')]
        width = max(len(command) for command, _ in commands)
        lines = [f'pyfuncdbg  0 runs in {seconds(duration)} -> {printable(str(path))} ({size(nbytes)})', '',
                 f'The program ended with {printable(error)}' if error else 'No wrapped function was called.', '',
                 *(f'{command:{width}}  {meaning}' for command, meaning in commands)]
        os.write(2, '\n'.join([*lines, '']).encode(errors='backslashreplace'))
