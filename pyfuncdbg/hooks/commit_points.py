"""Commit points: moments at which a host knows that its process may be killed soon; recorders write what waits.

Called on any thread of the program, between calls.
"""
from __future__ import annotations

from collections.abc import Callable

Commit = Callable[[bool], None]
"""Writes what waits: at once if the argument is true, else soon and on another thread."""
_commits: list[Commit] = []


def add(commit: Commit) -> None:
    """Call `commit` at each commit point from now on."""
    if commit not in _commits:
        _commits.append(commit)


def remove(commit: Commit) -> None:
    """Call `commit` no more; an unknown one is ignored."""
    if commit in _commits:
        _commits.remove(commit)


def reach(at_once: bool) -> None:
    """Let everything be written that waits.

    Args:
        at_once: Return when it is written.
    """
    for commit in list(_commits):
        commit(at_once)
