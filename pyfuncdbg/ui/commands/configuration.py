"""The user's configuration `config.toml`: defaults below the command line and the environment.

Read by the command line, the front ends and the inspector, which keeps its theme and layout there. It is data: nothing in it
runs. A mistake in the file is reported in one line, and the rest of it holds. Breakpoints are Python, and of one program:
they are in a file of their own (`observers/debug/breakpoints/file.py`).
"""
from __future__ import annotations

import contextlib
import json
import os
import re
import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyfuncdbg.errors import UsageError, nearest
from pyfuncdbg.ui.commands.byte_size import byte_size

_LARGEST = 1 << 20
UIS = ('auto', 'inspector', 'prompt', 'none')
"""Front ends for stops."""
Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Configuration:
    """The settings in the file.

    Attributes:
        ui: Front end at stops, as `--ui`.
        budget: Most bytes of a trace, as `--budget` is written; '' for the recorder's own limit.
        traces: Where traces go and are looked for, `~` allowed; '' for the current folder.
        theme: Of the inspector, by its name; '' for its own.
        pane: The pane of the inspector that has the keys first; '' for the source.
        zoomed: Whether this pane has the whole screen.
    """

    ui: str = 'auto'
    budget: str = ''
    traces: str = ''
    theme: str = ''
    pane: str = ''
    zoomed: bool = False


_TYPES: Mapping[str, type] = {name: type(getattr(Configuration(), name)) for name in Configuration.__slots__}


def location() -> Path | None:
    """The path of the file, whether it exists or not; None for a user without a home."""
    folder = os.environ.get('XDG_CONFIG_HOME', '')
    home = os.path.expanduser('~')
    if not os.path.isabs(folder):               # the XDG specification: another one is to be ignored
        folder = os.path.join(home, '.config') if os.path.isabs(home) else ''
    return Path(folder, 'pyfuncdbg', 'config.toml') if folder else None


def configuration(say: Say = lambda text: None) -> Configuration:
    """The settings of the user's file. Each mistake is reported in one line, and its setting is as without the file."""
    path = location()
    try:
        text = _text(path) if path is not None else None
        data = _parse(text) if text is not None else {}
    except (OSError, ValueError) as error:
        say(f'{path}: {_reason(error)}; the setting is ignored')
        return Configuration()
    fields: dict[str, Any] = {}
    for name, value in data.items():
        wrong = _mistake(name, value)
        if wrong:
            say(f'{path}: {wrong}')
        else:
            fields[name] = value
    return Configuration(**fields)


def keep(changes: Mapping[str, str | bool]) -> str:
    """Write some settings into the file, and leave all else in it as it is: comments, order, other settings.

    Returns:
        Why that could not be done, '' if it was. A damaged file is left alone.
    """
    path = location()
    if path is None:
        return 'no home folder'
    try:
        before = _text(path) or ''
        after = before
        for name, value in changes.items():
            after = _edit(after, name, value)
        if _parse(after) != {**_parse(before), **changes}:
            return f'{path}: its lines for {", ".join(changes)} cannot be changed here: edit the file'
        if after != before:
            _write(Path(os.path.realpath(path)), after)     # it may be a link into a repository
    except (OSError, ValueError) as error:
        return f'{path}: {_reason(error)}'
    return ''


def traces_folder(settings: Configuration | None = None) -> Path:
    """The folder where traces are made and looked for."""
    return Path(os.path.expanduser((settings if settings is not None else configuration()).traces))


def _text(path: Path) -> str | None:
    """The file; None if there is none.

    Raises:
        OSError: It cannot be read.
        ValueError: It is no file of settings.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)     # a pipe there would be waited for
    except (FileNotFoundError, NotADirectoryError):
        return None
    with open(descriptor, 'rb') as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise ValueError('no file')
        data = file.read(_LARGEST + 1)
    if len(data) > _LARGEST:
        raise ValueError(f'more than {_LARGEST >> 20} MB, not a file of settings')
    return data.decode('utf-8')


def _parse(text: str) -> dict[str, Any]:
    import tomllib
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ValueError(f'not TOML: {error}') from None


def _reason(error: OSError | ValueError) -> str:
    if isinstance(error, UnicodeDecodeError):
        return 'not TOML: the encoding is not UTF-8'
    return error.strerror or str(error) if isinstance(error, OSError) else str(error)


_WORDS = {str: 'a text', bool: 'true or false'}


def _mistake(name: str, value: Any) -> str:
    """The mistake in a setting, '' if there is none."""
    if name not in _TYPES:
        return f'no setting {name!r:.60}; there are {", ".join(_TYPES)}.{nearest(name, _TYPES, 1)}'
    if type(value) is not _TYPES[name]:
        return f'{name} is {value!r:.60}, expected {_WORDS[_TYPES[name]]}'
    if name == 'ui' and value not in UIS:
        return f'ui is {value!r:.60}, expected {", ".join(UIS)}.{nearest(str(value), UIS, 1)}'
    if name == 'budget':
        try:
            byte_size(str(value))
        except UsageError as error:
            return f'budget: {error}'
    return 'traces: a path cannot contain a null byte' if name == 'traces' and '\0' in str(value) else ''


def _edit(text: str, name: str, value: str | bool) -> str:
    """The text with this setting: on its line, or on a new one before the first table."""
    written = f'{name} = {json.dumps(value, ensure_ascii=False)}'
    lines = text.splitlines(keepends=True)
    end = next((index for index, line in enumerate(lines) if line.lstrip().startswith('[')), len(lines))
    for index, line in enumerate(lines[:end]):
        match = re.match(rf'{name}[ \t]*=[ \t]*("[^"]*"|\'[^\']*\'|true|false)(?P<rest>[ \t]*(#.*)?\r?\n?)$', line)
        if match:
            lines[index] = written + match['rest']
            return ''.join(lines)
    if lines[:end] and not lines[end - 1].endswith('\n'):
        lines[end - 1] += '\n'
    return ''.join([*lines[:end], written + '\n', *lines[end:]])


def _write(path: Path, text: str) -> None:
    """Whole or not at all, for the user alone."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    partial = path.with_name(f'{path.name}.{os.getpid()}')
    try:
        descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with open(descriptor, 'w', encoding='utf-8', newline='') as file:
            file.write(text)
            file.flush()
            os.fsync(descriptor)
        os.replace(partial, path)
    except OSError:
        with contextlib.suppress(OSError):
            partial.unlink()
        raise
