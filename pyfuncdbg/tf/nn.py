"""`tf.nn`."""
from pyfuncdbg.ops.cross_entropy import (
    sigmoid_cross_entropy_with_logits,
    softmax_cross_entropy_with_logits,
    sparse_softmax_cross_entropy_with_logits,
)
from pyfuncdbg.ops.gathering import embedding_lookup
from pyfuncdbg.ops.linalg import l2_loss
from pyfuncdbg.ops.nn import bias_add, dropout, l2_normalize, log_softmax, moments, softmax, zero_fraction
from pyfuncdbg.ops.sorting import top_k
from pyfuncdbg.ops.unary import elu, gelu, leaky_relu, relu, relu6, selu, sigmoid, silu, softplus, tanh
from pyfuncdbg.ops.unary import silu as swish

__all__ = [
    'bias_add', 'dropout', 'elu', 'embedding_lookup', 'gelu', 'l2_loss', 'l2_normalize', 'leaky_relu', 'log_softmax',
    'moments', 'relu', 'relu6', 'selu', 'sigmoid', 'sigmoid_cross_entropy_with_logits', 'silu', 'softmax',
    'softmax_cross_entropy_with_logits', 'softplus', 'sparse_softmax_cross_entropy_with_logits', 'swish', 'tanh',
    'top_k', 'zero_fraction',
]
