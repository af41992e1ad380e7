"""Forked processes: recorders that follow a fork into the child, each into a log of its own.

The handlers run on the thread that forks. The parent's writer thread is ended before the fork and started again by the next
call, so a program of one thread is one when it forks, as Python 3.12 wants it, and no lock of ours is held across it.
"""
from __future__ import annotations

import os
import sys
from typing import Protocol


class Follower(Protocol):
    """What takes part in a fork."""

    def before_fork(self) -> None:
        """In the parent, before it forks."""

    def after_fork(self) -> None:
        """In the child."""

    def stop(self) -> None:
        """When a child process ends that does not run `atexit`."""


_followers: list[Follower] = []
_registered = False


def follow(follower: Follower) -> None:
    """Call the follower's methods at each fork from now on."""
    global _registered
    _followers.append(follower)
    if not _registered and hasattr(os, 'register_at_fork'):
        _registered = True
        os.register_at_fork(before=_before, after_in_child=_after)
    _follow_multiprocessing(follower)


def forget(follower: Follower) -> None:
    """Stop following; unknown ones are ignored."""
    if follower in _followers:
        _followers.remove(follower)


def _before() -> None:
    for follower in list(_followers):
        follower.before_fork()


def _after() -> None:
    for follower in list(_followers):
        follower.after_fork()
        _follow_multiprocessing(follower)


def _follow_multiprocessing(follower: Follower) -> None:
    """Children of multiprocessing end with `os._exit` after their own finalizers, so the recorder becomes one of those."""
    util = sys.modules.get('multiprocessing.util')
    if util is not None:
        util.register_after_fork(follower, _finalize_in_child)


def _finalize_in_child(follower: Follower) -> None:
    util = sys.modules['multiprocessing.util']
    util.Finalize(None, follower.stop, exitpriority=-100)
