"""`tf.config`."""
from pyfuncdbg.runtime.devices import (
    LogicalDevice,
    PhysicalDevice,
    get_soft_device_placement,
    list_logical_devices,
    list_physical_devices,
    set_soft_device_placement,
)
from pyfuncdbg.runtime.function import functions_run_eagerly, run_functions_eagerly

experimental_run_functions_eagerly = run_functions_eagerly

__all__ = [
    'LogicalDevice', 'PhysicalDevice', 'experimental_run_functions_eagerly', 'functions_run_eagerly',
    'get_soft_device_placement',
    'list_logical_devices', 'list_physical_devices', 'run_functions_eagerly', 'set_soft_device_placement',
]
