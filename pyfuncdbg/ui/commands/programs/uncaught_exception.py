"""The exception that ended the program, as one line. Asked at its exit, on its main thread."""
from __future__ import annotations

import contextlib
import re

from pyfuncdbg.hooks.exception_message import IN_PROCESS, RAISED_AS

_ERROR = re.compile(r'\w+(Error|Exception): ')
"""In a message of AutoGraph or TensorFlow that begins with 'in user code:' or 'Graph execution error:'."""
_GRAPH = 'Graph execution error:'
"""Beginning of a node's error message; the cause comes after the places where the node was made."""
_NODE = re.compile(r'^\s*\[\[\{\{node ')
_FUNCTION = re.compile(r'^\{\{function_node [^}]*\}\} ')
"""What runs functions says which one it was, by a name that it has made up."""
_KERAS = 'Exception encountered when calling '
"""Beginning of a layer's error message; the cause is on the next line, in bold."""
_COLOUR = re.compile('\x1b\\[[0-9;]*m')
_MAP = re.compile(r'^Error in user-defined function passed to \S+ transformation with iterator: \S+: ')
"""Beginning of a node's error message in the function of a dataset."""
_EAGER = re.compile(r'\s*\[Op:\w+\](?: name: ?\S*)?$')
_WORKER = re.compile(r'Caught (\w+) in (DataLoader worker process \d+)\.$')
"""First line of an error that PyTorch makes of a worker's; the worker's traceback follows."""
_ended: list[BaseException] = []
"""The exception that left the program. Not `sys.last_value`: a console inside of the program sets that, too."""


def note_end(error: BaseException) -> None:
    """The program ends with an exception, `SystemExit` included."""
    _ended[:] = [error]


def keep_interrupted() -> None:
    """Let the process die by SIGINT where Ctrl-C has ended the program.

    Python notes an uncaught KeyboardInterrupt until it compiles text again, as a module that is imported at the exit may
    (`namedtuple` does), and then ends with exit code 1. This makes it note another one.
    """
    if any(isinstance(error, KeyboardInterrupt) for error in _ended):
        with contextlib.suppress(KeyboardInterrupt):
            exec('raise KeyboardInterrupt')


def uncaught() -> str:
    """The exception that ended the program, as one line; '' if none did, or it left with success.

    Of an error that a framework made of a function's the function's, with RAISED_AS and the class that the program got.
    """
    error = next(iter(_ended), None)
    if error is None:
        return ''
    if isinstance(error, SystemExit):
        return _exit_text(error.code)
    with contextlib.suppress(Exception, SystemExit, GeneratorExit):     # the user's own __str__ may raise anything
        error_type, cause = type(error).__name__, error.__cause__
        if cause is not None and hasattr(error, 'node_def') and str(cause) in str(error):
            error = cause                           # what the function raised, not TensorFlow's error with all its text
        lines = [line.strip() for line in _COLOUR.sub('', str(error)).splitlines() if line.strip()] or ['']
        inner = next((line for line in lines if _ERROR.match(line)), '') if lines[0].endswith(':') else ''
        if lines[0] == _GRAPH and not inner:
            node = next((place for place, line in enumerate(lines) if _NODE.match(line)), 0)
            inner = f'{type(error).__name__}: {lines[node - 1]}' if node > 1 else ''
        lines[0] = _EAGER.sub('', _MAP.sub('', _FUNCTION.sub('', lines[0])))
        if (worker := _WORKER.match(lines[0])) is not None:
            return f'{_last_error(lines, worker[1])[:400]}{IN_PROCESS}{worker[2]}'
        if lines[0].startswith(_KERAS):
            inner = f'{type(error).__name__}: {next(iter(lines[1:]), lines[0])}'
        told = (inner or f'{type(error).__name__}: {lines[0]}').rstrip('.')[:500]
        return told if told.startswith(f'{error_type}:') else f'{told}{RAISED_AS}{error_type}'
    return type(error).__name__


def _last_error(lines: list[str], error_type: str) -> str:
    """The first line of the exception below a traceback."""
    frame = max((place for place, line in enumerate(lines) if line.startswith('File "')), default=0)
    name = re.compile(rf'(?:[\w.]*\.)?({error_type}(?::|$).*)')
    named = [match[1] for line in lines[frame:] if (match := name.match(line)) is not None]
    return named[0].rstrip('.') if named else error_type


def _exit_text(code: object) -> str:
    """The argument of `sys.exit` in words."""
    if code is None or (isinstance(code, int) and not code):
        return ''
    if isinstance(code, int):
        return f'exit code {int(code)}'
    with contextlib.suppress(Exception):            # `__str__` of the exit code may raise anything
        return f'SystemExit: {str(code).strip()}'[:500]
    return 'SystemExit'
