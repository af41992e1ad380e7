"""`tf.compat.v1.nn`: losses take their arguments by name, dropout takes `keep_prob`."""
from pyfuncdbg.hosts.numpy.ops.elementwise.unary import silu as _silu
from pyfuncdbg.hosts.numpy.ops.nn.convolution import conv1d_v1 as _conv1d_v1, conv2d_v1 as _conv2d_v1
from pyfuncdbg.hosts.numpy.ops.nn.cross_entropy import (
    sigmoid_cross_entropy_with_logits_v1 as _sigmoid_cross_entropy_with_logits_v1,
    softmax_cross_entropy_with_logits as _softmax_cross_entropy_with_logits,
    softmax_cross_entropy_with_logits_v1 as _softmax_cross_entropy_with_logits_v1,
    sparse_softmax_cross_entropy_with_logits_v1 as _sparse_softmax_cross_entropy_with_logits_v1,
)
from pyfuncdbg.hosts.numpy.ops.nn.layers import dropout_v1 as _dropout_v1
from pyfuncdbg.hosts.numpy.ops.nn.normalization import (
    weighted_cross_entropy_with_logits_v1 as _weighted_cross_entropy_with_logits_v1,
)
from pyfuncdbg.hosts.numpy.ops.nn.pooling import avg_pool_v1 as _avg_pool_v1, max_pool_v1 as _max_pool_v1
from pyfuncdbg.tf.nn_names import *  # noqa: F403
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
