"""`tf.contrib` of TensorFlow 1, as far as it wraps Python functions."""
from pyfuncdbg.tf.contrib import eager as eager, framework as framework
from pyfuncdbg.tf.public import publish as _publish

_publish(globals())
