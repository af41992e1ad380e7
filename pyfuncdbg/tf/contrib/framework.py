"""`tf.contrib.framework` of TensorFlow 1."""
from pyfuncdbg.hosts.numpy.ops.script.calls import framework_py_func as py_func
from pyfuncdbg.tf.public import publish as _publish

__all__ = ['py_func']

_publish(globals())
