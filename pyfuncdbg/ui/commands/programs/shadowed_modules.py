"""Loaded modules that plain Python would not have loaded, so that a program may import its own under their names.

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

from pyfuncdbg.hooks.own_process import own_start
from pyfuncdbg.hooks.search_path import is_standard
from pyfuncdbg.observers.record.processes.followed_process import own_environment
from pyfuncdbg.ui.commands.programs.own_imports import COMPILED, find, is_same

_PACKAGE = __name__.partition('.')[0]
_LIST = os.path.join(os.path.dirname(__file__), 'loaded_modules.py')
_MOST = 1000
"""Entries of the program's folder that are searched for folders; a folder with more holds data."""


def withdrawable(path: Sequence[str]) -> frozenset[str]:
    """Top-level names of loaded modules that plain Python loads only when a program imports them.

    A program can put any folder into its path before it imports one of them, so all of them are withdrawn, whatever the path
    is when it begins.

    Args:
        path: The program's `sys.path` when it begins.
    """
    before = loaded_at_start()                  # before the queries below, which load modules
    loaded = {name for name, module in list(sys.modules.items())
              if '.' not in name and getattr(module, '__spec__', None) is not None and find(name, ()) is None}
    return frozenset(loaded - before - {'__main__', _PACKAGE} - (COMPILED - _shadowed(COMPILED & loaded, path)))


def _shadowed(names: frozenset[str] | set[str], path: Sequence[str]) -> set[str]:
    """The names of modules that a program has on its path, or in a nearby folder that it may put there."""
    front = _front(path)
    return {name for name in names if _is_shadowed(name, front, path)} | names & _near(path[0])


def _front(path: Sequence[str]) -> Sequence[str]:
    """The part of the path before the standard library: few files are there; all of the path would take a tenth of our
    start."""
    return path[:next((at for at, entry in enumerate(path) if is_standard(entry)), len(path))]


def _is_shadowed(name: str, front: Sequence[str], path: Sequence[str]) -> bool:
    near = PathFinder.find_spec(name, front)
    if near is None or near.loader is None:
        return False
    ours = getattr(sys.modules[name], '__spec__', None)
    return ours is not None and not is_same(ours, near) and not is_same(ours, find(name, path))


def _near(folder: str) -> set[str]:
    """Names of modules in the folders below a program's; not in packages, which no path names."""
    names: set[str] = set()
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        below = [entry.path for entry in itertools.islice(entries, _MOST) if entry.is_dir()]
        names.update(*(_names(each) for each in below if not _is_package(each)))
    return names


def _is_package(folder: str) -> bool:
    return os.path.exists(os.path.join(folder, '__init__.py'))


def _names(folder: str) -> set[str]:
    """Names of modules that a folder may have; none if it is none. A folder without `__init__.py` shadows nothing."""
    try:
        return {name.partition('.')[0] for name in os.listdir(folder)
                if '.' in name or _is_package(os.path.join(folder, name))}
    except OSError:
        return set()


@cache
def loaded_at_start() -> frozenset[str]:
    """Modules that an interpreter like this one has loaded when a program begins, from one that is started to list them.

    Where another tool has started us, as `python -m debugpy -m pyfuncdbg run` does, also what was there before us: the tool
    works on with its modules, and the program would meet them without us too.
    """
    names = _ask_interpreter()
    loaded = list(sys.modules)                  # in the order of loading
    before = frozenset(loaded[:loaded.index(_PACKAGE)])
    if names is None:
        return before
    tops = {name.partition('.')[0] for name in before - names}
    foreign = tops - sys.stdlib_module_names - {'__main__', _PACKAGE}
    return names | before if foreign else names


def _ask_interpreter() -> frozenset[str] | None:
    """Names of the modules of a new interpreter; None if it could not be asked."""
    try:
        pipe, child_end = os.pipe()
        # Redirect the output first: if a standard stream is closed, the pipe may have its number.
        files = [(os.POSIX_SPAWN_DUP2, child_end, 1), *((os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0)
                                                        for number in (0, 2))]
        try:
            flags = _flags()
            with own_start():
                number = os.posix_spawn(sys.executable or '', [sys.executable, *flags, _LIST], own_environment(),
                                        file_actions=files)
        finally:
            os.close(child_end)
    except OSError:
        return None
    with open(pipe, 'rb') as told:
        names = told.read()
    _, status = os.waitpid(number, 0)
    return None if status else frozenset(os.fsdecode(names).split('\0'))


def _flags() -> list[str]:
    """The interpreter's own options as the command line gave them."""
    import subprocess
    return subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined, no-any-return]
