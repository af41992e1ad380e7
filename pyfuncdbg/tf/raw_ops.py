"""`tf.raw_ops`: made from the registry of ops."""
from typing import Any as _Any

from pyfuncdbg.hosts.numpy.ops.definition import raw as _raw
from pyfuncdbg.tf.public import publish as _publish, published as _published


def __getattr__(name: str) -> _Any:
    if name == '__all__':
        return _raw.names()
    return _published(_raw.function(name), __name__, name)


def __dir__() -> list[str]:
    return _raw.names()


_publish(globals())
