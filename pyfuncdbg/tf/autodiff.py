"""`tf.autodiff`."""
from pyfuncdbg.hosts.numpy.runtime.differentiation.forward_accumulator import ForwardAccumulator
from pyfuncdbg.hosts.numpy.runtime.differentiation.tape import GradientTape
from pyfuncdbg.tf.public import publish as _publish

__all__ = ['ForwardAccumulator', 'GradientTape']

_publish(globals())
