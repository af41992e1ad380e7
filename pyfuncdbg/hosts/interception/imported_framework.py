"""The imported framework that a host attaches to: its version, its modules and each private name, checked before any use."""
from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from typing import Any, NamedTuple

from pyfuncdbg.errors import AttachError

Release = tuple[int, int]
ModuleNames = Mapping[str, tuple[str, str]]
"""By part: the name of a module, and the attributes of it that are used."""
MemberNames = Mapping[tuple[str, str], str]
"""By part and class of it: the attributes of the class that are used."""


class ImportedFramework(NamedTuple):
    """A framework that this process has imported.

    Attributes:
        version: Of the framework.
        release: The first two numbers of it.
        complaint: Beginning of the error if something is missing.
    """

    version: str
    release: Release
    complaint: str

    def modules(self, names: ModuleNames, members: MemberNames) -> dict[str, Any]:
        """Look up modules with all that is used of them.

        Args:
            names: The modules.
            members: Attributes of their classes.

        Returns:
            The modules by part.

        Raises:
            AttachError: One is not loaded, or lacks an attribute.
        """
        found: dict[str, Any] = {}
        for part, (name, attributes) in names.items():
            found[part] = module = sys.modules.get(name)
            if module is None:
                raise AttachError(f'{self.complaint}: it has not loaded {name}')
            self._require(module, name, attributes)
        for (part, kind), attributes in members.items():
            name, _ = names[part]
            self._require(getattr(found[part], kind), f'{name}.{kind}', attributes)
        return found

    def _require(self, owner: Any, name: str, attributes: str) -> None:
        for attribute in attributes.split():
            if not hasattr(owner, attribute):
                raise AttachError(f'{self.complaint}: {name} has no {attribute}')


def imported_framework(name: str, title: str, oldest: Release, newest: Release, *,
                       tries_newer: bool = False) -> ImportedFramework:
    """The framework that this process has imported.

    Args:
        name: Of its package.
        title: As its documentation writes it.
        oldest, newest: Releases that are supported.
        tries_newer: Whether a newer one may have all that is used, too.

    Raises:
        AttachError: It is not imported, or of another version.
    """
    package = sys.modules.get(name)
    if package is None:
        raise AttachError(f'{name} is not imported')
    where = getattr(package, '__file__', None) or 'of no file'
    broken = f'the imported {name} ({where}) is not complete'
    version = getattr(package, '__version__', None)
    if not isinstance(version, str) or not version:
        raise AttachError(f'{broken}: it has no __version__')
    match = re.match(r'(\d+)\.(\d+)', version)
    release = (int(match[1]), int(match[2])) if match is not None else (0, 0)
    expected = f'{oldest[0]}.{oldest[1]} ' + ('or newer' if tries_newer else f'to {newest[0]}.{newest[1]}')
    if release < oldest or (release > newest and not tries_newer):
        raise AttachError(f'{title} {version} is not supported, expected {expected}')
    return ImportedFramework(str(version), release, broken if release <= newest else f'{title} {version} is not supported')
