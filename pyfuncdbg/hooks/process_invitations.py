"""Invitations to a process that starts afresh: what it needs to be watched as the process that starts it.

Observers offer them. A host takes them along with the work that it hands to a new process, which accepts them before it
begins that work. A forked process needs none: it has the observers of its parent.
"""
from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from pyfuncdbg.hooks.notice import say


class Invitation(NamedTuple):
    """An invitation of one observer. It can be pickled.

    Attributes:
        module, function: Where the new process finds the function that accepts it.
        data: Keyword arguments of that function, plain data.
    """

    module: str
    function: str
    data: Mapping[str, Any]


Inviter = Callable[[], Invitation | None]
"""Makes the invitation to a process that starts now; None if this observer does not go there."""
program = ''
"""Name of the program whose first process this is, for those that start afresh; '' where they are not followed."""
_inviters: list[Inviter] = []
_expected: list[Callable[[], Iterable[Invitation]]] = []


def offer(inviter: Inviter) -> None:
    """Invite each process that is started from now on: `inviter` is asked then."""
    if inviter not in _inviters:
        _inviters.append(inviter)


def withdraw(inviter: Inviter) -> None:
    """Ask `inviter` no more; an unknown one is ignored."""
    if inviter in _inviters:
        _inviters.remove(inviter)


def invitations() -> tuple[Invitation, ...]:
    """The invitations to a process that starts now."""
    made = [inviter() for inviter in list(_inviters)]
    return tuple([invitation for invitation in made if invitation is not None])


def accept(received: Iterable[Invitation]) -> None:
    """Follow invitations in the new process. One that fails is reported: the process works on without that observer.

    Args:
        received: The invitations.
    """
    for invitation in received:
        try:
            getattr(importlib.import_module(invitation.module), invitation.function)(**invitation.data)
        except Exception as error:              # a mistake of ours, or a trace that is gone: the program goes on
            say(f'this process is not watched: {type(error).__name__}: {error}')


def expect(fetch: Callable[[], Iterable[Invitation]]) -> None:
    """Take note of invitations that this process gets when it first wants to be watched, of itself.

    Args:
        fetch: Gets them then.
    """
    _expected.append(fetch)


def accept_expected() -> None:
    """Fetch and follow the invitations that are expected, once."""
    while _expected:
        accept(_expected.pop()())
