"""Scopes of a graph for its new nodes: devices, colocation, containers and control dependencies.

Control dependencies are ops that a new node waits for besides those of its inputs. A `Graph` has one stack of groups;
it changes only under the graph's own scopes, on the thread that builds.
"""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from pyfuncdbg.hooks.public_function import context_hiding_own_frames
from pyfuncdbg.hosts.numpy.graph.device import canonical, place


class Group:
    """The ops of one `control_dependencies`, and the nodes made under it."""

    __slots__ = ('ops', 'ops_under')

    def __init__(self, ops: Sequence[Any]) -> None:
        self.ops = tuple(ops)
        self.ops_under: set[Any] = set()


class ControlStack:
    """Stack of active groups, outermost first."""

    __slots__ = ('groups',)

    def __init__(self) -> None:
        self.groups: list[Group] = []

    @context_hiding_own_frames
    def entered(self, ops: Sequence[Any] | None) -> Iterator[None]:
        """Push a group; None: without any group."""
        before = self.groups
        self.groups = [] if ops is None else [*before, Group(ops)]
        try:
            yield
        finally:
            self.groups = before

    def control_inputs(self, producers: set[Any]) -> list[Any]:
        """The control inputs of a node with inputs from `producers`: a group that one of these was made under, or
        belongs to, is implied."""
        inputs: dict[Any, None] = {}
        for group in self.groups:
            if not any(op in group.ops_under for op in producers):
                inputs.update(dict.fromkeys(op for op in group.ops if op not in producers))
        return list(inputs)

    def add(self, op: Any) -> None:
        """Add a new node to the active groups."""
        for group in self.groups:
            group.ops_under.add(op)


class DeviceScopes:
    """The scopes of one graph.

    Attributes:
        container: Container of new variables; '' for the default one.
    """

    __slots__ = ('_beside', '_devices', '_groups', 'container')

    def __init__(self) -> None:
        self._devices: tuple[Any, ...] = ()
        self._beside: tuple[Any, ...] = ()
        self._groups: list[bytes] = []
        self.container = ''

    def apply(self, op: Any) -> None:
        """Set the device and colocation groups of a new node."""
        if self._devices:
            place(op, self._devices)
        if self._groups:
            op.attrs['_class'] = self._groups
        if self._beside:
            groups = {group for other in self._beside for group in other.colocation_groups()}
            op.attrs['_class'] = sorted(groups)
            # The device of the innermost scope, which TensorFlow assigns in spite of the group.
            op.device = next((other.device for other in reversed(self._beside) if other.device), op.device)

    @context_hiding_own_frames
    def on(self, device: Any) -> Iterator[None]:
        """Place new nodes on a device: a name, a spec, a function of the node, or None to clear outer scopes.

        Raises:
            ValueError: It is no device name.
        """
        if device is not None and not callable(device):
            if not isinstance(device, str) and not hasattr(device, 'make_merged_spec'):
                raise ValueError(f'Expecting a string device name. Got {type(device)}({device})')
            device = canonical(device)
        before, self._devices = self._devices, (*self._devices, device)
        try:
            yield
        finally:
            self._devices = before

    @context_hiding_own_frames
    def beside(self, op: Any, ignore_existing: bool = False) -> Iterator[None]:
        """Colocate new nodes with `op`.

        Raises:
            ValueError: `op` is None, without `ignore_existing`.
        """
        if op is None and not ignore_existing:
            raise ValueError('Trying to reset colocation (op is None) but ignore_existing is not True')
        before = self._devices, self._beside
        self._devices, self._beside = (), () if ignore_existing else self._beside
        if op is not None:
            self._beside = (*self._beside, op)
        try:
            yield
        finally:
            self._devices, self._beside = before

    @context_hiding_own_frames
    def grouped(self, groups: list[bytes]) -> Iterator[None]:
        """Set the colocation groups of new nodes, without their devices."""
        before, self._groups = self._groups, groups
        try:
            yield
        finally:
            self._groups = before

    @context_hiding_own_frames
    def within(self, container: str) -> Iterator[str]:
        """Put new variables in a container."""
        before, self.container = self.container, container
        try:
            yield container
        finally:
            self.container = before

    @context_hiding_own_frames
    def none(self) -> Iterator[None]:
        """Leave all device and colocation scopes."""
        before = self._devices, self._beside
        self._devices, self._beside = (), ()
        try:
            yield
        finally:
            self._devices, self._beside = before
