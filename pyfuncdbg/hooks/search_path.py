"""Module search path of the launcher: the standard library before the program's folders.

`import pyfuncdbg` sorts `sys.path` in the process of the command `pyfuncdbg`, before anything else is imported there:
PYTHONPATH, and with `python -m pyfuncdbg` the current folder, may hold a `dataclasses.py` of the program. When the program
begins `programs.run_script` puts back what the interpreter made. One thread, at start.
"""
from __future__ import annotations

import os
import sys

from pyfuncdbg.hooks.program_arguments import program_arguments

_LIBRARY = os.path.dirname(os.__file__)
_ARCHIVE = f'python{sys.version_info[0]}{sys.version_info[1]}.zip'
_original_path: list[str] = []


def sort_for_launcher() -> None:
    """Put the program's folders last if this process is the command `pyfuncdbg`, not a program that imports us.

    Processes that we start by `python -c` call themselves so: their `sys.argv[0]` is 'pyfuncdbg'.
    """
    if not _is_launcher():
        return
    _original_path[:] = sys.path
    if not sys.flags.safe_path:
        sys.path.append(sys.path.pop(0))        # with -m the current folder: its `rich.py` is not ours
    sys.path.sort(key=lambda entry: not is_standard(entry))


def original_path() -> list[str]:
    """A copy of `sys.path` as the interpreter made it."""
    return list(_original_path or sys.path)


def is_standard(entry: str) -> bool:
    """Whether an entry of the path is one of the standard library's: its folder, its archive, its compiled modules."""
    return entry == _LIBRARY or os.path.basename(entry) in (_ARCHIVE, 'lib-dynload')


def _is_launcher() -> bool:
    words = program_arguments()
    command = words[0] if words else ''
    if command == '-m':                         # so it is while the packages of the module are imported
        return sys.orig_argv[len(sys.orig_argv) - len(words)].endswith('pyfuncdbg')
    return os.path.basename(command) in ('pyfuncdbg', 'pyfuncdbg.exe')
