"""The program's modules on this machine: imported, or of its main script the definitions in it.

Only files of the program are imported, after they were named to the user; what a trace says is checked against the file that
is imported. On the thread of the command.
"""
from __future__ import annotations

import importlib
import importlib.util
import linecache
import os
import sys
from pathlib import Path
from types import CodeType, ModuleType

from pyfuncdbg.errors import CommandError
from pyfuncdbg.hooks.own_files import is_library, is_machinery
from pyfuncdbg.observers.debug.replay.main_module import NAME as MAIN, MainModule

SAFE_MODULES = 'numpy', 'numpy.random', 'numpy.linalg', 'numpy.fft', 'math', 'cmath', 'operator', 'random'
"""Modules whose functions and classes may be looked up by name, where a closure or an object holds them."""
TRUST = 'or --trust runs the source that the trace holds: read it first'


class ProgramModules:
    """Modules of the program, and the files that they come from.

    Args:
        folder: Where the program ran, as the trace says; '' if unknown.
        script: The program's main file.
        live_code: The code of the function, where the program still runs: of a cell of a notebook there is no file.
        stored: Sources in the trace, by file, that the user trusts; empty without `--trust`.

    Attributes:
        files: Files of the program whose code is used, in order.
    """

    def __init__(self, folder: str, script: str, live_code: CodeType | None, stored: dict[str, str] | None = None) -> None:
        self.files: list[str] = []
        self._folder = folder
        self._script = script
        self.live_code = live_code
        self._stored = stored or {}
        self._mains: dict[str, MainModule] = {}
        self._is_own_main = False
        self._path_before = list(sys.path)
        self._here = Path.cwd()                 # a replay goes to the folder of the program

    def close(self) -> None:
        """Put `sys.path` and the main module's second name back."""
        sys.path[:] = self._path_before
        for main in self._mains.values():
            if sys.modules.get(MAIN) is main.module:
                del sys.modules[MAIN]

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
            if own is not None and ((_is_typed(name) and linecache.getlines(name)) or (self.live_code is not None and (
                    self.live_code.co_filename == name or _same_file(getattr(own, '__file__', None), Path(name))))):
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
            path = self.path_of(filename)
            self.note(str(path))
            if str(path.parent) not in sys.path:
                sys.path.insert(0, str(path.parent))
            try:
                self._mains[filename] = MainModule(path, self.text(filename, path))
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
        path = self.path_of(filename) if filename else None
        if path is not None:
            require_program_file(str(path))
            root = _root_of(module, path)
            if root is not None and str(root) not in sys.path:
                sys.path.insert(0, str(root))
        space = sys.modules.get(module)
        if space is not None:
            if not (file := getattr(space, '__file__', None)) or not is_machinery(file):
                require_program_file(file or module)
        else:
            origin = origin_of(module)
            if origin is None:
                raise CommandError(f'there is no module {module!r} here: run replay in the folder of the program, with its '
                                   'environment')
            require_program_file(origin)
            self.note(origin)
            try:
                space = importlib.import_module(module)
            except Exception as error:          # of the program's own code
                raise CommandError(f'{module} cannot be imported: {type(error).__name__}: {error}') from error
        if path is not None and not _same_file(getattr(space, '__file__', None), path):
            raise CommandError(f'module {module!r} is {getattr(space, "__file__", None)} here; the call was of {path}')
        return space

    def whereabouts(self, filename: str) -> str | None:
        """Where the code of a file of the recording comes from, in words.

        Args:
            filename: As the trace names it.

        Returns:
            The path on this machine, or that it is the source in the trace; '' of what was typed; None if it cannot be had.
        """
        try:
            path = self.path_of(filename)
        except CommandError:
            return None
        return '' if _is_typed(filename) else 'its source in the trace' if filename in self._stored else str(path)

    def path_of(self, filename: str) -> Path:
        """The present path of a file of the recording: the same, or the same place in the current folder.

        Args:
            filename: As the trace names it.

        Returns:
            The path.

        Raises:
            CommandError: It is not here; what to do.
        """
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

    def text(self, filename: str, path: Path) -> bytes:
        """The text of a file.

        Args:
            filename: As the trace names it.
            path: Its present path.

        Returns:
            Its source, of one that is trusted as the trace holds it.

        Raises:
            CommandError: It cannot be read.
        """
        if filename in self._stored:
            return self._stored[filename].encode('utf-8', 'surrogatepass')
        if _is_typed(filename):
            return ''.join(linecache.getlines(filename)).encode()
        try:
            return path.read_bytes()
        except OSError as error:
            raise CommandError(f'{path} cannot be read: {error.strerror}') from None

    def note(self, file: str) -> None:
        """Add a file to those whose code is used.

        Args:
            file: Its path.
        """
        if file not in self.files:
            self.files.append(file)

    def module_named(self, module: str) -> ModuleType:
        """A module that a recorded value names.

        Args:
            module: Its name.

        Returns:
            The module: of the program, of a host's framework, or harmless.

        Raises:
            CommandError: It cannot be had, or is of the Python library.
        """
        if module in ('__main__', MAIN):
            return self.namespace(module, '')
        loaded = sys.modules.get(module)
        if loaded is not None and module in SAFE_MODULES:
            return loaded
        file = getattr(loaded, '__file__', None)
        if loaded is not None and file and is_machinery(file):          # a host's framework
            return loaded
        return self._imported(module, '')


def origin_of(module: str) -> str | None:
    """The file of a module that is not imported; the package that it is in is imported for that.

    Args:
        module: Its name.

    Returns:
        The path; None if there is none.
    """
    try:
        spec = importlib.util.find_spec(module)
    except (ImportError, ValueError, AttributeError):
        return None
    return spec.origin if spec is not None else None


def _is_typed(filename: str) -> bool:
    """Whether code was typed into a session: what `linecache` knows of it is of this process."""
    return filename.startswith('<') or '/ipykernel_' in filename


def require_program_file(file: str) -> None:
    """Refuse the interpreter's own modules: a trace is no reason to call those with data from it.

    Args:
        file: Path of a module.

    Raises:
        CommandError: It is one of them.
    """
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
