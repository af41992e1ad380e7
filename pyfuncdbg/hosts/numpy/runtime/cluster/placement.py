"""Placement of nodes on tasks: a pure function of device names and available devices.

It runs no node and knows no transport: sessions call it before they compile a plan, and a transport to tasks of
other processes could use it.
"""
from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from pyfuncdbg.errors import InvalidArgumentError
from pyfuncdbg.hosts.numpy.graph.device import DeviceSpecV2, parse_device
from pyfuncdbg.hosts.numpy.graph.operation import Operation
from pyfuncdbg.hosts.numpy.runtime.execution.failure import session_error

LOCAL = DeviceSpecV2(job='localhost', replica=0, task=0, device_type='CPU', device_index=0)
"""The device of a program that is part of no cluster."""


@dataclass(frozen=True, slots=True)
class Devices:
    """Devices that nodes can be placed on.

    Attributes:
        available: One device for each task.
        home: Default device of nodes.
    """

    available: tuple[DeviceSpecV2, ...] = (LOCAL,)
    home: DeviceSpecV2 = LOCAL

    def names(self) -> list[str]:
        """The full names of the devices."""
        return [device.to_string() for device in self.available]


@lru_cache(4096)
def device_for(name: str, devices: Devices, soft: bool) -> DeviceSpecV2 | None:
    """The device for a name.

    Args:
        name: A device name; parts of it may be missing.
        devices: The available devices.
        soft: Whether the CPU of a task replaces a missing device.

    Returns:
        The device; None if it is not available.

    Raises:
        ValueError: It is no device name.
    """
    requested = parse_device(name)
    for attempt in (requested, DeviceSpecV2(requested.job, requested.replica, requested.task)) if soft else (requested,):
        for device in (devices.home, *devices.available):
            if all(part is None or part == device_part or part == '*'
                   for part, device_part in zip(attempt.parts(), device.parts(), strict=True)):
                return device
    return None


def placement(ops: Sequence[Operation], devices: Devices, soft: bool) -> Mapping[Operation, DeviceSpecV2]:
    """The device of every node, in the order in which TensorFlow places them.

    Raises:
        InvalidArgumentError: A node names a device that is not available.
    """
    placed: dict[Operation, DeviceSpecV2] = {}
    for op in in_order(ops):
        if not op.device:
            placed[op] = devices.home
            continue
        try:
            device = device_for(op.device, devices, soft)
        except ValueError:
            text = f"Malformed device specification '{op.device}' in node: {{{{node {op.name}}}}}"
            raise session_error(InvalidArgumentError(None, None, text), op) from None
        if device is None:
            raise session_error(InvalidArgumentError(None, None, unplaceable(op, devices)), op)
        placed[op] = device
    return placed


def in_order(ops: Iterable[Operation]) -> list[Operation]:
    """Nodes with those without inputs and with one output last: TensorFlow places these with their users."""
    return sorted(ops, key=lambda op: (not op.inputs and len(op.outputs) == 1, op.serial))


def unplaceable(op: Any, devices: Devices) -> str:
    """TensorFlow's message on a node whose device is not available."""
    text = (f'Cannot assign a device for operation {op.name}: {{{{node {op.name}}}}} was explicitly assigned to {op.device} '
            f'but available devices are [ {", ".join(sorted(devices.names()))} ]. Make sure the device specification refers '
            'to a valid device.')
    if parse_device(op.device).device_type == 'GPU':
        text += ' The requested device appears to be a GPU, but CUDA is not enabled.'
    return text
