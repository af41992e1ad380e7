"""`tf.config.threading`."""
from pyfuncdbg.hosts.numpy.runtime.traces.function_threads import (
    get_inter_op_parallelism_threads,
    get_intra_op_parallelism_threads,
    set_inter_op_parallelism_threads,
    set_intra_op_parallelism_threads,
)
from pyfuncdbg.tf.public import publish as _publish

__all__ = [
    'get_inter_op_parallelism_threads', 'get_intra_op_parallelism_threads', 'set_inter_op_parallelism_threads',
    'set_intra_op_parallelism_threads',
]

_publish(globals())
