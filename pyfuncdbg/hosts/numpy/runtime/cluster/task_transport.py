"""Transports to the tasks of other processes: what a session asks of one, and their registry by scheme.

The package of a transport registers it when it is imported; this runtime imports none. A session connects at its first run,
on the program's thread.
"""
from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from pyfuncdbg.hosts.numpy.runtime.cluster.cluster_spec import ClusterSpec
from pyfuncdbg.hosts.numpy.runtime.cluster.placement import Devices


class TaskConnection(Protocol):
    """The connection of one session to the tasks of a cluster.

    Attributes:
        devices: One device for each task; home is that of the target.
    """

    devices: Devices

    def address_space(self, task: int) -> str:
        """The id of the process of a task, which is `address_space()` there."""

    def run(self, requests: Mapping[int, Mapping[str, Any]], timeout: float | None) -> Mapping[int, Mapping[str, Any]]:
        """Run one step: the pieces of some tasks, by the task's index in `devices.available`.

        Args:
            requests: Arguments of `Task.run` for each task, plain data.
            timeout: Seconds, None without limit.

        Returns:
            For each task what it answered.

        Raises:
            UnavailableError: A task is gone.
            DeadlineExceededError: The step took too long.
            CancelledError: The connection was closed.
        """

    def close(self) -> None:
        """Cancel steps under way, and free what the tasks have for this session."""


class TaskTransport(Protocol):
    """A way to reach tasks that are in other processes."""

    def serve(self, cluster: ClusterSpec, job: str, index: int) -> str:
        """Make the processes of a cluster its tasks; idempotent.

        Returns:
            The target for sessions on one of them.

        Raises:
            UnavailableError: A process is not there, or cannot be a task.
        """

    def check(self, target: str) -> None:
        """Refuse an invalid target.

        Raises:
            InvalidArgumentError: It is none.
        """

    def connect(self, target: str) -> TaskConnection:
        """Connect a session.

        Raises:
            UnavailableError: A task is not there.
        """

    def reset(self, target: str, containers: frozenset[str]) -> None:
        """Delete the variables in containers on all tasks of a target's cluster.

        Raises:
            UnavailableError: A task is not there.
        """


_factories: dict[str, Callable[[], TaskTransport]] = {}
_transports: dict[str, TaskTransport] = {}


def register_transport(scheme: str, make: Callable[[], TaskTransport]) -> None:
    """Register a transport.

    Args:
        scheme: The protocol of its servers; their targets begin with 'SCHEME://'.
        make: Makes it, when it is first used.
    """
    _factories[scheme] = make


def schemes() -> list[str]:
    """The schemes of all transports."""
    return sorted(_factories)


def transport(scheme: str) -> TaskTransport | None:
    """The transport of a scheme, if there is one."""
    if scheme not in _transports and scheme in _factories:
        _transports[scheme] = _factories[scheme]()
    return _transports.get(scheme)


def transport_of(target: str) -> TaskTransport | None:
    """The transport of a target, None for servers of this process."""
    scheme, colon, _ = target.partition('://')
    return transport(scheme) if colon else None
