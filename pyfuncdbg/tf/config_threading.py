"""`tf.config.threading`."""
from pyfuncdbg.hosts.numpy.runtime.traces.function_threads import (
    get_inter_op_parallelism_threads as get_inter_op_parallelism_threads,
    get_intra_op_parallelism_threads as get_intra_op_parallelism_threads,
    set_inter_op_parallelism_threads as set_inter_op_parallelism_threads,
    set_intra_op_parallelism_threads as set_intra_op_parallelism_threads,
)
from pyfuncdbg.tf.public import publish as _publish

_publish(globals())
