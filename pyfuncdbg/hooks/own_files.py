"""Which source files are ours, or a notebook's: frames of them are between the user's frames and mean nothing to the user.

Hosts ask when they take a creation stack, the debugger when it walks or steps through frames; any thread.
"""
from __future__ import annotations

import os.path
import re
from types import CodeType, FrameType

_FILES = __file__, os.path.realpath(__file__)       # the name that code has may lead through links
_PACKAGE = tuple([os.path.dirname(os.path.dirname(file)) + os.sep for file in _FILES])     # pathlib takes 3 ms to import
_DEMO = tuple([os.path.join(place, 'demo') + os.sep for place in _PACKAGE])
_LIBRARY = tuple([os.path.dirname(file) + os.sep for file in (os.__file__, os.path.realpath(os.__file__))])
_NOTEBOOK = re.compile(r'[/\\](site|dist)-packages[/\\](IPython[/\\]|ipykernel[/\\]|ipykernel_launcher\.py)')
"""What runs the cells of a notebook, and stands for its `sys.stdout`."""
_SHELL = os.path.join('IPython', 'core', 'interactiveshell.py')
_FRAMEWORK = re.compile(r'[/\\](site|dist)-packages[/\\](tensorflow[/\\]python|keras[/\\]src)[/\\]')
"""What lies between a program and its functions that TensorFlow and Keras call."""
_COMPILED = tuple(f'pyfuncdbg/{name}.pyx' for name in ('hooks/passage', 'observers/record/halves', 'hosts/tensorflow/quick'))
"""Compiled modules are known by the names that they were compiled under."""
judged: dict[str, bool] = {}
"""What `is_machinery` said of the files it was asked about."""


def is_machinery(filename: str) -> bool:
    """Whether a source file is part of what runs or watches the program, not of the program."""
    known = judged.get(filename)
    if known is None:
        known = judged[filename] = (filename.startswith(('<frozen ', '<plan of '))
                                   or (filename.startswith(_PACKAGE) and not filename.startswith(_DEMO))
                                   or _NOTEBOOK.search(filename) is not None or _FRAMEWORK.search(filename) is not None)
    return known


def mark_launcher(frame: FrameType | None) -> None:
    """Count the files of a frame and of those that called it among the machinery: a console script that runs a program."""
    while frame is not None:
        judged[frame.f_code.co_filename] = True
        frame = frame.f_back


def runs_cells(code: CodeType) -> bool:
    """Whether it is what runs the cells of a notebook or of IPython: what lies around a cell is no part of the program."""
    return code.co_name == 'run_code' and code.co_filename.endswith(_SHELL)


def is_package(filename: str) -> bool:
    """Whether a source file is this package's own, and no example."""
    return (filename.startswith(_PACKAGE) and not filename.startswith(_DEMO)) or filename.endswith(_COMPILED)


def is_library(filename: str) -> bool:
    """Whether a source file is the interpreter's or an installed package's: neither the program nor part of us."""
    return (filename.startswith((*_LIBRARY, '<__array_function__')) or '/site-packages/' in filename
            or '/dist-packages/' in filename) and not filename.startswith(_DEMO)


def is_users(filename: str) -> bool:
    """Whether a file is the program's own: neither a library's, nor the interpreter's, nor ours."""
    path = filename.replace('\\', '/')
    if '/pyfuncdbg/demo/' in path:              # a program like a user's
        return True
    return not (is_library(filename) or is_machinery(filename) or '/site-packages/' in path or '/dist-packages/' in path
                or '/lib/python3.' in path or path.startswith('<frozen '))
