"""The devices that programs ask about: one CPU. No state but the placement flag, which changes nothing here."""
from __future__ import annotations

from typing import Any, NamedTuple


class PhysicalDevice(NamedTuple):
    """A device of this machine."""

    name: str
    device_type: str


class LogicalDevice(NamedTuple):
    """A device that ops can be put on."""

    name: str
    device_type: str


class _Placement:
    def __init__(self) -> None:
        self.soft = True


_placement = _Placement()


def list_physical_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """The devices of this machine, of one type if that is given."""
    return [PhysicalDevice('/physical_device:CPU:0', 'CPU')] if device_type in (None, 'CPU') else []


def list_logical_devices(device_type: str | None = None) -> list[LogicalDevice]:
    """The devices that ops can be put on, of one type if that is given."""
    return [LogicalDevice('/device:CPU:0', 'CPU')] if device_type in (None, 'CPU') else []


def set_soft_device_placement(enabled: Any) -> None:
    """Accepted: ops run on the CPU whatever device is named."""
    _placement.soft = bool(enabled)


def get_soft_device_placement() -> bool:
    """What was set."""
    return _placement.soft
