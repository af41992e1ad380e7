"""The devices that programs ask about: one CPU. No state but the placement flags."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple


class PhysicalDevice(NamedTuple):
    """A device of this machine."""

    name: str
    device_type: str


class LogicalDevice(NamedTuple):
    """A device that ops can be put on."""

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
    """The devices of this machine, of one type if that is given."""
    return [PhysicalDevice('/physical_device:CPU:0', 'CPU')] if device_type in (None, 'CPU') else []


def list_logical_devices(device_type: str | None = None) -> list[LogicalDevice]:
    """The devices that ops can be put on, of one type if that is given."""
    return [LogicalDevice('/device:CPU:0', 'CPU')] if device_type in (None, 'CPU') else []


def get_visible_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """The devices that are used, of one type if that is given."""
    return list_physical_devices(device_type)


def set_visible_devices(devices: Any, device_type: str | None = None) -> None:
    """Say which devices are used: nothing changes for a type without devices.

    Raises:
        ValueError: A device that is not there, or no CPU is left.
    """
    visible: Sequence[Any] = devices if isinstance(devices, (list, tuple)) else [] if devices is None else [devices]
    for device in visible:
        if device not in list_physical_devices():
            raise ValueError(f'Unrecognized device: {device!r}')
    if device_type in (None, 'CPU') and not visible:
        raise ValueError('The CPU cannot be made invisible: everything runs on it.')


def set_soft_device_placement(enabled: Any) -> None:
    """Whether the CPU does where a named device is not there."""
    _placement.soft = bool(enabled)


def get_soft_device_placement() -> bool:
    """The setting."""
    return _placement.soft


def set_log_device_placement(enabled: Any) -> None:
    """Whether sessions say on stderr where they put each node."""
    _placement.log = bool(enabled)


def get_log_device_placement() -> bool:
    """The setting."""
    return _placement.log
