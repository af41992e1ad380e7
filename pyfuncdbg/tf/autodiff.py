"""`tf.autodiff`."""
from pyfuncdbg.hosts.numpy.runtime.differentiation.forward_accumulator import ForwardAccumulator
from pyfuncdbg.hosts.numpy.runtime.differentiation.tape import GradientTape

__all__ = ['ForwardAccumulator', 'GradientTape']
