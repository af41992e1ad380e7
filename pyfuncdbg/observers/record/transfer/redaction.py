"""Redaction of a trace that is to be sent: values, source text, or paths are removed.

Works on the decoded records of a log, one after the other, on the thread that copies.
"""
from __future__ import annotations

import getpass
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pyfuncdbg.observers.record.dtypes import STRING
from pyfuncdbg.observers.record.log.batch_rows import HIDDEN, RowContent
from pyfuncdbg.observers.record.records import HOST, OPS, SWITCH, TRIP
from pyfuncdbg.observers.record.snapshots.call_state import GENERATORS, VALUES
from pyfuncdbg.observers.record.snapshots.site_notes import TRAITS

_PATH = re.compile(r'''(?<![\w./~-])(/(?:[^/\s'"<>|:;,()\[\]{}*?]+/)*)([^/\s'"<>|:;,()\[\]{}*?]+)''')
_USER = re.compile(r'/(?:home|Users)/([^/\s\'"]+)')
_SHORTEST_NAME = 2
_HARMLESS_NOTES = frozenset((HOST, OPS, SWITCH, TRIP))
"""Notes without text of the program."""
_DEEPEST = 50


@dataclass(frozen=True, slots=True)
class Redaction:
    """Kinds of content to remove.

    Attributes:
        values: Elements of tensors, variables, printed text, messages of exceptions, states.
        source: Lines of the program.
        paths: Folders, names of users and of the machine.
    """

    values: bool = False
    source: bool = False
    paths: bool = False

    def __bool__(self) -> bool:
        return self.values or self.source or self.paths


NO_REDACTION = Redaction()


class PathRedaction:
    """Replacement of absolute paths and private names in text; the same path becomes the same text everywhere."""

    def __init__(self) -> None:
        self._folders: dict[str, str] = {}
        self._names: dict[str, str] = {}
        self._pattern: re.Pattern[str] | None = None
        for name in (_own_name(), os.path.basename(os.path.expanduser('~'))):
            self.add_name(name, 'user')

    def add_name(self, name: str, replacement: str) -> None:
        """Add a name that is to be replaced wherever it is a word.

        Args:
            name: Of a user, or of a machine.
            replacement: What it becomes.
        """
        if len(name) >= _SHORTEST_NAME and name != 'root':
            self._names.setdefault(name, replacement)
            names = '|'.join(re.escape(one) for one in sorted(self._names, key=len, reverse=True))
            self._pattern = re.compile(rf'(?<![A-Za-z0-9])(?:{names})(?![A-Za-z0-9])')

    def learn(self, value: Any) -> None:
        """Note the names of users in the paths of a record.

        Args:
            value: Plain data.
        """
        for text in _texts(value):
            for name in _USER.findall(text):
                self.add_name(name, 'user')

    def text(self, text: str) -> str:
        """Redact a text.

        Args:
            text: Any.

        Returns:
            'folder1/model.py' for '/home/me/model.py'.
        """
        text = _PATH.sub(self._relative, text)
        return text if self._pattern is None else self._pattern.sub(lambda match: self._names[match[0]], text)

    def _relative(self, match: re.Match[str]) -> str:
        folder = self._folders.setdefault(match[1], f'folder{len(self._folders) + 1}')
        return f'{folder}/{match[2]}'

    def data(self, value: Any, depth: int = 0) -> Any:
        """Redact all text in a record.

        Args:
            value: Plain data.
            depth: Of the containers around it.

        Returns:
            The same with other text.
        """
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, bytes):
            return self.bytes(value)
        if isinstance(value, list) and depth < _DEEPEST:
            return [self.data(item, depth + 1) for item in value]
        if isinstance(value, dict) and depth < _DEEPEST:
            return {self.data(key, depth + 1): self.data(item, depth + 1) for key, item in value.items()}
        return value

    def bytes(self, data: bytes) -> bytes:
        """Redact bytes that are text.

        Args:
            data: Any.

        Returns:
            The same where they are none.
        """
        try:
            return self.text(data.decode()).encode()
        except UnicodeDecodeError:
            return data


def _own_name() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):                 # of a user that the system does not know
        return ''


def _texts(value: Any) -> list[str]:
    texts, waiting = [], [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            texts.append(item)
        elif isinstance(item, list):
            waiting += item
        elif isinstance(item, dict):
            waiting += [*item, *item.values()]
    return texts


class RecordRedaction:
    """Replacement of the records of a log by what is left of them.

    Args:
        redaction: What to remove.
        paths: Replaces text, if paths are removed.
        text_tensor: Stores another content of a text tensor: takes its description, and gives one.
    """

    def __init__(self, redaction: Redaction, paths: PathRedaction, text_tensor: Callable[[list[Any]], list[Any]]) -> None:
        self._redaction = redaction
        self._paths = paths
        self._text_tensor = text_tensor

    def content(self) -> RowContent:
        """What becomes of calls.

        Returns:
            For `take_rows`.
        """
        return RowContent(self._tensor, self._output, self._error, self._redaction.values)

    def _tensor(self, entry: list[Any]) -> list[Any]:
        if self._redaction.values:
            return [*entry[:3], 0, None, entry[5], HIDDEN, None, False]
        if self._redaction.paths and entry[0] == STRING:
            return self._text_tensor(entry)
        return entry

    def _output(self, entries: Any) -> Any:
        if self._redaction.values:
            return None
        return self._paths.data(entries) if self._redaction.paths else entries

    def _error(self, fields: Any) -> Any:
        """[type, message, frames, traceback, variables, numbers of texts]."""
        if not isinstance(fields, list) or len(fields) < 4:
            return fields
        kind, message, frames, traceback, *more = fields
        if self._redaction.values:
            message, traceback, more = HIDDEN, '', [[], *more[1:]]
        if self._redaction.source:
            traceback = ''
        if self._redaction.paths:
            kind, message, frames, traceback = (self._paths.data(part) for part in (kind, message, frames, traceback))
            more = [self._variables(more[0]), *more[1:]] if more else more
        return [kind, message, frames, traceback, *more]

    def _variables(self, fields: Any) -> Any:
        """[descriptions, frames]: of the first only text tensors hold text."""
        if not isinstance(fields, list) or len(fields) != 2 or not isinstance(fields[0], list):
            return []
        return [[self._tensor(entry) for entry in fields[0]], self._paths.data(fields[1])]

    def process(self, fields: list[Any]) -> list[Any]:
        """A process record.

        Args:
            fields: Of it.

        Returns:
            What is left.
        """
        if self._redaction.paths:
            fields = [*fields[:2], self._paths.data(fields[2]), fields[3], 'host', *fields[5:7],
                      *(self._paths.data(part) for part in fields[7:])]
        if self._redaction.values and isinstance(fields[2], list):      # arguments may be secrets
            fields = [*fields[:2], fields[2][:1], *fields[3:]]
        return fields

    def process_line(self, fields: dict[str, Any]) -> dict[str, Any]:
        """A line of the list of processes.

        Args:
            fields: Of it.

        Returns:
            What is left.
        """
        command = fields.get('command')
        if self._redaction.paths:
            hosts = {'host': 'host'} if 'host' in fields else {}
            fields = {**self._paths.data({name: value for name, value in fields.items() if name != 'ranks'}), **hosts}
        if self._redaction.values and isinstance(command, list):
            fields = {**fields, 'command': fields['command'][:1], 'ranks': {}}
        if self._redaction.values and isinstance(error := fields.get('error'), str):
            fields = {**fields, 'error': error.partition(':')[0]}
        return fields

    def site(self, fields: list[Any]) -> list[Any]:
        """A site record: its attributes are those of a node, and may hold values.

        Args:
            fields: Of it.

        Returns:
            What is left.
        """
        if self._redaction.values and len(fields) > 12 and isinstance(fields[12], dict):
            attrs = {name: value for name, value in fields[12].items() if name == TRAITS or isinstance(value, bool | int)}
            fields = [*fields[:12], attrs, *fields[13:]]
        redacted: list[Any] = self.plain(fields)
        return redacted

    def plain(self, value: Any) -> Any:
        """A record whose text may hold paths, and nothing else.

        Args:
            value: Its content.

        Returns:
            What is left.
        """
        return self._paths.data(value) if self._redaction.paths else value

    def source(self, fields: list[Any]) -> list[Any]:
        """A record of source lines: [number, file, size, key, lines].

        Args:
            fields: Of it.

        Returns:
            What is left; the file's name stays.
        """
        if self._redaction.source:
            fields = [*fields[:2], 0, b'', []]
        return [fields[0], self.plain(fields[1]), *fields[2:4], self.plain(fields[4])] if self._redaction.paths else fields

    def note(self, fields: list[Any]) -> list[Any] | None:
        """A note.

        Args:
            fields: Kind, time and data.

        Returns:
            What is left; None for nothing.
        """
        if (self._redaction.values or self._redaction.source) and fields[0] not in _HARMLESS_NOTES:
            return None
        return [fields[0], fields[1], self.plain(fields[2])] if self._redaction.paths else fields

    def keeps_state(self, kind: Any) -> bool:
        """Whether a state that calls began in stays.

        Args:
            kind: Of it.

        Returns:
            True if it holds nothing that is to be removed.
        """
        if self._redaction.values:
            return False
        return kind == GENERATORS if self._redaction.paths else kind != VALUES or not self._redaction.source
