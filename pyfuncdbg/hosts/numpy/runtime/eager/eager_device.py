"""Device scopes in eager mode: they name what must be there, and change nothing else. A thread has its own."""
from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

from pyfuncdbg.errors import InvalidArgumentError
from pyfuncdbg.hooks.public_function import context_for_program
from pyfuncdbg.hosts.numpy.graph.device import canonical, parsed
from pyfuncdbg.hosts.numpy.runtime.cluster import devices
from pyfuncdbg.hosts.numpy.runtime.cluster.placement import LOCAL, Devices, device_for


class _Thread(threading.local):
    def __init__(self) -> None:
        self.device = LOCAL


_thread = _Thread()


@context_for_program
def eager_device(device: Any) -> Iterator[None]:
    """On a device: a name or spec, completed by that of the scope around; None for this program's own.

    Raises:
        RuntimeError: A function.
        ValueError: No device name.
        InvalidArgumentError: A device that is not there.
    """
    if callable(device):
        raise RuntimeError('tf.device does not support functions when eager execution is enabled.')
    if device is not None and not isinstance(device, (str, bytes)) and not hasattr(device, 'make_merged_spec'):
        raise ValueError(f'Expecting a string device name. Got {type(device)}({device})')
    before = _thread.device
    named = before if device is None else before.make_merged_spec(parsed(canonical(device)))
    _check(named)
    _thread.device = LOCAL if device is None else named
    try:
        yield
    finally:
        _thread.device = before


def _check(named: Any) -> None:
    soft = devices.get_soft_device_placement()
    if device_for(named.to_string(), Devices(), soft) is not None:
        return
    if (named.job, named.replica, named.task) != (LOCAL.job, LOCAL.replica, LOCAL.task):
        raise InvalidArgumentError(None, None, f'{named.to_string()} unknown device.')
    raise InvalidArgumentError(
        None, None, f"Could not satisfy device specification '{named.to_string()}'. enable_soft_placement={int(soft)}. "
                    f'Supported device types [CPU]. All available devices [{LOCAL.to_string()}].')
