"""The user's program as plain Python would run it, in this process: `python SCRIPT` and `python -m MODULE`.

Called by the command line on the main thread. The program gets a `__main__` of its own and whatever ends it
(an exception, `sys.exit`, Ctrl-C) leaves through the interpreter's own exit, so that non-daemon threads, atexit
handlers, the exit code and death by SIGINT are Python's and not an imitation.
"""
from __future__ import annotations

import builtins
import contextlib
import importlib.machinery
import importlib.util
import os
import pkgutil
import runpy
import sys
from dataclasses import dataclass
from types import CodeType, ModuleType, TracebackType

from pyfuncdbg.errors import RunAborted, UsageError, nearest
from pyfuncdbg.hooks import search_path
from pyfuncdbg.hooks.module_loading import code_to_run
from pyfuncdbg.hooks.own_files import RUNNERS, mark_launcher
from pyfuncdbg.ui.commands.programs.own_imports import OwnImports
from pyfuncdbg.ui.commands.programs.shadowed_modules import loaded_at_start, withdrawable
from pyfuncdbg.ui.commands.programs.uncaught_exception import note_end

_INTERRUPTED = 130
"""Exit code of a program that the user ended; what a shell reports after Ctrl-C."""
_own: list[OwnImports] = []
"""Our import system, from when the program is known."""
_kept: list[ModuleType] = []
"""The interpreter's first `__main__`, whose code is still on the stack while the program has taken its place."""


@dataclass(frozen=True, slots=True)
class Program:
    """A program to run.

    Attributes:
        name: A short name for its trace: the script's without folder and ending, or the module's.
        argv: Its `sys.argv`; the first element is the script as the user wrote it, or '-m'.
        path: Its `sys.path[0]`, or None to leave `sys.path` as it is.
        code: A script's code; None for a module, a folder or a zip file, which `runpy` finds.
        module: For `runpy`: the module's name, '__main__' for a folder or a zip file.
    """

    name: str
    argv: tuple[str, ...]
    path: str | None
    code: str | None = None
    module: str = ''

    @property
    def command(self) -> tuple[str, ...]:
        """What follows `python` on a command line that runs it."""
        return ('-m', self.module, *self.argv[1:]) if self.argv[0] == '-m' else self.argv


def script(path: str, args: tuple[str, ...] = ()) -> Program:
    """The program in a file, a folder or a zip file with a `__main__`.

    Raises:
        UsageError: There is no such file, it cannot be read, or there is no `__main__` in it.
    """
    try:
        name = os.path.splitext(os.path.basename(os.path.abspath(path)))[0]
        importer = pkgutil.get_importer(_absolute(path))
        if importer is not None:
            if importer.find_spec('__main__') is None:
                raise UsageError(f'{path!r} has no __main__.py to run')
            return Program(name, (path, *args), _absolute(path), module='__main__')
        with open(path, 'rb'):
            pass
    except FileNotFoundError:
        around = os.path.dirname(path) or '.'
        beside = os.listdir(around) if os.path.isdir(around) else []
        near = nearest(os.path.basename(path), beside, 1)
        raise UsageError(f'no such file: {path!r}.{near}') from None
    except OSError as error:
        raise UsageError(f'cannot read {path!r}: {error.strerror}') from None
    folder = None if sys.flags.safe_path else os.path.dirname(os.path.realpath(path))
    return Program(name, (path, *args), folder, code=_absolute(path))


def module(name: str, args: tuple[str, ...] = ()) -> Program:
    """The program that `python -m NAME` runs.

    Raises:
        UsageError: No module has that name. Only its first part is looked for: finding the rest imports the user's code.
    """
    folder = None if sys.flags.safe_path else os.getcwd()
    first = name.partition('.')[0]
    before = list(sys.path)
    sys.path[:] = _search_path(folder)
    try:
        if first not in sys.modules and importlib.util.find_spec(first) is None:
            known = {found.name for found in pkgutil.iter_modules()} | sys.stdlib_module_names
            raise UsageError(f'no module named {first!r}.{nearest(first, known, 1)}')
    except ValueError:
        raise UsageError(f'{name!r} is not the name of a module') from None
    finally:
        sys.path[:] = before
    return Program(name, ('-m', *args), folder, module=name)


def keep_own_imports() -> None:
    """Make sure that what is loaded from now on has our imports, whatever the program puts into its path.

    To be called as soon as the program is known: what is loaded before has Python's imports.
    """
    if not _own:
        _own.append(OwnImports(sys.path))
        _own[0].install()


def execute(program: Program) -> None:
    """Run it to the end of its main thread.

    Raises:
        BaseException: What the program raises; the interpreter shows its traceback without the frames of this package.
    """
    main = ModuleType('__main__')
    vars(main).update(__annotations__={}, __builtins__=builtins)
    _kept.append(sys.modules['__main__'])
    sys.modules['__main__'] = main
    sys.argv = list(program.argv)
    mark_launcher(sys._getframe())
    keep_own_imports()
    path = _search_path(program.path)
    for own in _own:
        own.withdraw(withdrawable(path), loaded_at_start())     # also modules loaded since
    sys.path[:] = path
    try:
        _enter(program, main)
    except SystemExit as error:
        note_end(error)
        raise
    except RunAborted as error:
        # As after Ctrl-C, but without a traceback: the user has typed `abort`.
        if sys.__stderr__ is not None:
            with contextlib.suppress(OSError, ValueError):
                print(f'pyfuncdbg: {error}', file=sys.__stderr__, flush=True)
        raise SystemExit(_INTERRUPTED) from None
    except BaseException as error:
        note_end(error)
        _show_without_our_frames(error, main if program.code is not None else None)
        raise
    finally:
        for own in _own:
            own.complete()
    if program.code is not None:
        _forget_file(main)


def _enter(program: Program, main: ModuleType) -> None:
    """Call the program; the frames below this one are what a traceback shows."""
    if program.code is None:
        # What the interpreter itself calls for -m: same search, same errors, same frames in a traceback.
        runpy._run_module_as_main(program.module, alter_argv=program.module != '__main__')  # type: ignore[attr-defined]
        return
    loader: importlib.machinery.SourceFileLoader | importlib.machinery.SourcelessFileLoader
    if program.code.endswith('.pyc'):
        loader = importlib.machinery.SourcelessFileLoader('__main__', program.code)
        code = loader.get_code('__main__')
    else:
        loader = importlib.machinery.SourceFileLoader('__main__', program.code)
        with open(program.code, 'rb') as file:
            source = file.read()
        if b'\0' in source:
            raise _null_byte(program.code, source)
        code = compile(source, program.code, 'exec', dont_inherit=True)
    assert isinstance(code, CodeType)
    vars(main).update(__file__=program.code, __cached__=None, __loader__=loader)
    exec(code_to_run(code), vars(main))


RUNNERS.add(_enter.__code__)


def _null_byte(path: str, source: bytes) -> SyntaxError:
    """The interpreter's error for a file with a null byte; `compile` has another text, and no line."""
    before = source.partition(b'\0')[0]
    *_, line = before.split(b'\n')
    return SyntaxError('source code cannot contain null bytes',
                       (path, before.count(b'\n') + 1, 0, line.decode(errors='replace')))


def _search_path(folder: str | None) -> list[str]:
    """The program's `sys.path`, with its folder where the interpreter puts that."""
    path = search_path.original_path()
    if folder is not None:
        if sys.flags.safe_path:
            path.insert(0, folder)                  # Python adds a folder or zip file even under -P
        else:
            path[0] = folder
    return path


def _absolute(path: str) -> str:
    """As the interpreter makes `__file__`: the folder in front, nothing else changed."""
    return path if os.path.isabs(path) else os.path.join(os.getcwd(), path)


def _forget_file(main: ModuleType) -> None:
    """As the interpreter does when a script's main thread is through; threads and atexit handlers see that."""
    for name in ('__file__', '__cached__'):
        vars(main).pop(name, None)


def _show_without_our_frames(error: BaseException, main: ModuleType | None) -> None:
    """Put a hook before the program's own `sys.excepthook` for the one exception that ends it."""
    original = getattr(sys, 'excepthook', None)
    if original is None:
        return
    traceback = error.__traceback__
    while traceback is not None and traceback.tb_frame.f_code is not _enter.__code__:
        traceback = traceback.tb_next
    rest = traceback.tb_next if traceback is not None else None

    def show(kind: type[BaseException], value: BaseException, shown: TracebackType | None) -> None:
        sys.excepthook = original
        if value is error:
            sys.last_traceback = value.__traceback__ = shown = rest
        original(kind, value, shown)
        if main is not None:
            _forget_file(main)

    sys.excepthook = show
