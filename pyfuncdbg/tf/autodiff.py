"""`tf.autodiff`."""
from pyfuncdbg.hosts.numpy.runtime.differentiation.forward_accumulator import ForwardAccumulator as ForwardAccumulator
from pyfuncdbg.hosts.numpy.runtime.differentiation.tape import GradientTape as GradientTape
from pyfuncdbg.tf.public import publish as _publish

_publish(globals())
