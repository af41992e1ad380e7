"""Loaded modules that a program's path shadows, where plain Python would import the program's.

`script` asks before the program begins, on the main thread.
"""
from __future__ import annotations

import contextlib
import itertools
import os
import sys
from collections.abc import Sequence
from functools import cache
from importlib.machinery import PathFinder

from pyfuncdbg.commands.own_imports import find, is_same
from pyfuncdbg.hooks.search_path import is_standard

_PACKAGE = __name__.partition('.')[0]
_LIST = 'import os, sys; os.write(1, "\\0".join(["", *sys.modules, ""]).encode())'
_MOST = 1000
"""Files of the program's folder that are looked at for folders; more are data."""
_PATIENCE = 20
"""Seconds for an interpreter to start."""


def shadowed(path: Sequence[str]) -> frozenset[str]:
    """Names of loaded modules that the program may shadow, without those that plain Python loads before it begins.

    It has one on its path; or in a folder beside, which it may put into its path as it runs.

    Args:
        path: The program's `sys.path` when it begins.
    """
    before = loaded_at_start()                  # first: asking loads modules
    return frozenset(_shadowed(path) - before)


def _shadowed(path: Sequence[str]) -> set[str]:
    loaded = {name for name in sys.modules if '.' not in name} - {'__main__', _PACKAGE}
    front = _front(path)
    return {name for name in loaded & _beside(path[0]) | {name for name in loaded if _is_shadowed(name, front, path)}
            if find(name, ()) is None}          # what is built into the interpreter comes before every path


def may_shadow(path: Sequence[str]) -> bool:
    """Whether the program may have its own of anything that we import, now or later."""
    front = _front(path)
    ours = sys.stdlib_module_names.union(*(_names(entry) for entry in sys.path if entry not in front))
    theirs = _beside(path[0]).union(*map(_names, front))
    return any(not name.startswith('__') for name in theirs & ours) or bool(_shadowed(path))


def _front(path: Sequence[str]) -> Sequence[str]:
    """What comes before the standard library: few files are there; all of the path would take a tenth of our start."""
    return path[:next((at for at, entry in enumerate(path) if is_standard(entry)), len(path))]


def _is_shadowed(name: str, front: Sequence[str], path: Sequence[str]) -> bool:
    near = PathFinder.find_spec(name, front)
    if near is None or near.loader is None:
        return False
    ours = getattr(sys.modules[name], '__spec__', None)
    return ours is not None and not is_same(ours, near) and not is_same(ours, find(name, path))


def _beside(folder: str) -> set[str]:
    """Names of modules in the folder above a program's and in those below it; not in packages, which no path names."""
    found = _names(os.path.dirname(folder))
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        below = [entry.path for entry in itertools.islice(entries, _MOST) if entry.is_dir()]
        found = found.union(*(_names(each) for each in below if not _is_package(each)))
    return found


def _is_package(folder: str) -> bool:
    return os.path.exists(os.path.join(folder, '__init__.py'))


def _names(folder: str) -> set[str]:
    """Names of modules that a folder may have; none if it is none. A folder without `__init__.py` shadows nothing."""
    folder = folder or '.'
    try:
        return {name.partition('.')[0] for name in os.listdir(folder)
                if '.' in name or _is_package(os.path.join(folder, name))}
    except OSError:
        return set()


@cache
def loaded_at_start() -> frozenset[str]:
    """What an interpreter like this one has loaded when a program begins; from one that is started to tell."""
    import subprocess
    command = [sys.executable, *subprocess._args_from_interpreter_flags(),  # type: ignore[attr-defined]
               '-c', _LIST]
    try:
        told = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              timeout=_PATIENCE, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        names = list(sys.modules)               # in the order in which they came: those before us, or few more
        return frozenset(names[:names.index(_PACKAGE)])
    return frozenset(os.fsdecode(told).split('\0'))
