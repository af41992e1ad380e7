"""`tf.autograph.experimental`."""
from pyfuncdbg.hosts.numpy.ops.autograph.api import Feature, do_not_convert, set_loop_options

__all__ = ['Feature', 'do_not_convert', 'set_loop_options']
