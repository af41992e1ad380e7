"""Lookup of the file that a user names: 'train.py', 'models/net.py', a whole path, or a cell.

Asked by `LineBreakpoints` when a breakpoint is set, and again as long as its file is not loaded.
"""
from __future__ import annotations

import os
import sys
from collections.abc import Iterable

from pyfuncdbg.errors import CommandError, nearest
from pyfuncdbg.hooks.own_files import is_library


def loaded_filename(name: str, filenames: Iterable[str]) -> str | None:
    """The `co_filename` that the program uses for it, None if nothing of it is loaded.

    Args:
        name: As typed.
        filenames: The `co_filename`s of the program.

    Raises:
        CommandError: Several files fit.
    """
    filenames = set(filenames)
    if name in filenames:
        return name
    if os.path.isfile(name):                    # as in a shell, before other files of that name
        return _same(name, filenames)
    tail = os.sep + os.path.normpath(name).lstrip(os.sep)
    fitting = sorted(one for one in filenames if one.endswith(tail))
    fitting = [one for one in fitting if not is_library(one)] or fitting
    if len(fitting) > 1:
        raise CommandError(f'{name!r} may be any of {", ".join(fitting)}: give a longer part of the path.')
    return fitting[0] if fitting else _same(name, filenames)


def matches_name(name: str, filename: str) -> bool:
    """Whether a file that is being loaded is the one that a user waits for by a name."""
    path = find_on_path(name)
    if path is not None:
        return os.path.realpath(path) == os.path.realpath(filename)
    if is_library(filename) and os.sep not in name:
        return False                            # the program may load its own file later
    return loaded_filename(name, [filename]) is not None


def _same(name: str, filenames: set[str]) -> str | None:
    """The file at a path under the name that the program has for it: that may lead through links."""
    real = os.path.realpath(name)
    same = sorted(one for one in filenames if os.path.basename(one) == os.path.basename(real)
                  and os.path.realpath(one) == real)
    return same[0] if same else None


def is_same_file(one: str, other: str) -> bool:
    """Whether two names mean one file, as far as that is known without asking the program."""
    return one == other or os.path.realpath(find_on_path(one) or one) == os.path.realpath(find_on_path(other) or other)


def find_on_path(name: str) -> str | None:
    """The path of a file that is not loaded; None if there is none where Python would look now."""
    for folder in ('', *sys.path):
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            return os.path.abspath(path)
    return None


def unknown_file_text(name: str, filenames: Iterable[str]) -> str:
    """Error message for a file that is neither loaded nor found: a program may yet add its folder to `sys.path`."""
    close = nearest(os.path.basename(name), {os.path.basename(one): one for one in filenames if not is_library(one)})
    return f'no file {name!r} is loaded or on the path of Python.{close}'
