"""`tf.autograph.experimental`."""
from pyfuncdbg.hosts.numpy.ops.autograph.api import Feature, do_not_convert, set_loop_options
from pyfuncdbg.tf.public import publish as _publish

__all__ = ['Feature', 'do_not_convert', 'set_loop_options']

_publish(globals())
