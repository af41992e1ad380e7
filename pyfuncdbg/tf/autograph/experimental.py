"""`tf.autograph.experimental`."""
from pyfuncdbg.hosts.numpy.ops.autograph.api import (
    Feature as Feature,
    do_not_convert as do_not_convert,
    set_loop_options as set_loop_options,
)
from pyfuncdbg.tf.public import publish as _publish

_publish(globals())
