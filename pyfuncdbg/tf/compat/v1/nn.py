"""`tf.compat.v1.nn`: losses take their arguments by name, dropout takes `keep_prob`."""
from pyfuncdbg.ops.convolution import conv1d_v1 as conv1d
from pyfuncdbg.ops.convolution import conv2d_v1 as conv2d
from pyfuncdbg.ops.convolution import convolution
from pyfuncdbg.ops.cross_entropy import (
    sigmoid_cross_entropy_with_logits_v1 as sigmoid_cross_entropy_with_logits,
)
from pyfuncdbg.ops.cross_entropy import (
    softmax_cross_entropy_with_logits as softmax_cross_entropy_with_logits_v2,
)
from pyfuncdbg.ops.cross_entropy import (
    softmax_cross_entropy_with_logits_v1 as softmax_cross_entropy_with_logits,
)
from pyfuncdbg.ops.cross_entropy import (
    sparse_softmax_cross_entropy_with_logits_v1 as sparse_softmax_cross_entropy_with_logits,
)
from pyfuncdbg.ops.linalg import l2_loss
from pyfuncdbg.ops.nn import bias_add, l2_normalize, log_softmax, moments, softmax, zero_fraction
from pyfuncdbg.ops.nn import dropout_v1 as dropout
from pyfuncdbg.ops.normalization import batch_normalization, crelu, log_poisson_loss
from pyfuncdbg.ops.normalization import weighted_cross_entropy_with_logits_v1 as weighted_cross_entropy_with_logits
from pyfuncdbg.ops.pooling import avg_pool1d, avg_pool2d, avg_pool3d, max_pool1d, max_pool2d, max_pool3d
from pyfuncdbg.ops.pooling import avg_pool_v1 as avg_pool
from pyfuncdbg.ops.pooling import max_pool_v1 as max_pool
from pyfuncdbg.ops.sorting import top_k
from pyfuncdbg.ops.special import softsign
from pyfuncdbg.ops.unary import elu, gelu, leaky_relu, relu, relu6, selu, sigmoid, silu, softplus, tanh
from pyfuncdbg.ops.unary import silu as swish

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
