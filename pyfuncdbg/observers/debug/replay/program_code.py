"""The program's code on this machine: modules and functions that a trace names.

Only files of the program are imported, after they were named to the user; what a trace says is checked against the file that
is imported. A function is the one of its module that has its qualified name; a lambda, closure or method is found in the
file by qualified name and line. On the thread of the command.
"""
from __future__ import annotations

import importlib
import importlib.util
import linecache
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

from pyfuncdbg.errors import CommandError
from pyfuncdbg.hooks.own_files import is_library, is_machinery
from pyfuncdbg.hooks.patched_code import original_code
from pyfuncdbg.observers.debug.replay.main_module import NAME as MAIN, MainModule

_SAFE_MODULES = 'numpy', 'numpy.random', 'numpy.linalg', 'numpy.fft', 'math', 'cmath', 'operator', 'random'
"""Modules whose functions and classes may be looked up by name, where a closure or an object holds them."""
_OF_FILES = frozenset(('load', 'save', 'savez', 'savez_compressed', 'savetxt', 'loadtxt', 'genfromtxt', 'fromfile',
                       'fromregex', 'memmap'))
"""Names in NumPy that read or write files: a trace may not choose which."""
_SAFE_BUILTINS = frozenset((
    'abs', 'all', 'any', 'bool', 'bytes', 'complex', 'dict', 'divmod', 'enumerate', 'filter', 'float', 'frozenset', 'int',
    'isinstance', 'len', 'list', 'map', 'max', 'min', 'object', 'pow', 'range', 'repr', 'reversed', 'round', 'set', 'sorted',
    'str', 'sum', 'tuple', 'type', 'zip'))
TRUST = 'or --trust runs the source that the trace holds: read it first'


class ProgramCode:
    """Looks code of the program up.

    Args:
        folder: Where the program ran, as the trace says; '' if unknown.
        script: The program's main file.
        known: The code of the function, where the program still runs: of a cell of a notebook there is no file.
        stored: Sources in the trace, by file, that the user trusts; empty without `--trust`.

    Attributes:
        files: Files of the program whose code is used, in order.
    """

    def __init__(self, folder: str, script: str, known: CodeType | None, stored: dict[str, str] | None = None) -> None:
        self.files: list[str] = []
        self._folder = folder
        self._script = script
        self._known = known
        self._stored = stored or {}
        self._mains: dict[str, MainModule] = {}
        self._is_own_main = False
        self._codes: dict[str, CodeType] = {}
        self._path_before = list(sys.path)
        self._here = Path.cwd()                 # a replay goes to the folder of the program

    def close(self) -> None:
        """Put `sys.path` and the main module's second name back."""
        sys.path[:] = self._path_before
        for main in self._mains.values():
            if sys.modules.get(MAIN) is main.module:
                del sys.modules[MAIN]

    # ------------------------------------------------------------------ modules
    def namespace(self, module: str, filename: str) -> ModuleType:
        """The module of a function.

        Args:
            module: Its name.
            filename: Its file, as the trace names it; '' if only the name is known.

        Returns:
            The module: imported, or of a script the definitions in it.

        Raises:
            CommandError: It cannot be had; how to get it.
        """
        if module in ('__main__', MAIN):
            own = sys.modules.get('__main__')
            name = filename or self._script
            if own is not None and ((_is_typed(name) and linecache.getlines(name)) or (self._known is not None and (
                    self._known.co_filename == name or _same_file(getattr(own, '__file__', None), Path(name))))):
                self._is_own_main = True
                return own                      # the program runs in this process
            if own is not None and self._is_own_main and not filename:
                return own
            return self.main(filename).module
        return self._imported(module, filename)

    def main(self, filename: str) -> MainModule:
        """The main script as definitions.

        Args:
            filename: As the trace names it; '' for the program's.

        Returns:
            The script.

        Raises:
            CommandError: The file is not here, or no Python.
        """
        filename = filename or next(iter(self._mains), self._script)
        if filename not in self._mains:
            path = self._path_of(filename)
            self._note(str(path))
            if str(path.parent) not in sys.path:
                sys.path.insert(0, str(path.parent))
            try:
                self._mains[filename] = MainModule(path, self._text(filename, path))
            except SyntaxError as error:
                raise CommandError(f'{path}: line {error.lineno} is no Python: {error.msg}') from None
        return self._mains[filename]

    def main_of(self, module: ModuleType) -> MainModule | None:
        """The script that a module is.

        Args:
            module: Of `namespace`.

        Returns:
            None of an imported one.
        """
        return next((main for main in self._mains.values() if main.module is module), None)

    def line_of_main(self, name: str) -> int:
        """The line at which the script gives a variable its value.

        Args:
            name: Of a global variable.

        Returns:
            0 if it does not, or no script is used.
        """
        return next((line for main in self._mains.values() if (line := main.line_of(name))), 0)

    def _imported(self, module: str, filename: str) -> ModuleType:
        path = self._path_of(filename) if filename else None
        if path is not None:
            _require_program_file(str(path))
            root = _root_of(module, path)
            if root is not None and str(root) not in sys.path:
                sys.path.insert(0, str(root))
        loaded = sys.modules.get(module)
        if loaded is not None:
            if not (file := getattr(loaded, '__file__', None)) or not is_machinery(file):
                _require_program_file(file or module)
        else:
            try:
                spec = importlib.util.find_spec(module)
            except (ImportError, ValueError, AttributeError):
                spec = None
            origin = spec.origin if spec is not None else None
            if spec is None or origin is None:
                raise CommandError(f'there is no module {module!r} here: run replay in the folder of the program, with its '
                                   'environment')
            _require_program_file(origin)
            self._note(origin)
            try:
                loaded = importlib.import_module(module)
            except Exception as error:          # of the program's own code
                raise CommandError(f'{module} cannot be imported: {type(error).__name__}: {error}') from error
        if path is not None and not _same_file(getattr(loaded, '__file__', None), path):
            raise CommandError(f'module {module!r} is {getattr(loaded, "__file__", None)} here; the call was of {path}')
        return loaded

    def whereabouts(self, filename: str) -> str | None:
        """Where the code of a file of the recording comes from, in words.

        Args:
            filename: As the trace names it.

        Returns:
            The path on this machine, or that it is the source in the trace; '' of what was typed; None if it cannot be had.
        """
        try:
            path = self._path_of(filename)
        except CommandError:
            return None
        return '' if _is_typed(filename) else 'its source in the trace' if filename in self._stored else str(path)

    def _path_of(self, filename: str) -> Path:
        """Where a file of the recording is now: at its path, or at the same place in the current folder."""
        if _is_typed(filename):
            if filename in self._stored or linecache.getlines(filename):
                return Path(filename)
            raise CommandError(f'its function was typed in a session, in {filename}: its code is in no file. Put it into a '
                               f'module, {TRUST}')
        path = Path(filename)
        if not path.is_absolute() and self._folder:
            path = Path(self._folder) / path
        if path.is_file():
            return path
        inside = os.path.relpath(path, self._folder) if self._folder else path.name
        for candidate in (self._here / inside, self._here / path.name):
            if not inside.startswith(os.pardir) and candidate.is_file():
                return candidate
        if filename in self._stored:
            return path
        raise CommandError(f'{path} is not here: run replay in the folder of the program, {TRUST}')

    def _text(self, filename: str, path: Path) -> bytes:
        if filename in self._stored:
            return self._stored[filename].encode('utf-8', 'surrogatepass')
        if _is_typed(filename):
            return ''.join(linecache.getlines(filename)).encode()
        try:
            return path.read_bytes()
        except OSError as error:
            raise CommandError(f'{path} cannot be read: {error.strerror}') from None

    def _note(self, file: str) -> None:
        if file not in self.files:
            self.files.append(file)

    # ------------------------------------------------------------------ functions and classes
    def function_of_module(self, space: ModuleType, qualified_name: str, code_name: str) -> FunctionType | None:
        """A function that a module has under its qualified name, below its decorators.

        Args:
            space: The module.
            qualified_name: Of the function.
            code_name: Qualified name in its code: a decorator gives its wrapper that of the function.

        Returns:
            The function; None if the module has none that was written so.
        """
        main = self.main_of(space)
        first = qualified_name.partition('.')[0]
        if main is not None and first.isidentifier():
            main.define_name(first)
        value: Any = space
        for part in qualified_name.split('.'):
            value = vars(value).get(part) if isinstance(value, ModuleType | type) else None
            if isinstance(value, staticmethod | classmethod):
                value = value.__func__
        for _ in range(20):
            if type(value) is FunctionType and original_code(value.__code__).co_qualname == code_name:
                return value
            value = getattr(value, '__wrapped__', None)
        return None

    def decorated(self, module: str, filename: str, qualified_name: str, line: int) -> Any:
        """What a decorator has made of a function.

        Args:
            module, filename: Of the function.
            qualified_name: Of the function.
            line: Its first line when it was recorded: a script may define one of that name again.

        Returns:
            The value of that name.

        Raises:
            CommandError: There is none.
        """
        space = self.namespace(module, filename)
        main = self.main_of(space)
        if main is not None and '.' not in qualified_name:
            main.define_at(qualified_name, line)
        value: Any = space
        for part in qualified_name.split('.'):
            value = getattr(value, part, None)
        if value is None:
            raise CommandError(f'{module} has no {qualified_name}, which a decorator has made: only functions of the top '
                               'level of a module can be made again')
        return value

    def code_in_file(self, filename: str, code_name: str, line: int) -> CodeType:
        """The code of a lambda, an inner function or any other, by its place.

        Args:
            filename: As the trace names it.
            code_name: Qualified name in its code.
            line: Its first line when it was recorded.

        Returns:
            The code.

        Raises:
            CommandError: There is none, or it cannot be told which it is.
        """
        known = self._known
        if known is not None and (known.co_filename, known.co_qualname, known.co_firstlineno) == (filename, code_name, line):
            return known
        path = self._path_of(filename)
        found = self._codes_named(filename, code_name)
        exact = [code for code in found if code.co_firstlineno == line]
        if len(exact) == 1 or len(found) == 1:
            return (exact or found)[0]
        if not found:
            raise CommandError(f'there is no function {code_name} in {path} any more: it was renamed or removed')
        lines = ', '.join(str(code.co_firstlineno) for code in found)
        if exact:
            raise CommandError(f'{len(exact)} functions {code_name} begin at line {line} of {path}: give each a line of its '
                               'own, and record again')
        raise CommandError(f'{code_name} of line {line} was moved in {path}, which has it at lines {lines}: it cannot be '
                           'told which of them it is')

    def has_several(self, filename: str, code_name: str) -> bool:
        """Whether a file has more than one function of a name.

        Args:
            filename: As the trace names it.
            code_name: Qualified name in the code.
        """
        return len(self._codes_named(filename, code_name)) > 1

    def _codes_named(self, filename: str, code_name: str) -> list[CodeType]:
        path = self._path_of(filename)
        _require_program_file(str(path))
        if filename not in self._codes:
            self._note(str(path))
            try:
                self._codes[filename] = compile(self._text(filename, path), str(path), 'exec', dont_inherit=True)
            except SyntaxError as error:
                raise CommandError(f'{path}: line {error.lineno} is no Python: {error.msg}') from None
        return [code for code in _inner_codes(self._codes[filename]) if code.co_qualname == code_name]

    def object_named(self, module: str, name: str) -> Any:
        """A class, function or module that a value of the program names.

        Args:
            module: Its module.
            name: Qualified name in it, '' for the module itself.

        Returns:
            The object.

        Raises:
            CommandError: It is of no module of the program, and none that is known to be harmless.
        """
        if not name:
            return self._module_named(module)
        if module == 'builtins':
            if name not in _SAFE_BUILTINS and not _is_exception(name):
                raise CommandError(f'the recorded value names builtins.{name}: that is not called with recorded data')
            space: Any = sys.modules['builtins']
        elif module in _SAFE_MODULES and name not in _OF_FILES:
            space = importlib.import_module(module)
        else:
            space = self._module_named(module)
            file = str(getattr(space, '__file__', None) or '')
            if is_library(file) and not is_machinery(file):
                raise CommandError(f'the recorded value names {module}.{name} of an installed package: that is not called '
                                   'with recorded data')
            if (main := self.main_of(space)) is not None:
                main.define_name(name.partition('.')[0])
        for part in name.split('.'):
            space = getattr(space, part, None)
            if space is None:
                raise CommandError(f'{module} has no {name} any more')
            if isinstance(space, ModuleType):   # what it imports, such as `random._os`, leads anywhere
                raise CommandError(f'the recorded value names {module}.{name}: that is not called with recorded data')
        return space

    def _module_named(self, module: str) -> ModuleType:
        if module in ('__main__', MAIN):
            return self.namespace(module, '')
        loaded = sys.modules.get(module)
        if loaded is not None and module in _SAFE_MODULES:
            return loaded
        file = getattr(loaded, '__file__', None)
        if loaded is not None and file and is_machinery(file):          # a host's framework
            return loaded
        return self._imported(module, '')


def _is_typed(filename: str) -> bool:
    """Whether code was typed into a session: what `linecache` knows of it is of this process."""
    return filename.startswith('<') or '/ipykernel_' in filename


def _is_exception(name: str) -> bool:
    value = vars(sys.modules['builtins']).get(name)
    return isinstance(value, type) and issubclass(value, Exception)


def _require_program_file(file: str) -> None:
    """Refuse the interpreter's own modules: a trace is no reason to call those with data from it."""
    if _is_typed(file):
        return
    if not file.endswith('.py') or (is_library(file) and not ('/site-packages/' in file or '/dist-packages/' in file)):
        raise CommandError(f'{file} is of the Python library: replay calls functions of the program only')


def _root_of(module: str, path: Path) -> Path | None:
    """The folder from which a module of this name is imported from this file."""
    parts = module.split('.')
    own = path.parent if path.name == '__init__.py' else path
    names = [*own.parts[-len(parts):-1], own.stem if own is path else own.name]
    return own.parents[len(parts) - 1] if names[-len(parts):] == parts else None


def _same_file(one: str | None, other: Path) -> bool:
    try:
        return one is not None and os.path.samefile(one, other)
    except OSError:
        return False


def _inner_codes(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _inner_codes(constant)
