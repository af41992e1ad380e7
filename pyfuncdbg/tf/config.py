"""`tf.config`."""
from types import SimpleNamespace

from pyfuncdbg.hosts.numpy.runtime.cluster.devices import (
    LogicalDevice as LogicalDevice,
    PhysicalDevice as PhysicalDevice,
    get_soft_device_placement as get_soft_device_placement,
    get_visible_devices as get_visible_devices,
    list_logical_devices as list_logical_devices,
    list_physical_devices as list_physical_devices,
    set_soft_device_placement as set_soft_device_placement,
    set_visible_devices as set_visible_devices,
)
from pyfuncdbg.hosts.numpy.runtime.functions.function import (
    functions_run_eagerly as functions_run_eagerly,
    run_functions_eagerly as run_functions_eagerly,
)
from pyfuncdbg.tf import config_threading as _config_threading
from pyfuncdbg.tf.public import publish as _publish

threading = _config_threading

experimental_run_functions_eagerly = run_functions_eagerly
experimental = SimpleNamespace(list_physical_devices=list_physical_devices, list_logical_devices=list_logical_devices,
                               get_visible_devices=get_visible_devices, set_visible_devices=set_visible_devices)
"""`tf.config.experimental`: the old names."""

_publish(globals())
