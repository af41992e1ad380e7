"""Names of `tf` that `tf.compat.v1` has with other arguments, and that few programs need."""
from pyfuncdbg.hosts.numpy.ops.control.cond import cond as cond
from pyfuncdbg.hosts.numpy.ops.control.while_loop import while_loop as while_loop
from pyfuncdbg.hosts.numpy.ops.graphs.hessians import hessians as hessians
from pyfuncdbg.hosts.numpy.ops.sums.sorting import argmax as argmax, argmin as argmin
from pyfuncdbg.hosts.numpy.runtime.differentiation.symbolic_gradients import gradients as gradients
