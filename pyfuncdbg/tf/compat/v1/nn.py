"""`tf.compat.v1.nn`: losses take their arguments by name, dropout takes `keep_prob`."""
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
    conv1d_v1 as _conv1d_v1,
    conv2d_v1 as _conv2d_v1,
    convolution as convolution,
)
from pyfuncdbg.hosts.numpy.ops.nn.cross_entropy import (
    sigmoid_cross_entropy_with_logits_v1 as _sigmoid_cross_entropy_with_logits_v1,
    softmax_cross_entropy_with_logits as _softmax_cross_entropy_with_logits,
    softmax_cross_entropy_with_logits_v1 as _softmax_cross_entropy_with_logits_v1,
    sparse_softmax_cross_entropy_with_logits_v1 as _sparse_softmax_cross_entropy_with_logits_v1,
)
from pyfuncdbg.hosts.numpy.ops.nn.layers import (
    bias_add as bias_add,
    dropout_v1 as _dropout_v1,
    l2_normalize as l2_normalize,
    log_softmax as log_softmax,
    moments as moments,
    softmax as softmax,
    zero_fraction as zero_fraction,
)
from pyfuncdbg.hosts.numpy.ops.nn.normalization import (
    batch_normalization as batch_normalization,
    crelu as crelu,
    log_poisson_loss as log_poisson_loss,
    weighted_cross_entropy_with_logits_v1 as _weighted_cross_entropy_with_logits_v1,
)
from pyfuncdbg.hosts.numpy.ops.nn.pooling import (
    avg_pool1d as avg_pool1d,
    avg_pool2d as avg_pool2d,
    avg_pool3d as avg_pool3d,
    avg_pool_v1 as _avg_pool_v1,
    max_pool1d as max_pool1d,
    max_pool2d as max_pool2d,
    max_pool3d as max_pool3d,
    max_pool_v1 as _max_pool_v1,
)
from pyfuncdbg.hosts.numpy.ops.sums.sorting import top_k as top_k
from pyfuncdbg.hosts.numpy.ops.sums.special import softsign as softsign
from pyfuncdbg.tf.public import publish as _publish

swish = _silu
conv1d = _conv1d_v1
conv2d = _conv2d_v1
sigmoid_cross_entropy_with_logits = _sigmoid_cross_entropy_with_logits_v1
softmax_cross_entropy_with_logits_v2 = _softmax_cross_entropy_with_logits
softmax_cross_entropy_with_logits = _softmax_cross_entropy_with_logits_v1
sparse_softmax_cross_entropy_with_logits = _sparse_softmax_cross_entropy_with_logits_v1
dropout = _dropout_v1
weighted_cross_entropy_with_logits = _weighted_cross_entropy_with_logits_v1
avg_pool = _avg_pool_v1
max_pool = _max_pool_v1

_publish(globals())
