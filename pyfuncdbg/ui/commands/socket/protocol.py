"""Protocol of the command socket: JSON objects, one a line, in both directions; never a pickle.

A client sends requests. Each has an `id` of the client's choice, which its answer carries:

    {"id": 1, "attach": true}                                   stops of the program go to this client from now on
    {"id": 2, "line": "bt", "width": 100, "color": true}        a command, drawn for that width; a block has several lines
    {"id": 3, "complete": "br", "position": 2}                  how a line could go on
    {"cancel": 2}                                               break off this request, if it is under way or waits
    {"id": 5, "detach": true}                                   stops go elsewhere; what waits for this client goes on
    {"id": 6, "trace": true}                                    where the trace of the program is, written up to now

    {"id": 2, "text": "...", "data": ..., "error": null, "command": "bt", "stop": {...}, "left": null}
    {"id": 3, "completions": ["break", "breaks"], "start": 0}
    {"id": 6, "trace": "/tmp/pyfuncdbg-x/live.pfd", ...}

`stop` is the one that commands act on now, `left` the number of the stop that this command has ended, null for none; `later`
has the remaining lines of an alias, for the client to send. `printed` is what the command printed, which the program's own
stdout does not get.
A `cancel` is not answered; what it breaks off is. The program sends events whenever there is one:

    {"event": "hello", "protocol": 1, "pid": 71, "program": ["train.py"], "client": 1, "waiting": false,
     "stop": null}
    {"event": "stopped", "stop": {...}}                         {"event": "resumed", "stop": 3, "verb": "cont", "by": 1}
    {"event": "log", "text": "..."}                             {"event": "ended"}

Pure; used by both sides.
"""
from __future__ import annotations

import contextlib
import json
from dataclasses import dataclass
from typing import Any, Literal

from pyfuncdbg.errors import CommandError

VERSION = 1
LONGEST = 1 << 16
"""Bytes of a request, its newline not counted."""
MOST_HELD = 16 << 20
"""Bytes that wait for a client; one that lets more pile up is cut off. So no message is longer."""
_LONGEST_CANCEL = 200
_WIDEST = 10_000

Verb = Literal['line', 'complete', 'attach', 'detach', 'trace']


class ProtocolError(CommandError):
    """A line that is no request."""


@dataclass(frozen=True, slots=True)
class Request:
    """A client's request.

    Attributes:
        id: The client's number for it, null if it gave none.
        verb: Which kind of request.
        text: The command line, or the text to complete.
        position: Of the cursor in that text.
        width: Columns that the answer may take.
        color: Whether it may have colours.
    """

    id: int | str | None
    verb: Verb
    text: str = ''
    position: int = 0
    width: int = 100
    color: bool = False


def encode(message: dict[str, Any]) -> bytes:
    """One message as it is sent."""
    return json.dumps(message, allow_nan=False).encode('ascii') + b'\n'


def request(line: bytes) -> Request:
    """Read a request.

    Raises:
        ProtocolError: It is none; says why.
    """
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError) as error:           # a UnicodeDecodeError is a ValueError
        raise ProtocolError(f'expected a line of JSON: {type(error).__name__}') from None
    if not isinstance(fields, dict):
        raise ProtocolError(f'a request must be a JSON object, not a {type(fields).__name__}')
    id = fields.get('id')
    if not (id is None or (isinstance(id, int | str) and len(str(id)) <= 64)):
        raise ProtocolError('"id" must be a short number or string')
    verb: Verb
    for verb in ('attach', 'detach', 'trace'):
        if fields.get(verb) is True:
            return Request(id, verb)
    if 'line' in fields:
        return Request(id, 'line', _text(fields['line'], 'line', block=True), 0,
                       _number(fields.get('width', 100), 'width', 20, _WIDEST), fields.get('color') is True)
    if 'complete' in fields:
        text = _text(fields['complete'], 'complete')
        return Request(id, 'complete', text, _number(fields.get('position', len(text)), 'position', 0, len(text)))
    if 'cancel' in fields:
        raise ProtocolError('"cancel" must be the "id" of the request to cancel')
    raise ProtocolError('a request must have "line", "complete", "attach", "detach", "cancel" or "trace"')


def cancelled_id(line: bytes) -> int | str | None:
    """The id of the request that a line breaks off; None if it is no `cancel`, and to be read as a request."""
    if len(line) > _LONGEST_CANCEL or b'"cancel"' not in line:
        return None
    with contextlib.suppress(ValueError, RecursionError):
        given = json.loads(line)
        number = given.get('cancel') if isinstance(given, dict) and not {'line', 'complete'} & given.keys() else None
        if isinstance(number, int | str) and not isinstance(number, bool):
            return number
    return None


def _text(value: Any, name: str, *, block: bool = False) -> str:
    if not isinstance(value, str):
        raise ProtocolError(f'"{name}" must be a string')
    if ('\n' in value and not block) or '\r' in value:
        raise ProtocolError(f'"{name}" must be one line')
    return value


def _number(value: Any, name: str, least: int, most: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise ProtocolError(f'"{name}" must be an integer')
    return min(max(value, least), most)


class LineBuffer:
    """Buffer that joins pieces of input to lines, in linear time and bounded memory.

    Args:
        longest: Most bytes of a line.
    """

    def __init__(self, longest: int = LONGEST) -> None:
        self._longest = longest
        self._begun = bytearray()
        self._skips = False                     # the rest of a line that was too long

    def feed(self, data: bytes) -> list[bytes]:
        """The lines that are complete now, without their ends.

        One that is too long comes as soon as that is known, cut one byte behind the limit; its rest is skipped.
        """
        lines: list[bytes] = []
        *parts, rest = data.split(b'\n')
        for part in parts:
            self._extend(part, lines)
            if not self._skips:
                lines.append(bytes(self._begun))
                self._begun.clear()
            self._skips = False
        self._extend(rest, lines)
        return lines

    def _extend(self, part: bytes, lines: list[bytes]) -> None:
        if not self._skips:
            self._begun += part
            if len(self._begun) > self._longest:
                lines.append(bytes(self._begun[:self._longest + 1]))
                self._begun.clear()
                self._skips = True
