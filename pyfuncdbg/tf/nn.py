"""`tf.nn`."""
from pyfuncdbg.hosts.numpy.ops.arrays.gathering import embedding_lookup as embedding_lookup
from pyfuncdbg.hosts.numpy.ops.arrays.rearranging import depth_to_space as depth_to_space, space_to_depth as space_to_depth
from pyfuncdbg.hosts.numpy.ops.elementwise.unary import silu as _silu
from pyfuncdbg.hosts.numpy.ops.nn.convolution import (
    conv1d as conv1d,
    conv2d as conv2d,
    conv2d_transpose as conv2d_transpose,
    conv3d as conv3d,
    depthwise_conv2d as depthwise_conv2d,
    separable_conv2d as separable_conv2d,
)
from pyfuncdbg.hosts.numpy.ops.nn.cross_entropy import (
    sigmoid_cross_entropy_with_logits as sigmoid_cross_entropy_with_logits,
    softmax_cross_entropy_with_logits as softmax_cross_entropy_with_logits,
    sparse_softmax_cross_entropy_with_logits as sparse_softmax_cross_entropy_with_logits,
)
from pyfuncdbg.hosts.numpy.ops.nn.layers import dropout as dropout
from pyfuncdbg.hosts.numpy.ops.nn.normalization import (
    compute_average_loss as compute_average_loss,
    in_top_k as in_top_k,
    normalize_moments as normalize_moments,
    weighted_cross_entropy_with_logits as weighted_cross_entropy_with_logits,
    weighted_moments as weighted_moments,
)
from pyfuncdbg.hosts.numpy.ops.nn.pooling import avg_pool as avg_pool, max_pool as max_pool
from pyfuncdbg.tf.nn_names import *  # noqa: F403
from pyfuncdbg.tf.public import publish as _publish

swish = _silu

_publish(globals())
