"""`tf.contrib.eager` of TensorFlow 1."""
from pyfuncdbg.hosts.numpy.ops.script.calls import eager_py_func as _eager_py_func
from pyfuncdbg.tf.public import publish as _publish

py_func = _eager_py_func

_publish(globals())
