"""Names of the vocabulary that `tf.compat.v1` has with other arguments."""
from pyfuncdbg.hosts.numpy.graph.device import DeviceSpec as DeviceSpec
from pyfuncdbg.hosts.numpy.ops.arrays.filling import ones_like as ones_like, zeros_like as zeros_like
from pyfuncdbg.hosts.numpy.ops.arrays.shaping import transpose as transpose
from pyfuncdbg.hosts.numpy.ops.definition.public_scopes import device as device, name_scope as name_scope
from pyfuncdbg.hosts.numpy.ops.elementwise.comparison import where as where
