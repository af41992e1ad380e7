"""`tf.initializers` of TensorFlow 1."""
from pyfuncdbg.hosts.numpy.ops.variables.initializers import constant_initializer as constant
from pyfuncdbg.hosts.numpy.ops.variables.initializers import glorot_normal_initializer as glorot_normal
from pyfuncdbg.hosts.numpy.ops.variables.initializers import glorot_uniform_initializer as glorot_uniform
from pyfuncdbg.hosts.numpy.ops.variables.initializers import he_normal, he_uniform, lecun_normal
from pyfuncdbg.hosts.numpy.ops.variables.initializers import identity_initializer as identity
from pyfuncdbg.hosts.numpy.ops.variables.initializers import ones_initializer as ones
from pyfuncdbg.hosts.numpy.ops.variables.initializers import orthogonal_initializer as orthogonal
from pyfuncdbg.hosts.numpy.ops.variables.initializers import random_normal_initializer as random_normal
from pyfuncdbg.hosts.numpy.ops.variables.initializers import random_uniform_initializer as random_uniform
from pyfuncdbg.hosts.numpy.ops.variables.initializers import truncated_normal_initializer as truncated_normal
from pyfuncdbg.hosts.numpy.ops.variables.initializers import variance_scaling_initializer as variance_scaling
from pyfuncdbg.hosts.numpy.ops.variables.initializers import zeros_initializer as zeros
from pyfuncdbg.tf.public import publish as _publish

__all__ = [
    'constant',
    'glorot_normal',
    'glorot_uniform',
    'he_normal',
    'he_uniform',
    'identity',
    'lecun_normal',
    'ones',
    'orthogonal',
    'random_normal',
    'random_uniform',
    'truncated_normal',
    'variance_scaling',
    'zeros',
]

_publish(globals())
