"""`tf.contrib` of TensorFlow 1, as far as it wraps Python functions."""
from pyfuncdbg.tf.contrib import eager, framework

__all__ = ['eager', 'framework']
