"""`tf.nn`."""
from pyfuncdbg.hosts.numpy.ops.arrays.gathering import embedding_lookup
from pyfuncdbg.hosts.numpy.ops.arrays.rearranging import depth_to_space, space_to_depth
from pyfuncdbg.hosts.numpy.ops.elementwise.unary import (
    elu,
    gelu,
    leaky_relu,
    relu,
    relu6,
    selu,
    sigmoid,
    silu,
    softplus,
    tanh,
)
from pyfuncdbg.hosts.numpy.ops.elementwise.unary import silu as swish
from pyfuncdbg.hosts.numpy.ops.linalg.products import l2_loss
from pyfuncdbg.hosts.numpy.ops.nn.convolution import (
    conv1d,
    conv2d,
    conv2d_transpose,
    conv3d,
    convolution,
    depthwise_conv2d,
    separable_conv2d,
)
from pyfuncdbg.hosts.numpy.ops.nn.cross_entropy import (
    sigmoid_cross_entropy_with_logits,
    softmax_cross_entropy_with_logits,
    sparse_softmax_cross_entropy_with_logits,
)
from pyfuncdbg.hosts.numpy.ops.nn.layers import bias_add, dropout, l2_normalize, log_softmax, moments, softmax, zero_fraction
from pyfuncdbg.hosts.numpy.ops.nn.normalization import (
    batch_normalization,
    compute_average_loss,
    crelu,
    in_top_k,
    log_poisson_loss,
    normalize_moments,
    weighted_cross_entropy_with_logits,
    weighted_moments,
)
from pyfuncdbg.hosts.numpy.ops.nn.pooling import (
    avg_pool,
    avg_pool1d,
    avg_pool2d,
    avg_pool3d,
    max_pool,
    max_pool1d,
    max_pool2d,
    max_pool3d,
)
from pyfuncdbg.hosts.numpy.ops.sums.sorting import top_k
from pyfuncdbg.hosts.numpy.ops.sums.special import softsign
from pyfuncdbg.tf.public import publish as _publish

__all__ = [
    'avg_pool',
    'avg_pool1d',
    'avg_pool2d',
    'avg_pool3d',
    'batch_normalization',
    'bias_add',
    'compute_average_loss',
    'conv1d',
    'conv2d',
    'conv2d_transpose',
    'conv3d',
    'convolution',
    'crelu',
    'depth_to_space',
    'depthwise_conv2d',
    'dropout',
    'elu',
    'embedding_lookup',
    'gelu',
    'in_top_k',
    'l2_loss',
    'l2_normalize',
    'leaky_relu',
    'log_poisson_loss',
    'log_softmax',
    'max_pool',
    'max_pool1d',
    'max_pool2d',
    'max_pool3d',
    'moments',
    'normalize_moments',
    'relu',
    'relu6',
    'selu',
    'separable_conv2d',
    'sigmoid',
    'sigmoid_cross_entropy_with_logits',
    'silu',
    'softmax',
    'softmax_cross_entropy_with_logits',
    'softplus',
    'softsign',
    'space_to_depth',
    'sparse_softmax_cross_entropy_with_logits',
    'swish',
    'tanh',
    'top_k',
    'weighted_cross_entropy_with_logits',
    'weighted_moments',
    'zero_fraction',
]

_publish(globals())
