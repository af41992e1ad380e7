"""Names of `tf` that `tf.compat.v1` has with other arguments, and that most programs do without."""
from pyfuncdbg.ops.control.cond import cond
from pyfuncdbg.ops.control.while_loop import while_loop
from pyfuncdbg.ops.hessians import hessians
from pyfuncdbg.ops.sorting import argmax, argmin

__all__ = [
    'argmax',
    'argmin',
    'cond',
    'hessians',
    'while_loop',
]
