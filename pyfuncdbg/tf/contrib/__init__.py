"""`tf.contrib` of TensorFlow 1, as far as it wraps Python functions."""
from pyfuncdbg.tf.contrib import eager, framework
from pyfuncdbg.tf.public import publish as _publish

__all__ = ['eager', 'framework']

_publish(globals())
