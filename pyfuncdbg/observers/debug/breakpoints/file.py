"""Breakpoints in a file: `.pyfuncdbg.toml` beside the script, which `breaks --save` writes and `breaks --load` reads.

Conditions and commands are Python, so a file that came with a downloaded program is never loaded by itself: only when the
user says so.
"""
from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyfuncdbg.errors import CommandError, nearest
from pyfuncdbg.hooks.program_arguments import program_name
from pyfuncdbg.observers.debug.breakpoints.breakpoint import Breakpoint
from pyfuncdbg.observers.debug.breakpoints.plain_fields import USUAL, fields_of
from pyfuncdbg.observers.debug.breakpoints.table import Breakpoints

NAME = '.pyfuncdbg.toml'
_TABLE = 'breakpoint'
_FIELDS: Mapping[str, type] = {'spec': str, 'if': str, 'timing': str, 'do': str, 'once': bool, 'every': int, 'after': int,
                               'enabled': bool, 'commands': list}
_LARGEST = 1 << 20


@dataclass(frozen=True, slots=True)
class FileReport:
    """Result of saving or loading a breakpoint file.

    Attributes:
        path: The file.
        action: 'saved' or 'loaded'.
        numbers: Of the breakpoints.
        left_out: Of those that were not, with the reason.
    """

    path: str
    action: str
    numbers: tuple[int, ...]
    left_out: tuple[str, ...] = ()


def beside_script() -> Path:
    """The path of the breakpoint file of the running program; it need not exist."""
    script = program_name()
    return Path(os.path.dirname(os.path.abspath(script)) if os.path.isfile(script) else '.', NAME)


def save(breakpoints: Breakpoints, path: Path) -> FileReport:
    """Write all breakpoints, in place of those that were in the file.

    Raises:
        CommandError: The file cannot be written, or is there and holds something else.
    """
    if path.exists():
        _read(path)                             # do not overwrite a file that another tool wrote
    saved: list[int] = []
    left_out: list[str] = []
    lines = ["# Breakpoints of pyfuncdbg. 'breaks --load' sets them; conditions and commands are Python.\n"]
    for number, entry in sorted(breakpoints.entries.items()):
        try:
            lines.append(_to_toml(fields_of(entry)))
        except CommandError as error:
            left_out.append(f'{number}: {error}')
        else:
            saved.append(number)
    partial = path.with_name(f'{path.name}.{os.getpid()}')
    try:
        partial.write_text('\n'.join(lines), encoding='utf-8')
        os.replace(partial, path)
    except (OSError, UnicodeEncodeError) as error:
        partial.unlink(missing_ok=True)
        raise CommandError(f'cannot write {str(path)!r}: {getattr(error, "strerror", None) or error}') from None
    return FileReport(str(path), 'saved', tuple(saved), tuple(left_out))


def load(breakpoints: Breakpoints, path: Path) -> FileReport:
    """Set the breakpoints of a file, but for those that are set already. None is set if one of them cannot be.

    Raises:
        CommandError: The file is not there, cannot be read, or holds something else.
    """
    set_: list[int] = []
    left_out: list[str] = []
    for index, fields in enumerate(_read(path), 1):
        existing = {_key(entry.breakpoint) for entry in list(breakpoints.entries.values())}
        try:
            breakpoint = breakpoints.set_fields(fields)
        except CommandError as error:
            for number in set_:
                breakpoints.clear(number)
            raise CommandError(f'{path}: breakpoint {index} of the file: {error}') from None
        if _key(breakpoint) in existing:
            breakpoints.clear(breakpoint.number)
            left_out.append(f'{breakpoint}: is set already')
        else:
            set_.append(breakpoint.number)
    return FileReport(str(path), 'loaded', tuple(set_), tuple(left_out))


def _key(one: Breakpoint) -> tuple[Any, ...]:
    return one.spec, one.when, one.timing, one.do, one.boundary


def _to_toml(fields: Mapping[str, Any]) -> str:
    # JSON's strings, numbers, booleans and lists of these are TOML's too, but for one control character.
    body = [f'{name} = {json.dumps(value, ensure_ascii=False)}'.replace('\x7f', '\\u007F') for name, value in fields.items()
            if USUAL.get(name, ...) != value]
    return '\n'.join([f'[[{_TABLE}]]', *body, ''])


def _read(path: Path) -> list[dict[str, Any]]:
    """The tables of a file, each with known fields of the right types.

    Raises:
        CommandError: It is not there, or it is not such a file.
    """
    try:
        with open(path, 'rb') as file:
            data = file.read(_LARGEST + 1)
    except OSError as error:
        raise CommandError(f'cannot read {str(path)!r}: {error.strerror or error}') from None
    if len(data) > _LARGEST:
        raise CommandError(f'{path}: more than {_LARGEST >> 20} MB, not a file of breakpoints')
    try:
        content = tomllib.loads(data.decode('utf-8'))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise CommandError(f'{path}: not TOML: {error}') from None
    tables = content.get(_TABLE, [])
    wrong = [name for name in content if name != _TABLE]
    if wrong or not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        what = f'{wrong[0]!r}' if wrong else f'{_TABLE!r} of another form'
        raise CommandError(f'{path}: holds {what}, and a file of breakpoints has tables [[{_TABLE}]] only')
    for index, table in enumerate(tables, 1):
        _check(path, index, table)
    return tables


def _check(path: Path, index: int, table: Mapping[str, Any]) -> None:
    place = f'{path}: breakpoint {index} of the file'
    if 'spec' not in table:
        raise CommandError(f"{place}: no 'spec'")
    for name, value in table.items():
        if name not in _FIELDS:
            raise CommandError(f'{place}: no field {name!r}; there are {", ".join(_FIELDS)}.{nearest(name, _FIELDS, 1)}')
        lines = table['commands'] if name == 'commands' and type(value) is list else ()
        if type(value) is not _FIELDS[name] or not all(isinstance(line, str) for line in lines):
            expected = 'a list of str' if name == 'commands' else _FIELDS[name].__name__
            raise CommandError(f'{place}: {name!r} is {value!r:.60}, expected {expected}')
