"""Control dependencies: ops that a new node waits for beside those of its inputs.

A `Graph` has one stack of groups; it changes only under the graph's own scopes, on the thread that builds.
"""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from pyfuncdbg.hooks.public_function import context_hiding_own_frames


class Group:
    """The ops named by one `control_dependencies`, and the nodes made under it."""

    __slots__ = ('made', 'ops')

    def __init__(self, ops: Sequence[Any]) -> None:
        self.ops = tuple(ops)
        self.made: set[Any] = set()


class ControlStack:
    """The groups in force, outermost first."""

    __slots__ = ('groups',)

    def __init__(self) -> None:
        self.groups: list[Group] = []

    @context_hiding_own_frames
    def entered(self, ops: Sequence[Any] | None) -> Iterator[None]:
        """Under one more group; None: under none at all."""
        before = self.groups
        self.groups = [] if ops is None else [*before, Group(ops)]
        try:
            yield
        finally:
            self.groups = before

    def wanted(self, producers: set[Any]) -> list[Any]:
        """The control inputs of a node whose inputs come from `producers`: a group that one of these was made under, or
        is an op of, is waited for anyway."""
        found: dict[Any, None] = {}
        for group in self.groups:
            if not any(op in group.made for op in producers):
                found.update(dict.fromkeys(op for op in group.ops if op not in producers))
        return list(found)

    def add(self, op: Any) -> None:
        """A node was made under the groups in force."""
        for group in self.groups:
            group.made.add(op)
