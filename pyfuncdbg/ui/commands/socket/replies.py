"""Reader of a program's messages on the command socket: fields have their types, or the message is refused.

Pure; called by clients, on the thread that receives.
"""
from __future__ import annotations

import json
import math
from typing import Any, NoReturn

from pyfuncdbg.ui.commands.socket.protocol import ProtocolError
from pyfuncdbg.ui.views.escape import one_line

# A shape is a type (`object`: anything), None, a tuple of alternatives, a list of one kind, or a dict of required fields.
_STOP = {'number': int, 'phase': str, 'at': str, 'reason': str, 'thread': int, 'thread_name': str, 'run': (int, None),
         'call': ({'number': int, 'site': str, 'ordinal': int}, None),
         'where': ({'file': str, 'line': (int, None), 'function': str}, None)}
_EVENTS: dict[str, dict[str, Any]] = {
    'hello': {'protocol': int, 'pid': int, 'program': [str], 'client': int, 'waiting': bool, 'stop': (_STOP, None)},
    'stopped': {'stop': _STOP},
    'resumed': {'stop': int, 'verb': str, 'by': int},
    'log': {'text': str},
    'ended': {}}
_ANSWER = {'id': (int, str, None), 'text': str, 'data': object, 'error': (str, None), 'command': str, 'stop': (_STOP, None),
           'left': (int, None), 'completions': [str], 'start': int, 'trace': str, 'later': [str], 'printed': str}
_ABSENT: dict[str, Any] = {'id': None, 'text': '', 'data': None, 'error': None, 'command': '', 'stop': None, 'left': None,
                           'completions': [], 'start': 0, 'trace': '', 'later': [], 'printed': ''}
"""Values of fields that an answer leaves out."""
_LARGEST = 1 << 63


def reply(line: bytes) -> dict[str, Any]:
    """Read an event or an answer; an answer has all fields that answers may have.

    Raises:
        ProtocolError: It is neither; says why.
    """
    try:
        message: dict[str, Any] = json.loads(line, parse_constant=_refuse, parse_float=_finite)
    except (ValueError, RecursionError) as error:           # a UnicodeDecodeError is a ValueError
        raise ProtocolError(f'a line that is not JSON ({type(error).__name__})') from None
    if not isinstance(message, dict):
        raise ProtocolError(f'a {type(message).__name__} instead of a JSON object')
    if 'event' in message:
        kind = message['event']
        shape = _EVENTS.get(kind) if isinstance(kind, str) else None
        if shape is None:
            raise ProtocolError(f'an unknown event {one_line(repr(kind), 40)}')
        name = f'event {kind!r}'
    else:
        message, shape, name = _ABSENT | message, _ANSWER, 'answer'
    for field, expected in shape.items():
        if field not in message or not _fits(message[field], expected):
            raise ProtocolError(f'an {name} whose {field!r} is missing or of the wrong kind')
    return message


def _fits(value: Any, shape: Any) -> bool:
    if isinstance(shape, tuple):
        return any(_fits(value, one) for one in shape)
    if isinstance(shape, list):
        return isinstance(value, list) and all(_fits(one, shape[0]) for one in value)
    if isinstance(shape, dict):
        return isinstance(value, dict) and all(field in value and _fits(value[field], one) for field, one in shape.items())
    if shape is int:
        return isinstance(value, int) and not isinstance(value, bool) and abs(value) < _LARGEST
    return value is None if shape is None else isinstance(value, shape)


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError(digits)
    return number
