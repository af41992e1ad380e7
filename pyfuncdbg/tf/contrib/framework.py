"""`tf.contrib.framework` of TensorFlow 1."""
from pyfuncdbg.hosts.numpy.ops.script.calls import framework_py_func as _framework_py_func
from pyfuncdbg.tf.public import publish as _publish

py_func = _framework_py_func

_publish(globals())
