"""`tf.config`."""
from types import SimpleNamespace

from pyfuncdbg.hosts.numpy.runtime.cluster.devices import (
    LogicalDevice,
    PhysicalDevice,
    get_soft_device_placement,
    get_visible_devices,
    list_logical_devices,
    list_physical_devices,
    set_soft_device_placement,
    set_visible_devices,
)
from pyfuncdbg.hosts.numpy.runtime.functions.function import functions_run_eagerly, run_functions_eagerly
from pyfuncdbg.tf import config_threading as threading
from pyfuncdbg.tf.public import publish as _publish

experimental_run_functions_eagerly = run_functions_eagerly
experimental = SimpleNamespace(list_physical_devices=list_physical_devices, list_logical_devices=list_logical_devices,
                               get_visible_devices=get_visible_devices, set_visible_devices=set_visible_devices)
"""`tf.config.experimental`: the old names."""

__all__ = [
    'LogicalDevice',
    'PhysicalDevice',
    'experimental_run_functions_eagerly',
    'functions_run_eagerly',
    'get_soft_device_placement',
    'get_visible_devices',
    'list_logical_devices',
    'list_physical_devices',
    'run_functions_eagerly',
    'set_soft_device_placement',
    'set_visible_devices',
    'threading',
]

_publish(globals())
