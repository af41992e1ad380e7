"""`tf.initializers` of TensorFlow 1."""
from pyfuncdbg.hosts.numpy.ops.variables.initializers import (
    constant_initializer as _constant_initializer,
    glorot_normal_initializer as _glorot_normal_initializer,
    glorot_uniform_initializer as _glorot_uniform_initializer,
    he_normal as he_normal,
    he_uniform as he_uniform,
    identity_initializer as _identity_initializer,
    lecun_normal as lecun_normal,
    ones_initializer as _ones_initializer,
    orthogonal_initializer as _orthogonal_initializer,
    random_normal_initializer as _random_normal_initializer,
    random_uniform_initializer as _random_uniform_initializer,
    truncated_normal_initializer as _truncated_normal_initializer,
    variance_scaling_initializer as _variance_scaling_initializer,
    zeros_initializer as _zeros_initializer,
)
from pyfuncdbg.tf.public import publish as _publish

constant = _constant_initializer
glorot_normal = _glorot_normal_initializer
glorot_uniform = _glorot_uniform_initializer
identity = _identity_initializer
ones = _ones_initializer
orthogonal = _orthogonal_initializer
random_normal = _random_normal_initializer
random_uniform = _random_uniform_initializer
truncated_normal = _truncated_normal_initializer
variance_scaling = _variance_scaling_initializer
zeros = _zeros_initializer

_publish(globals())
