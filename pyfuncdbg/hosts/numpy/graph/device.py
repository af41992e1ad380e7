"""Device names such as '/job:worker/task:1/device:CPU:0': parsing, merging with an outer scope's, formatting.

`tf.DeviceSpec`, device scopes and placement use it. No state.
"""
from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

_TYPES = frozenset(('CPU', 'GPU', 'TPU'))
"""Device types that names may use without 'device:': 'cpu:0' for 'device:CPU:0'."""
_PARTS = ('job', 'replica', 'task', 'device_type', 'device_index')


class DeviceSpecV2:
    """`tf.DeviceSpec`: immutable parts of a device name, None where missing."""

    __slots__ = ('_job', '_replica', '_task', '_device_type', '_device_index')  # noqa: RUF023  in the order of the name

    def __init__(self, job: Any = None, replica: Any = None, task: Any = None, device_type: Any = None,
                 device_index: Any = None) -> None:
        self._job = None if job is None else str(job)
        self._replica = None if replica is None else int(replica)
        self._task = None if task is None else int(task)
        kind = None if device_type is None else str(device_type)
        self._device_type = kind.upper() if kind in ('cpu', 'gpu') else kind
        self._device_index = None if device_index is None else int(device_index)

    @classmethod
    def from_string(cls, spec: str | None) -> Any:
        """The parts of a device name.

        Raises:
            ValueError: A part is invalid.
        """
        return cls(**_components(spec or ''))

    def parse_from_string(self, spec: str) -> Any:
        """A spec of the parts of a device name."""
        return self.from_string(spec)

    def to_string(self) -> str:
        """The name, its parts in order."""
        fields = [f'/{part}:{value}' for part, value in zip(_PARTS[:3], self.parts()[:3], strict=True) if value is not None]
        if self._device_type is not None:
            fields.append(f'/device:{self._device_type}:{"*" if self._device_index is None else self._device_index}')
        return ''.join(fields)

    def parts(self) -> tuple[Any, ...]:
        """Job, replica, task, device type and index."""
        return self._job, self._replica, self._task, self._device_type, self._device_index

    def make_merged_spec(self, dev: DeviceSpecV2) -> Any:
        """This spec, updated by the parts that `dev` has."""
        return type(self)(*[part if other_part is None else other_part for part,
                            other_part in zip(self.parts(), dev.parts(), strict=True)])

    def replace(self, **kwargs: Any) -> Any:
        """This spec with some parts replaced."""
        return type(self)(**{**dict(zip(_PARTS, self.parts(), strict=True)), **kwargs})

    @property
    def job(self) -> str | None:
        """Its job."""
        return self._job

    @property
    def replica(self) -> int | None:
        """Its replica."""
        return self._replica

    @property
    def task(self) -> int | None:
        """Its task in the job."""
        return self._task

    @property
    def device_type(self) -> str | None:
        """'CPU', 'GPU', ..."""
        return self._device_type

    @property
    def device_index(self) -> int | None:
        """The index among the devices of its type."""
        return self._device_index

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DeviceSpecV2) and self.parts() == other.parts()

    def __hash__(self) -> int:
        return hash(self.parts())

    def __repr__(self) -> str:
        parts = ('job', 'replica', 'task', 'device_type', 'device_index')
        return f'<DeviceSpec({", ".join(f"{part}={getattr(self, part)}" for part in parts)})>'


DeviceSpec = DeviceSpecV2


class DeviceSpecV1(DeviceSpecV2):
    """`tf.compat.v1.DeviceSpec`: a mutable device specification."""

    __slots__ = ()

    def merge_from(self, dev: DeviceSpecV2) -> None:
        """Take over the parts that `dev` has."""
        self._become(self.make_merged_spec(dev))

    def parse_from_string(self, spec: str) -> DeviceSpecV1:
        """Take over the parts of a device name."""
        self._become(self.from_string(spec))
        return self

    def _become(self, other: DeviceSpecV2) -> None:
        for slot, value in zip(DeviceSpecV2.__slots__, other.parts(), strict=True):
            setattr(self, slot, value)

    def _set(self, part: str, value: Any) -> None:
        self._become(self.replace(**{part: value}))

    job = property(lambda self: self._job, lambda self, value: self._set('job', value))
    replica = property(lambda self: self._replica, lambda self, value: self._set('replica', value))
    task = property(lambda self: self._task, lambda self, value: self._set('task', value))
    device_type = property(lambda self: self._device_type, lambda self, value: self._set('device_type', value))
    device_index = property(lambda self: self._device_index, lambda self, value: self._set('device_index', value))


def _components(text: str) -> dict[str, Any]:
    components: dict[str, Any] = {}
    for part in text.split('/'):
        key, *values = part.split(':')
        if key in ('job', 'replica', 'task') and len(values) == 1:
            components[key] = values[0] if key == 'job' else int(values[0])
        elif (key == 'device' and len(values) == 2) or (key.upper() in _TYPES and len(values) < 2):
            if 'device_type' in components:
                raise ValueError(f'Multiple device types are not allowed while parsing the device spec: {text}.')
            kind, index = values if key == 'device' else [key.upper(), *values, '*'][:2]
            components['device_type'] = kind
            if index != '*':
                components['device_index'] = int(index)
        elif key:
            raise ValueError(f"Unknown attribute '{key}' is encountered while parsing the device spec: '{text}'.")
    return components


@lru_cache(1024)
def parse_device(text: str) -> DeviceSpecV2:
    """The parts of a device name.

    Raises:
        ValueError: A part is invalid.
    """
    return DeviceSpecV2.from_string(text)  # type: ignore[no-any-return]


def canonical(device: Any) -> str:
    """A device name or spec in the form of a node: '/cpu:0' as '/device:CPU:0'.

    Raises:
        ValueError: A part is invalid.
    """
    return device.to_string() if isinstance(device, DeviceSpecV2) else parse_device(str(device)).to_string()


@lru_cache(4096)
def merge_devices(outer: str, inner: str) -> str:
    """`inner`, with its missing parts from `outer`."""
    return parse_device(outer).make_merged_spec(parse_device(inner)).to_string()  # type: ignore[no-any-return]


def place(op: Any, stack: Sequence[Any]) -> None:
    """Give a node its device.

    Args:
        op: The node; functions see the device of inner scopes on it.
        stack: Outermost first: names, functions of the node, and None where a scope clears the outer ones. The result of a
            function replaces the device of inner scopes.
    """
    for entry in reversed(stack):
        if entry is None:
            return
        if callable(entry):
            named = entry(op) or ''             # in the form that the function returns
            op.device = named.to_string() if isinstance(named, DeviceSpecV2) else str(named)
        elif entry:
            op.device = merge_devices(entry, op.device)
