"""`tf.raw_ops`: made from the registry of ops."""
from typing import Any as _Any

from pyfuncdbg.hosts.numpy.ops.definition import raw as _raw


def __getattr__(name: str) -> _Any:
    if name == '__all__':
        return _raw.names()
    return _raw.function(name)


def __dir__() -> list[str]:
    return _raw.names()
