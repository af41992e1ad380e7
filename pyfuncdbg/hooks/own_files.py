"""Classification of source files as ours, a notebook's or a framework's, whose frames mean nothing to the user.

Hosts ask when they take a creation stack, the debugger when it walks or steps through frames; any thread.
"""
from __future__ import annotations

import os.path
import re
from collections.abc import Iterable
from types import CodeType, FrameType

_FILES = __file__, os.path.realpath(__file__)       # the name that code has may lead through links
_PACKAGE = tuple([os.path.dirname(os.path.dirname(file)) + os.sep for file in _FILES])     # pathlib takes 3 ms to import
_DEMO = tuple([os.path.join(place, 'demo') + os.sep for place in _PACKAGE])
_LIBRARY = tuple([os.path.dirname(file) + os.sep for file in (os.__file__, os.path.realpath(os.__file__))])
_NOTEBOOK = re.compile(r'[/\\](site|dist)-packages[/\\](IPython[/\\]|ipykernel[/\\]|ipykernel_launcher\.py)')
"""Packages that run the cells of a notebook and replace its `sys.stdout`."""
_SHELL = os.path.join('IPython', 'core', 'interactiveshell.py')
_COMPILED = re.compile(r'^pyfuncdbg/(hooks|hosts|observers)/[\w/]+\.pyx?$')
"""Names of compiled modules' files: relative ones, for a program may lie in a folder of this name."""
_ELSEWHERE = re.compile(r'/pyfuncdbg/(hooks|hosts|observers|ui)/')
"""Our files where the program ran, which a trace from another machine names."""
TYPED_CODE = '<pfd>'
"""File name of code that is typed at a stop."""
RUNNERS: set[CodeType] = set()
"""Code that runs a whole program: its frames, and those outside of them, are no part of the program's stack."""
machinery_by_file: dict[str, bool] = {}
"""Answers of `is_machinery`, by file."""


_packages: tuple[re.Pattern[str], ...] = ()
_modules: tuple[str, ...] = ('pyfuncdbg.',)
_adapters: tuple[str, ...] = ()
_generated: tuple[str, ...] = ('<frozen ', '<plan of ')


def declare_framework(packages: Iterable[str], modules: Iterable[str], adapter: str, generated: Iterable[str] = ()) -> None:
    """Count the files of a framework among the machinery. Called by `hosts` before anything is attached.

    Args:
        packages: Folders of it in a `site-packages`, with '/': files there lie between a program and its functions.
        modules: How names of its modules begin.
        adapter: Folder of the host in this package, such as 'hosts/NAME'.
        generated: How names of files begin that it generates, in memory or on disk.
    """
    global _packages, _modules, _adapters, _generated
    names = '|'.join(re.escape(name).replace('/', r'[/\\]') for name in packages)
    _packages = *_packages, re.compile(rf'[/\\](site|dist)-packages[/\\]({names})[/\\]')
    _modules = *_modules, *modules
    _generated = *_generated, *generated
    _adapters = *_adapters, *(place + adapter + os.sep for place in _PACKAGE)
    for filename in [path for path, is_ours in list(machinery_by_file.items()) if not is_ours]:
        machinery_by_file.pop(filename, None)              # asked about before the framework was declared


def is_machinery(filename: str) -> bool:
    """Whether source file `filename` belongs to what runs or watches the program, not to the program."""
    machinery = machinery_by_file.get(filename)
    if machinery is None:
        machinery = machinery_by_file[filename] = (
            filename.startswith(_generated) or os.path.basename(filename).startswith(_generated)
            or (filename.startswith(_PACKAGE) and not filename.startswith(_DEMO))
            or _NOTEBOOK.search(filename) is not None
            or any(package.search(filename) is not None for package in _packages))
    return machinery


def runs_cells(program: str) -> bool:
    """Whether a program, by its file, is IPython or a kernel: what the user wrote is in cells."""
    return _NOTEBOOK.search(program) is not None or os.path.basename(program) in ('ipython', 'ipykernel_launcher.py')


def outside_machinery(frame: FrameType | None) -> FrameType | None:
    """The innermost frame, from this one outwards, that is the program's or a library's; None if there is none."""
    while frame is not None and is_machinery(frame.f_code.co_filename):
        frame = frame.f_back
    return frame


def mark_launcher(frame: FrameType | None) -> None:
    """Count the files of a frame and of those that called it among the machinery: a console script that runs a program."""
    while frame is not None:
        machinery_by_file[frame.f_code.co_filename] = True
        frame = frame.f_back


def is_cell_runner(code: CodeType) -> bool:
    """Whether `code` runs the cells of a notebook or of IPython: frames outside of a cell are no part of the program."""
    return code.co_name == 'run_code' and code.co_filename.endswith(_SHELL)


def is_own_file(filename: str) -> bool:
    """Whether source file `filename` is this package's own, and no example."""
    return (filename.startswith(_PACKAGE) and not filename.startswith(_DEMO)) or (
        _COMPILED.search(filename) is not None)


def is_adapter(filename: str) -> bool:
    """Whether source file `filename` belongs to a host that attaches to a framework."""
    return filename.startswith(_adapters)


def is_host_class(kind: type) -> bool:
    """Whether the class `kind` is our runtime's or a framework's: reading its objects runs no code of the program."""
    return f'{kind.__module__}.'.startswith(_modules)     # a package itself may have its tensors


def is_library(filename: str) -> bool:
    """Whether source file `filename` is the interpreter's or an installed package's: neither the program's nor ours."""
    return (filename.startswith((*_LIBRARY, '<__array_function__')) or '/site-packages/' in filename
            or '/dist-packages/' in filename) and not filename.startswith(_DEMO)


def is_program_file(filename: str) -> bool:
    """Whether source file `filename` is the program's own: neither a library's, nor the interpreter's, nor ours."""
    path = filename.replace('\\', '/')
    if '/pyfuncdbg/demo/' in path:              # a program like a user's
        return True
    return not (is_library(filename) or is_machinery(filename) or _ELSEWHERE.search(path) or path.startswith('<frozen ')
                or any(part in path for part in ('/site-packages/', '/dist-packages/', '/lib/python3.')))
