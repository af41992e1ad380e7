"""Forked processes: recorders that follow a fork into the child, each into a log of its own.

The handlers run on the thread that forks. Where no other thread runs Python, the writer thread is ended before the fork and
started again by the next call, so a program of one thread is one when it forks, as Python 3.12 wants it. Where others do,
they may hold any lock, and the writer may wait for one: no thread is waited for, the writer goes on in the parent, and the
child leaves the parent's queue and files alone.
"""
from __future__ import annotations

import os
import sys
import threading
from typing import Protocol

from pyfuncdbg.hooks.current_frames import current_frames


class ForkFollower(Protocol):
    """Participant in a fork, called in the parent and in the child."""

    @property
    def thread(self) -> int:
        """`threading.get_ident()` of a thread of its own, 0 if it has none."""

    def before_fork(self) -> None:
        """In the parent, before it forks, where no thread but this one and those of followers runs Python."""

    def after_fork(self) -> None:
        """In the child."""

    def stop(self) -> None:
        """Called when a child process ends that does not run `atexit`."""


_followers: list[ForkFollower] = []
_registered = False


def follow(follower: ForkFollower) -> None:
    """Call the follower's methods at each fork from now on.

    Args:
        follower: The participant.
    """
    global _registered
    _followers.append(follower)
    if not _registered and hasattr(os, 'register_at_fork'):
        _registered = True
        os.register_at_fork(before=_before, after_in_child=_after)
    _follow_multiprocessing(follower)


def unfollow(follower: ForkFollower) -> None:
    """Stop calling a follower's methods; an unknown one is ignored.

    Args:
        follower: The participant.
    """
    if follower in _followers:
        _followers.remove(follower)


def _before() -> None:
    followers = list(_followers)
    if not followers or current_frames().keys() - {threading.get_ident(), *[one.thread for one in followers]}:
        return
    for follower in followers:
        follower.before_fork()


def _after() -> None:
    for follower in list(_followers):
        follower.after_fork()
        _follow_multiprocessing(follower)


def _follow_multiprocessing(follower: ForkFollower) -> None:
    """Children of multiprocessing end with `os._exit` after their own finalizers, so the recorder becomes one of those."""
    util = sys.modules.get('multiprocessing.util')
    if util is not None:
        util.register_after_fork(follower, _finalize_in_child)
        if sys.modules['multiprocessing.process'].parent_process() is not None:
            _finalize_in_child(follower)        # this is such a child, and has begun


def _finalize_in_child(follower: ForkFollower) -> None:
    util = sys.modules['multiprocessing.util']
    util.Finalize(None, follower.stop, exitpriority=-100)
