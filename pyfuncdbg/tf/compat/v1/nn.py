"""`tf.compat.v1.nn`: losses take their arguments by name, dropout takes `keep_prob`."""
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
from pyfuncdbg.hosts.numpy.ops.nn.convolution import conv1d_v1 as conv1d
from pyfuncdbg.hosts.numpy.ops.nn.convolution import conv2d_v1 as conv2d
from pyfuncdbg.hosts.numpy.ops.nn.convolution import convolution
from pyfuncdbg.hosts.numpy.ops.nn.cross_entropy import (
    sigmoid_cross_entropy_with_logits_v1 as sigmoid_cross_entropy_with_logits,
)
from pyfuncdbg.hosts.numpy.ops.nn.cross_entropy import (
    softmax_cross_entropy_with_logits as softmax_cross_entropy_with_logits_v2,
)
from pyfuncdbg.hosts.numpy.ops.nn.cross_entropy import (
    softmax_cross_entropy_with_logits_v1 as softmax_cross_entropy_with_logits,
)
from pyfuncdbg.hosts.numpy.ops.nn.cross_entropy import (
    sparse_softmax_cross_entropy_with_logits_v1 as sparse_softmax_cross_entropy_with_logits,
)
from pyfuncdbg.hosts.numpy.ops.nn.layers import bias_add, l2_normalize, log_softmax, moments, softmax, zero_fraction
from pyfuncdbg.hosts.numpy.ops.nn.layers import dropout_v1 as dropout
from pyfuncdbg.hosts.numpy.ops.nn.normalization import batch_normalization, crelu, log_poisson_loss
from pyfuncdbg.hosts.numpy.ops.nn.normalization import (
    weighted_cross_entropy_with_logits_v1 as weighted_cross_entropy_with_logits,
)
from pyfuncdbg.hosts.numpy.ops.nn.pooling import avg_pool1d, avg_pool2d, avg_pool3d, max_pool1d, max_pool2d, max_pool3d
from pyfuncdbg.hosts.numpy.ops.nn.pooling import avg_pool_v1 as avg_pool
from pyfuncdbg.hosts.numpy.ops.nn.pooling import max_pool_v1 as max_pool
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
    'conv1d',
    'conv2d',
    'convolution',
    'crelu',
    'dropout',
    'elu',
    'gelu',
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
    'relu',
    'relu6',
    'selu',
    'sigmoid',
    'sigmoid_cross_entropy_with_logits',
    'silu',
    'softmax',
    'softmax_cross_entropy_with_logits',
    'softmax_cross_entropy_with_logits_v2',
    'softplus',
    'softsign',
    'sparse_softmax_cross_entropy_with_logits',
    'swish',
    'tanh',
    'top_k',
    'weighted_cross_entropy_with_logits',
    'zero_fraction',
]

_publish(globals())
