"""Names of `tf` that `tf.compat.v1` has with other arguments, and that most programs do without."""
from pyfuncdbg.hosts.numpy.ops.control.cond import cond
from pyfuncdbg.hosts.numpy.ops.control.while_loop import while_loop
from pyfuncdbg.hosts.numpy.ops.graphs.hessians import hessians
from pyfuncdbg.hosts.numpy.ops.sums.sorting import argmax, argmin

__all__ = [
    'argmax',
    'argmin',
    'cond',
    'hessians',
    'while_loop',
]
