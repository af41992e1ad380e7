"""Structure of what a run calls: its modules.

Each has the names, types and shapes of its own parameters and buffers. A host gives them with the site of the run, as plain
data; on the thread of the first such run.
"""
from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

MODULES = 'modules'
"""Attribute of a site of runs: the modules, outermost first, as `plain` makes them."""
LEFT_OUT = 'modules_left_out'
"""Attribute of a site of runs: how many further modules there are."""
MOST = 1000
"""Modules of a run that are recorded."""


@dataclass(frozen=True, slots=True)
class ModuleMember:
    """A parameter or buffer.

    Attributes:
        name: Within its module.
        dtype: Of its elements.
        shape: None where it has none yet.
        kind: 'parameter', 'frozen' for one that takes no gradient, 'buffer'.
    """

    name: str
    dtype: str
    shape: tuple[int, ...] | None
    kind: str


@dataclass(frozen=True, slots=True)
class ModuleStructure:
    """One module.

    Attributes:
        path: Within the outermost one, whose own is ''.
        kind: Its class.
        members: Its own, not those of modules within it.
    """

    path: str
    kind: str
    members: tuple[ModuleMember, ...]


def plain(modules: Iterable[ModuleStructure]) -> tuple[Any, ...]:
    """Modules as plain data, as flat as a trace takes it.

    Args:
        modules: In order.

    Returns:
        Of each its path and class, and the fields of its members behind these.
    """
    return tuple([(one.path, one.kind, *[field for member in one.members for field in (
        member.name, member.dtype, member.shape, member.kind)]) for one in modules])


def modules_of(attrs: Mapping[str, Any]) -> tuple[ModuleStructure, ...]:
    """The modules in the attributes of a recorded site.

    Args:
        attrs: The attributes.

    Returns:
        The modules; () where there are none, or data of another form.
    """
    try:
        return tuple([ModuleStructure(str(path), str(kind), tuple([_member(fields[at:at + 4])
                                                                   for at in range(0, len(fields), 4)]))
                      for path, kind, *fields in attrs.get(MODULES) or ()])
    except (TypeError, ValueError):             # a damaged trace
        return ()


def _member(fields: Sequence[Any]) -> ModuleMember:
    name, dtype, shape, kind = fields
    return ModuleMember(str(name), str(dtype), None if shape is None else tuple([int(size) for size in shape]), str(kind))
