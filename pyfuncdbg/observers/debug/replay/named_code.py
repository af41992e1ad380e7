"""Code that a recorded state names: functions and classes of the program and of installed packages.

Found in the encoded values, before anything is imported or run, to tell the user what a replay will run.
"""
from __future__ import annotations

import importlib.metadata
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyfuncdbg.observers.record.snapshots import value_encoding as tags

_PACKAGES = re.compile(r'/(?:site|dist)-packages/([^/]+)')
_MORE = ', '
_CONTAINERS = frozenset((tags.LIST, tags.TUPLE, tags.SET, tags.FROZENSET, tags.DICT))


@dataclass(frozen=True, slots=True)
class NamedCode:
    """A function, class or module.

    Attributes:
        module: Its module.
        name: Its qualified name, '' of the module itself.
        filename: File of a function with Python code, as the trace names it; else ''.
    """

    module: str
    name: str
    filename: str = ''


def named_code(encoded: Any) -> Iterator[NamedCode]:
    """The functions and classes that an encoded value names, the outer ones first.

    Args:
        encoded: A tag and plain data; what is damaged is left out.

    Yields:
        Each.
    """
    pending = [encoded]
    while pending:
        value = pending.pop()
        if not isinstance(value, list) or not value or not isinstance(value[0], str):
            continue
        tag, *parts = value
        if tag == tags.FUNCTION and len(parts) == 8:
            module, name, filename, _, _, cells, defaults, keyword_defaults = parts
            yield NamedCode(str(module), str(name), str(filename))
            pending += reversed([*_second(cells), *_items(defaults), *_second(keyword_defaults)])
        elif tag == tags.OBJECT and len(parts) == 3:
            yield NamedCode(str(parts[0]), str(parts[1]))
            pending += reversed(_second(parts[2]))
        elif tag == tags.NAMED and len(parts) == 2:
            yield NamedCode(str(parts[0]), str(parts[1]))
        elif tag in _CONTAINERS and parts:
            pending += reversed([one for part in _items(parts[0]) for one in (
                _items(part) if tag == tags.DICT else [part])])
        elif tag in (tags.METHOD, tags.PARTIAL, tags.DECORATED):
            pending += reversed(parts)


def _items(values: Any) -> list[Any]:
    return values if isinstance(values, list) else []


def _second(pairs: Any) -> list[Any]:
    """The values of pairs of a name and a value."""
    return [pair[1] for pair in _items(pairs) if isinstance(pair, list) and len(pair) == 2]


def describe_replay(own: NamedCode, path: str, others: Sequence[NamedCode]) -> str:
    """What a replay will run, as a sentence for the user.

    Args:
        own: The function of the call.
        path: Its file on this machine, in words; '' if it has none.
        others: What its state names beside it.

    Returns:
        The sentence without a full stop.
    """
    package = package_of(path)
    name = own.name if path or own.filename or own.module in ('', '__main__') else f'{own.module}.{own.name}'
    parts = [f'replay runs {name}', *([f' of {package}'] if package else []), *([f' ({path})'] if path else []),
             ' on recorded data']
    packages = dict.fromkeys([f'{code.name} of {used}' for code in others if (used := package_of(code.filename))])
    if packages:
        parts.append(f', and with it {", ".join(packages)}')
    modules = dict.fromkeys([code.module for code in others if code.module not in (own.module, '__main__', *sys.modules)])
    if modules:
        parts.append(f'; it imports {", ".join(modules)}')
    return ''.join(parts)


def describe_runs(command: str, functions: Sequence[tuple[str, str]]) -> str:
    """What a command will run, as a sentence for the user.

    Args:
        command: Its name.
        functions: Name and file of each.

    Returns:
        The sentence without a full stop.
    """
    return f'{command} runs {_functions_text(functions)} on recorded data'


def describe_replays(functions: Sequence[tuple[str, str]], calls: int) -> str:
    """What replays of many calls will run, as a sentence for the user.

    Args:
        functions: Name and file of each.
        calls: How many calls there are.

    Returns:
        The sentence without a full stop.
    """
    return f'replay runs {_functions_text(functions)} on the recorded data of {calls:,} call{"s" if calls != 1 else ""}'


def _functions_text(functions: Sequence[tuple[str, str]]) -> str:
    files = dict.fromkeys([package_of(filename) or filename for _, filename in functions if filename])
    which = functions[0][0] if len(functions) == 1 else f'{len(functions)} functions'
    return f'{which}{f" of {_MORE.join(files)}" if files else ""}'


def package_of(path: str) -> str:
    """The installed package of a file, with its version.

    Args:
        path: Of the file.

    Returns:
        'scipy 1.14.0', 'scipy' where the version cannot be had, '' of a file that is of no package.
    """
    match = _PACKAGES.search(path.replace('\\', '/'))
    if match is None:
        return ''
    module = Path(match[1]).stem if match[1].endswith('.py') else match[1]
    for name in (module, *importlib.metadata.packages_distributions().get(module, ())):
        try:
            return f'{name} {importlib.metadata.version(name)}'
        except importlib.metadata.PackageNotFoundError:
            continue
    return module
