"""Objects that a recorded value names: classes, functions and modules of the program, and a few that are harmless.

A trace may be hostile: nothing else is looked up. On the thread of the command.
"""
from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any

from pyfuncdbg.errors import CommandError
from pyfuncdbg.hooks.own_files import is_library, is_machinery
from pyfuncdbg.observers.debug.replay.program_modules import SAFE_MODULES, ProgramModules, origin_of

_OF_FILES = frozenset(('load', 'save', 'savez', 'savez_compressed', 'savetxt', 'loadtxt', 'genfromtxt', 'fromfile',
                       'fromregex', 'memmap'))
"""Names in NumPy that read or write files: a trace may not choose which."""
_SAFE_BUILTINS = frozenset((
    'abs', 'all', 'any', 'bool', 'bytes', 'complex', 'dict', 'divmod', 'enumerate', 'filter', 'float', 'frozenset', 'int',
    'isinstance', 'len', 'list', 'map', 'max', 'min', 'object', 'pow', 'range', 'repr', 'reversed', 'round', 'set', 'sorted',
    'str', 'sum', 'tuple', 'type', 'zip'))


def object_named(modules: ProgramModules, module: str, name: str) -> Any:
    """A class, function or module that a value of the program names.

    Args:
        modules: Of the program.
        module: Its module.
        name: Qualified name in it, '' for the module itself.

    Returns:
        The object.

    Raises:
        CommandError: It is of no module of the program, and none that is known to be harmless.
    """
    if not name:
        return modules.module_named(module)
    if module == 'builtins':
        if name not in _SAFE_BUILTINS and not _is_exception(name):
            raise CommandError(f'the recorded value names builtins.{name}: that is not called with recorded data')
        space: Any = sys.modules['builtins']
    elif module in SAFE_MODULES and name not in _OF_FILES:
        space = importlib.import_module(module)
    else:
        if module not in sys.modules:           # before a search in its package, which imports that
            _require_no_library(f'{module}.{name}', origin_of(module.partition('.')[0]))
        space = modules.module_named(module)
        _require_no_library(f'{module}.{name}', getattr(space, '__file__', None))
        if (main := modules.main_of(space)) is not None:
            main.define_name(name.partition('.')[0])
    for part in name.split('.'):
        space = getattr(space, part, None)
        if space is None:
            raise CommandError(f'{module} has no {name} any more')
        if isinstance(space, ModuleType):   # what it imports, such as `random._os`, leads anywhere
            raise CommandError(f'the recorded value names {module}.{name}: that is not called with recorded data')
    return space


def _require_no_library(name: str, file: str | None) -> None:
    if file and is_library(file) and not is_machinery(file):
        raise CommandError(f'the recorded value names {name} of an installed package: that is not called with recorded data')


def _is_exception(name: str) -> bool:
    value = vars(sys.modules['builtins']).get(name)
    return isinstance(value, type) and issubclass(value, Exception)
