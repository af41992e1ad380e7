"""`tf.autodiff`."""
from pyfuncdbg.runtime.forward_accumulator import ForwardAccumulator
from pyfuncdbg.runtime.tape import GradientTape

__all__ = ['ForwardAccumulator', 'GradientTape']
