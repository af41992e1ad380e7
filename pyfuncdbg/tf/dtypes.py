"""`tf.dtypes`."""
from pyfuncdbg.hosts.numpy.ops.elementwise.complex_numbers import complex as complex
from pyfuncdbg.tf import experimental_dtypes as _experimental_dtypes
from pyfuncdbg.tf.dtype_names import *  # noqa: F403
from pyfuncdbg.tf.public import publish as _publish

experimental = _experimental_dtypes

_publish(globals())
