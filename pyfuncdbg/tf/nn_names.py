"""Functions shared by `tf.nn` and `tf.compat.v1.nn`."""
from pyfuncdbg.hosts.numpy.ops.elementwise.unary import (
    elu as elu,
    gelu as gelu,
    leaky_relu as leaky_relu,
    relu as relu,
    relu6 as relu6,
    selu as selu,
    sigmoid as sigmoid,
    silu as silu,
    softplus as softplus,
    tanh as tanh,
)
from pyfuncdbg.hosts.numpy.ops.linalg.products import l2_loss as l2_loss
from pyfuncdbg.hosts.numpy.ops.nn.convolution import convolution as convolution
from pyfuncdbg.hosts.numpy.ops.nn.layers import (
    bias_add as bias_add,
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
)
from pyfuncdbg.hosts.numpy.ops.nn.pooling import (
    avg_pool1d as avg_pool1d,
    avg_pool2d as avg_pool2d,
    avg_pool3d as avg_pool3d,
    max_pool1d as max_pool1d,
    max_pool2d as max_pool2d,
    max_pool3d as max_pool3d,
)
from pyfuncdbg.hosts.numpy.ops.sums.sorting import top_k as top_k
from pyfuncdbg.hosts.numpy.ops.sums.special import softsign as softsign
