"""The exception that ended the program, as one line. Asked at its exit, on its main thread."""
from __future__ import annotations

import contextlib
import re
import sys

_ERROR = re.compile(r'\w+(Error|Exception): ')
"""In a message of AutoGraph or TensorFlow that begins with 'in user code:' or 'Graph execution error:'."""
_GRAPH = 'Graph execution error:'
"""How the message of a node's error begins; what was wrong comes after the places where the node was made."""
_NODE = re.compile(r'^\s*\[\[\{\{node ')
_FUNCTION = re.compile(r'^\{\{function_node [^}]*\}\} ')
"""What runs functions says which one it was, by a name that it has made up."""
_KERAS = 'Exception encountered when calling '
"""How the message of an error in a layer begins; what was wrong is on the next line, in bold."""
_COLOUR = re.compile('\x1b\\[[0-9;]*m')


def uncaught() -> str:
    """The exception that ended the program, as one line; '' if none did."""
    error = getattr(sys, 'last_value', None)
    if not isinstance(error, BaseException):
        return ''
    error = error.__cause__ or error                # what the function raised, not TensorFlow's error with all its text
    with contextlib.suppress(Exception):            # the user's own __str__ may raise anything
        lines = [line.strip() for line in _COLOUR.sub('', str(error)).splitlines() if line.strip()] or ['']
        inner = next((line for line in lines if _ERROR.match(line)), '') if lines[0].endswith(':') else ''
        if lines[0] == _GRAPH and not inner:
            node = next((place for place, line in enumerate(lines) if _NODE.match(line)), 0)
            inner = f'{type(error).__name__}: {lines[node - 1]}' if node > 1 else ''
        lines[0] = _FUNCTION.sub('', lines[0])
        if lines[0].startswith(_KERAS):
            inner = f'{type(error).__name__}: {next(iter(lines[1:]), lines[0])}'
        return (inner or f'{type(error).__name__}: {lines[0]}').rstrip('.')[:500]
    return type(error).__name__
