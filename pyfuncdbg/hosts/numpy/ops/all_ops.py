"""All ops: importing this module imports every subpackage of `ops`.

`graph/definitions/lazy_ops.py` does so where an op is not in the table.
"""
import pkgutil
from importlib import import_module

from pyfuncdbg.hosts.numpy import ops

for _room in pkgutil.walk_packages(ops.__path__, f'{ops.__name__}.'):
    import_module(_room.name)
