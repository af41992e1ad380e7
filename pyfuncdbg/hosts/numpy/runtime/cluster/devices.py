"""Devices of `tf.config`: one CPU. No state but the placement flags."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple


class PhysicalDevice(NamedTuple):
    """A device of this machine."""

    name: str
    device_type: str


class LogicalDevice(NamedTuple):
    """A device that ops can run on."""

    name: str
    device_type: str


class DeviceAttributes:
    """A device as a session lists it."""

    def __init__(self, name: str, device_type: str = 'CPU', memory_limit_bytes: int = 268435456,
                 incarnation: int = 1) -> None:
        self.name = name
        self.device_type = device_type
        self.memory_limit_bytes = memory_limit_bytes
        self.incarnation = incarnation

    def __repr__(self) -> str:
        return f'_DeviceAttributes({self.name}, {self.device_type}, {self.memory_limit_bytes}, {self.incarnation})'


class _Placement:
    def __init__(self) -> None:
        self.soft = True
        self.log = False


_placement = _Placement()


def list_physical_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """The devices of this machine, of one type if given."""
    return [PhysicalDevice('/physical_device:CPU:0', 'CPU')] if device_type in (None, 'CPU') else []


def list_logical_devices(device_type: str | None = None) -> list[LogicalDevice]:
    """The devices that ops can run on, of one type if given."""
    return [LogicalDevice('/device:CPU:0', 'CPU')] if device_type in (None, 'CPU') else []


def get_visible_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """The visible devices, of one type if given."""
    return list_physical_devices(device_type)


def set_visible_devices(devices: Any, device_type: str | None = None) -> None:
    """Set the visible devices; without effect for a type without devices.

    Raises:
        ValueError: There is no such device, or no CPU remains.
    """
    visible: Sequence[Any] = devices if isinstance(devices, (list, tuple)) else [] if devices is None else [devices]
    for device in visible:
        if device not in list_physical_devices():
            raise ValueError(f'Unrecognized device: {device!r}')
    if device_type in (None, 'CPU') and not visible:
        raise ValueError('The CPU cannot be made invisible: everything runs on it.')


def set_soft_device_placement(enabled: Any) -> None:
    """Set whether the CPU replaces a missing device."""
    _placement.soft = bool(enabled)


def get_soft_device_placement() -> bool:
    """The setting."""
    return _placement.soft


def set_log_device_placement(enabled: Any) -> None:
    """Set whether sessions write the placement of each node to stderr."""
    _placement.log = bool(enabled)


def get_log_device_placement() -> bool:
    """The setting."""
    return _placement.log
