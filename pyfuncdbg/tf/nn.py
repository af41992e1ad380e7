"""`tf.nn`."""
from pyfuncdbg.hosts.numpy.ops.arrays.gathering import embedding_lookup as embedding_lookup
from pyfuncdbg.hosts.numpy.ops.arrays.rearranging import depth_to_space as depth_to_space, space_to_depth as space_to_depth
from pyfuncdbg.hosts.numpy.ops.elementwise.unary import (
    elu as elu,
    gelu as gelu,
    leaky_relu as leaky_relu,
    relu as relu,
    relu6 as relu6,
    selu as selu,
    sigmoid as sigmoid,
    silu as _silu,
    silu as silu,
    softplus as softplus,
    tanh as tanh,
)
from pyfuncdbg.hosts.numpy.ops.linalg.products import l2_loss as l2_loss
from pyfuncdbg.hosts.numpy.ops.nn.convolution import (
    conv1d as conv1d,
    conv2d as conv2d,
    conv2d_transpose as conv2d_transpose,
    conv3d as conv3d,
    convolution as convolution,
    depthwise_conv2d as depthwise_conv2d,
    separable_conv2d as separable_conv2d,
)
from pyfuncdbg.hosts.numpy.ops.nn.cross_entropy import (
    sigmoid_cross_entropy_with_logits as sigmoid_cross_entropy_with_logits,
    softmax_cross_entropy_with_logits as softmax_cross_entropy_with_logits,
    sparse_softmax_cross_entropy_with_logits as sparse_softmax_cross_entropy_with_logits,
)
from pyfuncdbg.hosts.numpy.ops.nn.layers import (
    bias_add as bias_add,
    dropout as dropout,
    l2_normalize as l2_normalize,
    log_softmax as log_softmax,
    moments as moments,
    softmax as softmax,
    zero_fraction as zero_fraction,
)
from pyfuncdbg.hosts.numpy.ops.nn.normalization import (
    batch_normalization as batch_normalization,
    compute_average_loss as compute_average_loss,
    crelu as crelu,
    in_top_k as in_top_k,
    log_poisson_loss as log_poisson_loss,
    normalize_moments as normalize_moments,
    weighted_cross_entropy_with_logits as weighted_cross_entropy_with_logits,
    weighted_moments as weighted_moments,
)
from pyfuncdbg.hosts.numpy.ops.nn.pooling import (
    avg_pool as avg_pool,
    avg_pool1d as avg_pool1d,
    avg_pool2d as avg_pool2d,
    avg_pool3d as avg_pool3d,
    max_pool as max_pool,
    max_pool1d as max_pool1d,
    max_pool2d as max_pool2d,
    max_pool3d as max_pool3d,
)
from pyfuncdbg.hosts.numpy.ops.sums.sorting import top_k as top_k
from pyfuncdbg.hosts.numpy.ops.sums.special import softsign as softsign
from pyfuncdbg.tf.public import publish as _publish

swish = _silu

_publish(globals())
